#include "service/cli/reports/cluster_picture.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/model/excerpt.hpp"
#include "service/cli/reports/amount_text.hpp"
#include "service/cli/reports/natural_order.hpp"

namespace espalier {
namespace {

using DomainPath = std::vector<std::string>;

constexpr std::size_t kBarWidth = 8;
constexpr std::string_view kUsed = "█";
constexpr std::string_view kPlaced = "▓";
constexpr std::string_view kFree = "░";

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
DomainPath PathOf(const Node& node, const Topology& topology) {
  DomainPath path;
  for (const std::string& level : topology.levels) {
    const std::string* value = node.labels.Find(level);
    if (value == nullptr) return {};
    path.push_back(*value);
  }
  return path;
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

double PartUsed(Amount used, Amount allocatable) {
  if (allocatable <= 0) return 0;
  return std::clamp(static_cast<double>(used) / static_cast<double>(allocatable), 0.0, 1.0);
}

// Full only when all is in use, empty only when nothing is.
std::size_t Cells(Amount used, Amount allocatable) {
  const double share = PartUsed(used, allocatable);
  if (share <= 0 || share >= 1) return share >= 1 ? kBarWidth : 0;
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(share * kBarWidth)), 1,
                                 kBarWidth - 1);
}

std::string Repeat(std::string_view glyph, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += glyph;
  return text;
}

std::string Bar(const RackUsage& rack, bool after, const TextStyle& style) {
  if (rack.allocatable <= 0) return Repeat(" ", kBarWidth);
  std::size_t old_cells = Cells(rack.before, rack.allocatable);
  const std::size_t cells = after ? Cells(rack.after, rack.allocatable) : old_cells;
  // The bar shows what was placed even where it is less than a cell.
  if (after && rack.after > rack.before && cells == old_cells && cells > 1) --old_cells;
  return Repeat(kUsed, old_cells) + style.Paint(Repeat(kPlaced, cells - old_cells), Color::kGood) +
         style.Paint(Repeat(kFree, kBarWidth - cells), Color::kDim);
}

// A domain and what it holds, of any level.
struct Row {
  DomainPath path;
  RackUsage usage;
};

std::string Percent(Amount used, Amount allocatable) {
  return fmt::format("{:3.0f}%", 100 * PartUsed(used, allocatable));
}

// The domains of the upper levels in natural order, each above those in it: of as many levels as
// make few rows, but at least of the first.
std::vector<Row> Summary(const std::vector<RackUsage>& racks) {
  constexpr std::size_t kMostRows = 40;
  const std::size_t levels = racks[0].path.size() - 1;
  std::vector<Row> rows;
  for (std::size_t depth = 1; depth <= levels; ++depth) {
    std::map<DomainPath, RackUsage, NaturalPathOrder> domains;
    for (const RackUsage& rack : racks) {
      for (std::size_t above = 1; above <= depth; ++above) {
        const DomainPath path(rack.path.begin(),
                              rack.path.begin() + static_cast<std::ptrdiff_t>(above));
        RackUsage& sum = domains[path];
        sum.allocatable = SaturatingAdd(sum.allocatable, rack.allocatable);
        sum.before = SaturatingAdd(sum.before, rack.before);
        sum.after = SaturatingAdd(sum.after, rack.after);
      }
    }
    if (depth > 1 && domains.size() > kMostRows) break;
    rows.clear();
    for (auto& [path, usage] : domains) rows.push_back({path, std::move(usage)});
  }
  return rows;
}

// The racks to show: those that something was placed in, or the fullest; and what they are.
struct ChosenRacks {
  std::string title;
  std::vector<Row> rows;
};

ChosenRacks ChooseRacks(const std::vector<RackUsage>& racks, bool touched_only) {
  constexpr std::size_t kMostFullest = 10;
  std::vector<RackUsage> chosen;
  if (touched_only) {
    std::ranges::copy_if(racks, std::back_inserter(chosen),
                         [](const RackUsage& rack) { return rack.after > rack.before; });
  }
  std::string title = fmt::format("{} of {} racks get pods", chosen.size(), racks.size());
  if (chosen.empty()) {
    chosen = racks;
    const std::size_t count = std::min(kMostFullest, chosen.size());
    const auto fuller = [](const RackUsage& a, const RackUsage& b) {
      return PartUsed(a.after, a.allocatable) > PartUsed(b.after, b.allocatable);
    };
    std::ranges::stable_sort(chosen, fuller);
    chosen.resize(count);
    title = count == racks.size() ? fmt::format("{} racks, the fullest first", count)
                                  : fmt::format("the {} fullest of {} racks", count, racks.size());
  }
  std::vector<Row> rows;
  for (RackUsage& rack : chosen) rows.push_back({rack.path, std::move(rack)});
  return {std::move(title), std::move(rows)};
}

// A line per row: its name, a bar before and after, and amounts.
class Panel {
 public:
  Panel(std::string_view resource, const TextStyle& style) : resource_(resource), style_(style) {}

  void Add(const Row& row, std::size_t indent, std::string name) {
    lines_.push_back({std::string(2 * indent, ' ') + Excerpt(name), row.usage});
    width_ = std::max(width_, lines_.back().first.size());
  }

  std::string Render() const {
    constexpr std::size_t kBarAndPercent = kBarWidth + 5;
    std::string text =
        style_.Paint(fmt::format("{:{}}  {:{}}  after", "", width_, "before", kBarAndPercent),
                     Color::kHeading) +
        "\n";
    for (const auto& [name, usage] : lines_) {
      text += fmt::format("{:{}}  {} {}  {} {}  {}\n", name, width_, Bar(usage, false, style_),
                          Percent(usage.before, usage.allocatable), Bar(usage, true, style_),
                          Percent(usage.after, usage.allocatable),
                          AmountsText(resource_, usage.after, usage.allocatable));
    }
    return text;
  }

 private:
  std::string_view resource_;
  const TextStyle& style_;
  std::vector<std::pair<std::string, RackUsage>> lines_;
  std::size_t width_ = 0;
};

}  // namespace

std::vector<RackUsage> UsageByRack(const ClusterStateInput& input,
                                   const std::vector<FlavorLeafUsage>& booked,
                                   std::string_view flavor_name, std::string_view resource) {
  const ResourceFlavor* flavor = FindByName(input.flavors, flavor_name);
  if (flavor == nullptr || !flavor->topology_name) return {};
  const Topology* topology = FindByName(input.topologies, *flavor->topology_name);
  if (topology == nullptr || topology->levels.empty()) return {};
  const bool hosts = topology->levels.back() == kHostnameLabel;

  std::map<DomainPath, RackUsage> racks;
  std::unordered_map<std::string, RackUsage*> rack_of_node;
  std::unordered_map<std::string, RackUsage*> rack_of_leaf;  // by leaf id (R4.1)
  for (const Node& node : input.nodes) {
    DomainPath path = PathOf(node, *topology);
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

std::string MostRequestedDevice(const PlacementPlan& plan) {
  std::map<std::string, std::size_t> requests;
  for (const PlannedWorkload& workload : plan.workloads) {
    const auto* request = std::get_if<WorkloadRequest>(&workload.plan);
    if (request == nullptr) continue;
    for (const PodSetRequest& pod_set : request->pod_sets) {
      for (const auto& [resource, amount] : pod_set.requests) {
        if (resource.find('/') != std::string::npos && amount > 0) ++requests[resource];
      }
    }
  }
  const auto most =
      std::ranges::max_element(requests, {}, [](const auto& entry) { return entry.second; });
  return most == requests.end() ? "cpu" : most->first;
}

std::string RenderPicture(std::vector<RackUsage> racks, std::string_view flavor,
                          std::string_view resource, bool touched_only, const TextStyle& style) {
  if (racks.empty()) return "";
  std::ranges::stable_sort(racks, NaturalPathOrder(), &RackUsage::path);
  const Totals sum = Sum(racks);
  std::string text = fmt::format(
      "{} of flavor {}: {} in use  {} placed now  {} free\n\nbefore: {} in use ({:.0f}%)\n"
      "after:  {} in use ({:.0f}%)\n",
      Excerpt(resource), Excerpt(flavor), kUsed, style.Paint(kPlaced, Color::kGood),
      style.Paint(kFree, Color::kDim), AmountsText(resource, sum.before, sum.allocatable),
      100 * PartUsed(sum.before, sum.allocatable),
      AmountsText(resource, sum.after, sum.allocatable),
      100 * PartUsed(sum.after, sum.allocatable));
  if (racks[0].path.size() > 1) {
    Panel panel(resource, style);
    for (const Row& row : Summary(racks)) panel.Add(row, row.path.size() - 1, row.path.back());
    text += "\n" + panel.Render();
  }
  const ChosenRacks chosen = ChooseRacks(racks, touched_only);
  Panel panel(resource, style);
  for (const Row& row : chosen.rows) panel.Add(row, 0, fmt::format("{}", fmt::join(row.path, "/")));
  return text + "\n" + chosen.title + ":\n" + panel.Render();
}

}  // namespace espalier
