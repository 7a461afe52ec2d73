// Groups whose ranks have places of their own (R25.9 to R25.11).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tests/oracle/nested_rooms.hpp"

namespace espalier::oracle {

class NestedRanks : protected NestedRooms {
 protected:
  using NestedRooms::NestedRooms;

  static bool IsRanked(const Copy& copy) { return copy.group->ranks != RankPlacement::kByPath; }

  // Returns what is inside a copy in declared order.
  static std::vector<Copy*> Declared(Copy& copy) {
    std::vector<Copy*> declared;
    for (const NestedGroup& group : copy.group->groups) {
      for (auto& inner : copy.inside) {
        if (inner->group == &group) declared.push_back(inner.get());
      }
    }
    return declared;
  }

  bool PlaceOwn(Copy& copy) {
    if (copy.group->pods) {
      Place(copy, copy.group->pods->min_count, copy.where, copy.required);
      return true;
    }
    if (!IsRanked(copy)) return true;
    Walk(copy, [&](Copy& inner) {
      inner.placed = true;
      inner.where = copy.where;
    });
    if (copy.group->ranks == RankPlacement::kContiguous) return PlaceContiguous(copy);
    if (copy.group->ranks == RankPlacement::kTogether) return PlaceTogether(copy);
    return PlaceDealt(copy);
  }

  std::vector<Path> RankDomains(const Copy& copy, std::size_t level) const {
    std::vector<Path> domains;
    level = std::max(level, copy.where.empty() ? 0 : copy.where.size() - 1);
    for (const Path& domain : levels_[level]) {
      if (IsInside(domain, copy.where)) domains.push_back(domain);
    }
    return domains;
  }

  // Places one rank after the other on the first leaf from the last one on that has room for it.
  bool PlaceContiguous(Copy& copy) {
    const std::vector<Path> leaves = RankDomains(copy, cluster_.levels.size() - 1);
    std::size_t at = 0;
    for (Copy* pods : Declared(copy)) {
      for (std::int64_t rank = 0; rank < pods->group->pods->min_count; ++rank) {
        while (at < leaves.size() && Room(ShapeOf(*pods), leaves[at]) == 0) ++at;
        if (at == leaves.size()) return false;
        AddTake(*pods, leaves[at]);
      }
    }
    return true;
  }

  void AddTake(Copy& pods, const Path& leaf) {
    if (pods.required.empty() || pods.required.back().first != leaf) {
      pods.required.emplace_back(leaf, 0);
    }
    ++pods.required.back().second;
    Use(ShapeOf(pods), leaf, 1);
  }

  // A pod set in a group of kTogether and the rank of its first pod.
  struct Ranked {
    Copy* pods = nullptr;
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::int64_t In(std::int64_t begin, std::int64_t end) const {
      return std::max<std::int64_t>(0, std::min(end, first + count) - std::max(begin, first));
    }
  };

  bool PlaceTogether(Copy& copy) {
    std::vector<Ranked> ranked;
    std::int64_t ranks = 0;
    for (Copy* child : Declared(copy)) {
      std::int64_t first = 0;
      std::vector<Copy*> sets = child->group->pods ? std::vector{child} : Declared(*child);
      for (Copy* pods : sets) {
        ranked.push_back({pods, first, pods->group->pods->min_count});
        first += pods->group->pods->min_count;
      }
      ranks = std::max(ranks, first);
    }
    std::int64_t begin = 0;
    const auto level = static_cast<std::size_t>(LevelOf(copy.group->rank_level));
    for (const Path& domain : RankDomains(copy, level)) {
      if (begin < ranks) begin = PlaceMostRanks(ranked, domain, begin, ranks);
    }
    return begin == ranks;
  }

  std::int64_t PlaceMostRanks(const std::vector<Ranked>& ranked, const Path& domain,
                              std::int64_t begin, std::int64_t ranks) {
    std::int64_t high = begin;  // by counts alone
    const auto admitted = [&](std::int64_t end) {
      return std::all_of(ranked.begin(), ranked.end(), [&](const Ranked& r) {
        return r.In(begin, end) <= Room(ShapeOf(*r.pods), domain);
      });
    };
    while (high < ranks && admitted(high + 1)) ++high;
    if (PlaceRanks(ranked, domain, begin, high)) return high;
    std::int64_t low = begin;
    --high;
    while (low < high) {
      const std::int64_t middle = low + (high - low + 1) / 2;
      const auto before = Sizes(ranked);
      if (PlaceRanks(ranked, domain, begin, middle)) {
        CutTo(ranked, before);
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    PlaceRanks(ranked, domain, begin, low);
    return low;
  }

  static std::vector<std::size_t> Sizes(const std::vector<Ranked>& ranked) {
    std::vector<std::size_t> sizes;
    for (const Ranked& r : ranked) sizes.push_back(r.pods->required.size());
    return sizes;
  }

  void CutTo(const std::vector<Ranked>& ranked, const std::vector<std::size_t>& sizes) {
    for (std::size_t i = 0; i < ranked.size(); ++i) {
      Takes& takes = ranked[i].pods->required;
      for (; takes.size() > sizes[i]; takes.pop_back()) {
        Use(ShapeOf(*ranked[i].pods), takes.back().first, -takes.back().second);
      }
    }
  }

  bool PlaceRanks(const std::vector<Ranked>& ranked, const Path& domain, std::int64_t begin,
                  std::int64_t end) {
    const auto before = Sizes(ranked);
    for (const Ranked& r : ranked) {
      const std::int64_t pods = r.In(begin, end);
      if (Room(ShapeOf(*r.pods), domain) < pods) {
        CutTo(ranked, before);
        return false;
      }
      Place(*r.pods, pods, domain, r.pods->required);
    }
    return true;
  }

  // Deals pod after pod to the next domain that has room for it.
  bool PlaceDealt(Copy& copy) {
    const auto level = static_cast<std::size_t>(LevelOf(copy.group->rank_level));
    const std::vector<Path> domains = RankDomains(copy, level);
    std::size_t turn = 0;
    for (Copy* pods : Declared(copy)) {
      std::vector<std::int64_t> room;
      for (const Path& domain : domains) room.push_back(Room(ShapeOf(*pods), domain));
      std::vector<std::size_t> dealt;
      for (std::int64_t rank = 0; rank < pods->group->pods->min_count; ++rank) {
        std::size_t tried = 0;
        while (tried < domains.size() && room[turn] == 0) {
          turn = (turn + 1) % domains.size();
          ++tried;
        }
        if (tried == domains.size()) return false;
        --room[turn];
        dealt.push_back(turn);
        turn = (turn + 1) % domains.size();
      }
      PlaceOnDomains(copy, *pods, domains, dealt);
    }
    return true;
  }

  // Pods of each domain by R25.6; their ranks by domain, or as they were dealt.
  void PlaceOnDomains(const Copy& copy, Copy& pods, const std::vector<Path>& domains,
                      const std::vector<std::size_t>& dealt) {
    std::map<std::size_t, Takes> of;
    for (std::size_t d = 0; d < domains.size(); ++d) {
      Place(pods, std::count(dealt.begin(), dealt.end(), d), domains[d], of[d]);
    }
    if (copy.group->ranks == RankPlacement::kBalanced) {
      for (const auto& [d, takes] : of) {
        pods.required.insert(pods.required.end(), takes.begin(), takes.end());
      }
      return;
    }
    for (const std::size_t d : dealt) {
      Takes& takes = of[d];
      const Path leaf = takes.front().first;
      if (--takes.front().second == 0) takes.erase(takes.begin());
      if (pods.required.empty() || pods.required.back().first != leaf) {
        pods.required.emplace_back(leaf, 0);
      }
      ++pods.required.back().second;
    }
  }
};

}  // namespace espalier::oracle
