#include "host/readers/sources/gang_api_join.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "host/gangs/gang_counts.hpp"
#include "host/model/parse_integer.hpp"
#include "host/readers/sources/kai_metadata.hpp"
#include "host/readers/sources/pod_groups.hpp"
#include "host/readers/sources/pod_members.hpp"
#include "host/readers/sources/replicas.hpp"
#include "host/readers/sources/running_pods.hpp"
#include "host/readers/sources/source_reader.hpp"

namespace espalier {
namespace {

using Kind = PartReference::Kind;

bool HasEqGroups(const GangGroup& gang) {
  return std::ranges::any_of(gang.ranked_groups,
                             [](const RankedGroup& one) { return !one.eq_groups.empty(); });
}

// Ranked groups of the default that stand for a gang of the user's: those of the gang, or of the
// ranked groups, with its name; all where it is the only one.
std::vector<RankedGroup> DefaultsOf(const GangGroup& gang, bool only_one,
                                    const GangWorkload& by_default) {
  std::vector<RankedGroup> all;
  std::vector<RankedGroup> named;
  for (const GangGroup& other : by_default.gang_groups) {
    for (const RankedGroup& ranked : other.ranked_groups) {
      all.push_back(ranked);
      if (other.name == gang.name || ranked.name == gang.name) named.push_back(ranked);
    }
  }
  return only_one ? all : named;
}

// Gives the groups of pods to the user's ranked groups: to that of the same name, else to the
// first.
void Distribute(std::vector<RankedGroup> groups, GangGroup& gang) {
  if (gang.ranked_groups.empty()) {
    gang.ranked_groups = std::move(groups);
    return;
  }
  for (RankedGroup& group : groups) {
    auto it = std::ranges::find(gang.ranked_groups, group.name, &RankedGroup::name);
    if (it == gang.ranked_groups.end()) it = gang.ranked_groups.begin();
    for (EqGroup& one : group.eq_groups) it->eq_groups.push_back(std::move(one));
  }
}

// Fills the gaps of an equivalence group from that of the same name, or the only one.
void FillShape(EqGroup& group, const std::vector<const EqGroup*>& defaults) {
  if (group.pod_template) return;
  auto it =
      std::ranges::find_if(defaults, [&](const EqGroup* one) { return one->name == group.name; });
  if (it == defaults.end() && defaults.size() == 1) it = defaults.begin();
  if (it == defaults.end()) return;
  group.pod_template = (*it)->pod_template;
  if (!group.min_count) group.min_count = (*it)->min_count;
  if (!group.max_count) group.max_count = (*it)->max_count;
  if (group.topology_request.empty()) group.topology_request = (*it)->topology_request;
}

// The parts of a Workload, each an equivalence group or a gang without any.
struct Part {
  std::string path;  // "gg/rg/template"
  GangGroup* gang = nullptr;
  RankedGroup* ranked = nullptr;
  EqGroup* group = nullptr;
};

std::vector<Part> PartsOf(GangWorkload& workload) {
  std::vector<Part> parts;
  for (GangGroup& gang : workload.gang_groups) {
    if (gang.ranked_groups.empty()) parts.push_back({gang.name, &gang});
    for (RankedGroup& ranked : gang.ranked_groups) {
      const std::string path = gang.name + "/" + ranked.name;
      if (ranked.eq_groups.empty()) parts.push_back({path, &gang, &ranked});
      for (EqGroup& group : ranked.eq_groups) {
        parts.push_back({path + "/" + group.name, &gang, &ranked, &group});
      }
    }
  }
  return parts;
}

// Returns whether the path names the part or one that holds it; names that a path leaves out match
// any.
bool Names(std::string_view reference, std::string_view path) {
  while (!reference.empty()) {
    const std::string_view name = reference.substr(0, reference.find('/'));
    bool found = false;
    while (!path.empty() && !found) {
      const std::string_view next = path.substr(0, path.find('/'));
      path.remove_prefix(std::min(path.size(), next.size() + 1));
      found = next == name;
    }
    if (!found) return false;
    reference.remove_prefix(std::min(reference.size(), name.size() + 1));
  }
  return true;
}

bool HasLabels(const PodTemplate& pod, const StringMap& labels) {
  return std::ranges::all_of(labels, [&](const auto& label) {
    const std::string* value = pod.labels.Find(label.first);
    return value != nullptr && *value == label.second;
  });
}

// Returns whether every selector on the way to the part has the pod.
bool IsSelected(const PodTemplate& pod, const Part& part, const PartSelectors& selectors) {
  return std::ranges::all_of(selectors, [&](const auto& selector) {
    const bool on_the_way =
        part.path == selector.first || part.path.starts_with(selector.first + "/");
    return !on_the_way || HasLabels(pod, selector.second);
  });
}

// Adds pods to those of one part that are like them: once it is known which part they are of, their
// labels tell them apart no more.
void AddAlike(MemberPods pods, std::vector<MemberPods>& of_part) {
  const auto like = std::ranges::find_if(of_part, [&](const MemberPods& one) {
    return AreAlike(*one.group.pod_template, *pods.group.pod_template) &&
           one.group.topology_request == pods.group.topology_request;
  });
  if (like == of_part.end()) return of_part.push_back(std::move(pods));
  AddPods(pods.group, like->group);
}

// Returns the one of the parts that a pod matches, groups of one ranked group without gaps (W1.4),
// that its rank falls into; nullopt: none. The rank is where the ranked group says, or a
// LeaderWorkerSet's.
std::optional<std::size_t> PartOfRank(const PodTemplate& pod, const std::vector<Part>& parts,
                                      const std::vector<std::size_t>& matches) {
  if (matches.empty()) return std::nullopt;
  const RankedGroup* ranked = parts[matches[0]].ranked;
  if (ranked == nullptr) return std::nullopt;
  std::optional<std::int32_t> rank;
  for (const auto& [label, value] : pod.labels) {
    const bool ranks = ranked->rank_from.empty() ? label == kWorkerIndex
                                                 : ranked->rank_from == LabelFieldPath(label);
    if (ranks) rank = ParseInteger<std::int32_t>(value);
  }
  if (!rank) return std::nullopt;
  std::int64_t end = 0;
  for (const EqGroup& group : ranked->eq_groups) {
    end += group.min_count.value_or(0);
    if (*rank >= end) continue;
    const auto found = std::ranges::find_if(
        matches, [&](std::size_t match) { return parts[match].group == &group; });
    return found == matches.end() ? std::nullopt : std::optional(*found);
  }
  return std::nullopt;
}

// Returns the first of the members that name a Workload, and the end of these.
auto MembersThatName(const ObjectKey& key, auto& members) {
  const auto names_it = [&](const auto& member) {
    return member.first.first == key.namespace_ && member.first.second.kind == Kind::kWorkload &&
           member.first.second.name == key.name;
  };
  const auto first =
      members.lower_bound({key.namespace_, PartReference{Kind::kWorkload, key.name}});
  return std::pair(first, std::find_if_not(first, members.end(), names_it));
}

// Gives the pods that name a Workload to its parts.
class PodsOfParts {
 public:
  PodsOfParts(const std::vector<Part>& parts, const PartSelectors& selectors)
      : parts_(parts), selectors_(selectors), of_part_(parts.size()) {}

  // Takes pods that name a part, or one that holds it, for the one that they match.
  void Take(std::string_view named, MemberPods pods) {
    const std::int32_t count = pods.group.max_count.value_or(0);
    const PodTemplate& pod = *pods.group.pod_template;
    std::vector<std::size_t> matches;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (Names(named, parts_[i].path) && IsSelected(pod, parts_[i], selectors_)) {
        matches.push_back(i);
      }
    }
    if (const auto part = PartOfRank(pod, parts_, matches); part && matches.size() > 1) {
      matches = {*part};
    }
    if (matches.size() == 1) {
      seen_ += count;
      seen_of_[parts_[matches[0]].gang] += count;
      AddAlike(std::move(pods), of_part_[matches[0]].pods);
    } else if (matches.empty()) {
      lost_ += count;
    } else {
      ambiguous_ += count;
      between_ = fmt::format("{} and {}", parts_[matches[0]].path, parts_[matches[1]].path);
    }
  }

  // Returns how many pods the parts have, all and those of a gang.
  std::int32_t seen() const { return seen_; }
  std::int32_t SeenOf(const GangGroup& gang) const {
    const auto it = seen_of_.find(&gang);
    return it == seen_of_.end() ? 0 : it->second;
  }

  // Says which pods no part has.
  void SayWhatIsLeft(GangWorkload& workload) const {
    const auto match = [](std::int32_t count) { return count == 1 ? "matches" : "match"; };
    if (lost_ > 0) {
      workload.notes.push_back(
          fmt::format("{} {} no part of it", CountedPods(lost_), match(lost_)));
    }
    if (ambiguous_ > 0) {
      workload.notes.push_back(fmt::format("{} {} more than one part of it: {}",
                                           CountedPods(ambiguous_), match(ambiguous_), between_));
    }
    if (seen_ == 0 && lost_ + ambiguous_ > 0) {
      workload.waits_for = "none of its pods matches one of its parts";
    }
  }

  // Fills a part with its pods.
  void Fill(std::size_t i) {
    const Part& part = parts_[i];
    if (of_part_[i].pods.empty() && part.group == nullptr) return;
    RankedGroup taken;
    TakePods(of_part_[i], taken);
    if (part.group != nullptr) return FillGroup(taken, *part.group);
    RankedGroup* const ranked =
        part.ranked != nullptr ? part.ranked : &part.gang->ranked_groups.emplace_back();
    ranked->eq_groups = std::move(taken.eq_groups);
    if (part.gang->mode == GangMode::kGang && part.gang->min_count != 0) return;
    for (EqGroup& group : ranked->eq_groups) group.min_count = group.max_count;
  }

 private:
  // The description stands; pods say how many there are, and their shape where it does not.
  static void FillGroup(const RankedGroup& taken, EqGroup& group) {
    EqGroup there;
    for (const EqGroup& one : taken.eq_groups) AddPods(one, there);
    if (!group.pod_template && !taken.eq_groups.empty()) {
      group.pod_template = taken.eq_groups[0].pod_template;
    }
    group.running = std::move(there.running);
    group.count = there.max_count.value_or(0);
    if (!group.min_count) group.min_count = group.count;
  }

  const std::vector<Part>& parts_;
  const PartSelectors& selectors_;
  std::vector<PartMembers> of_part_;
  std::map<const GangGroup*, std::int32_t> seen_of_;
  std::int32_t seen_ = 0;
  std::int32_t lost_ = 0;
  std::int32_t ambiguous_ = 0;
  std::string between_;  // parts that some of these match
};

// A gang that starts after one that waits, waits too.
void WaitInOrder(GangWorkload& workload) {
  if (!workload.in_order) return;
  const auto first = std::ranges::find_if(
      workload.gang_groups, [](const GangGroup& gang) { return !gang.waits_for.empty(); });
  if (first == workload.gang_groups.end()) return;
  for (auto gang = first + 1; gang != workload.gang_groups.end(); ++gang) {
    if (!gang->waits_for.empty()) continue;
    gang->waits_for = fmt::format("it starts after gangGroup {}, which waits", first->name);
  }
}

}  // namespace

void AdoptDefaults(GangWorkload& user, const GangWorkload& by_default) {
  if (!user.replicas) user.replicas = by_default.replicas;
  if (user.head.queue_name.empty()) user.head.queue_name = by_default.head.queue_name;
  if (user.head.priority_class.empty() && user.head.priority == 0) {
    user.head.priority_class = by_default.head.priority_class;
    user.head.priority = by_default.head.priority;
  }
  user.running = by_default.running;
  if (user.head.resources_error.empty())
    user.head.resources_error = by_default.head.resources_error;
  if (user.waits_for.empty()) user.waits_for = by_default.waits_for;
  user.in_order = by_default.in_order;
  if (user.gang_groups.empty()) {
    // Its pods wait for nothing but the topology that they ask for (W1.8).
    user.gang_groups = by_default.gang_groups;
    for (GangGroup& gang : user.gang_groups) {
      gang.mode = GangMode::kOff;
      gang.min_count.reset();
      gang.max_count.reset();
    }
    return;
  }
  const bool only_one = user.gang_groups.size() == 1;
  for (GangGroup& gang : user.gang_groups) {
    std::vector<RankedGroup> defaults = DefaultsOf(gang, only_one, by_default);
    if (!HasEqGroups(gang)) {
      Distribute(std::move(defaults), gang);
      continue;
    }
    std::vector<const EqGroup*> groups;
    for (const RankedGroup& ranked : defaults) {
      for (const EqGroup& group : ranked.eq_groups) groups.push_back(&group);
    }
    for (RankedGroup& ranked : gang.ranked_groups) {
      for (EqGroup& group : ranked.eq_groups) FillShape(group, groups);
    }
  }
  std::int64_t size = 0;
  for (const GangGroup& gang : by_default.gang_groups) {
    for (const EqGroup* group : GroupsOf(gang)) size += group->min_count.value_or(0);
  }
  CountPerReplica(user, size);
}

void TakeQueueAndPriority(const Members& members, const SourceContext& context, Workload& head) {
  const auto [first, last] = MembersThatName(head.key, members);
  if (first == last) return;
  TakeQueueOfPods(first->second, head);
  const IndexedObject* pod = first->second.pod;
  if (pod == nullptr || !head.priority_class.empty() || head.priority != 0) return;
  if (const auto spec = Member(pod->value, "spec")) ReadGroupPriority(*spec, context, head);
}

void JoinPods(GangApiWorkload& user, Members& members) {
  GangWorkload& workload = user.workload;
  const ObjectKey& key = workload.head.key;
  const auto [first, last] = MembersThatName(key, members);
  if (first != last && workload.gang_groups.empty()) {
    // Its pods wait for nothing but the topology that it asks for (W1.8).
    workload.gang_groups.push_back({.name = "gg", .mode = GangMode::kOff});
  }
  const std::vector<Part> parts = PartsOf(workload);
  PodsOfParts pods(parts, user.selectors);
  for (auto it = first; it != last; ++it) {
    for (MemberPods& alike : it->second.pods) pods.Take(it->first.second.part, std::move(alike));
  }
  members.erase(first, last);
  pods.SayWhatIsLeft(workload);
  if (pods.seen() == 0) return;
  for (std::size_t i = 0; i < parts.size(); ++i) pods.Fill(i);
  std::int64_t running = 0;
  for (GangGroup& gang : workload.gang_groups) {
    WaitForPods(pods.SeenOf(gang), gang, workload);
    running += RunningPodsOf(gang);
  }
  const bool all_there = std::ranges::all_of(
      workload.gang_groups, [&](const GangGroup& gang) { return pods.SeenOf(gang) > 0; });
  workload.running = all_there && running == pods.seen();
  WaitInOrder(workload);
}

}  // namespace espalier
