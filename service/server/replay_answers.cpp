#include "service/server/replay_answers.hpp"

#include <set>

#include "service/wire/cluster_state.hpp"
#include "service/wire/types.hpp"

namespace espalier {

Result<void> ReplayAnswers::Read(const v1::ReplayRequest& request) {
  if (auto once = CheckAskedOnce(asked_.workloads); !once) return once;
  Decoder decoder(request.strings(), *asked_.budget);
  const FieldPath root("");
  chosen_.resize(asked_.workloads.size());
  std::int64_t least = 0;
  for (int i = 0; i < request.chosen_size() && decoder.ok(); ++i) {
    const v1::ChosenPlace& row = request.chosen(i);
    const FieldPath path(root, "chosen", i);
    if (row.workload() < least || row.workload() >= chosen_.size()) {
      decoder.Fail(FieldPath(path, "workload"), "is {}; ascending positions below {} expected",
                   row.workload(), chosen_.size());
      break;
    }
    least = std::int64_t{row.workload()} + 1;
    chosen_[row.workload()] = FromProtoList<FlavorLeafUsage>(row.usage(), path, "usage", decoder);
  }
  if (!decoder.ok()) return tl::unexpected(decoder.error());
  Result<ClusterState> state = asked_.state().Branch(*asked_.budget);
  if (!state) return tl::unexpected(state.error());
  state_ = *std::move(state);
  std::set<ObjectKey> free;
  for (const WorkloadRequest& workload : asked_.workloads) free.insert(workload.key);
  for (const v1::WorkloadName& ended : request.ended()) {
    free.insert({ended.namespace_(), ended.name()});
  }
  for (const ObjectKey& key : free) {
    if (!asked_.budget->Pause()) return asked_.budget->Check();
    const AdmittedUsage* known = asked_.found.snapshot->admitted->Find(key);
    if (known != nullptr) state_->ChangeUsage(known->usage, -1, asked_.shares_usage());
  }
  return {};
}

Result<bool> ReplayAnswers::Next(v1::ReplayResponse& response) {
  *response.mutable_state() = ToProto(asked_.found.position());
  if (next_ == asked_.workloads.size()) return false;
  const WorkloadRequest& request = asked_.workloads[next_];
  const WorkloadAnswer answer = asked_.MakeEngine().NominateOne(*state_, request);
  if (!asked_.budget->Pause()) return tl::unexpected(asked_.budget->Check().error());
  response.set_workload(static_cast<std::uint32_t>(next_));
  if (auto written = asked_.WriteAnswer(next_, answer, *response.mutable_answers()); !written) {
    return tl::unexpected(written.error());
  }
  state_->ChangeUsage(chosen_[next_], 1, asked_.shares_usage());
  return ++next_ < asked_.workloads.size();
}

}  // namespace espalier
