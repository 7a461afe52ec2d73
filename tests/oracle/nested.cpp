#include "tests/oracle/nested.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "tests/oracle/nested_ranks.hpp"

namespace espalier::oracle {
namespace {

class Decision : private NestedRanks {
 public:
  Decision(const Cluster& cluster, const OracleInput& input, bool empty, NestedProfile profile,
           const NestedBounds& bounds, std::map<Path, Vector>& used)
      : NestedRanks(cluster, input, empty, used), profile_(profile), bounds_(bounds) {}

  bool out_of_trials() const { return out_of_trials_; }

  // --- R25.7, R25.8 ------------------------------------------------------------------------------
  void Decide(Copy& root) {
    Walk(root, [&](Copy& copy) {
      if (copy.group->pods) NoteShape(*copy.group->pods);
    });
    uniform_ = IsUniform(*root.group);
    if (!PlaceRequired(root)) return;
    for (auto& inner : root.inside) {
      if (!PlaceOptional(*inner)) break;
    }
    Walk(root, [&](Copy& copy) {
      if (!copy.group->pods || !IsPlaced(copy)) return;
      const auto wanted = copy.group->pods->max_count - copy.group->pods->min_count;
      const auto room = Room(ShapeOf(copy), copy.where);
      Place(copy, std::min<std::int64_t>(wanted, room), copy.where, copy.more);
    });
  }

  bool uniform() const { return uniform_; }

  static bool IsPlaced(const Copy& copy) {
    return copy.placed && (copy.around == nullptr || IsPlaced(*copy.around));
  }

 private:
  // Answers false where the siblings behind the copy are not tried.
  bool PlaceOptional(Copy& copy) {
    if (copy.optional && !PlaceRequired(copy)) return !copy.around->group->in_order;
    for (auto& inner : copy.inside) {
      if (!PlaceOptional(*inner)) break;
    }
    return true;
  }

  bool PlaceRequired(Copy& copy) {
    trials_ = bounds_.trials;
    stop_ = false;
    bool found = PlaceInside(copy);
    if (!found && !stop_ && !uniform_ && profile_ == NestedProfile::kEspalier) {
      trials_ = bounds_.sibling_trials;
      std::vector<Copy*> all;
      AppendRequired(copy, all);
      found = PlaceFrom(all, 0);
    }
    if (stop_) out_of_trials_ = true;
    if (!found) {
      Walk(copy, [&](Copy& inner) { Undo(inner); });
    }
    return found;
  }

  // The first search: where something inside does not fit, the next alternative is of what is
  // around it.
  bool PlaceInside(Copy& copy) {
    for (const Path& where : Alternatives(copy)) {
      if (trials_-- == 0) stop_ = true;
      if (stop_) return false;
      copy.placed = true;
      copy.where = where;
      bool all = PlaceOwn(copy);
      if (!IsRanked(copy)) {
        for (auto& inner : copy.inside) {
          if (all && !inner->optional) all = PlaceInside(*inner);
        }
      }
      if (all) return true;
      Walk(copy, [&](Copy& inner) { Undo(inner); });
      if (stop_) return false;
    }
    return false;
  }

  void AppendRequired(Copy& copy, std::vector<Copy*>& all) {
    all.push_back(&copy);
    if (IsRanked(copy)) return;
    for (auto& inner : copy.inside) {
      if (!inner->optional) AppendRequired(*inner, all);
    }
  }

  // The second search: where something does not fit, the next alternative is of what was placed
  // before it.
  bool PlaceFrom(const std::vector<Copy*>& all, std::size_t next) {
    if (next == all.size()) return true;
    Copy& copy = *all[next];
    for (const Path& where : Alternatives(copy)) {
      if (trials_-- == 0) stop_ = true;
      if (stop_) return false;
      copy.placed = true;
      copy.where = where;
      if (PlaceOwn(copy) && PlaceFrom(all, next + 1)) return true;
      Walk(copy, [&](Copy& inner) { Undo(inner); });
      if (stop_) return false;
    }
    return false;
  }

  // --- R25.2, R25.4, R25.12, R25.13 --------------------------------------------------------------
  std::vector<Path> Alternatives(Copy& copy) {
    const Path outer = copy.around != nullptr ? copy.around->where : Path{};
    const int outer_level = static_cast<int>(outer.size()) - 1;
    const int required = LevelOf(copy.group->required);
    const int preferred =
        profile_ == NestedProfile::kEspalier ? LevelOf(copy.group->preferred) : -1;
    std::vector<Path> alternatives;
    const int coarsest = std::max(required, outer_level + 1);
    for (int level = std::max(required, preferred); level >= coarsest; --level) {
      std::vector<std::pair<std::tuple<std::int64_t, std::int64_t, Path>, Path>> keyed;
      for (const Path& domain : levels_[static_cast<std::size_t>(level)]) {
        if (IsInside(domain, outer) && Admits(copy, domain) && ContainsRunning(copy, domain) &&
            !IsTaken(copy, domain)) {
          keyed.emplace_back(KeyOf(copy, domain), domain);
        }
      }
      std::sort(keyed.begin(), keyed.end());
      for (const auto& [key, domain] : keyed) alternatives.push_back(domain);
    }
    if (required <= outer_level && Admits(copy, outer) && ContainsRunning(copy, outer) &&
        !IsTaken(copy, outer)) {
      alternatives.push_back(outer);
    }
    return alternatives;
  }

  // R25.17: whether a copy beside it has the domain of its own level around `domain` to itself.
  bool IsTaken(const Copy& copy, const Path& domain) const {
    if (!copy.group->apart || copy.around == nullptr) return false;
    return std::ranges::any_of(copy.around->inside, [&](const std::unique_ptr<Copy>& other) {
      if (other.get() == &copy || !other->group->apart || !other->placed) return false;
      const auto values = static_cast<std::size_t>(
          std::min(LevelOf(copy.group->required), LevelOf(other->group->required)) + 1);
      return std::equal(domain.begin(), domain.begin() + static_cast<std::ptrdiff_t>(values),
                        other->where.begin());
    });
  }

  bool ContainsRunning(const Copy& copy, const Path& domain) const {
    return std::all_of(
        copy.group->running_on.begin(), copy.group->running_on.end(),
        [&](const std::string& id) { return IsInside(*cluster_.FindLeaf(id), domain); });
  }

  struct Need {
    std::int64_t required = 0;
    std::int64_t most = 0;
  };

  // Returns the pods of a copy and of everything in it, by shape.
  std::map<std::size_t, Need> NeedsOf(const Copy& copy) const {
    std::map<std::size_t, Need> needs;
    if (copy.group->pods) {
      needs[ShapeOf(copy)] = {copy.group->pods->min_count, copy.group->pods->max_count};
    }
    for (const auto& inner : copy.inside) {
      for (const auto& [shape, need] : NeedsOf(*inner)) {
        needs[shape].required += inner->optional ? 0 : need.required;
        needs[shape].most += need.most;
      }
    }
    return needs;
  }

  bool Admits(const Copy& copy, const Path& domain) {
    for (const auto& [shape, need] : NeedsOf(copy)) {
      if (Room(shape, domain) < need.required) return false;
    }
    return true;
  }

  std::tuple<std::int64_t, std::int64_t, Path> KeyOf(const Copy& copy, const Path& domain) {
    const auto needs = NeedsOf(copy);
    const auto main = std::max_element(
        needs.begin(), needs.end(),
        [](const auto& a, const auto& b) { return a.second.most < b.second.most; });
    if (main == needs.end()) return {0, 0, domain};
    std::int64_t lacking = 0;
    std::int64_t pods = 0;
    for (const auto& [shape, need] : needs) {
      const std::int64_t room = Room(shape, domain);
      lacking += std::max<std::int64_t>(0, need.most - room);
      pods += std::min(need.most, room);
    }
    if (const auto copies = LackingCopies(copy, domain)) lacking = *copies;
    if (profile_ == NestedProfile::kEspalier) return {lacking, Room(main->first, domain), domain};
    std::int64_t shares = 0;
    for (const auto& [name, amount] : shapes_[main->first].requests) {
      if (amount > 0) shares += ShareAfter(needs, name, domain);
    }
    return {-shares, -pods, domain};
  }

  // Copies of the only child that have no room by counts, where not all of them are required and
  // each needs a domain of its own level.
  std::optional<std::int64_t> LackingCopies(const Copy& copy, const Path& domain) {
    if (copy.group->groups.size() != 1) return std::nullopt;
    const NestedGroup& child = copy.group->groups.front();
    if (!child.required || child.min_copies == child.copies) return std::nullopt;
    const auto level = static_cast<std::size_t>(LevelOf(child.required));
    if (level < domain.size()) return std::nullopt;
    const auto needs = NeedsOf(*copy.inside.front());
    if (std::ranges::none_of(needs, [](const auto& need) { return need.second.required > 0; })) {
      return std::nullopt;
    }
    std::int64_t room = 0;
    for (const Path& inner : levels_[level]) {
      if (!IsInside(inner, domain)) continue;
      std::int64_t here = child.copies;
      for (const auto& [shape, need] : needs) {
        if (need.required > 0) here = std::min(here, Room(shape, inner) / need.required);
      }
      room += child.apart ? std::min<std::int64_t>(1, here) : here;
    }
    return std::max<std::int64_t>(0, child.copies - room);
  }

  // R25.13: thousandths of a resource that are in use once what is required is placed.
  std::int64_t ShareAfter(const std::map<std::size_t, Need>& needs, const std::string& name,
                          const Path& domain) {
    Amount total = 0;
    Amount used = 0;
    for (const auto& [shape, need] : needs) {
      const auto request = shapes_[shape].requests.find(name);
      if (request == shapes_[shape].requests.end()) continue;
      used = SaturatingAdd(used, SaturatingMultiply(need.required, request->second));
    }
    for (const auto& [path, leaf] : cluster_.leaves) {
      if (!IsInside(path, domain)) continue;
      const auto free = leaf.free.find(name);
      const Amount all = free == leaf.free.end() ? 0 : free->second;
      total = SaturatingAdd(total, all);
      used = SaturatingAdd(used, SaturatingSubtract(all, Left(path)[name]));
    }
    if (total <= 0) return 0;
    if (used < (Amount{1} << 53)) return used * 1000 / total;
    return total < 1000 ? used : used / (total / 1000);
  }

  // R25.7: every group has one kind of child, or pod sets that go anywhere; one shape in all.
  bool IsUniform(const NestedGroup& group) const {
    if (shapes_.size() > 1 || group.ranks != RankPlacement::kByPath || !group.running_on.empty()) {
      return false;
    }
    if (group.groups.size() == 1) return IsUniform(group.groups.front());
    return std::all_of(group.groups.begin(), group.groups.end(), [](const NestedGroup& child) {
      return child.pods && !child.required && child.running_on.empty();
    });
  }

  const NestedProfile profile_;
  const NestedBounds& bounds_;
  bool uniform_ = false;
  int trials_ = 0;
  bool stop_ = false;
  bool out_of_trials_ = false;
};

std::int64_t PodsIn(const Copy& copy) {
  std::int64_t pods = 0;
  for (const auto& [leaf, count] : copy.required) pods += count;
  for (const auto& [leaf, count] : copy.more) pods += count;
  for (const auto& inner : copy.inside) pods += PodsIn(*inner);
  return pods;
}

std::int64_t MostPods(const Copy& copy) {
  std::int64_t pods = copy.group->pods ? copy.group->pods->max_count : 0;
  for (const auto& inner : copy.inside) pods += MostPods(*inner);
  return pods;
}

// --- R25.14 --------------------------------------------------------------------------------------

// The tree with nothing in it but the way to one pod set, all of it required and once; false where
// the way leads through a group of which no copy is required.
void Chains(const NestedGroup& group, std::vector<NestedGroup>& chains) {
  NestedGroup bare;
  bare.name = group.name;
  bare.required = group.required;
  bare.copies = bare.min_copies = group.min_copies;
  if (group.pods) {
    bare.pods = group.pods;
    bare.pods->max_count = bare.pods->min_count;
    if (group.pods->min_count > 0) chains.push_back(bare);
    return;
  }
  for (const NestedGroup& child : group.groups) {
    std::vector<NestedGroup> inner;
    if (child.min_copies > 0) Chains(child, inner);
    for (const NestedGroup& chain : inner) {
      bare.groups = {chain};
      chains.push_back(bare);
    }
  }
}

NestedGroup Alone(const Copy& copy) {
  NestedGroup part = *copy.group;
  if (part.pods) part.pods->min_count = std::max(1, part.pods->min_count);
  part.min_copies = part.copies = 1;
  for (const Copy* around = copy.around; around != nullptr; around = around->around) {
    NestedGroup outer = *around->group;
    outer.groups = {part};
    outer.min_copies = outer.copies = 1;
    outer.ranks = RankPlacement::kByPath;
    part = outer;
  }
  return part;
}

class Answerer {
 public:
  Answerer(const Cluster& cluster, const OracleInput& input, NestedProfile profile,
           const NestedBounds& bounds)
      : cluster_(cluster), input_(input), profile_(profile), bounds_(bounds) {}

  NestedAnswer Answer(const NestedRequest& request, std::map<Path, Vector>& used) {
    const auto root = MakeCopy(request.root, 0, nullptr, profile_);
    Decision now(cluster_, input_, false, profile_, bounds_, used);
    now.Decide(*root);
    std::map<Path, Vector> nothing;
    const auto empty_root = MakeCopy(request.root, 0, nullptr, profile_);
    Decision empty(cluster_, input_, true, profile_, bounds_, nothing);
    empty.Decide(*empty_root);

    NestedAnswer answer;
    Append(*root, *empty_root, "", now, empty, answer);
    answer.status = answer.groups.front().status;
    return answer;
  }

 private:
  void Append(const Copy& copy, const Copy& when_empty, const std::string& path,
              const Decision& now, const Decision& empty, NestedAnswer& answer) {
    NestedGroupAnswer group;
    group.path = path;
    const bool placed = Decision::IsPlaced(copy);
    const std::int64_t pods = placed ? PodsIn(copy) : 0;
    if (placed && pods == MostPods(copy)) {
      group.status = NestedStatus::kPlaced;
    } else if (pods > 0) {
      group.status = NestedStatus::kPlacedInPart;
    } else {
      group.status = WhyNot(copy, when_empty, now, empty);
    }
    if (pods > 0 && !copy.where.empty()) {
      group.level = cluster_.levels[copy.where.size() - 1];
      group.values = copy.where;
    }
    if (pods > 0 && copy.group->pods) group.assignment = AssignmentOf(copy);
    answer.groups.push_back(group);
    if (!placed) return;
    for (const NestedGroup& declared : copy.group->groups) {
      for (std::size_t i = 0; i < copy.inside.size(); ++i) {
        const Copy& inner = *copy.inside[i];
        if (inner.group != &declared) continue;
        std::string name = path.empty() ? declared.name : path + "/" + declared.name;
        if (declared.copies > 1) name += fmt::format("[{}]", inner.number);
        Append(inner, *when_empty.inside[i], name, now, empty, answer);
      }
    }
  }

  NestedStatus WhyNot(const Copy& copy, const Copy& when_empty, const Decision& now,
                      const Decision& empty) {
    if (Decision::IsPlaced(when_empty) && (PodsIn(when_empty) > 0 || MostPods(when_empty) == 0)) {
      return now.out_of_trials() ? NestedStatus::kUndecided : NestedStatus::kNotNow;
    }
    bool in_the_way = false;
    for (const Copy* around = copy.around; around != nullptr; around = around->around) {
      const NestedGroup& group = *around->group;
      const bool prefers = group.preferred && profile_ == NestedProfile::kEspalier;
      if (group.required || prefers || group.groups.size() > 1) in_the_way = true;
    }
    if (empty.uniform() && !empty.out_of_trials() && !in_the_way) return NestedStatus::kNever;
    std::vector<NestedGroup> chains;
    Chains(Alone(copy), chains);
    for (NestedGroup& chain : chains) {
      chain.copies = chain.min_copies = 1;
      std::map<Path, Vector> nothing;
      const auto root = MakeCopy(chain, 0, nullptr, profile_);
      Decision decision(cluster_, input_, true, profile_, bounds_, nothing);
      decision.Decide(*root);
      if (!Decision::IsPlaced(*root) && !decision.out_of_trials()) return NestedStatus::kNever;
    }
    return NestedStatus::kUndecided;
  }

  static bool HasRanks(const Copy& copy) {
    for (const Copy* around = copy.around; around != nullptr; around = around->around) {
      if (around->group->ranks != RankPlacement::kByPath) return true;
    }
    return false;
  }

  TopologyAssignment AssignmentOf(const Copy& copy) const {
    std::map<Path, std::int64_t> more;
    for (const auto& [leaf, pods] : copy.more) more[leaf] += pods;
    Takes takes;
    if (HasRanks(copy)) {
      takes = copy.required;
    } else {
      for (const auto& [leaf, pods] : copy.required) more[leaf] += pods;
    }
    takes.insert(takes.end(), more.begin(), more.end());
    TopologyAssignment assignment;
    assignment.levels = cluster_.levels;
    if (cluster_.IsHostTopology()) assignment.levels = {cluster_.levels.back()};
    for (const auto& [leaf, pods] : takes) {
      assignment.domains.push_back(
          {cluster_.IsHostTopology() ? Path{leaf.back()} : leaf, static_cast<std::int32_t>(pods)});
    }
    return assignment;
  }

  const Cluster& cluster_;
  const OracleInput& input_;
  NestedProfile profile_;
  const NestedBounds& bounds_;
};

}  // namespace

std::vector<NestedAnswer> AnswerNested(const OracleInput& input,
                                       const std::vector<NestedRequest>& requests,
                                       NestedProfile profile, const NestedBounds& bounds) {
  const Cluster cluster = BuildCluster(input);
  std::map<Path, Vector> used;
  std::vector<NestedAnswer> answers;
  for (const NestedRequest& request : requests) {
    answers.push_back(Answerer(cluster, input, profile, bounds).Answer(request, used));
  }
  return answers;
}

}  // namespace espalier::oracle
