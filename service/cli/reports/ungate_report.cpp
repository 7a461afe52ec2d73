#include "service/cli/reports/ungate_report.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "host/kueue/objects/workload_status.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/pod_phase.hpp"
#include "service/cli/reports/object_writer.hpp"
#include "service/cli/terminal/text_table.hpp"

namespace espalier {
namespace {

bool IsGatedPodOf(const Workload& workload, const Pod& pod) {
  return IsPodOf(workload, pod) && IsGated(pod) && !HasEnded(pod);
}

bool HasTopologyGate(const Pod& pod) {
  return std::ranges::find(pod.scheduling_gates, kTopologyGate) != pod.scheduling_gates.end();
}

// Why a pod stays gated that no unhealthy node keeps back.
std::string ReasonOf(const Workload& workload, const Pod& pod, const Pod* unconfirmed) {
  if (HasCondition(workload, kFinished)) return "the workload has finished";
  if (!workload.admission || !HasCondition(workload, kAdmitted)) {
    return "the workload is not admitted";
  }
  if (unconfirmed == &pod) return "its ungating is not confirmed yet";
  if (unconfirmed != nullptr) {
    return fmt::format("the ungating of pod {} is not confirmed yet", unconfirmed->key.name);
  }
  const std::string* label = pod.labels.Find(kPodSetLabel);
  if (label == nullptr) return fmt::format("the pod has no label {}", kPodSetLabel);
  const auto& assignments = workload.admission->pod_set_assignments;
  const auto it = std::ranges::find(assignments, *label, &PodSetAssignment::name);
  if (it == assignments.end()) {
    return fmt::format("the admission has no pod set {}", *label);
  }
  if (!it->topology_assignment && HasTopologyGate(pod)) {
    return fmt::format("pod set {} has no topology assignment", *label);
  }
  if (!it->topology_assignment) {
    return fmt::format("all {} admitted pods of pod set {} have started", it->count.value_or(0),
                       *label);
  }
  return fmt::format("every place in the assignment of pod set {} is taken", *label);
}

}  // namespace

Result<UngateReport> MakeUngateReport(const Workload& workload, const Cluster& cluster) {
  auto ungated = UngateWorkload(workload, cluster.pods);
  if (!ungated) return tl::unexpected(ungated.error());
  UngateReport report{workload.key, *std::move(ungated), {}};
  std::set<ObjectKey> starting;
  for (const UngatedPod& pod : report.ungated) starting.insert(pod.pod);

  Workload healthy = workload;
  healthy.unhealthy_nodes.clear();
  const auto without_failures = UngateWorkload(healthy, cluster.pods);
  for (const UngatedPod& pod : *without_failures) {  // R22.7
    if (!starting.insert(pod.pod).second) continue;
    report.gated.push_back({pod.pod, fmt::format("its node {} is unhealthy", pod.domain)});
  }
  const Pod* unconfirmed = UnconfirmedPod(workload, cluster.pods);
  for (const Pod& pod : cluster.pods) {
    if (!IsGatedPodOf(workload, pod) || starting.contains(pod.key)) continue;
    report.gated.push_back({pod.key, ReasonOf(workload, pod, unconfirmed)});
  }
  std::ranges::sort(report.gated, {}, &GatedPod::pod);
  return report;
}

std::string UngateTable(const UngateReport& report, const TextStyle& style) {
  if (report.ungated.empty() && report.gated.empty()) {
    return fmt::format("Nothing to ungate: workload {} has no gated pods in the input.\n",
                       Excerpt(report.workload.ToString()));
  }
  std::vector<TableRow> rows;
  for (const UngatedPod& pod : report.ungated) {
    rows.push_back({pod.pod.ToString(), pod.domain.empty() ? "(any node)" : pod.domain});
  }
  for (const GatedPod& pod : report.gated) {
    rows.push_back({pod.pod.ToString(), {"stays gated: " + pod.reason, Color::kBad}});
  }
  return RenderTable({"POD", "DOMAIN"}, rows, style) +
         fmt::format("\n{} to ungate, {} to stay gated\n", report.ungated.size(),
                     report.gated.size());
}

std::string UngateJson(const UngateReport& report) {
  const auto writer = MakeJsonWriter();
  const auto text = [&](std::string_view key, std::string_view value) {
    writer->Field(key, value);
  };
  writer->BeginMap();
  text("workload", report.workload.ToString());
  writer->Key("ungate");
  writer->BeginList();
  for (const UngatedPod& pod : report.ungated) {
    writer->BeginMap();
    text("pod", pod.pod.ToString());
    text("domain", pod.domain);
    writer->Key("nodeSelector");
    writer->BeginMap();
    for (const auto& [level, value] : pod.node_selector) text(level, value);
    writer->EndMap();
    writer->Key("gates");
    writer->BeginList();
    for (const std::string& gate : pod.gates) writer->Value(std::string_view(gate));
    writer->EndList();
    writer->EndMap();
  }
  writer->EndList();
  writer->Key("gated");
  writer->BeginList();
  for (const GatedPod& pod : report.gated) {
    writer->BeginMap();
    text("pod", pod.pod.ToString());
    text("reason", pod.reason);
    writer->EndMap();
  }
  writer->EndList();
  writer->EndMap();
  return writer->Finish();
}

}  // namespace espalier
