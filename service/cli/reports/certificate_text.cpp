#include "service/cli/reports/certificate_text.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/engine/request_resolution.hpp"
#include "host/kueue/objects/quantity_text.hpp"
#include "service/cli/reports/count_with_noun.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostNamed = 3;  // of what would do as well

std::vector<std::string> FirstOf(const std::vector<std::string>& names) {
  return {names.begin(),
          names.begin() + static_cast<std::ptrdiff_t>(std::min(kMostNamed, names.size()))};
}

// "a or b", of things of which one is enough.
std::string OneOf(const std::vector<std::string>& names) {
  const std::vector<std::string> shown = FirstOf(names);
  const std::size_t more = names.size() - shown.size();
  return fmt::format("{}{}", fmt::join(shown, " or "),
                     more == 0 ? "" : fmt::format(" (or one of {} others)", more));
}

// "a, b and 3 others", of things that all count.
std::string AllOf(const std::vector<std::string>& names) {
  const std::vector<std::string> shown = FirstOf(names);
  const std::size_t more = names.size() - shown.size();
  return fmt::format("{}{}", fmt::join(shown, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

}  // namespace

std::string NearMissText(const NearMiss& miss, const NamesByFlavor& names) {
  const std::string where = miss.level.empty()
                                ? "all of flavor " + miss.flavor
                                : fmt::format("{} {}", names.Of(miss.flavor).LevelName(miss.level),
                                              fmt::join(miss.domain, "/"));
  std::string text = fmt::format("{}: {} of {} fit; room for one on {} of {}", where, miss.fit,
                                 CountWithNoun(miss.pods, "pod"), miss.nodes_with_room,
                                 CountWithNoun(miss.nodes, "node"));
  if (miss.nodes_not_matching > 0) {
    text += fmt::format(", {} ruled out by selector, affinity or taints", miss.nodes_not_matching);
  }
  return text;
}

std::vector<std::string> BindingLines(const NearMiss& miss) {
  std::vector<std::string> lines;
  for (const BindingResource& resource : miss.binding) {
    lines.push_back(fmt::format("{}: enough for {} of {}, {} short", resource.resource,
                                resource.pods, CountWithNoun(miss.pods, "pod"),
                                QuantityText(resource.resource, resource.missing)));
  }
  if (lines.empty()) {
    lines.emplace_back(miss.nodes_not_matching == miss.nodes
                           ? "selector, affinity or taints: no node matches"
                           : "no resource alone: there is enough of each, but not on one node");
  }
  return lines;
}

std::vector<std::string> RuledOutLines(const NearMiss& miss) {
  std::vector<std::string> lines;
  for (const RuledOut& one : miss.ruled_out) {
    lines.push_back(fmt::format("{} by {}{}", CountWithNoun(one.nodes, "node"), one.by,
                                one.remedy.empty() ? "" : ": " + one.remedy));
  }
  return lines;
}

std::vector<std::string> LeftOutLines(const std::vector<LeftOutNodes>& left_out) {
  std::vector<std::string> lines;
  for (const LeftOutNodes& cause : left_out) {
    lines.push_back(fmt::format("{} {}: {}", CountWithNoun(std::ssize(cause.nodes), "node"),
                                cause.cause, AllOf(cause.nodes)));
  }
  return lines;
}

std::vector<std::string> ChangeLines(const PossibleChanges& changes, const WorkloadRequest& request,
                                     const NamesByFlavor& flavor_names) {
  std::vector<std::string> lines;
  const PodSetRequest& pod_set = request.pod_sets.front();
  if (changes.fewer_pods > 0) {
    lines.push_back(fmt::format("with {} in place of {}", CountWithNoun(changes.fewer_pods, "pod"),
                                pod_set.count));
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
  if (!changes.repaired_together.empty()) {
    lines.push_back(fmt::format("with {} back at once that are cordoned or not ready: {}",
                                CountWithNoun(std::ssize(changes.repaired_together), "node"),
                                AllOf(changes.repaired_together)));
  }
  for (const LabelledNodes& labelled : changes.labelled) {
    lines.push_back(fmt::format("with the label {}{} on {}", labelled.label,
                                labelled.value.empty() ? "" : "=" + labelled.value,
                                AllOf(labelled.nodes)));
  }
  if (!changes.gone.empty()) {
    lines.push_back("without one that runs: " + OneOf(NamesOfGone(changes)));
  }
  if (changes.slice_size > 0) {
    const auto slices = SliceConstraints(pod_set.topology_request);
    lines.push_back(fmt::format("with slices of {} in place of {}", changes.slice_size,
                                slices.empty() ? 0 : slices.front().size));
  }
  for (const LowerRequest& lower : changes.lower_requests) {
    if (lower.amount == 0) {
      lines.push_back(fmt::format("without a request of {}", lower.resource));
      continue;
    }
    lines.push_back(fmt::format("with a lower request of {}: at most {} in place of {}",
                                lower.resource, QuantityText(lower.resource, lower.amount),
                                QuantityText(lower.resource, lower.asked)));
  }
  for (const std::string& part : changes.without) lines.push_back("without the " + part);
  for (const std::string& taint : changes.tolerated) {
    lines.push_back("with a toleration of the taint " + taint);
  }
  for (const std::string& flavor : changes.other_flavors) {
    lines.push_back(fmt::format("on flavor {}, which its queue does not try", flavor));
  }
  return lines;
}

std::vector<std::string> NamesOfGone(const PossibleChanges& changes) {
  std::vector<std::string> names;
  for (const ObjectKey& key : changes.gone) names.push_back(key.ToString());
  return names;
}

}  // namespace espalier
