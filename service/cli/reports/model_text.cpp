#include "service/cli/reports/model_text.hpp"

#include <fmt/format.h>

#include "host/gangs/gang_counts.hpp"
#include "host/kueue/objects/quantity_text.hpp"
#include "service/cli/reports/object_writer.hpp"
#include "service/cli/terminal/text_table.hpp"

namespace espalier {
namespace {

using Count = std::optional<std::int32_t>;

class ModelWriter {
 public:
  explicit ModelWriter(ObjectWriter& out) : out_(out) {}

  void Write(std::span<const GangWorkload> workloads) {
    out_.BeginMap();
    out_.Key("workloads");
    out_.BeginList();
    for (const GangWorkload& workload : workloads) WriteWorkload(workload);
    out_.EndList();
    out_.EndMap();
  }

 private:
  void WriteWorkload(const GangWorkload& workload) {
    out_.BeginMap();
    Text("namespace", workload.head.key.namespace_);
    Text("name", workload.head.key.name);
    Text("source", workload.source);
    if (workload.true_workload) {
      out_.Key("trueWorkload");
      out_.BeginMap();
      Text("apiGroup", workload.true_workload->api_group);
      Text("kind", workload.true_workload->kind);
      Text("name", workload.true_workload->name);
      out_.EndMap();
    }
    TextIfAny("queue", workload.head.queue_name);
    out_.Field("priority", workload.head.priority);
    TextIfAny("preemptibility", workload.preemptibility);
    Text("replicaMode", ToString(workload.replica_mode));
    Number("replicas", workload.replicas);
    WriteRequest(workload.topology_request);
    out_.Key("gangGroups");
    out_.BeginList();
    for (const GangGroup& gang : workload.gang_groups) WriteGang(gang);
    out_.EndList();
    TextIfAny("waitsFor", workload.waits_for);
    out_.Key("notes");
    out_.BeginList();
    for (const std::string& note : workload.notes) out_.Value(std::string_view(note));
    out_.EndList();
    out_.EndMap();
  }

  void WriteGang(const GangGroup& gang) {
    out_.BeginMap();
    Text("name", gang.name);
    TextIfAny("podGroup", gang.pod_group);
    Text("mode", ToString(gang.mode));
    Number("minCount", gang.min_count);
    Number("maxCount", gang.max_count);
    Number("scheduleTimeoutSeconds", gang.schedule_timeout_seconds);
    TextIfAny("reschedulingPolicy", gang.rescheduling_policy);
    WriteRanks(gang.ranks);
    TextIfAny("waitsFor", gang.waits_for);
    WriteRequest(gang.topology_request);
    Number("minGroups", gang.min_groups);
    if (!gang.middle_groups.empty()) {
      out_.Key("middleGroups");
      out_.BeginList();
      for (const MiddleGroup& group : gang.middle_groups) {
        out_.BeginMap();
        Text("name", group.name);
        if (group.within >= 0) Text("within", Middle(gang, group.within).name);
        Number("minGroups", group.min_groups);
        WriteRequest(group.topology_request);
        out_.EndMap();
      }
      out_.EndList();
    }
    out_.Key("rankedGroups");
    out_.BeginList();
    for (const RankedGroup& ranked : gang.ranked_groups) WriteRanked(gang, ranked);
    out_.EndList();
    out_.EndMap();
  }

  void WriteRanked(const GangGroup& gang, const RankedGroup& ranked) {
    out_.BeginMap();
    Text("name", ranked.name);
    if (ranked.within >= 0) Text("within", Middle(gang, ranked.within).name);
    Text("rankMode", ranked.rank_from.empty() ? "Off" : "Ranked");
    TextIfAny("rankFrom", ranked.rank_from);
    WriteRanks(ranked.ranks);
    WriteRequest(ranked.topology_request);
    out_.Key("eqGroups");
    out_.BeginList();
    for (const EqGroup& group : ranked.eq_groups) WriteGroup(group);
    out_.EndList();
    out_.EndMap();
  }

  void WriteRanks(const RankRequest& ranks) {
    if (ranks.placement == RankPlacement::kByPath) return;
    out_.Key("rankPlacement");
    out_.BeginMap();
    Text("policy", ToString(ranks.placement));
    TextIfAny("level", ranks.level);
    out_.EndMap();
  }

  void WriteGroup(const EqGroup& group) {
    out_.BeginMap();
    Text("name", group.name);
    if (group.count && group.count != group.min_count) Number("count", group.count);
    Number("minCount", group.min_count);
    Number("maxCount", group.max_count);
    if (group.pod_template) WriteResources("requests", group.pod_template->requests);
    if (group.max_requests) WriteResources("maxRequests", *group.max_requests);
    WriteRequest(group.topology_request);
    WriteRunning(group.running);
    out_.EndMap();
  }

  void WriteRunning(const std::vector<RunningPods>& running) {
    if (running.empty()) return;
    out_.Key("running");
    out_.BeginList();
    for (const RunningPods& one : running) {
      out_.BeginMap();
      Text("node", one.node);
      out_.Field("pods", one.pods);
      out_.EndMap();
    }
    out_.EndList();
  }

  void WriteResources(std::string_view key, const Resources& resources) {
    out_.Key(key);
    out_.BeginMap();
    for (const auto& [resource, amount] : resources) {
      Text(resource, QuantityText(resource, amount));
    }
    out_.EndMap();
  }

  void WriteRequest(const GroupTopologyRequest& request) {
    if (request.empty()) return;
    out_.Key("topologyRequest");
    out_.BeginMap();
    if (request.levels) WriteLevels(*request.levels);
    if (request.segments) {
      out_.Key("segments");
      out_.BeginMap();
      Text("topology", request.segments->topology);
      out_.Field("size", std::int64_t{request.segments->size});
      out_.EndMap();
    }
    if (!request.claims.empty()) {
      out_.Key("resourceClaims");
      out_.BeginList();
      for (const TopologyClaim& claim : request.claims) {
        out_.BeginMap();
        TextIfAny("name", claim.name);
        TextIfAny("resourceClaim", claim.resource_claim);
        TextIfAny("resourceClaimTemplate", claim.resource_claim_template);
        out_.EndMap();
      }
      out_.EndList();
    }
    out_.EndMap();
  }

  void WriteLevels(const TopologyRequest& levels) {
    TextIfAny("required", levels.required);
    TextIfAny("preferred", levels.preferred);
    if (levels.unconstrained) {
      out_.Key("unconstrained");
      out_.Flag(*levels.unconstrained);
    }
    TextIfAny("podSetSliceRequiredTopology", levels.slice_topology);
    Number("podSetSliceSize", levels.slice_size);
    if (!levels.slice_constraints.empty()) {
      out_.Key("podsetSliceRequiredTopologyConstraints");
      out_.BeginList();
      for (const SliceConstraint& constraint : levels.slice_constraints) {
        out_.BeginMap();
        Text("topology", constraint.topology);
        out_.Field("size", std::int64_t{constraint.size});
        out_.EndMap();
      }
      out_.EndList();
    }
    TextIfAny("podSetGroupName", levels.pod_set_group_name);
    TextIfAny("podIndexLabel", levels.pod_index_label);
    TextIfAny("subGroupIndexLabel", levels.sub_group_index_label);
    Number("subGroupCount", levels.sub_group_count);
  }

  void Text(std::string_view key, std::string_view value) { out_.Field(key, value); }
  void TextIfAny(std::string_view key, const std::string& value) {
    if (!value.empty()) Text(key, value);
  }
  void TextIfAny(std::string_view key, const std::optional<std::string>& value) {
    if (value) Text(key, *value);
  }
  void Number(std::string_view key, const Count& value) {
    if (value) out_.Field(key, std::int64_t{*value});
  }

  ObjectWriter& out_;
};

std::string CountText(const Count& least, const Count& most) {
  if (!least && !most) return "?";
  if (least == most) return std::to_string(*least);
  return fmt::format("{}..{}", least ? std::to_string(*least) : "?",
                     most ? std::to_string(*most) : "?");
}

std::string RequestText(const GroupTopologyRequest& request) {
  std::string text;
  const auto add = [&](std::string_view what, std::string_view of) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, of);
  };
  if (request.levels) {
    const TopologyRequest& levels = *request.levels;
    if (levels.required) add("required", *levels.required);
    if (levels.preferred) add("preferred", *levels.preferred);
    if (levels.unconstrained) add("unconstrained", *levels.unconstrained ? "" : "false");
    if (levels.slice_topology && levels.slice_size) {
      add(fmt::format("{} in one", *levels.slice_size), *levels.slice_topology);
    }
    for (const SliceConstraint& one : levels.slice_constraints) {
      add(fmt::format("{} in one", one.size), one.topology);
    }
  }
  for (const TopologyClaim& claim : request.claims) {
    add("claim",
        claim.resource_claim.empty() ? claim.resource_claim_template : claim.resource_claim);
  }
  return text.empty() ? "-" : text;
}

std::string ResourcesText(const Resources& resources) {
  std::string text;
  for (const auto& [resource, amount] : resources) {
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", QuantityText(resource, amount), resource);
  }
  return text.empty() ? "-" : text;
}

std::string ReplicasText(const GangWorkload& workload) {
  if (workload.replica_mode == ReplicaMode::kUnreplicated) return "1";
  const std::string count = workload.replicas ? std::to_string(*workload.replicas) : "?";
  return fmt::format("{} {}", count,
                     workload.replica_mode == ReplicaMode::kReplicatedPods ? "pods" : "gangs");
}

// A row for each level of the tree, the name indented by its depth.
std::string ModelTable(std::span<const GangWorkload> workloads, const TextStyle& style) {
  if (workloads.empty()) return "No workloads.\n";
  std::vector<TableRow> rows;
  for (const GangWorkload& workload : workloads) {
    rows.push_back({workload.head.key.ToString(), workload.source, ReplicasText(workload),
                    RequestText(workload.topology_request), "-"});
    for (const GangGroup& gang : workload.gang_groups) {
      const std::string counts = gang.mode == GangMode::kOff
                                     ? std::string("-")
                                     : CountText(gang.min_count, gang.max_count);
      rows.push_back({"  " + gang.name,
                      gang.mode == GangMode::kOff ? "gang group, Off" : "gang group", counts,
                      RequestText(gang.topology_request), "-"});
      for (const MiddleGroup& group : gang.middle_groups) {
        const std::string around =
            group.within < 0 ? "" : " within " + Middle(gang, group.within).name;
        rows.push_back({"    " + group.name, "group" + around,
                        group.min_groups ? fmt::format("{} groups", *group.min_groups) : "-",
                        RequestText(group.topology_request), "-"});
      }
      for (const RankedGroup& ranked : gang.ranked_groups) {
        rows.push_back({"    " + ranked.name,
                        ranked.rank_from.empty() ? "no ranks" : "ranks from " + ranked.rank_from,
                        "-", RequestText(ranked.topology_request), "-"});
        for (const EqGroup& group : ranked.eq_groups) {
          rows.push_back({"      " + group.name, "pods",
                          CountText(group.min_count, group.max_count),
                          RequestText(group.topology_request),
                          group.pod_template ? ResourcesText(group.pod_template->requests) : "?"});
        }
      }
    }
  }
  std::string text =
      RenderTable({"WORKLOAD", "WHAT", "COUNT", "TOPOLOGY", "REQUESTS"}, rows, style);
  for (const GangWorkload& workload : workloads) {
    if (!workload.waits_for.empty()) {
      text += fmt::format("\n{}: {}", workload.head.key.ToString(), workload.waits_for);
    }
    for (const std::string& note : workload.notes) {
      text += fmt::format("\n{}: {}", workload.head.key.ToString(), note);
    }
  }
  return text.back() == '\n' ? text : text + "\n";
}

}  // namespace

std::string ModelText(std::span<const GangWorkload> workloads, const std::string& output,
                      const TextStyle& style) {
  if (output != "json" && output != "yaml") return ModelTable(workloads, style);
  const auto writer = output == "json" ? MakeJsonWriter() : MakeYamlWriter();
  ModelWriter(*writer).Write(workloads);
  return writer->Finish();
}

}  // namespace espalier
