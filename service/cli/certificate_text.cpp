#include "service/cli/certificate_text.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/quantity_text.hpp"
#include "service/cli/counted.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostNamed = 3;  // of what would do as well

// "a, b and 3 others"; `or` for things of which one is enough.
std::string OneOf(const std::vector<std::string>& names) {
  std::vector<std::string> shown(
      names.begin(),
      names.begin() + static_cast<std::ptrdiff_t>(std::min(kMostNamed, names.size())));
  const std::size_t more = names.size() - shown.size();
  return fmt::format("{}{}", fmt::join(shown, " or "),
                     more == 0 ? "" : fmt::format(" (or one of {} others)", more));
}

}  // namespace

std::string NearMissText(const NearMiss& miss, const NamesByFlavor& names) {
  const std::string where = miss.level.empty()
                                ? "all of flavor " + miss.flavor
                                : fmt::format("{} {}", names.Of(miss.flavor).LevelName(miss.level),
                                              fmt::join(miss.domain, "/"));
  std::string text =
      fmt::format("{}: {} of {} fit; room for one on {} of {}", where, miss.fit,
                  Counted(miss.pods, "pod"), miss.nodes_with_room, Counted(miss.nodes, "node"));
  if (miss.nodes_not_matching > 0) {
    text += fmt::format(", {} ruled out by selector, affinity or taints", miss.nodes_not_matching);
  }
  return text;
}

std::vector<std::string> BindingLines(const NearMiss& miss) {
  std::vector<std::string> lines;
  for (const BindingResource& resource : miss.binding) {
    lines.push_back(fmt::format("{}: enough for {} of {}, {} short", resource.resource,
                                resource.pods, Counted(miss.pods, "pod"),
                                QuantityText(resource.resource, resource.missing)));
  }
  if (lines.empty()) {
    lines.emplace_back(miss.nodes_not_matching == miss.nodes
                           ? "selector, affinity or taints: no node matches"
                           : "no resource alone: there is enough of each, but not on one node");
  }
  return lines;
}

std::vector<std::string> ChangeLines(const PossibleChanges& changes, const WorkloadRequest& request,
                                     const NamesByFlavor& flavor_names) {
  std::vector<std::string> lines;
  const PodSetRequest& pod_set = request.pod_sets.front();
  if (changes.fewer_pods > 0) {
    lines.push_back(
        fmt::format("with {} in place of {}", Counted(changes.fewer_pods, "pod"), pod_set.count));
  }
  if (!changes.coarser_level.empty()) {
    const TopologyNames& names = flavor_names.Of(pod_set.flavor);
    lines.push_back(fmt::format("required {} in place of {}",
                                names.LevelName(changes.coarser_level),
                                names.LevelName(*pod_set.topology_request->required)));
  }
  if (changes.anywhere) lines.emplace_back("without a required level");
  if (!changes.repaired.empty()) {
    lines.push_back("with a node back that is cordoned or not ready: " + OneOf(changes.repaired));
  }
  if (!changes.gone.empty()) {
    lines.push_back("without one that runs: " + OneOf(NamesOfGone(changes)));
  }
  return lines;
}

std::vector<std::string> NamesOfGone(const PossibleChanges& changes) {
  std::vector<std::string> names;
  for (const ObjectKey& key : changes.gone) names.push_back(key.ToString());
  return names;
}

}  // namespace espalier
