#include "service/cli/reports/multikueue_flow_report.hpp"

#include <fmt/format.h>

#include "service/cli/terminal/text_table.hpp"

namespace espalier {
namespace {

std::string WriteText(const FlowWrite& write) {
  std::string object = fmt::format("{} {} {}", write.cluster, write.kind, write.object.ToString());
  if (write.field.empty()) return fmt::format("{} is created: {}", object, write.value);
  if (write.value.empty()) return fmt::format("{}: {} is removed", object, write.field);
  return fmt::format("{}: {} = {}", object, write.field, write.value);
}

void WriteStep(const FlowStep& step, ObjectWriter& out) {
  out.BeginMap();
  out.Field("at", std::string_view(step.at));
  out.Field("event", std::string_view(step.event));
  out.Field("decision", std::string_view(step.decision));
  out.Key("writes");
  out.BeginList();
  for (const FlowWrite& write : step.writes) {
    out.BeginMap();
    out.Field("cluster", std::string_view(write.cluster));
    out.Field("kind", std::string_view(write.kind));
    out.Field("name", std::string_view(write.object.ToString()));
    out.Field("field", std::string_view(write.field));
    out.Field("value", std::string_view(write.value));
    out.EndMap();
  }
  out.EndList();
  out.Key("job");
  out.BeginMap();
  out.Key("inSync");
  out.Flag(step.in_sync);
  out.Key("suspended");
  out.Flag(step.suspended);
  out.Key("runs");
  out.BeginMap();
  for (const auto& [name, count] : step.runs) out.Field(name, count);
  out.EndMap();
  out.EndMap();
  out.EndMap();
}

}  // namespace

std::string FlowTable(const std::vector<FlowStep>& steps, const TextStyle& style) {
  if (steps.empty()) return "Nothing to do: the job runs with the counts of its workload.\n";
  std::vector<TableRow> rows;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const FlowStep& step = steps[i];
    std::vector<std::string> lines = {step.event, "-> " + step.decision};
    for (const FlowWrite& write : step.writes) lines.push_back("   " + WriteText(write));
    rows.push_back({std::to_string(i + 1), step.at, std::move(lines)});
  }
  return RenderTable({"STEP", "AT", "WHAT"}, std::move(rows), style);
}

std::string FlowObject(const std::vector<FlowStep>& steps, ObjectWriter& out) {
  out.BeginMap();
  out.Key("steps");
  out.BeginList();
  for (const FlowStep& step : steps) WriteStep(step, out);
  out.EndList();
  out.EndMap();
  return out.Finish();
}

}  // namespace espalier
