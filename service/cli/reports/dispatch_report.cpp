#include "service/cli/reports/dispatch_report.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "service/cli/reports/count_with_noun.hpp"
#include "service/cli/terminal/text_table.hpp"

namespace espalier {
namespace {

std::string_view StatusText(FitStatus status) {
  switch (status) {
    case FitStatus::kFits:
      return "fits";
    case FitStatus::kUnknown:
      return "unknown";
    case FitStatus::kDoesNotFit:
      return "does-not-fit";
  }
  return "";
}

TableRow RowOf(std::string workload, const std::string& cluster, const ClusterFit& fit) {
  constexpr std::string_view kAnywhere = "-";
  std::vector<std::string> levels;
  std::vector<std::string> domains;
  std::vector<std::string> left_over;
  for (const PodSetFit& pod_set : fit.pod_sets) {
    const std::string name = fit.pod_sets.size() > 1 ? pod_set.name + ": " : "";
    levels.push_back(fmt::format("{}{}", name, pod_set.level.empty() ? kAnywhere : pod_set.level));
    domains.push_back(std::to_string(pod_set.domains));
    left_over.push_back(std::to_string(pod_set.left_over));
  }
  const Color color = fit.status == FitStatus::kFits         ? Color::kGood
                      : fit.status == FitStatus::kDoesNotFit ? Color::kBad
                                                             : Color::kNone;
  return {std::move(workload),
          cluster,
          {std::string(StatusText(fit.status)), color},
          std::move(levels),
          std::move(domains),
          std::move(left_over),
          fit.left_out > 0 ? CountWithNoun(fit.left_out, "pod") +
                                 " fewer than it asks for, as its minimum allows"
                           : fit.reason};
}

void WritePodSets(const std::vector<PodSetFit>& pod_sets, ObjectWriter& out) {
  out.Key("podSets");
  out.BeginList();
  for (const PodSetFit& pod_set : pod_sets) {
    out.BeginMap();
    out.Field("name", std::string_view(pod_set.name));
    out.Field("flavor", std::string_view(pod_set.flavor));
    out.Field("level", std::string_view(pod_set.level));
    out.Field("domains", pod_set.domains);
    out.Field("leftOver", pod_set.left_over);
    out.EndMap();
  }
  out.EndList();
}

void WriteFit(const std::string& cluster, const ClusterFit& fit, ObjectWriter& out) {
  out.BeginMap();
  out.Field("cluster", std::string_view(cluster));
  out.Field("status", StatusText(fit.status));
  if (!fit.reason.empty()) out.Field("reason", std::string_view(fit.reason));
  if (fit.left_out > 0) out.Field("podsLeftOut", fit.left_out);
  if (!fit.pod_sets.empty()) WritePodSets(fit.pod_sets, out);
  out.EndMap();
}

}  // namespace

std::size_t CountFitting(const Dispatched& dispatched) {
  return static_cast<std::size_t>(std::ranges::count_if(dispatched.fits, [](const auto& fits) {
    return !fits.empty() && fits.front().status == FitStatus::kFits;  // best first
  }));
}

std::string DispatchTable(const Dispatched& dispatched, const TextStyle& style) {
  if (dispatched.workloads.empty()) return "No pending workloads.\n";
  std::vector<TableRow> rows;
  for (std::size_t i = 0; i < dispatched.workloads.size(); ++i) {
    std::string name = dispatched.workloads[i].ToString();
    for (const ClusterFit& fit : dispatched.fits[i]) {
      rows.push_back(RowOf(std::exchange(name, ""), dispatched.clusters[fit.cluster], fit));
    }
  }
  const std::size_t fitting = CountFitting(dispatched);
  return RenderTable({"WORKLOAD", "CLUSTER", "STATUS", "LEVEL", "DOMAINS", "LEFT OVER", "REASON"},
                     std::move(rows), style) +
         fmt::format(
             "\n{} of {} can be held by a cluster\n", fitting,
             CountWithNoun(static_cast<std::int64_t>(dispatched.workloads.size()), "workload"));
}

std::string DispatchObject(const Dispatched& dispatched, ObjectWriter& out) {
  out.BeginMap();
  out.Key("workloads");
  out.BeginList();
  for (std::size_t i = 0; i < dispatched.workloads.size(); ++i) {
    out.BeginMap();
    out.Field("namespace", std::string_view(dispatched.workloads[i].namespace_));
    out.Field("name", std::string_view(dispatched.workloads[i].name));
    out.Key("clusters");
    out.BeginList();
    for (const ClusterFit& fit : dispatched.fits[i]) {
      WriteFit(dispatched.clusters[fit.cluster], fit, out);
    }
    out.EndList();
    out.EndMap();
  }
  out.EndList();
  out.EndMap();
  return out.Finish();
}

}  // namespace espalier
