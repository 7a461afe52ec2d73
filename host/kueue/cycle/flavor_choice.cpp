#include "host/kueue/cycle/flavor_choice.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "host/kueue/cycle/flavor_match.hpp"
#include "host/kueue/cycle/quota_requests.hpp"
#include "host/kueue/objects/quantity_text.hpp"
#include "host/kueue/objects/topology_request.hpp"
#include "host/model/by_name.hpp"

namespace espalier {
namespace {

// Pod sets that get their flavors together (R20.10).
struct PodSetGroup {
  std::vector<std::size_t> members;  // indices into the workload's pod sets
  Resources requests;                // of all pods of all members
};

// The amounts that the slice that a workload replaces holds for its pod sets (R21.13). Empty
// without a slice.
class ReplacedAmounts {
 public:
  explicit ReplacedAmounts(const Workload* slice) {
    if (slice == nullptr) return;
    const auto reclaimable = ByName(slice->reclaimable_pods);
    for (const PodSetAssignment& assignment : slice->admission->pod_set_assignments) {
      const ReclaimablePod* pods = FindOrNull(reclaimable, assignment.name);
      ReplacedPodSet& held = held_.emplace_back();
      held.flavors = &assignment.flavors;
      held.amounts = RemainingUsage(assignment, pods == nullptr ? 0 : pods->count);
      by_name_.emplace(assignment.name, held_.size() - 1);
    }
  }

  // The flavor of the pod set at `index` for a resource; null when it has none.
  const std::string* Flavor(std::size_t index, std::string_view resource) const {
    return index < held_.size() ? held_[index].flavors->Find(resource) : nullptr;
  }
  Amount AmountAt(std::size_t index, std::string_view resource) const {
    return index < held_.size() ? AmountOf(held_[index], resource) : 0;
  }
  Amount AmountNamed(std::string_view pod_set, std::string_view resource) const {
    const auto found = by_name_.find(pod_set);
    return found == by_name_.end() ? 0 : AmountOf(held_[found->second], resource);
  }

 private:
  struct ReplacedPodSet {
    const StringMap* flavors = nullptr;
    Resources amounts;
  };
  static Amount AmountOf(const ReplacedPodSet& held, std::string_view resource) {
    const Amount* amount = held.amounts.Find(resource);
    return amount == nullptr ? 0 : *amount;
  }
  std::vector<ReplacedPodSet> held_;  // in the order of the admission
  std::unordered_map<std::string_view, std::size_t> by_name_;
};

struct FlavorSearch {
  std::string_view flavor;  // of the queue; empty: none
  AssignmentMode mode = AssignmentMode::kNoFit;
  std::vector<FlavorRefusal> refusals;
  std::size_t next = 0;  // the flavor after the last one looked at; 0: the list is exhausted
};

// The first resource group of a queue that covers each resource.
using GroupsCovering = std::unordered_map<std::string_view, const ResourceGroup*>;
GroupsCovering GroupsOf(const ClusterQueue& queue) {
  GroupsCovering groups;
  for (const ResourceGroup& group : queue.resource_groups) {
    for (const std::string& resource : group.covered_resources) groups.emplace(resource, &group);
  }
  return groups;
}

// The requests that quota counts: pod slots only when the queue has a quota for them, and nothing
// of what the queue does not cover (R30.5).
Resources QuotaRequests(const PodSet& pod_set, std::int32_t count, const GroupsCovering& groups,
                        const KueueConfiguration* configuration) {
  Resources requests;
  for (const auto& [resource, amount] :
       Times(QuotaRequests(pod_set.pod_template, pod_set.pod_template.requests, configuration),
             count)) {
    if (amount != 0 || groups.contains(resource)) requests.Set(resource, amount);
  }
  if (groups.contains(kPodsResource)) requests.Set(kPodsResource, count);
  return requests;
}

std::int64_t BytesOf(const std::vector<FlavorRefusal>& refusals) {
  std::size_t bytes = refusals.size() * sizeof(FlavorRefusal);
  for (const FlavorRefusal& refusal : refusals) bytes += refusal.text.size();
  return static_cast<std::int64_t>(bytes);
}

std::vector<PodSetGroup> GroupPodSets(const Workload& workload,
                                      std::span<const PodSetFlavors> pod_sets) {
  std::vector<PodSetGroup> groups;
  std::map<std::string_view, std::size_t> by_name;
  for (std::size_t i = 0; i < workload.pod_sets.size(); ++i) {
    const auto& request = workload.pod_sets[i].topology_request;
    const bool grouped = request && request->pod_set_group_name;
    std::size_t index = groups.size();
    if (grouped) index = by_name.emplace(*request->pod_set_group_name, index).first->second;
    if (index == groups.size()) groups.emplace_back();
    groups[index].members.push_back(i);
    AddTo(groups[index].requests, pod_sets[i].requests);
  }
  return groups;
}

class Chooser {
 public:
  Chooser(const Workload& workload, std::span<const std::int32_t> counts,
          const FlavorChoiceContext& context)
      : workload_(workload),
        context_(context),
        implied_(IsTasOnly(context.queue, context.lookup)),
        groups_(GroupsOf(context.queue)),
        replaced_(context.replaced_slice) {
    for (std::size_t i = 0; i < workload.pod_sets.size() && !context.budget.stopped(); ++i) {
      const PodSet& pod_set = workload.pod_sets[i];
      PodSetFlavors& flavors = pod_sets_.emplace_back();
      flavors.name = pod_set.name;
      flavors.count = counts[i];
      flavors.requests = QuotaRequests(pod_set, counts[i], groups_, context.lookup.configuration());
    }
  }

  FlavorAssignment Run() {
    FlavorAssignment assignment;
    if (context_.budget.stopped()) return assignment;
    std::vector<std::size_t> done;
    for (const PodSetGroup& group : GroupPodSets(workload_, pod_sets_)) {
      const bool found = AssignGroup(group, assignment.next_flavors);
      done.insert(done.end(), group.members.begin(), group.members.end());
      if (!found || context_.budget.stopped()) break;
    }
    std::ranges::sort(done);
    for (const std::size_t i : done) assignment.pod_sets.push_back(std::move(pod_sets_[i]));
    return assignment;
  }

 private:
  using Chosen = std::map<std::string_view, std::string_view>;  // flavors by resource

  // False when some resource of the group found no flavor.
  bool AssignGroup(const PodSetGroup& group, FlavorCursors& next_flavors) {
    Chosen flavors;
    std::vector<FlavorRefusal> refusals;
    AssignmentMode mode = AssignmentMode::kFit;
    for (const auto& [resource, amount] : group.requests) {
      if (flavors.contains(resource)) continue;
      const auto found = groups_.find(resource);
      const ResourceGroup* covering = found == groups_.end() ? nullptr : found->second;
      if (covering == nullptr && IgnoresUndeclared()) continue;  // R30.6
      FlavorSearch search;
      if (covering == nullptr) {
        search.refusals.push_back(
            {FlavorRefusal::Kind::kNoMatch,
             fmt::format("resource {} unavailable in ClusterQueue", resource)});
      } else {
        search = FindFlavor(group, *covering);
      }
      if (search.flavor.empty()) {
        Refuse(group, std::move(search.refusals));
        return false;
      }
      mode = std::min(mode, search.mode);
      std::ranges::move(search.refusals, std::back_inserter(refusals));
      for (const std::string& covered : covering->covered_resources) {
        if (group.requests.Contains(covered)) flavors[covered] = search.flavor;
      }
      if (search.next != 0) next_flavors[CursorKey(group, *covering)] = search.next;
    }
    Accept(group, flavors, mode, refusals);
    return true;
  }

  void Refuse(const PodSetGroup& group, std::vector<FlavorRefusal> refusals) {
    for (const std::size_t i : group.members) {
      if (!context_.budget.Charge(BytesOf(refusals))) return;
      pod_sets_[i].mode = AssignmentMode::kNoFit;
      pod_sets_[i].refusals = refusals;
    }
  }

  void Accept(const PodSetGroup& group, const Chosen& flavors, AssignmentMode mode,
              const std::vector<FlavorRefusal>& refusals) {
    for (const std::size_t i : group.members) {
      if (!context_.budget.Charge(BytesOf(refusals))) return;
      PodSetFlavors& pod_set = pod_sets_[i];
      pod_set.mode = mode;
      pod_set.refusals = refusals;
      for (const auto& [resource, amount] : pod_set.requests) {
        const auto flavor = flavors.find(resource);
        if (flavor == flavors.end()) continue;  // no quota looks at it
        context_.budget.Charge(static_cast<std::int64_t>(sizeof(StringMap::Entry) +
                                                         resource.size() + flavor->second.size()));
        pod_set.flavors.Set(resource, std::string(flavor->second));
      }
      if (pod_set.requests.empty()) InheritTasFlavors(flavors, pod_set);
    }
    for (const auto& [resource, amount] : group.requests) {
      const auto flavor = flavors.find(resource);
      if (flavor == flavors.end()) continue;
      Amount held = 0;
      for (const std::size_t i : group.members) {
        held = SaturatingAdd(held, replaced_.AmountNamed(workload_.pod_sets[i].name, resource));
      }
      Amount& assumed = assumed_[{std::string(flavor->second), resource}];
      assumed = SaturatingAdd(assumed, Growth(amount, held));
    }
  }

  // R20.10, for a member without any request.
  void InheritTasFlavors(const Chosen& flavors, PodSetFlavors& pod_set) const {
    for (const auto& [resource, flavor] : flavors) {
      if (context_.lookup.IsTas(flavor)) pod_set.flavors.Set(resource, std::string(flavor));
    }
  }

  bool IgnoresUndeclared() const {
    const KueueConfiguration* configuration = context_.lookup.configuration();
    return configuration != nullptr && configuration->ignore_undeclared;
  }

  std::pair<std::string, std::size_t> CursorKey(const PodSetGroup& group,
                                                const ResourceGroup& covering) const {
    return {workload_.pod_sets[group.members.front()].name,
            static_cast<std::size_t>(&covering - context_.queue.resource_groups.data())};
  }

  // Returns what more is asked for than is held already; never negative (R21.13).
  static Amount Growth(Amount asked, Amount held) {
    return std::max<Amount>(SaturatingSubtract(asked, held), 0);
  }

  // The flavor that the pod set has to stay on, or null: a slice keeps those of the one that it
  // replaces (R21.13), one per replica those of its parent's pod set.
  const std::string* HeldFlavor(std::size_t pod_set, const std::string& resource) const {
    if (const std::string* held = replaced_.Flavor(pod_set, resource)) return held;
    if (context_.parent == nullptr || !context_.parent->admission) return nullptr;
    const auto& assignments = context_.parent->admission->pod_set_assignments;
    const auto assignment =
        std::ranges::find(assignments, workload_.pod_sets[pod_set].name, &PodSetAssignment::name);
    return assignment == assignments.end() ? nullptr : assignment->flavors.Find(resource);
  }

  std::optional<std::string> WhyNotTheSlicesFlavor(const PodSetGroup& group,
                                                   const std::vector<Resources::Entry>& requests,
                                                   const std::string& flavor) const {
    for (const auto& [resource, amount] : requests) {
      for (const std::size_t i : group.members) {
        const std::string* held = HeldFlavor(i, resource);
        if (held == nullptr || *held == flavor) continue;
        return fmt::format("could not assign {} flavor since the original workload is assigned: {}",
                           flavor, *held);
      }
    }
    return std::nullopt;
  }

  // The first flavor with room, or else the first that would have room were others gone.
  FlavorSearch FindFlavor(const PodSetGroup& group, const ResourceGroup& covering) {
    FlavorSearch best;
    const auto cursor = context_.next_flavors.find(CursorKey(group, covering));
    std::size_t i = cursor == context_.next_flavors.end() ? 0 : cursor->second;
    const std::vector<Resources::Entry> requests = CoveredRequests(group, covering);
    for (; i < covering.flavors.size() && !context_.budget.stopped(); ++i) {
      const std::string& name = covering.flavors[i].flavor;
      if (auto reason = WhyNot(group, covering, name)) {
        best.refusals.push_back({FlavorRefusal::Kind::kNoMatch, std::move(*reason)});
        continue;
      }
      if (auto reason = WhyNotTheSlicesFlavor(group, requests, name)) {
        best.refusals.push_back({FlavorRefusal::Kind::kNoMatch, std::move(*reason)});
        continue;
      }
      const AssignmentMode mode = QuotaMode(group, requests, name, best.refusals);
      if (mode > best.mode) {
        best.mode = mode;
        best.flavor = name;
      }
      if (mode == AssignmentMode::kFit) {
        best.refusals.clear();
        if (i + 1 < covering.flavors.size()) best.next = i + 1;
        break;
      }
    }
    return best;
  }

  std::optional<std::string> WhyNot(const PodSetGroup& group, const ResourceGroup& covering,
                                    const std::string& name) const {
    const ResourceFlavor* flavor = context_.lookup.Flavor(name);
    if (flavor == nullptr) return fmt::format("flavor {} not found", name);
    if (auto reason = WhyOtherTopology(workload_, *flavor)) return reason;
    for (const std::size_t i : group.members) {
      if (context_.budget.stopped()) break;
      auto reason = WhyFlavorDoesNotMatch(workload_.pod_sets[i], *flavor,
                                          covering.covered_resources, implied_, context_.lookup);
      if (reason) return reason;
    }
    return std::nullopt;
  }

  // Those of the group's requests that the resource group covers, in their order, in full.
  static std::vector<Resources::Entry> CoveredRequests(const PodSetGroup& group,
                                                       const ResourceGroup& covering) {
    const std::unordered_set<std::string_view> covered(covering.covered_resources.begin(),
                                                       covering.covered_resources.end());
    std::vector<Resources::Entry> requests;
    std::ranges::copy_if(group.requests, std::back_inserter(requests),
                         [&](const auto& request) { return covered.contains(request.first); });
    return requests;
  }

  AssignmentMode QuotaMode(const PodSetGroup& group, const std::vector<Resources::Entry>& requests,
                           const std::string& flavor, std::vector<FlavorRefusal>& refusals) const {
    AssignmentMode mode = AssignmentMode::kFit;
    if (context_.quota == nullptr) return mode;
    for (const auto& [resource, amount] : requests) {
      if (context_.budget.stopped()) break;
      Amount held = 0;
      for (const std::size_t i : group.members) {
        held = SaturatingAdd(held, replaced_.AmountAt(i, resource));
      }
      mode = std::min(mode, CheckQuota({flavor, resource}, Growth(amount, held), refusals));
    }
    return mode;
  }

  AssignmentMode CheckQuota(const FlavorResource& key, Amount request,
                            std::vector<FlavorRefusal>& refusals) const {
    const auto earlier = assumed_.find(key);
    const Amount assumed = earlier == assumed_.end() ? 0 : earlier->second;
    const Amount total = SaturatingAdd(assumed, request);
    const Amount nominal = context_.quota->Nominal(key);
    if (total > nominal) {
      refusals.push_back(
          {FlavorRefusal::Kind::kExceedsQuota,
           fmt::format("insufficient quota for {} in flavor {}, previously considered podsets "
                       "requests ({}) + current podset request ({}) > maximum capacity ({})",
                       key.resource, key.flavor, QuantityText(key.resource, assumed),
                       QuantityText(key.resource, request), QuantityText(key.resource, nominal))});
      return AssignmentMode::kNoFit;
    }
    const Amount missing =
        SaturatingSubtract(total, SaturatingSubtract(nominal, context_.quota->Used(key)));
    if (missing <= 0) return AssignmentMode::kFit;
    refusals.push_back(
        {FlavorRefusal::Kind::kQuotaInUse,
         fmt::format("insufficient unused quota for {} in flavor {}, {} more needed", key.resource,
                     key.flavor, QuantityText(key.resource, missing))});
    return AssignmentMode::kPreempt;
  }

  const Workload& workload_;
  const FlavorChoiceContext& context_;
  const bool implied_;
  const GroupsCovering groups_;
  const ReplacedAmounts replaced_;
  std::vector<PodSetFlavors> pod_sets_;
  QuotaUsage assumed_;  // by earlier groups of this workload
};

// The part of R20.9 about topologies.
std::optional<std::string> WhyTopologyDoesNotMatch(const PodSet& pod_set,
                                                   const ResourceFlavor& flavor,
                                                   std::span<const std::string> covered,
                                                   bool implied, const ClusterLookup& lookup) {
  if (!IsExplicitTas(pod_set)) {
    if (implied || !flavor.topology_name) return std::nullopt;
    return fmt::format("Flavor \"{}\" supports only TopologyAwareScheduling", flavor.name);
  }
  if (!flavor.topology_name) {
    const bool quota_only = std::ranges::none_of(covered, [&](const std::string& resource) {
      return pod_set.pod_template.requests.Contains(resource);
    });
    if (quota_only) return std::nullopt;
    return fmt::format("Flavor \"{}\" does not support TopologyAwareScheduling", flavor.name);
  }
  const Topology* topology = lookup.TopologyOf(flavor);
  if (topology == nullptr) {
    return fmt::format("Flavor \"{}\" information missing in TAS cache", flavor.name);
  }
  if (!HasRequestedLevels(*pod_set.topology_request, *topology)) {
    return fmt::format("Flavor \"{}\" does not contain the requested level", flavor.name);
  }
  return std::nullopt;
}

}  // namespace

PodSetFlavors* FlavorAssignment::Find(std::string_view pod_set) {
  const auto it = std::ranges::find(pod_sets, pod_set, &PodSetFlavors::name);
  return it == pod_sets.end() ? nullptr : &*it;
}

AssignmentMode FlavorAssignment::Mode() const {
  AssignmentMode mode = AssignmentMode::kFit;
  for (const PodSetFlavors& pod_set : pod_sets) mode = std::min(mode, pod_set.mode);
  return mode;
}

std::string FlavorAssignment::Message() const {
  std::string message;
  for (const PodSetFlavors& pod_set : pod_sets) {
    if (pod_set.refusals.empty()) continue;
    std::vector<std::string_view> texts;
    for (const FlavorRefusal& refusal : pod_set.refusals) texts.push_back(refusal.text);
    std::ranges::sort(texts);
    message += fmt::format("{}couldn't assign flavors to pod set {}: {}",
                           message.empty() ? "" : "; ", pod_set.name, fmt::join(texts, ", "));
  }
  return message;
}

std::vector<std::int32_t> PendingCounts(const Workload& workload) {
  std::vector<std::int32_t> counts;
  const auto reclaimable_pods = ByName(workload.reclaimable_pods);
  for (const PodSet& pod_set : workload.pod_sets) {
    const ReclaimablePod* pods = FindOrNull(reclaimable_pods, pod_set.name);
    const std::int32_t reclaimable = pods == nullptr ? 0 : pods->count;
    counts.push_back(std::max(pod_set.count - std::max(reclaimable, 0), 0));
  }
  return counts;
}

FlavorAssignment ChooseFlavors(const Workload& workload, std::span<const std::int32_t> counts,
                               const FlavorChoiceContext& context) {
  return Chooser(workload, counts, context).Run();
}

std::vector<FlavorAssignment> AllFlavorChoices(const Workload& workload,
                                               std::span<const std::int32_t> counts,
                                               FlavorChoiceContext context, std::size_t most) {
  std::vector<FlavorAssignment> choices;
  do {
    choices.push_back(ChooseFlavors(workload, counts, context));
    context.next_flavors = choices.back().next_flavors;
  } while (!context.next_flavors.empty() && choices.size() < most && !context.budget.stopped());
  return choices;
}

std::optional<std::string> WhyOtherTopology(const Workload& workload,
                                            const ResourceFlavor& flavor) {
  const std::string& wanted = workload.topology_name;
  if (wanted.empty() || flavor.topology_name == wanted) return std::nullopt;
  return fmt::format("flavor {} has {}, and its pods ask for topology {}", flavor.name,
                     flavor.topology_name ? "topology " + *flavor.topology_name : "no topology",
                     wanted);
}

std::optional<std::string> WhyFlavorDoesNotMatch(const PodSet& pod_set,
                                                 const ResourceFlavor& flavor,
                                                 std::span<const std::string> covered, bool implied,
                                                 const ClusterLookup& lookup) {
  auto reason = WhyTopologyDoesNotMatch(pod_set, flavor, covered, implied, lookup);
  if (reason) return reason;
  if (const Taint* taint = UntoleratedFlavorTaint(flavor, pod_set.pod_template)) {
    return fmt::format("untolerated taint {{{} {} {} <nil>}} in flavor {}", taint->key,
                       taint->value, taint->effect, flavor.name);
  }
  if (!MatchesFlavorLabels(flavor, pod_set.pod_template)) {
    return fmt::format("flavor {} doesn't match node affinity", flavor.name);
  }
  return std::nullopt;
}

std::vector<std::string> TasFlavors(const StringMap& flavors, const ClusterLookup& lookup) {
  std::set<std::string> names;
  for (const auto& [resource, flavor] : flavors) {
    if (lookup.IsTas(flavor)) names.insert(flavor);
  }
  return {names.begin(), names.end()};
}

}  // namespace espalier
