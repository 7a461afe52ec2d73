#include "host/kueue/objects/node_participation.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

// A label that is missing equals an empty value, as where flavors take their nodes.
bool HasLabels(const Node& node, const StringMap& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& entry) {
    const std::string* value = node.labels.Find(entry.first);
    return value == nullptr ? entry.second.empty() : *value == entry.second;
  });
}

std::string LabelsText(const StringMap& labels) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : labels) texts.push_back(key + "=" + value);
  return fmt::format("{}", fmt::join(texts, ","));
}

// The causes in the order in which they count.
enum Cause { kNoFlavor, kNoTopology, kNotReady, kCordoned, kNoLabel };

struct CauseAndLabel {
  Cause cause;
  std::string label;  // of a level that the node lacks
  auto operator<=>(const CauseAndLabel&) const = default;
};

std::string CauseText(const CauseAndLabel& why) {
  switch (why.cause) {
    case kNoFlavor:
      return "of no flavor";
    case kNoTopology:
      return "of flavors without a topology only";
    case kNotReady:
      return "not ready";
    case kCordoned:
      return "cordoned";
    case kNoLabel:
      return fmt::format("without the label {}", Excerpt(why.label));
  }
  return "";
}

std::optional<CauseAndLabel> WhyNotWithin(std::span<const std::string> levels, const Node& node) {
  if (!node.ready) return CauseAndLabel{kNotReady, ""};
  if (node.unschedulable) return CauseAndLabel{kCordoned, ""};
  for (const std::string& level : levels) {
    if (!node.labels.Contains(level)) return CauseAndLabel{kNoLabel, level};
  }
  return std::nullopt;
}

class Counter {
 public:
  explicit Counter(const Cluster& cluster) : cluster_(cluster), lookup_(cluster) {
    for (const ResourceFlavor& flavor : cluster.flavors) {
      flavors_.push_back({&flavor, lookup_.TopologyOf(flavor)});
    }
  }

  NodeParticipation Run() {
    NodeParticipation result{.nodes = cluster_.nodes.size()};
    std::map<CauseAndLabel, std::size_t> left_out;
    for (const Node& node : cluster_.nodes) {
      const std::optional<CauseAndLabel> why = WhyLeftOut(node);
      ++(why ? left_out[*why] : result.taking_part);
    }
    for (const auto& [why, count] : left_out) result.left_out.emplace_back(CauseText(why), count);
    for (const Flavor& flavor : flavors_) {
      if (flavor.topology == nullptr || flavor.taking_part > 0) continue;
      result.flavors_without_nodes.push_back(WhyWithoutNodes(flavor));
    }
    return result;
  }

 private:
  struct Flavor {
    const ResourceFlavor* flavor;
    const Topology* topology;  // null: none, or not in the cluster
    std::size_t matching = 0;  // nodes with its labels
    std::size_t taking_part = 0;
  };

  std::optional<CauseAndLabel> WhyLeftOut(const Node& node) {
    CauseAndLabel why{kNoFlavor, ""};
    bool takes_part = false;
    for (Flavor& flavor : flavors_) {
      if (!HasLabels(node, flavor.flavor->node_labels)) continue;
      ++flavor.matching;
      const std::optional<CauseAndLabel> of_flavor = WhyNotIn(flavor.topology, node);
      if (!of_flavor) {
        ++flavor.taking_part;
        takes_part = true;
      } else {
        why = std::max(why, *of_flavor);
      }
    }
    return takes_part ? std::nullopt : std::optional(why);
  }

  static std::optional<CauseAndLabel> WhyNotIn(const Topology* topology, const Node& node) {
    if (topology == nullptr) return CauseAndLabel{kNoTopology, ""};
    return WhyNotWithin(topology->levels, node);
  }

  std::string WhyWithoutNodes(const Flavor& flavor) const {
    const std::string name = Excerpt(flavor.flavor->name);
    if (cluster_.nodes.empty()) {
      return fmt::format("flavor {} matches no node: there are no nodes in the input", name);
    }
    if (flavor.matching == 0) {
      return fmt::format("flavor {} matches no node: none has the labels {}", name,
                         Excerpt(LabelsText(flavor.flavor->node_labels)));
    }
    return fmt::format(
        "flavor {} has no node to place on: {} with its labels, and {} left out", name,
        flavor.matching == 1 ? "there is one" : fmt::format("there are {}", flavor.matching),
        flavor.matching == 1 ? "it is" : "all are");
  }

  const Cluster& cluster_;
  ClusterLookup lookup_;
  std::vector<Flavor> flavors_;
};

}  // namespace

std::vector<LeftOutNodes> NodesLeftOut(std::span<const Node> nodes, const ResourceFlavor& flavor,
                                       std::span<const std::string> levels) {
  std::map<CauseAndLabel, std::vector<std::string>> left_out;
  for (const Node& node : nodes) {
    if (!HasLabels(node, flavor.node_labels)) continue;
    if (const auto why = WhyNotWithin(levels, node)) left_out[*why].push_back(node.name);
  }
  std::vector<LeftOutNodes> causes;
  for (auto& [why, names] : left_out) causes.push_back({CauseText(why), std::move(names)});
  return causes;
}

NodeParticipation CountNodes(const Cluster& cluster) { return Counter(cluster).Run(); }

std::string NodeLines(const Cluster& cluster) {
  const NodeParticipation counts = CountNodes(cluster);
  std::vector<std::string> causes;
  for (const auto& [cause, count] : counts.left_out) {
    causes.push_back(fmt::format("{} {}", count, cause));
  }
  std::string lines =
      fmt::format("{} of {} node{} take{} part{}{}", counts.taking_part, counts.nodes,
                  counts.nodes == 1 ? "" : "s", counts.taking_part == 1 ? "s" : "",
                  causes.empty() ? "" : "; left out: ", fmt::join(causes, ", "));
  for (const std::string& flavor : counts.flavors_without_nodes) lines += "\n" + flavor;
  return lines;
}

}  // namespace espalier
