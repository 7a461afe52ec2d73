#include "service/cli/cluster_picture.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/quantity_text.hpp"
#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

using Path = std::vector<std::string>;

constexpr std::size_t kBarWidth = 8;
constexpr std::size_t kLineWidth = 100;

template <class T>
const T* FindByName(const std::vector<T>& objects, std::string_view name) {
  const auto it = std::find_if(objects.begin(), objects.end(),
                               [&](const T& object) { return object.name == name; });
  return it == objects.end() ? nullptr : &*it;
}

bool IsAvailable(const Node& node, const ResourceFlavor& flavor) {  // R3.1, R3.2
  return node.ready && !node.unschedulable &&
         std::all_of(flavor.node_labels.begin(), flavor.node_labels.end(), [&](const auto& label) {
           const std::string* value = node.labels.Find(label.first);
           return value != nullptr ? *value == label.second : label.second.empty();
         });
}

// The values of all levels, or nothing when the node lacks one.
Path PathOf(const Node& node, const Topology& topology) {
  Path path;
  for (const std::string& level : topology.levels) {
    const std::string* value = node.labels.Find(level);
    if (value == nullptr) return {};
    path.push_back(*value);
  }
  return path;
}

Amount AmountOf(const Resources& resources, std::string_view name) {
  const Amount* amount = resources.Find(name);
  return amount == nullptr ? 0 : *amount;
}

struct Totals {
  Amount allocatable = 0;
  Amount before = 0;
  Amount after = 0;
};

Totals Sum(const std::vector<RackUsage>& racks) {
  Totals sum;
  for (const RackUsage& rack : racks) {
    sum.allocatable = SaturatingAdd(sum.allocatable, rack.allocatable);
    sum.before = SaturatingAdd(sum.before, rack.before);
    sum.after = SaturatingAdd(sum.after, rack.after);
  }
  return sum;
}

double Share(Amount used, Amount allocatable) {
  if (allocatable <= 0) return 0;
  return std::clamp(static_cast<double>(used) / static_cast<double>(allocatable), 0.0, 1.0);
}

// Full only when all is in use, empty only when nothing is.
std::size_t Cells(Amount used, Amount allocatable) {
  const double share = Share(used, allocatable);
  if (share <= 0 || share >= 1) return share >= 1 ? kBarWidth : 0;
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(share * kBarWidth)), 1,
                                 kBarWidth - 1);
}

std::string Repeat(std::string_view glyph, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += glyph;
  return text;
}

std::string Bar(const RackUsage& rack, bool after) {
  if (rack.allocatable <= 0) return Repeat(" ", kBarWidth);
  std::size_t old_cells = Cells(rack.before, rack.allocatable);
  const std::size_t cells = after ? Cells(rack.after, rack.allocatable) : old_cells;
  // What was placed shows even where it is less than a cell.
  if (after && rack.after > rack.before && cells == old_cells && cells > 1) --old_cells;
  return Repeat("█", old_cells) + Repeat("▓", cells - old_cells) + Repeat("░", kBarWidth - cells);
}

std::string Panel(std::span<const RackUsage> racks, bool after) {
  std::size_t label_width = 0;
  std::size_t name_width = 0;
  const auto label = [](const RackUsage& rack) {
    return fmt::format("{}", fmt::join(rack.path.begin(), rack.path.end() - 1, "/"));
  };
  for (const RackUsage& rack : racks) {
    label_width = std::max(label_width, label(rack).size());
    name_width = std::max(name_width, rack.path.back().size());
  }
  const std::size_t cell_width = 2 + name_width + 1 + kBarWidth;
  const std::size_t per_line =
      std::max<std::size_t>(1, (kLineWidth - std::min(kLineWidth, label_width)) / cell_width);

  std::string text;
  std::size_t on_line = 0;
  std::string last_label;
  for (const RackUsage& rack : racks) {
    const std::string here = label(rack);
    const bool same = !text.empty() && here == last_label;
    if (!same || on_line == per_line) {
      if (!text.empty()) text += '\n';
      text += fmt::format("{:<{}}", same ? "" : here, label_width);
      on_line = 0;
    }
    text += fmt::format("  {:>{}} {}", rack.path.back(), name_width, Bar(rack, after));
    last_label = here;
    ++on_line;
  }
  return text + "\n";
}

std::string Heading(std::string_view when, Amount used, Amount allocatable,
                    std::string_view resource) {
  return fmt::format("{}: {} of {} in use ({:.0f}%)\n", when, QuantityText(resource, used),
                     QuantityText(resource, allocatable), 100 * Share(used, allocatable));
}

}  // namespace

std::vector<RackUsage> UsageByRack(const ClusterStateInput& input,
                                   const std::vector<FlavorLeafUsage>& booked,
                                   std::string_view flavor_name, std::string_view resource) {
  const ResourceFlavor* flavor = FindByName(input.flavors, flavor_name);
  if (flavor == nullptr || !flavor->topology_name) return {};
  const Topology* topology = FindByName(input.topologies, *flavor->topology_name);
  if (topology == nullptr || topology->levels.empty()) return {};
  const bool hosts = topology->levels.back() == kHostnameLabel;

  std::map<Path, RackUsage> racks;
  std::unordered_map<std::string, RackUsage*> rack_of_node;
  std::unordered_map<std::string, RackUsage*> rack_of_leaf;  // by leaf id (R4.1)
  for (const Node& node : input.nodes) {
    Path path = PathOf(node, *topology);
    if (path.empty() || !IsAvailable(node, *flavor)) continue;
    const std::string leaf = hosts ? path.back() : fmt::format("{}", fmt::join(path, ","));
    if (hosts && path.size() > 1) path.pop_back();
    RackUsage& rack = racks[path];
    rack.path = path;
    rack.allocatable = SaturatingAdd(rack.allocatable, AmountOf(node.allocatable, resource));
    rack_of_node[node.name] = &rack;
    rack_of_leaf[leaf] = &rack;
  }

  const auto add = [&](const auto& rack_of, const std::string& where, const Resources& usage,
                       bool before) {
    const auto it = rack_of.find(where);
    if (it == rack_of.end()) return;
    const Amount amount = AmountOf(usage, resource);
    if (before) it->second->before = SaturatingAdd(it->second->before, amount);
    it->second->after = SaturatingAdd(it->second->after, amount);
  };
  const auto counts = [&](const FlavorLeafUsage& usage) {
    return usage.flavor == flavor_name || input.share_usage_between_flavors;  // R5.6
  };
  for (const NodeUsage& usage : input.non_tas_usage)
    add(rack_of_node, usage.node, usage.usage, true);
  for (const FlavorLeafUsage& usage : input.tas_usage) {
    if (counts(usage)) add(rack_of_leaf, usage.leaf, usage.usage, true);
  }
  for (const FlavorLeafUsage& usage : booked) {
    if (counts(usage)) add(rack_of_leaf, usage.leaf, usage.usage, false);
  }

  std::vector<RackUsage> in_order;
  in_order.reserve(racks.size());
  for (auto& [path, rack] : racks) in_order.push_back(std::move(rack));
  return in_order;
}

std::string RenderPicture(const std::vector<RackUsage>& racks, std::string_view flavor,
                          std::string_view resource) {
  if (racks.empty()) return "";
  const Totals sum = Sum(racks);
  std::vector<RackUsage> shown = racks;
  for (RackUsage& rack : shown) {
    for (std::string& value : rack.path) value = Excerpt(value);
  }
  return fmt::format("{} of flavor {}, a bar per rack: █ in use  ▓ placed now  ░ free\n\n",
                     Excerpt(resource), Excerpt(flavor)) +
         Heading("before", sum.before, sum.allocatable, resource) + Panel(shown, false) + "\n" +
         Heading("after", sum.after, sum.allocatable, resource) + Panel(shown, true);
}

}  // namespace espalier
