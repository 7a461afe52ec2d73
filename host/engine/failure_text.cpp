#include "host/engine/failure_text.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "host/model/go_texts.hpp"

namespace espalier {
namespace {

ExclusionCounts CountExclusions(const PlacementJob& job, const FailedPlacement& failed) {
  ExclusionCounts counts;
  counts.total_nodes = job.state->snapshot().occupied_leaf_count();
  counts.topology_domain = failed.outside_domain;
  if (const NodeFilter* filter = job.filter.get()) {
    counts.node_selector = filter->node_selector;
    counts.affinity = filter->required_affinity;
    counts.taints = filter->taints;
  }
  for (std::size_t r = 0; r < failed.limited_by.size(); ++r) {
    if (failed.limited_by[r] > 0)
      counts.resources.Set(job.shape->workers.names[r], failed.limited_by[r]);
  }
  return counts;
}

// Returns the text for slice layers that do not fit (R18.6).
std::string LayerText(const PlacementJob& job, const FailedPlacement& failed) {
  const FlavorSnapshot& snapshot = job.state->snapshot();
  const SliceRule& slice = job.query.slice;
  std::string text =
      fmt::format("topology {} doesn't allow to fit", Quoted(snapshot.topology_name()));
  for (std::int32_t i = 0; i < slice.layer_count; ++i) {
    text += fmt::format("; {}/{} slice(s) fit on level {}",
                        failed.layer_fits[static_cast<std::size_t>(i)],
                        job.query.pods / slice.layer_size[i],
                        snapshot.levels()[static_cast<std::size_t>(slice.layer_level[i])]);
  }
  return text;
}

// Returns the text that says how many pods or slices fit (R18.4).
std::string FitText(const PlacementJob& job, const FailedPlacement& failed) {
  const std::string topology = Quoted(job.state->snapshot().topology_name());
  const std::string_view unit = job.query.slice.size == 1 ? "pod" : "slice";
  if (failed.fit == 0) {
    return fmt::format("topology {} doesn't allow to fit any of {} {}(s)", topology, failed.total,
                       unit);
  }
  return fmt::format("topology {} allows to fit only {} out of {} {}(s)", topology, failed.fit,
                     failed.total, unit);
}

}  // namespace

std::string UnknownFlavorText(std::string_view flavor) {
  return fmt::format("Flavor {} information missing in TAS cache", Quoted(flavor));
}

std::string ExclusionSuffix(const ExclusionCounts& exclusions) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view kind, std::int64_t count) {
    if (count > 0) parts.push_back(fmt::format("{}: {}", kind, count));
  };
  add("nodeSelector", exclusions.node_selector);
  add("affinity", exclusions.affinity);
  add("topologyDomain", exclusions.topology_domain);
  for (const auto& [taint, count] : exclusions.taints) add("taint " + Quoted(taint), count);
  for (const auto& [name, count] : exclusions.resources) add("resource " + Quoted(name), count);
  if (parts.empty()) return "";
  std::ranges::sort(parts);
  return fmt::format(". Total nodes: {}; excluded: {}", exclusions.total_nodes,
                     fmt::join(parts, ", "));
}

PlacementFailure DescribeFailure(const PlacementJob& job, const PlacementResult& result) {
  const FlavorSnapshot& snapshot = job.state->snapshot();
  switch (result.status) {
    case PlacementStatus::kNoDomains:
      return {fmt::format("no topology domains at level: {}",
                          snapshot.levels()[static_cast<std::size_t>(result.level)]),
              std::nullopt};
    case PlacementStatus::kUndefined:
      return {"undefined upstream: balanced placement of fewer pods than one slice (R14.6)",
              std::nullopt};
    case PlacementStatus::kOutOfStates:
      return {
          "balanced placement needs more memory than it may use; turn the gate "
          "TASBalancedPlacement off for this workload",
          std::nullopt};
    case PlacementStatus::kPlaced:
    case PlacementStatus::kDoesNotFit:
      break;
  }
  const FailedPlacement& failed = *result.failed;
  ExclusionCounts exclusions = CountExclusions(job, failed);
  std::string reason =
      job.query.slice.multi_layer() ? LayerText(job, failed) : FitText(job, failed);
  reason += ExclusionSuffix(exclusions);
  return {std::move(reason),
          PlacementFailure::Shortfall{failed.fit, failed.total,
                                      static_cast<std::int32_t>(job.query.slice.size),
                                      std::move(exclusions)}};
}

}  // namespace espalier
