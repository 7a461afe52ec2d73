#include "service/cli/reports/resize_report.hpp"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/objects/quantity_text.hpp"
#include "service/cli/terminal/text_table.hpp"

namespace espalier {
namespace {

std::string CountsText(const std::vector<std::pair<std::string, std::int64_t>>& counts) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) parts.push_back(fmt::format("{}={}", name, count));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string OwnerText(const Workload& workload) {
  if (workload.owners.empty()) return "";
  const OwnerReference& owner = workload.owners.front();
  return owner.kind + "/" + owner.name;
}

std::string DecisionText(const ResizePlan& plan) {
  switch (plan.decision) {
    case ResizeDecision::kNone:
      return "nothing to do";
    case ResizeDecision::kInPlace:
      return "changes in place";
    case ResizeDecision::kNewSlice:
      return plan.slices.front().admitted ? "is replaced by a new slice"
                                          : "runs on; its new slice waits";
    case ResizeDecision::kSlicesPerReplica:
      return "grows by a slice for each new replica";
    case ResizeDecision::kRefused:
      return "keeps its size";
  }
  return "";
}

std::vector<TableRow> LeavingRows(const ResizePlan& plan) {
  std::vector<TableRow> rows;
  for (const LeavingPods& leaving : plan.leaving) {
    for (const TopologyDomainAssignment& domain : leaving.domains) {
      const std::string place = fmt::format("{}", fmt::join(domain.values, "/"));
      rows.push_back(
          {leaving.pod_set, std::to_string(domain.count), place.empty() ? "(any node)" : place});
    }
  }
  return rows;
}

std::vector<std::string> PlaceLines(const Workload& slice) {
  std::vector<std::string> lines;
  if (!slice.admission) return lines;
  for (const PodSetAssignment& assignment : slice.admission->pod_set_assignments) {
    std::vector<std::string> domains;
    if (assignment.topology_assignment) {
      for (const TopologyDomainAssignment& domain : assignment.topology_assignment->domains) {
        domains.push_back(fmt::format("{}:{}", fmt::join(domain.values, "/"), domain.count));
      }
    }
    lines.push_back(fmt::format("{}: {}", assignment.name, fmt::join(domains, ", ")));
  }
  return lines;
}

std::vector<TableRow> SliceRows(const ResizePlan& plan) {
  std::vector<TableRow> rows;
  for (const PlannedSlice& slice : plan.slices) {
    std::vector<std::pair<std::string, std::int64_t>> counts;
    for (const PodSet& pod_set : slice.workload.pod_sets) {
      counts.emplace_back(pod_set.name, pod_set.count);
    }
    TableCell last = slice.admitted ? TableCell(PlaceLines(slice.workload))
                                    : TableCell("waits: " + slice.reason, Color::kBad);
    rows.push_back({slice.workload.key.name, CountsText(counts), std::move(last)});
  }
  return rows;
}

void WriteDomains(const std::vector<TopologyDomainAssignment>& domains, ObjectWriter& out) {
  out.BeginList();
  for (const TopologyDomainAssignment& domain : domains) {
    out.BeginMap();
    out.Field("values", domain.values);
    out.Field("count", std::int64_t{domain.count});
    out.EndMap();
  }
  out.EndList();
}

void WriteAssignments(const Workload& slice, ObjectWriter& out) {
  out.BeginMap();
  if (slice.admission) {
    for (const PodSetAssignment& assignment : slice.admission->pod_set_assignments) {
      if (!assignment.topology_assignment) continue;
      out.Key(assignment.name);
      out.BeginMap();
      out.Key("levels");
      out.BeginList();
      for (const std::string& level : assignment.topology_assignment->levels) {
        out.Value(std::string_view(level));
      }
      out.EndList();
      out.Key("domains");
      WriteDomains(assignment.topology_assignment->domains, out);
      out.EndMap();
    }
  }
  out.EndMap();
}

void WriteFlavors(const Workload& slice, ObjectWriter& out) {
  out.BeginMap();
  if (slice.admission) {
    for (const PodSetAssignment& assignment : slice.admission->pod_set_assignments) {
      out.Key(assignment.name);
      out.BeginMap();
      for (const auto& [resource, flavor] : assignment.flavors) {
        out.Field(resource, std::string_view(flavor));
      }
      out.EndMap();
    }
  }
  out.EndMap();
}

void WriteSlice(const PlannedSlice& slice, ObjectWriter& out) {
  const Workload& workload = slice.workload;
  out.BeginMap();
  out.Field("name", std::string_view(workload.key.name));
  out.Field("owner", std::string_view(OwnerText(workload)));
  out.Field("queue", std::string_view(workload.queue_name));
  out.Field("replacementFor", std::string_view(slice.replacement_for));
  out.Key("counts");
  out.BeginMap();
  for (const PodSet& pod_set : workload.pod_sets) {
    out.Field(pod_set.name, std::int64_t{pod_set.count});
  }
  out.EndMap();
  out.Key("flavors");
  WriteFlavors(workload, out);
  out.Key("admitted");
  out.Flag(slice.admitted);
  out.Key("assignment");
  WriteAssignments(workload, out);
  if (!slice.reason.empty()) out.Field("reason", std::string_view(slice.reason));
  out.EndMap();
}

// Writes what the workload itself gets: its annotations and conditions afterwards.
void WriteAfter(const Workload& workload, ObjectWriter& out) {
  out.BeginMap();
  out.Key("annotations");
  out.BeginMap();
  for (const auto& [key, value] : workload.annotations) out.Field(key, std::string_view(value));
  out.EndMap();
  out.Key("conditions");
  out.BeginList();
  for (const Condition& condition : workload.conditions) {
    out.BeginMap();
    out.Field("type", std::string_view(condition.type));
    out.Field("status", std::string_view(condition.status));
    out.Field("reason", std::string_view(condition.reason));
    out.Field("message", std::string_view(condition.message));
    out.EndMap();
  }
  out.EndList();
  out.EndMap();
}

void WriteUsage(const QuotaUsage& usage, ObjectWriter& out) {
  std::map<std::string_view, std::map<std::string_view, Amount>> by_flavor;
  for (const auto& [key, amount] : usage) by_flavor[key.flavor][key.resource] = amount;
  out.BeginMap();
  for (const auto& [flavor, resources] : by_flavor) {
    out.Key(flavor);
    out.BeginMap();
    for (const auto& [resource, amount] : resources) {
      out.Field(resource, std::string_view(QuantityText(resource, amount)));
    }
    out.EndMap();
  }
  out.EndMap();
}

}  // namespace

std::string ResizeText(const ResizePlan& plan, const TextStyle& style) {
  std::string text =
      fmt::format("Workload {}: {}.\n", plan.workload.ToString(), DecisionText(plan));
  if (!plan.reason.empty() && plan.slices.empty()) text += "  " + plan.reason + "\n";
  const bool waits = plan.decision == ResizeDecision::kNewSlice && !plan.slices.front().admitted;
  text += fmt::format("Pods {}: {}\n", waits ? "wanted" : "afterwards", CountsText(plan.counts));
  if (const auto rows = LeavingRows(plan); !rows.empty()) {
    text += "\n" + RenderTable({"POD SET", "LEAVE", "FROM"}, rows, style);
  }
  if (const auto rows = SliceRows(plan); !rows.empty()) {
    text += "\n" + RenderTable({"SLICE", "PODS", "PLACEMENT"}, rows, style);
  }
  std::vector<TableRow> usage;
  for (const auto& [key, amount] : plan.usage) {
    usage.push_back({key.flavor, key.resource, QuantityText(key.resource, amount)});
  }
  if (!usage.empty()) text += "\n" + RenderTable({"FLAVOR", "RESOURCE", "USED"}, usage, style);
  return text;
}

std::string ResizeObject(const ResizePlan& plan, ObjectWriter& out) {
  out.BeginMap();
  out.Field("workload", std::string_view(plan.workload.ToString()));
  out.Field("decision", ToString(plan.decision));
  out.Key("counts");
  out.BeginMap();
  for (const auto& [name, count] : plan.counts) out.Field(name, count);
  out.EndMap();
  out.Key("leaving");
  out.BeginMap();
  for (const LeavingPods& leaving : plan.leaving) {
    out.Key(leaving.pod_set);
    WriteDomains(leaving.domains, out);
  }
  out.EndMap();
  out.Key("slices");
  out.BeginList();
  for (const PlannedSlice& slice : plan.slices) WriteSlice(slice, out);
  out.EndList();
  if (plan.after) {
    out.Key("after");
    WriteAfter(*plan.after, out);
  }
  out.Key("ended");
  out.BeginList();
  for (const Workload& slice : plan.ended) out.Value(std::string_view(slice.key.ToString()));
  out.EndList();
  out.Key("usage");
  WriteUsage(plan.usage, out);
  out.Field("reason", std::string_view(plan.reason));
  out.Field("notes", plan.notes);
  out.EndMap();
  return out.Finish();
}

}  // namespace espalier
