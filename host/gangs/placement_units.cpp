#include "host/gangs/placement_units.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include <fmt/format.h>

#include "host/gangs/gang_counts.hpp"
#include "host/gangs/left_out_notes.hpp"

namespace espalier {
namespace {

bool HasKnownShape(const GangWorkload& workload) {
  return std::ranges::any_of(workload.gang_groups, [](const GangGroup& gang) {
    return std::ranges::any_of(gang.ranked_groups,
                               [](const RankedGroup& ranked) { return !ranked.eq_groups.empty(); });
  });
}

// Returns whether a request at some level of the gang binds its pods to each other. Of pods that
// are replicas, that of an equivalence group is each pod's own, as in Kueue.
bool IsBound(const GangWorkload& workload, const GangGroup& gang) {
  if (Binds(workload.topology_request) || Binds(gang.topology_request)) return true;
  if (std::ranges::any_of(gang.middle_groups,
                          [](const MiddleGroup& group) { return Binds(group.topology_request); })) {
    return true;
  }
  const bool with_groups = workload.replica_mode != ReplicaMode::kReplicatedPods;
  return std::ranges::any_of(gang.ranked_groups, [&](const RankedGroup& ranked) {
    return Binds(ranked.topology_request) ||
           (with_groups && std::ranges::any_of(ranked.eq_groups, [](const EqGroup& group) {
              return Binds(group.topology_request);
            }));
  });
}

bool IsPodByPod(const GangWorkload& workload, const GangGroup& gang) {
  return IsBestEffort(workload, gang) ||
         (!workload.whole && RunsEnough(gang) && !IsBound(workload, gang));
}

// Returns whether pods of the gang that run bind others to where they are (R25.12). Of several
// replicas it is not known which the pods belong to.
bool RunningPodsBind(const GangWorkload& workload, const GangGroup& gang) {
  if (RunningPodsOf(gang) == 0) return false;
  if (workload.replica_mode == ReplicaMode::kReplicatedPods) return false;
  if (CopiesOfGang(workload) > 1) return false;
  return IsBound(workload, gang);
}

// Returns whether running pods bind more than one gang of the workload, or its only one.
bool RunningPodsBindAll(const GangWorkload& workload) {
  const bool together =
      workload.whole || workload.gang_groups.size() == 1 || Binds(workload.topology_request);
  return together && std::ranges::any_of(workload.gang_groups, [&](const GangGroup& gang) {
           return RunningPodsBind(workload, gang);
         });
}

std::int64_t PodsOf(const GangWorkload& workload, const GangGroup& gang) {
  if (workload.replica_mode == ReplicaMode::kReplicatedPods && workload.replicas) {
    return *workload.replicas;
  }
  return TotalOf(CountsOf(workload, gang));
}

// Pods of the outermost slices of a request, or 1.
std::int32_t SliceSizeOf(const PodSet& pod_set) {
  if (!pod_set.topology_request) return 1;
  const TopologyRequest& request = *pod_set.topology_request;
  if (!request.slice_constraints.empty()) return request.slice_constraints.front().size;
  return request.slice_topology ? request.slice_size.value_or(1) : 1;
}

// Returns how many pods are behind the last whole slice.
std::int32_t PodsBeyondSlices(const PodSet& pod_set) {
  const std::int32_t size = SliceSizeOf(pod_set);
  return size > 1 ? pod_set.count % size : 0;
}

// Makes the units of one workload.
class Units {
 public:
  explicit Units(GangWorkload& workload) : workload_(workload), notes_(workload) {}

  std::vector<Workload> Make() {
    if (auto known = WithoutPods()) return {*std::move(known)};
    notes_.NoteWhatNoneHonours();
    notes_.NoteWhatFlatUnitsLeaveOut();
    const bool one_unit = workload_.whole || workload_.gang_groups.size() == 1;
    // Replicas are placed one by one, each as a whole.
    if (workload_.whole && workload_.replica_mode != ReplicaMode::kReplicatedGangs) {
      AddUnit(workload_.gang_groups, NameOf(workload_.gang_groups.front(), true), true);
    } else {
      for (const GangGroup& gang : workload_.gang_groups) AddGang(gang, one_unit);
    }
    if (units_.size() > 1) Number();
    if (units_.empty()) units_.push_back(workload_.head);  // of no pods
    for (Workload& unit : units_) {
      unit.not_honoured = notes_.broken();
      SayWhatSlicesLeaveOut(unit);
    }
    return std::move(units_);
  }

  Workload MakeTree() {
    if (auto known = WithoutPods()) return *std::move(known);
    notes_.NoteWhatNoneHonours();
    for (const GangGroup& gang : workload_.gang_groups) notes_.NotePreferences(gang);
    for (const GangGroup& gang : workload_.gang_groups) {
      if (workload_.replica_mode == ReplicaMode::kReplicatedPods) break;
      if (std::string why = WhyNotPlaceable(gang); !why.empty()) return Refused(std::move(why));
    }
    for (const GangGroup& gang : workload_.gang_groups) {
      for (const EqGroup* group : GroupsOf(gang)) {
        if (group->kept_apart.empty() || group->max_count.value_or(2) < 2) continue;
        return Refused(fmt::format("{} keeps the pods of eqGroup {} apart, which is not honoured",
                                   group->kept_apart.front(), group->name));
      }
    }
    Workload unit = workload_.head;
    unit.pod_sets = PodSetsOfTree();
    unit.tree = std::make_shared<const GangWorkload>(workload_);
    return unit;
  }

  // Returns whether units of flat requests leave out something that the workload asks for.
  bool LeaveOutAnything() {
    notes_.NoteWhatFlatUnitsLeaveOut();
    const std::span<const GangGroup> gangs = workload_.gang_groups;
    if (workload_.whole) {
      PodSets(gangs, true);
    } else {
      for (const GangGroup& gang : gangs) PodSets({&gang, 1}, gangs.size() == 1);
    }
    return left_out_ || notes_.any();
  }

 private:
  // The unit of a workload of which there is nothing to place, or not yet.
  std::optional<Workload> WithoutPods() const {
    if (!workload_.waits_for.empty()) return Refused(workload_.waits_for);
    if (workload_.gang_groups.empty()) return workload_.head;
    if (HasKnownShape(workload_)) return std::nullopt;
    return Refused(
        "the shape of its pods is not known: no eqGroup has a template, and neither its true "
        "workload nor its pods are in the input");
  }

  std::string WhyNotPlaceable(const GangGroup& gang) const {
    if (!gang.waits_for.empty()) return gang.waits_for;
    if (gang.mode != GangMode::kGang) return {};
    if (!gang.min_count) {
      return fmt::format("how many pods gangGroup {} needs is not known", gang.name);
    }
    const std::int64_t pods = TotalOf(CountsOf(workload_, gang)) + RunningPodsOf(gang);
    if (*gang.min_count <= pods) return {};
    return fmt::format("gangGroup {} needs {} pods, but its eqGroups have {}", gang.name,
                       *gang.min_count, pods);
  }

  void AddGang(const GangGroup& gang, bool only_one) {
    const std::span<const GangGroup> alone(&gang, 1);
    if (!gang.waits_for.empty()) {
      Begin(NameOf(gang, only_one)).refusal = gang.waits_for;
      return;
    }
    if (RunsWhole(workload_, gang)) return;
    if (RunningPodsBind(workload_, gang)) return AddTree(gang, NameOf(gang, only_one));
    if (IsPodByPod(workload_, gang)) return AddPods(gang, NameOf(gang, only_one));
    if (workload_.replica_mode != ReplicaMode::kReplicatedGangs) {
      return AddUnit(alone, NameOf(gang, only_one), only_one);
    }
    const std::int32_t replicas = workload_.replicas.value_or(1);
    for (std::int32_t i = 0; i < replicas; ++i) {
      AddUnit(alone, fmt::format("{}-{}", NameOf(gang, only_one), i), replicas == 1);
    }
  }

  // A gang whose running pods say where the others go is a tree of its own.
  void AddTree(const GangGroup& gang, std::string name) {
    GangWorkload alone = workload_;
    alone.head.key.name = std::move(name);
    alone.gang_groups = {gang};
    units_.push_back(Units(alone).MakeTree());
  }

  // Every pod of a group that is no gang is on its own.
  void AddPods(const GangGroup& gang, const std::string& name) {
    std::int64_t index = 0;
    for (const PodSet& shape : PodSets(std::span<const GangGroup>(&gang, 1), false)) {
      for (std::int32_t i = 0; i < shape.count; ++i) {
        Workload& unit = Begin(fmt::format("{}-{}", name, index++));
        unit.pod_sets.push_back(shape);
        unit.pod_sets[0].count = 1;
      }
    }
  }

  // `is_all`: there is no other unit, so that requests of the workload concern this one alone.
  void AddUnit(std::span<const GangGroup> gangs, std::string name, bool is_all) {
    for (const GangGroup& gang : gangs) {
      if (std::string why = WhyNotPlaceable(gang); !why.empty()) {
        Begin(std::move(name)).refusal = std::move(why);
        return;
      }
    }
    std::vector<PodSet> pod_sets = PodSets(gangs, is_all);
    Begin(std::move(name)).pod_sets = std::move(pod_sets);
  }

  Workload& Begin(std::string name) {
    Workload& unit = units_.emplace_back(workload_.head);
    unit.key.name = std::move(name);
    return unit;
  }

  Workload Refused(std::string reason) const {
    Workload unit = workload_.head;
    unit.refusal = std::move(reason);
    return unit;
  }

  std::string NameOf(const GangGroup& gang, bool only_one) const {
    if (!gang.pod_group.empty()) return gang.pod_group;
    const std::string& name = workload_.head.key.name;
    return only_one ? name : fmt::format("{}-{}", name, gang.name);
  }

  // So that they stay in this order where all else is equal.
  void Number() {
    for (std::size_t i = 0; i < units_.size(); ++i) {
      units_[i].uid += fmt::format("{:08}", i);
    }
  }

  // Counts all replicas as pods of the first shape, where each of them is one pod (W1.2).
  void CountReplicas(std::vector<std::int32_t>& counts) const {
    if (workload_.replica_mode != ReplicaMode::kReplicatedPods || !workload_.replicas) return;
    if (counts.empty()) return;
    std::ranges::fill(counts, 0);
    counts[0] = *workload_.replicas;
  }

  std::vector<PodSet> PodSets(std::span<const GangGroup> gangs, bool is_all) {
    std::vector<PodSet> pod_sets;
    std::vector<std::string> full_names;
    for (const GangGroup& gang : gangs) {
      const std::size_t first_of_gang = pod_sets.size();
      std::vector<std::int32_t> counts = CountsOf(workload_, gang);
      CountReplicas(counts);
      std::size_t index = 0;
      std::vector<std::size_t> first_of_ranked;
      for (const RankedGroup& ranked : gang.ranked_groups) {
        const std::size_t first = pod_sets.size();
        first_of_ranked.push_back(first);
        for (const EqGroup& group : ranked.eq_groups) {
          const std::int32_t count = counts[index++];
          if (count <= 0 && (!workload_.whole || !group.running.empty())) continue;
          pod_sets.push_back(PodSetOf(group, count));
          full_names.push_back(FullName(gangs, gang, ranked, group));
        }
        Apply(ranked.topology_request, "rankedGroup " + ranked.name, Since(pod_sets, first));
      }
      first_of_ranked.push_back(pod_sets.size());
      ApplyMiddleGroups(gang, first_of_ranked, pod_sets);
      Apply(gang.topology_request, "gangGroup " + gang.name, Since(pod_sets, first_of_gang));
    }
    if (is_all) Apply(workload_.topology_request, "the workload", pod_sets);
    for (const PodSet& pod_set : pod_sets) {
      if (PodsBeyondSlices(pod_set) > 0) left_out_ = true;
    }
    NameApart(pod_sets, full_names);
    return pod_sets;
  }

  // `first_of_ranked`: where the pod sets of each ranked group begin, and where the last ones end.
  void ApplyMiddleGroups(const GangGroup& gang, const std::vector<std::size_t>& first_of_ranked,
                         std::span<PodSet> pod_sets) {
    for (std::size_t m = gang.middle_groups.size(); m-- > 0;) {
      const auto middle = static_cast<std::int32_t>(m);
      const auto is_inside = [&](const RankedGroup& ranked) {
        return IsWithin(gang, ranked.within, middle);
      };
      const auto begin = std::ranges::find_if(gang.ranked_groups, is_inside);
      const auto end = std::find_if_not(begin, gang.ranked_groups.end(), is_inside);
      const std::size_t first =
          first_of_ranked[static_cast<std::size_t>(begin - gang.ranked_groups.begin())];
      const std::size_t last =
          first_of_ranked[static_cast<std::size_t>(end - gang.ranked_groups.begin())];
      const MiddleGroup& group = gang.middle_groups[m];
      Apply(group.topology_request, "group " + group.name, pod_sets.subspan(first, last - first));
    }
  }

  // All pods of all copies, each pod set with the finest request that binds it.
  std::vector<PodSet> PodSetsOfTree() const {
    const std::int64_t copies = CopiesOfGang(workload_);
    std::vector<PodSet> pod_sets;
    std::vector<std::string> full_names;
    for (const GangGroup& gang : workload_.gang_groups) {
      std::vector<std::int32_t> counts;
      for (const PodCounts& pods : PodCountsOf(workload_, gang)) counts.push_back(pods.most);
      CountReplicas(counts);
      std::size_t index = 0;
      for (const RankedGroup& ranked : gang.ranked_groups) {
        for (const EqGroup& group : ranked.eq_groups) {
          const std::int64_t pods = copies * counts[index++];
          PodSet& pod_set = pod_sets.emplace_back();
          pod_set.name = group.name;
          pod_set.count = static_cast<std::int32_t>(
              std::min<std::int64_t>(pods, std::numeric_limits<std::int32_t>::max()));
          if (group.pod_template) pod_set.pod_template = *group.pod_template;
          if (group.apart) {  // of its own pods the tree sees to it
            std::ranges::replace(pod_set.pod_template.ignored_constraints, "pod anti-affinity",
                                 "pod anti-affinity to pods of others");
          }
          pod_set.max_requests = group.max_requests;
          pod_set.topology_request = FinestOf(RequestsAround(workload_, gang, ranked, &group));
          full_names.push_back(FullName(workload_.gang_groups, gang, ranked, group));
        }
      }
    }
    NameApart(pod_sets, full_names);
    return pod_sets;
  }

  // The first of the requests that asks for a level; where none does, any place will do.
  static TopologyRequest FinestOf(const std::vector<const GroupTopologyRequest*>& requests) {
    TopologyRequest finest;
    for (const GroupTopologyRequest* request : requests) {
      if (!AsksForLevels(*request)) continue;
      finest.required = request->levels->required;
      if (!finest.required) finest.preferred = request->levels->preferred;
      break;
    }
    if (!finest.required && !finest.preferred) finest.unconstrained = true;
    return finest;
  }

  static std::span<PodSet> Since(std::vector<PodSet>& pod_sets, std::size_t first) {
    return std::span(pod_sets).subspan(first);
  }

  PodSet PodSetOf(const EqGroup& group, std::int32_t count) {
    PodSet pod_set;
    pod_set.name = group.name;
    pod_set.count = count;
    pod_set.min_count = group.partial_count;
    if (group.pod_template) pod_set.pod_template = *group.pod_template;
    pod_set.max_requests = group.max_requests;
    pod_set.topology_request = group.topology_request.levels;
    DropSecond(pod_set.topology_request, "eqGroup " + group.name);
    return pod_set;
  }

  // A request holds either a required or a preferred level.
  void DropSecond(std::optional<TopologyRequest>& request, const std::string& of) {
    if (!request || !request->required || !request->preferred) return;
    notes_.LeaveOut(
        fmt::format("topologyRequest of {}: preferred {} is not honoured beside required {}", of,
                    *request->preferred, *request->required));
    request->preferred.reset();
  }

  // Lets all of `pod_sets` ask for what the level above them does, as far as that can be said.
  void Apply(const GroupTopologyRequest& request, const std::string& of,
             std::span<PodSet> pod_sets) {
    if (!AsksForLevels(request) || pod_sets.empty()) return;
    std::optional<TopologyRequest> outer = request.levels;
    DropSecond(outer, of);
    if (pod_sets.size() == 1) {
      Combine(*outer, of, pod_sets[0].topology_request);
      return;
    }
    const bool leads =
        std::ranges::any_of(pod_sets, [](const PodSet& one) { return one.count == 1; });
    const bool free = std::ranges::none_of(pod_sets, [](const PodSet& one) {
      return one.topology_request &&
             (one.topology_request->required || one.topology_request->preferred ||
              one.topology_request->unconstrained || one.topology_request->slice_topology);
    });
    if (pod_sets.size() == 2 && leads && free && (outer->required || outer->preferred)) {
      outer->pod_set_group_name =
          pod_set_groups_ == 0 ? "group" : fmt::format("group-{}", pod_set_groups_);
      ++pod_set_groups_;
    } else {
      notes_.LeaveOut(
          fmt::format("topologyRequest of {}: {} holds for each of its {} pod sets, not for all of "
                      "them together",
                      of, LevelText(*outer), pod_sets.size()),
          IsRequirement(*outer));
    }
    for (PodSet& pod_set : pod_sets) Combine(*outer, of, pod_set.topology_request);
  }

  // Both bind the same pods, so that of levels the inner one, which is the finer, says it all.
  void Combine(const TopologyRequest& outer, const std::string& of,
               std::optional<TopologyRequest>& request) {
    if (!request) request.emplace();
    CombineSlices(outer, of, *request);
    if (request->required) return;
    if (request->preferred) {
      if (!outer.required) return;
      notes_.LeaveOut(
          fmt::format("topologyRequest of {}: preferred {} inside it is not honoured beside "
                      "required {}",
                      of, *request->preferred, *outer.required));
      request->preferred.reset();
    }
    request->required = outer.required;
    request->preferred = outer.preferred;
    if (request->required || request->preferred) {
      request->unconstrained.reset();
    } else if (!request->unconstrained) {
      request->unconstrained = outer.unconstrained;
    }
    if (outer.pod_set_group_name) request->pod_set_group_name = outer.pod_set_group_name;
  }

  // Gives `request` the slices of `outer` if it has none. Leaves them out beside a required level:
  // only a topology tells whether they are finer than it, and a flat request cannot hold those that
  // are not.
  void CombineSlices(const TopologyRequest& outer, const std::string& of,
                     TopologyRequest& request) {
    if (!HasSlices(outer) || HasSlices(request)) return;
    if (request.required) {
      notes_.LeaveOut(
          fmt::format("topologyRequest of {}: its slices are not honoured beside required {} "
                      "inside it",
                      of, *request.required),
          true);
      return;
    }
    request.slice_topology = outer.slice_topology;
    request.slice_size = outer.slice_size;
    request.slice_constraints = outer.slice_constraints;
  }

  // Returns the name of a pod set by the groups around it, as far as there are several.
  static std::string FullName(std::span<const GangGroup> gangs, const GangGroup& gang,
                              const RankedGroup& ranked, const EqGroup& group) {
    std::string name =
        ranked.eq_groups.size() == 1 ? ranked.name : fmt::format("{}-{}", ranked.name, group.name);
    return gangs.size() == 1 ? name : fmt::format("{}-{}", gang.name, name);
  }

  // Gives the pod sets of one unit different names: where two have the same one, each gets its full
  // name, numbered as long as another pod set has that too.
  static void NameApart(std::vector<PodSet>& pod_sets, std::span<const std::string> full_names) {
    std::set<std::string> names;
    for (const PodSet& pod_set : pod_sets) names.insert(pod_set.name);
    if (names.size() == pod_sets.size()) return;
    names.clear();
    for (std::size_t i = 0; i < pod_sets.size(); ++i) {
      std::string name = full_names[i];
      for (int number = 2; !names.insert(name).second; ++number) {
        name = fmt::format("{}-{}", full_names[i], number);
      }
      pod_sets[i].name = std::move(name);
    }
  }

  GangWorkload& workload_;
  std::vector<Workload> units_;
  LeftOutNotes notes_;
  bool left_out_ = false;   // pods beyond whole slices, of which the units tell
  int pod_set_groups_ = 0;  // made so far
};

// Returns whether ranks run through several equivalence groups.
bool HasRanksOverGroups(const GangWorkload& workload) {
  return std::ranges::any_of(workload.gang_groups, [](const GangGroup& gang) {
    return std::ranges::any_of(gang.ranked_groups, [](const RankedGroup& ranked) {
      return !ranked.rank_from.empty() && ranked.eq_groups.size() > 1;
    });
  });
}

}  // namespace

std::int64_t CountUnits(const GangWorkload& workload) {
  const bool replicated = workload.replica_mode == ReplicaMode::kReplicatedGangs;
  if (workload.whole && !replicated) return 1;
  std::int64_t units = 0;
  for (const GangGroup& gang : workload.gang_groups) {
    if (IsBestEffort(workload, gang)) {
      units += PodsOf(workload, gang);
    } else {
      units += CopiesOfGang(workload);
    }
  }
  return std::max<std::int64_t>(units, 1);
}

void SayWhatSlicesLeaveOut(Workload& unit) {
  for (const PodSet& pod_set : unit.pod_sets) {
    const std::int32_t beyond = PodsBeyondSlices(pod_set);
    if (beyond == 0) continue;
    std::string text = fmt::format(
        "pod set {}: {} of its {} pods get no place, as they are beyond the last whole slice of {}",
        pod_set.name, beyond, pod_set.count, SliceSizeOf(pod_set));
    if (std::ranges::find(unit.not_honoured, text) == unit.not_honoured.end()) {
      unit.not_honoured.push_back(std::move(text));
    }
  }
}

std::vector<Workload> PlacementUnits(GangWorkload& workload) { return Units(workload).Make(); }

bool IsBestEffortInOneDomain(const GangWorkload& workload) {
  if (workload.whole || !workload.waits_for.empty()) return false;
  return std::ranges::any_of(workload.gang_groups, [&](const GangGroup& gang) {
    return IsBestEffort(workload, gang) && IsBound(workload, gang);
  });
}

bool IsTree(const GangWorkload& workload, Trees trees) {
  if (workload.gang_groups.empty() || !workload.waits_for.empty()) return false;
  if (RunningPodsBindAll(workload) || IsBestEffortInOneDomain(workload) ||
      NeedsOneOfSeveral(workload)) {
    return true;
  }
  return trees == Trees::kAll || (trees == Trees::kNested && IsNested(workload));
}

std::vector<Workload> TreeUnits(GangWorkload& workload) {
  std::vector<Workload> units;
  if (workload.whole) {
    units.push_back(Units(workload).MakeTree());
    return units;
  }
  // Gangs that wait, or have nothing to place, are no part of the tree of the others, but bind them
  // to their domain all the same.
  GangWorkload tree = workload;
  std::erase_if(tree.gang_groups, [&](const GangGroup& gang) {
    if (gang.waits_for.empty() && !RunsWhole(workload, gang)) return false;
    for (const EqGroup* group : GroupsOf(gang)) {
      std::ranges::copy(group->running, std::back_inserter(tree.beside));
    }
    return true;
  });
  if (!tree.gang_groups.empty()) {
    units.push_back(Units(tree).MakeTree());
    workload.notes = tree.notes;
  }
  for (const GangGroup& gang : workload.gang_groups) {
    if (gang.waits_for.empty()) continue;
    Workload& unit = units.emplace_back(workload.head);
    if (workload.gang_groups.size() > 1) unit.key.name += "-" + gang.name;
    unit.refusal = gang.waits_for;
  }
  return units;
}

bool IsNested(const GangWorkload& workload) {
  if (workload.gang_groups.empty() || !workload.waits_for.empty()) return false;
  if (CopiesOfGang(workload) > 1 || HasRanksOverGroups(workload)) return true;
  if (IsBestEffortInOneDomain(workload)) return true;
  GangWorkload scratch = workload;  // for the notes
  return Units(scratch).LeaveOutAnything();
}

bool NeedsOneOfSeveral(const GangWorkload& workload) {
  if (workload.whole || !workload.waits_for.empty() || workload.gang_groups.size() != 1) {
    return false;
  }
  const GangGroup& gang = workload.gang_groups.front();
  return gang.mode == GangMode::kGang && gang.min_count == 1 && gang.max_count.value_or(1) > 1 &&
         workload.replica_mode == ReplicaMode::kUnreplicated && gang.middle_groups.empty() &&
         !gang.min_groups && HasKnownShape(workload);
}

Workload TreeUnit(GangWorkload& workload) {
  Workload unit = Units(workload).MakeTree();
  if (NeedsOneOfSeveral(workload) && unit.pod_sets.size() == 1) unit.pod_sets[0].min_count = 1;
  return unit;
}

}  // namespace espalier
