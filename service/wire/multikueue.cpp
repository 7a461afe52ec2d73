#include "service/wire/multikueue.hpp"

namespace espalier {

v1::PlanFlowResponse ToProto(const std::vector<FlowStep>& steps) {
  v1::PlanFlowResponse response;
  for (const FlowStep& step : steps) {
    v1::FlowStep& row = *response.add_steps();
    row.set_at(step.at);
    row.set_event(step.event);
    row.set_decision(step.decision);
    for (const FlowWrite& write : step.writes) {
      v1::FlowWrite& written = *row.add_writes();
      written.set_cluster(write.cluster);
      written.set_kind(write.kind);
      written.set_namespace_(write.object.namespace_);
      written.set_name(write.object.name);
      written.set_field(write.field);
      written.set_value(write.value);
    }
    row.set_in_sync(step.in_sync);
    row.set_suspended(step.suspended);
    for (const auto& [name, count] : step.runs) (*row.mutable_runs())[name] = count;
  }
  return response;
}

}  // namespace espalier
