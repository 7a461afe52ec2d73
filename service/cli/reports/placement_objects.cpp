// The JSON and YAML form of a placement report: Kueue's own status fields.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/model/by_name.hpp"
#include "service/cli/reports/admission_writer.hpp"
#include "service/cli/reports/placement_report.hpp"
#include "service/cli/reports/tree_text.hpp"

namespace espalier {
namespace {

class Writer {
 public:
  Writer(const FeatureGates& gates, ObjectWriter& out) : gates_(gates), out_(out) {}

  void Workload(const PlacementReport& report, std::size_t index) {
    const PlannedWorkload& planned = report.workloads[index];
    const ObjectKey& key = report.cluster.workloads[planned.index].key;
    out_.BeginMap();
    Text("apiVersion", "kueue.x-k8s.io/v1beta2");
    Text("kind", "Workload");
    out_.Key("metadata");
    out_.BeginMap();
    Text("name", key.name);
    Text("namespace", key.namespace_);
    const auto& not_honoured = report.cluster.workloads[planned.index].not_honoured;
    Annotations(planned.guessed_flavor, report.VerdictAt(index), planned.admits_fewer,
                OutcomeOf(report, index) == Outcome::kPlaced
                    ? fmt::format("{}", fmt::join(not_honoured, "; "))
                    : std::string());
    out_.EndMap();
    out_.Key("status");
    out_.BeginMap();
    const bool placed = OutcomeOf(report, index) == Outcome::kPlaced;
    const std::optional<PlacedTree> tree = report.TreeAt(index);
    if (placed && !tree) {
      out_.Key("admission");
      WriteAdmission(AdmissionOf(planned, report.answers[index]), gates_, out_);
    }
    if (!placed) Condition(ReasonOf(report, index));
    if (tree) {
      out_.Key("nestedPlacement");
      WriteTree(*tree, out_);
    }
    out_.EndMap();
    out_.EndMap();
  }

 private:
  void Text(std::string_view key, std::string_view value) { out_.Field(key, value); }

  void Annotations(const std::string& guessed_flavor, std::optional<NestedStatus> verdict,
                   bool admits_fewer, const std::string& not_honoured) {
    if (guessed_flavor.empty() && !verdict && !admits_fewer && not_honoured.empty()) return;
    out_.Key("annotations");
    out_.BeginMap();
    if (!guessed_flavor.empty()) Text("espalier.dev/guessed-flavor", guessed_flavor);
    if (verdict) Text("espalier.dev/verdict", Name(*verdict));
    if (admits_fewer) Text("espalier.dev/fewer-pods", "true");
    if (!not_honoured.empty()) Text("espalier.dev/not-honoured", not_honoured);
    out_.EndMap();
  }

  void Condition(const std::string& message) {
    out_.Key("conditions");
    out_.BeginList();
    out_.BeginMap();
    Text("type", "QuotaReserved");
    Text("status", "False");
    Text("reason", "Pending");
    Text("message", message);
    out_.EndMap();
    out_.EndList();
  }

  static Admission AdmissionOf(const PlannedWorkload& planned, const WorkloadAnswer& answer) {
    Admission admission{planned.cluster_queue, {}};
    const auto answers = ByName(answer.pod_sets);
    for (const PodSetRequest& pod_set : std::get<WorkloadRequest>(planned.plan).pod_sets) {
      const PodSetAnswer* placed = FindOrNull(answers, pod_set.name);
      if (placed == nullptr) continue;
      admission.pod_set_assignments.push_back(
          {.name = pod_set.name,
           .flavors = FlavorsOf(pod_set),
           .resource_usage = Times(pod_set.requests, pod_set.count),
           .count = pod_set.count,
           .topology_assignment = placed->assignment,
           .delayed_topology_request = {}});
    }
    return admission;
  }

  static StringMap FlavorsOf(const PodSetRequest& pod_set) {
    StringMap flavors;
    for (const auto& [resource, amount] : pod_set.requests) flavors.Set(resource, pod_set.flavor);
    return flavors;
  }

  const FeatureGates& gates_;
  ObjectWriter& out_;
};

}  // namespace

void WritePlacementObjects(const PlacementReport& report, const FeatureGates& gates,
                           ObjectWriter& out) {
  out.BeginMap();
  out.Field("apiVersion", std::string_view("v1"));
  out.Field("kind", std::string_view("List"));
  out.Key("items");
  out.BeginList();
  Writer writer(gates, out);
  for (std::size_t i = 0; i < report.workloads.size(); ++i) {
    if (OutcomeOf(report, i) != Outcome::kNothingToPlace) writer.Workload(report, i);
  }
  out.EndList();
  out.EndMap();
}

}  // namespace espalier
