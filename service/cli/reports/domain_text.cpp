#include "service/cli/reports/domain_text.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "service/cli/options/brace_text.hpp"
#include "service/cli/reports/natural_order.hpp"

namespace espalier {
namespace {

using DomainPath = std::vector<std::string>;

std::string ShortName(std::string_view key) {
  if (key == kHostnameLabel) return "host";
  std::string_view name = key.substr(key.rfind('/') + 1);  // npos + 1 is 0: no slash, all of it
  constexpr std::string_view kCommonStart = "topology-";
  if (name.size() > kCommonStart.size() && name.starts_with(kCommonStart)) {
    name.remove_prefix(kCommonStart.size());
  }
  return std::string(name);
}

// A run of domains that are shown on one line.
struct Group {
  DomainPath above;                 // values shared by all
  std::vector<std::string> values;  // of the next level, in order
  std::vector<std::string> hosts;   // of the lowest level, in order
  std::map<std::int32_t, std::int64_t, std::greater<>> domains_by_count;  // pods -> domains
};

// "8 hosts x 4, 1 host x 2"
std::string CountText(const Group& group, std::string_view noun) {
  std::vector<std::string> parts;
  for (const auto& [pods, domains] : group.domains_by_count) {
    parts.push_back(fmt::format("{} {}{} x {}", domains, noun, domains == 1 ? "" : "s", pods));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string GroupText(const Group& group, std::string_view noun, bool name_hosts) {
  DomainPath parts = group.above;
  if (!group.values.empty()) parts.push_back(BraceText(group.values));
  if (name_hosts || group.hosts.size() == 1) parts.push_back(BraceText(group.hosts));
  return fmt::format("{}: {}", fmt::join(parts, "/"), CountText(group, noun));
}

}  // namespace

TopologyNames::TopologyNames(const Topology& topology, std::span<const Node> nodes)
    : levels_(topology.levels) {
  for (const std::string& key : levels_) short_names_.push_back(ShortName(key));
  // Two levels of one short name keep their keys.
  const std::vector<std::string> candidates = short_names_;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    if (std::count(candidates.begin(), candidates.end(), candidates[i]) > 1) {
      short_names_[i] = levels_[i];
    }
  }
  if (!leaves_are_hosts()) return;
  for (const Node& node : nodes) {
    DomainPath path;
    for (const std::string& key : levels_) {
      if (const std::string* value = node.labels.Find(key)) path.push_back(*value);
    }
    if (path.size() != levels_.size()) continue;
    const std::string host = path.back();
    path_of_host_.try_emplace(host, std::move(path));
  }
}

std::string TopologyNames::LevelName(std::string_view key) const {
  const auto it = std::find(levels_.begin(), levels_.end(), key);
  if (it == levels_.end()) return std::string(key);
  return short_names_[static_cast<std::size_t>(it - levels_.begin())];
}

std::vector<std::string> TopologyNames::FullPath(const TopologyDomainAssignment& domain) const {
  if (domain.values.size() != 1) return domain.values;
  const auto it = path_of_host_.find(domain.values[0]);
  return it == path_of_host_.end() ? domain.values : it->second;
}

NamesByFlavor::NamesByFlavor(std::span<const ResourceFlavor> flavors,
                             std::span<const Topology> topologies, std::span<const Node> nodes) {
  for (const ResourceFlavor& flavor : flavors) {
    for (const Topology& topology : topologies) {
      if (flavor.topology_name == topology.name) names_.try_emplace(flavor.name, topology, nodes);
    }
  }
}

const TopologyNames& NamesByFlavor::Of(std::string_view flavor) const {
  const auto it = names_.find(flavor);
  return it == names_.end() ? none_ : it->second;
}

const TopologyNames& NamesByFlavor::OfFirst() const {
  return names_.empty() ? none_ : names_.begin()->second;
}

std::string RequestText(const std::optional<TopologyRequest>& request, const TopologyNames& names) {
  if (!request) return "implied";
  std::vector<std::string> parts;
  if (request->required) {
    parts.push_back("required " + names.LevelName(*request->required));
  } else if (request->preferred) {
    parts.push_back("preferred " + names.LevelName(*request->preferred));
  } else if (request->unconstrained.value_or(false)) {
    parts.emplace_back("unconstrained");
  }
  const auto add_slice = [&](std::int32_t size, std::string_view level) {
    parts.push_back(fmt::format("{}/{}", size, names.LevelName(level)));
  };
  if (request->slice_topology) {
    add_slice(request->slice_size.value_or(1), *request->slice_topology);
  } else if (request->slice_size) {  // at the lowest level
    add_slice(*request->slice_size,
              names.levels().empty() ? kHostnameLabel : std::string_view(names.levels().back()));
  }
  for (const SliceConstraint& layer : request->slice_constraints) {
    add_slice(layer.size, layer.topology);
  }
  return parts.empty() ? "implied" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string ReachedLevel(const TopologyAssignment& assignment, const TopologyNames& names) {
  if (assignment.domains.empty()) return "-";
  const DomainPath first = names.FullPath(assignment.domains.front());
  std::size_t shared = std::min(first.size(), names.levels().size());
  for (const TopologyDomainAssignment& domain : assignment.domains) {
    const DomainPath path = names.FullPath(domain);
    std::size_t same = 0;
    while (same < std::min(shared, path.size()) && path[same] == first[same]) ++same;
    shared = same;
  }
  return shared == 0 ? "cluster" : names.LevelName(names.levels()[shared - 1]);
}

std::vector<std::string> DomainLines(const TopologyAssignment& assignment,
                                     const TopologyNames& names, Detail detail, std::size_t limit) {
  const bool hosts = names.leaves_are_hosts();
  const bool name_hosts = hosts && (detail == Detail::kFull || names.levels().size() == 1);
  // The number of finest levels that a line sums up.
  const std::size_t folded = hosts && !name_hosts ? 2 : 1;

  std::vector<Group> groups;
  for (const TopologyDomainAssignment& domain : assignment.domains) {
    DomainPath path = names.FullPath(domain);
    const std::size_t kept = path.size() > folded ? path.size() - folded : 0;
    const DomainPath above(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(kept));
    if (groups.empty() || groups.back().above != above) groups.push_back({.above = above});
    Group& group = groups.back();
    if (hosts) group.hosts.push_back(path.back());
    if (!name_hosts && kept < path.size() - (hosts ? 1 : 0)) group.values.push_back(path[kept]);
    ++group.domains_by_count[domain.count];
  }

  for (Group& group : groups) {
    std::ranges::stable_sort(group.values, NaturalOrder());
    std::ranges::stable_sort(group.hosts, NaturalOrder());
  }
  std::ranges::stable_sort(groups, NaturalPathOrder(), &Group::above);

  const std::string noun =
      names.levels().empty() ? "domain" : names.LevelName(names.levels().back());
  std::vector<std::string> lines;
  for (const Group& group : groups) {
    if (lines.size() + 1 == limit && groups.size() > limit) {
      lines.push_back(fmt::format("and {} more", groups.size() - lines.size()));
      break;
    }
    lines.push_back(GroupText(group, noun, name_hosts));
  }
  return lines;
}

}  // namespace espalier
