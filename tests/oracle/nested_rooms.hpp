// Finds how much of a nested gang fits where, and places one pod set in its domain (R25.6).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/oracle/leaf_matching.hpp"
#include "tests/oracle/nested_copy.hpp"

namespace espalier::oracle {

class NestedRooms {
 protected:
  NestedRooms(const Cluster& cluster, const OracleInput& input, bool empty,
              std::map<Path, Vector>& used)
      : cluster_(cluster),
        input_(input),
        empty_(empty),
        used_(used),
        levels_(cluster.levels.size()) {
    for (const auto& [path, leaf] : cluster.leaves) {
      for (std::size_t level = 0; level < path.size(); ++level) {
        const Path domain(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(level) + 1);
        if (levels_[level].empty() || levels_[level].back() != domain) {
          levels_[level].push_back(domain);
        }
      }
    }
  }

  int LevelOf(const std::optional<std::string>& key) const {
    return key ? static_cast<int>(*cluster_.LevelOf(*key)) : -1;
  }

  static bool IsInside(const Path& domain, const Path& outer) {
    return domain.size() >= outer.size() && std::equal(outer.begin(), outer.end(), domain.begin());
  }

  // --- R25.6 -------------------------------------------------------------------------------------
  std::size_t ShapeOf(const Copy& copy) const { return shape_of_.at(&*copy.group->pods); }

  void NoteShape(const NestedPodSet& pods) {
    NestedShape shape{ToVector(pods.requests), pods.pod_template};
    shape.requests = Plus(shape.requests, {{std::string(kPodsResource), 1}});
    if (!cluster_.IsHostTopology()) shape.pod_template = {};
    const auto known = std::find(shapes_.begin(), shapes_.end(), shape);
    shape_of_[&pods] = static_cast<std::size_t>(known - shapes_.begin());
    if (known == shapes_.end()) shapes_.push_back(std::move(shape));
  }

  Vector Left(const Path& leaf) const {
    Vector left = Remaining(cluster_, leaf, empty_, {});
    const auto used = used_.find(leaf);
    return used == used_.end() ? left : Minus(left, used->second);
  }

  // Pods of a shape that fit into a domain, or, where the path is empty, into the cluster.
  std::int64_t Room(std::size_t shape, const Path& domain) {
    auto& known = rooms_[shape];
    if (known.empty()) {
      for (const auto& [path, leaf] : cluster_.leaves) {
        PodTemplate pod = shapes_[shape].pod_template;
        const auto& tolerations = input_.flavor.tolerations;
        pod.tolerations.insert(pod.tolerations.end(), tolerations.begin(), tolerations.end());
        const bool matches = !cluster_.IsHostTopology() ||
                             MatchNode(leaf.node, pod).verdict == Match::Verdict::kMatches;
        known[path] = matches ? Fits(shapes_[shape].requests, Left(path)).pods : 0;
      }
    }
    std::int64_t room = 0;
    for (const auto& [path, pods] : known) {
      if (IsInside(path, domain)) room += pods;
    }
    return room;
  }

  // Puts pods on a leaf, or, negative, takes them away.
  void Use(std::size_t shape, const Path& leaf, std::int64_t pods) {
    for (const auto& [name, amount] : shapes_[shape].requests) used_[leaf][name] += amount * pods;
    rooms_.clear();
  }

  void Undo(Copy& copy) {
    for (const auto& [leaf, pods] : copy.required) Use(ShapeOf(copy), leaf, -pods);
    copy.required.clear();
    copy.placed = false;
  }

  void Place(Copy& copy, std::int64_t pods, const Path& where, Takes& takes) {
    if (pods <= 0) return;
    std::vector<std::pair<Path, std::int64_t>> given = {{where, pods}};
    for (std::size_t level = where.size(); level < cluster_.levels.size(); ++level) {
      given = Pool(copy, pods, given, level);
    }
    std::sort(given.begin(), given.end());
    for (const auto& [leaf, count] : given) {
      takes.emplace_back(leaf, count);
      Use(ShapeOf(copy), leaf, count);
    }
  }

  // Returns the domains of a level inside those that were given something: the fullest first, the
  // last one the tightest that holds the rest.
  std::vector<std::pair<Path, std::int64_t>> Pool(
      Copy& copy, std::int64_t pods, const std::vector<std::pair<Path, std::int64_t>>& given,
      std::size_t level) {
    std::vector<std::pair<std::int64_t, Path>> rooms;
    for (const Path& domain : levels_[level]) {
      const bool inside = std::any_of(given.begin(), given.end(), [&](const auto& outer) {
        return IsInside(domain, outer.first);
      });
      if (inside) rooms.emplace_back(-Room(ShapeOf(copy), domain), domain);
    }
    std::sort(rooms.begin(), rooms.end());
    std::vector<std::pair<Path, std::int64_t>> result;
    for (const auto& [negative, domain] : rooms) {
      const std::int64_t room = -negative;
      if (room < pods) {
        if (room > 0) result.emplace_back(domain, room);
        pods -= room;
        continue;
      }
      auto last = std::pair(room, domain);
      for (const auto& [other_negative, other] : rooms) {
        if (-other_negative >= pods && -other_negative < last.first)
          last = {-other_negative, other};
      }
      result.emplace_back(last.second, pods);
      break;
    }
    return result;
  }

  const Cluster& cluster_;
  const OracleInput& input_;
  const bool empty_;
  std::map<Path, Vector>& used_;
  std::vector<std::vector<Path>> levels_;  // domains in path order
  std::vector<NestedShape> shapes_;        // in the order of placing
  std::map<const NestedPodSet*, std::size_t> shape_of_;
  std::map<std::size_t, std::map<Path, std::int64_t>> rooms_;  // of now, by shape
};

}  // namespace espalier::oracle
