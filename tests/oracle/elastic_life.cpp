#include "tests/oracle/elastic_life.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/kueue/cycle/preemption.hpp"
#include "host/kueue/cycle/scheduling_cycle.hpp"
#include "host/kueue/elastic/workload_slices.hpp"
#include "host/kueue/objects/ungater.hpp"
#include "tests/kueue/objects.hpp"
#include "tests/oracle/elastic_workloads.hpp"
#include "tests/oracle/resizes.hpp"

namespace espalier::oracle {
namespace {

constexpr Amount kQuota = 12;
constexpr const char* kQueue = "gpu-queue";

}  // namespace

ElasticLife::ElasticLife(Random& random)
    : random_(random), cluster_(MakeCluster()), engine_(MakeCpuBackend(1), ResizeGates({})) {
  cluster_.cluster_queues[0] = MakeQueue(kQueue, {"gpu"}, 0, kQuota);
  for (const char* name : {"x", "y", "z"}) {
    Job job{name, SliceMode::kReplacement, ResizeProfile::kKueue};
    if (random_.Chance(35)) job.mode = SliceMode::kPerReplica;
    if (random_.Chance(50)) job.profile = ResizeProfile::kEspalier;
    const bool prefers = job.profile == ResizeProfile::kEspalier && random_.Chance(40);
    AddJob(job, random_.Between(1, 5), prefers ? kRack : "");
  }
}

void ElasticLife::AddJob(const Job& job, std::int64_t pods, const std::string& preferred) {
  TopologyRequest request;
  if (preferred.empty()) {
    request.unconstrained = true;
  } else {
    request.preferred = preferred;
  }
  std::vector<PodSet> pod_sets = {
      MakePodSet("main", static_cast<std::int32_t>(pods), {{"gpu", 1}}, request)};
  if (random_.Chance(30)) pod_sets.push_back(MakePodSet("more", 1, {{"gpu", 1}}, request));
  Workload workload = MakeWorkload(job.name, "gpu", std::move(pod_sets), made_++);
  workload.annotations = {{std::string(kElasticJobAnnotation), "true"}};
  workload.owners = {{"batch/v1", "Job", "job-" + job.name, "uid-job-" + job.name, true}};
  cluster_.workloads.push_back(std::move(workload));
  jobs_.push_back(job);
}

std::string ElasticLife::Step() {
  const std::int64_t choice = random_.Between(1, 100);
  std::string problem = choice <= 50   ? Resize()
                        : choice <= 70 ? Ungate()
                        : choice <= 85 ? Cycle()
                        : choice <= 91 ? FailNode()
                        : choice <= 97 ? RepairNode()
                                       : EvictJob();
  if (problem.empty()) problem = CheckUsage();
  return problem;
}

const Workload* ElasticLife::Find(const ObjectKey& key) const {
  const auto found = std::ranges::find(cluster_.workloads, key, &Workload::key);
  return found == cluster_.workloads.end() ? nullptr : &*found;
}

Workload* ElasticLife::NewestOf(const Job& job) {
  Workload* newest = nullptr;
  for (Workload& workload : cluster_.workloads) {
    if (HasCondition(workload, kFinished) || IsReplica(workload)) continue;
    if (SliceName(workload) == job.name) newest = &workload;  // later ones replace earlier ones
  }
  return newest;
}

Workload* ElasticLife::RunningOf(const Job& job) {
  Workload* running = nullptr;
  for (Workload& workload : cluster_.workloads) {
    if (!HasReservation(workload) || IsReplica(workload)) continue;
    if (SliceName(workload) == job.name) running = &workload;
  }
  return running;
}

std::string ElasticLife::Resize() {
  const Job& job = random_.Pick(jobs_);
  Workload* newest = NewestOf(job);
  if (newest == nullptr) return fmt::format("job {} has no workload", job.name);
  ResizeRequest request{newest->key, {}, job.mode, job.profile};
  for (const PodSet& pod_set : newest->pod_sets) {
    if (random_.Chance(75)) request.counts.emplace_back(pod_set.name, random_.Between(0, 8));
  }
  last_step_ = fmt::format("resize {} of {} pods to {} ({}, {})", newest->key.name,
                           Sum(CountsOf(*newest)), Sum(Wanted(*newest, request)),
                           job.mode == SliceMode::kPerReplica ? "per-replica" : "replacement",
                           job.profile == ResizeProfile::kKueue ? "kueue" : "espalier");
  const auto plan = PlanResize(cluster_, engine_, request);
  if (!plan) return plan.error().message;
  ++seen_[std::string(ToString(plan->decision))];
  const bool admitted = !plan->slices.empty() && plan->slices.front().admitted;
  if (admitted) ++seen_["admitted-slice"];
  if (std::string problem = CheckPlan(request, *plan); !problem.empty()) return problem;
  return Replay(request, *plan, random_.Chance(30));
}

std::string ElasticLife::Replay(const ResizeRequest& request, const ResizePlan& plan, bool crash) {
  if (crash && !plan.slices.empty()) {
    ++seen_["crash"];
    // The slices were written, and nothing else.
    for (const PlannedSlice& slice : plan.slices) PutWorkload(slice.workload, cluster_.workloads);
    const auto again = PlanResize(cluster_, engine_, request);
    if (!again) return "after a crash: " + again.error().message;
    CarryOut(*again, cluster_);
  }
  CarryOut(plan, cluster_);
  const std::vector<Workload> once = cluster_.workloads;
  CarryOut(plan, cluster_);
  if (cluster_.workloads != once) return "carrying a plan out twice changes something";
  // Slices that were folded may be deleted; those of a crash that were admitted are in the parent.
  std::erase_if(cluster_.workloads, [&](const Workload& workload) {
    return IsReplicaOf(workload, plan.workload.name) && HasReservation(workload);
  });
  if (plan.decision == ResizeDecision::kRefused) return "";
  const auto again = PlanResize(cluster_, engine_, request);
  if (!again) return "asked again: " + again.error().message;
  const bool all_admitted = std::ranges::all_of(plan.slices, &PlannedSlice::admitted);
  if (all_admitted && again->decision != ResizeDecision::kNone) {
    return fmt::format("asked again it is {} and not none ({})", ToString(again->decision),
                       again->reason);
  }
  for (const PlannedSlice& slice : again->slices) {
    if (Find(slice.workload.key) == nullptr) {
      return fmt::format("asked again there is another slice, {}", slice.workload.key.name);
    }
  }
  return "";
}

std::string ElasticLife::CheckPlan(const ResizeRequest& request, const ResizePlan& plan) const {
  const Workload& before = *Find(request.workload);
  switch (plan.decision) {
    case ResizeDecision::kNone:
      return Wanted(before, request) == CountsOf(before) ? "" : "nothing is done for other counts";
    case ResizeDecision::kRefused: {
      const bool sick = !before.unhealthy_nodes.empty();
      return sick ? "" : "refused without an unhealthy node: " + plan.reason;  // W5.6
    }
    case ResizeDecision::kInPlace:
      if (CountsOf(plan) != Wanted(before, request)) return "in place, but with other counts";
      return HasReservation(before) ? CheckInPlace(plan) : "";
    case ResizeDecision::kNewSlice:
      if (CountsOf(plan) != Wanted(before, request)) return "a slice with other counts";
      return CheckNewSlice(request, plan);
    case ResizeDecision::kSlicesPerReplica:
      return CheckReplicas(request, plan);
  }
  return "no decision";
}

// Checks that who stays does not move, and that who leaves was there (W5.2). Returns what is wrong.
std::string ElasticLife::CheckInPlace(const ResizePlan& plan) const {
  const Workload& before = *Find(plan.workload);
  for (std::size_t i = 0; i < before.pod_sets.size(); ++i) {
    const TopologyAssignment& old = PlacesOf(before, i);
    const TopologyAssignment& places = PlacesOf(*plan.after, i);
    if (!Contains(old, places)) return "a pod moved as others left";
    if (PodsIn(places) != plan.after->pod_sets[i].count) return "counts and places differ";
    TopologyAssignment all = places;
    for (const LeavingPods& leaving : plan.leaving) {
      if (leaving.pod_set != before.pod_sets[i].name) continue;
      std::ranges::copy(leaving.domains, std::back_inserter(all.domains));
    }
    if (ByDomain(all.domains) != ByDomain(old.domains)) return "leaving and staying do not add up";
  }
  return "";
}

// R21.13, R16.4.
std::string ElasticLife::CheckNewSlice(const ResizeRequest& request, const ResizePlan& plan) const {
  const Workload& old = *Find(request.workload);
  const PlannedSlice& slice = plan.slices.front();
  const PodSetCounts wanted = Wanted(old, request);
  // Some of several pod sets may shrink: what is used then is looked at once it is carried out.
  const bool within = old.pod_sets.size() > 1 ||
                      IsWithinQuota(DifferenceOf(old, wanted), {{{"gpu", "gpu"}, kQuota}},
                                    QuotaUsed(cluster_.workloads));
  if (slice.admitted && !within) return "a slice was admitted above the quota";
  if (!slice.admitted && plan.after) return "the old slice changes although the new one waits";
  std::optional<WorkloadAnswer> placed;
  const bool plain = old.pod_sets.size() == 1 && old.pod_sets[0].topology_request->unconstrained;
  if (plain) {
    OracleInput input{cluster_.nodes,
                      cluster_.topologies.front(),
                      cluster_.flavors.front(),
                      {},
                      LeafUsageOf(cluster_.workloads, request.profile == ResizeProfile::kKueue
                                                          ? ObjectKey{}  // R16.8
                                                          : old.key),
                      engine_.gates()};
    placed = AnswerSlice(input, old, wanted.front(), PlacesOf(old, 0));
    const bool fits = within && placed->FirstFailure() == nullptr;
    if (fits != slice.admitted) {
      return fmt::format("the slice is {}, but by the rules it is not (quota {}): {}",
                         slice.admitted ? "admitted" : "refused", within ? "suffices" : "is short",
                         slice.reason);
    }
  }
  if (!slice.admitted) return "";
  if (!HasCondition(*plan.after, kFinished) ||
      plan.after->conditions.back().reason != "WorkloadSliceReplaced") {
    return "the old slice does not end";
  }
  for (std::size_t i = 0; i < old.pod_sets.size(); ++i) {
    const auto& held = slice.workload.admission->pod_set_assignments[i];
    if (held.flavors != old.admission->pod_set_assignments[i].flavors) return "another flavor";
    const TopologyAssignment& places = PlacesOf(slice.workload, i);
    if (PodsIn(places) != wanted[i]) return "the slice's places are not as many as its pods";
    const bool grows = wanted[i] >= old.pod_sets[i].count;
    const bool stay =
        grows ? Contains(places, PlacesOf(old, i)) : Contains(PlacesOf(old, i), places);
    if (!stay) return "a pod moved that need not";
    if (placed && places != *placed->pod_sets.front().assignment) {
      return "the difference is not where the rules put it";
    }
  }
  return "";
}

std::string ElasticLife::CheckReplicas(const ResizeRequest& request, const ResizePlan& plan) const {
  const Workload& before = *Find(request.workload);
  const PodSetCounts wanted = Wanted(before, request);
  std::int64_t admitted = 0;
  std::int64_t grown = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    grown += std::max<std::int64_t>(wanted[i] - before.pod_sets[i].count, 0);
  }
  for (const PlannedSlice& slice : plan.slices) {
    admitted += slice.admitted ? 1 : 0;
    if (slice.admitted == !slice.reason.empty()) return "a slice is admitted with a reason not to";
  }
  // Slices that were admitted since are counted first.
  const bool none_waited = std::ranges::none_of(cluster_.workloads, [&](const Workload& workload) {
    return IsReplicaOf(workload, request.workload.name);
  });
  if (none_waited && std::ssize(plan.slices) != grown) return "not a slice for each new replica";
  const PodSetCounts after = CountsOf(*plan.after);
  PodSetCounts low = wanted;
  for (std::size_t i = 0; i < low.size(); ++i) {
    low[i] = std::min<std::int64_t>(low[i], before.pod_sets[i].count);
  }
  if (none_waited && Sum(after) != Sum(low) + admitted) return "the counts do not add up";
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] >= before.pod_sets[i].count &&
        !Contains(PlacesOf(*plan.after, i), PlacesOf(before, i))) {
      return "a pod moved as replicas were added";
    }
    if (PodsIn(PlacesOf(*plan.after, i)) != after[i]) return "counts and places differ";
  }
  return "";
}

std::string ElasticLife::CheckUsage() const {
  for (const auto& [leaf, usage] : LeafUsageOf(cluster_.workloads, {})) {
    const auto node = std::ranges::find(cluster_.nodes, leaf, &Node::name);
    for (const auto& [resource, amount] : usage) {
      const Amount* most = node->allocatable.Find(resource);
      if (most == nullptr || amount > *most) {
        return fmt::format("{} of {} are used on {}", amount, resource, leaf);
      }
    }
  }
  for (const auto& [key, amount] : QuotaUsed(cluster_.workloads)) {
    if (amount > kQuota)
      return fmt::format("{} of {} are used, above the quota", amount, key.second);
  }
  return "";
}

std::string ElasticLife::Cycle() {
  last_step_ = "run scheduling cycles";
  const std::vector<Workload> before = cluster_.workloads;
  auto decided = RunSchedulingCycles(cluster_, engine_, {.until_stable = true});
  if (!decided) return decided.error().message;
  cluster_ = std::move(decided->cluster);
  for (const Decision& decision : decided->decisions) {
    ++seen_["cycle: " + std::string(ToString(decision.status))];
    const Workload* workload = Find(decision.workload);
    const std::string* replaced = workload->annotations.Find(kSliceReplacementFor);
    if (decision.status != DecisionStatus::kAssumed || replaced == nullptr) continue;
    const auto old = std::ranges::find_if(
        before, [&](const Workload& known) { return known.key.ToString() == *replaced; });
    if (old == before.end() || !HasReservation(*old)) continue;
    ++seen_["slice admitted by a cycle"];
    const Workload& left = *Find(old->key);
    if (HasCondition(left, kEvicted)) continue;  // in a cycle before
    if (!HasCondition(left, kFinished)) return "a replaced slice does not end";
    for (std::size_t i = 0; i < old->pod_sets.size() && old->unhealthy_nodes.empty(); ++i) {
      const bool grows = workload->pod_sets[i].count >= old->pod_sets[i].count;
      if (grows && !Contains(PlacesOf(*workload, i), PlacesOf(*old, i))) {
        return "a pod of the old slice moved";
      }
    }
  }
  const auto overbooks = [&](const Workload& workload) {
    const bool is_new = std::ranges::any_of(decided->decisions, [&](const Decision& decision) {
      return decision.workload == workload.key && decision.status == DecisionStatus::kAssumed;
    });
    if (is_new && OverbooksItself(workload, nullptr)) return true;
    const std::string* replaced = workload.annotations.Find(kSliceReplacementFor);
    return std::ranges::any_of(before, [&](const Workload& known) {
      const bool is_part =
          known.key == workload.key || (replaced != nullptr && known.key.ToString() == *replaced);
      return is_part && HasReservation(known) && OverbooksItself(workload, &known);
    });
  };
  for (const VictimSlices& slices : RunningJobs(cluster_, {})) {
    const bool ends = std::ranges::any_of(slices, [&](std::size_t i) {
      const Workload& workload = cluster_.workloads[i];
      return HasCondition(workload, kEvicted) || overbooks(workload);
    });
    if (ends) Suspend(slices);
  }
  EndOldSlices();
  for (const Job& job : jobs_) {
    if (std::string problem = FoldAdmitted(job); !problem.empty()) return problem;
  }
  return "";
}

bool ElasticLife::OverbooksItself(const Workload& workload, const Workload* before) {
  const auto usage = LeafUsageOf(cluster_.workloads, workload.key);
  for (const Node& node : cluster_.nodes) {
    const auto pods_of = [&](const Workload& of, std::size_t pod_set) -> Amount {
      const auto domains = ByDomain(PlacesOf(of, pod_set).domains);
      const auto found = domains.find({node.name});
      return found == domains.end() ? 0 : found->second;
    };
    const auto others = usage.find(node.name);
    const Amount* used = others == usage.end() ? nullptr : others->second.Find("gpu");
    Amount left = *node.allocatable.Find("gpu") - (used == nullptr ? 0 : *used);
    Amount together = 0;
    Amount most_at_once = 0;
    for (std::size_t i = 0; i < workload.pod_sets.size(); ++i) {
      const Amount now = pods_of(workload, i);
      const Amount stayed = before == nullptr ? 0 : std::min(now, pods_of(*before, i));
      left -= stayed;
      together += now - stayed;
      most_at_once = std::max(most_at_once, now - stayed);
    }
    if (most_at_once > left || together <= left) continue;
    ++seen_["overbooked by pod sets of one workload"];
    return true;
  }
  return false;
}

void ElasticLife::Suspend(const VictimSlices& slices) {
  for (const std::size_t i : slices) {
    Workload& workload = cluster_.workloads[i];
    Withdraw(workload);
    // Nothing is left of a replica's slice but its parent.
    if (IsReplica(workload)) SetCondition(workload, {std::string(kFinished), "True", "Gone", ""});
  }
}

void ElasticLife::EndOldSlices() {
  for (const Job& job : jobs_) {
    const Workload* newest = NewestOf(job);
    for (Workload& workload : cluster_.workloads) {
      if (&workload == newest || IsReplica(workload) || SliceName(workload) != job.name) continue;
      if (HasReservation(*newest) || !HasReservation(workload)) {
        SetCondition(workload, {std::string(kFinished), "True", "OutOfSync", ""});
      }
    }
  }
}

// Slices per replica that a cycle admitted are counted in their workload once (W5.7).
std::string ElasticLife::FoldAdmitted(const Job& job) {
  const auto waits = [&](const Workload& workload) {
    return IsReplicaOf(workload, job.name) && HasReservation(workload);
  };
  const auto admitted = std::ranges::count_if(cluster_.workloads, waits);
  const Workload* parent = RunningOf(job);
  if (admitted == 0 || parent == nullptr) return "";
  ++seen_["folded"];
  const std::int64_t before = Sum(CountsOf(*parent));
  for (int times = 0; times < 2; ++times) {
    const auto plan = PlanResize(cluster_, engine_, {parent->key, {}, job.mode, job.profile});
    if (!plan) return plan.error().message;
    if (plan->decision != ResizeDecision::kNone) return "folding is a resize";
    CarryOut(*plan, cluster_);
    if (Sum(CountsOf(*Find(plan->workload))) != before + admitted) {
      return fmt::format("{} slices were folded into {} pods, which are {} then", admitted, before,
                         Sum(CountsOf(*Find(plan->workload))));
    }
  }
  std::erase_if(cluster_.workloads, waits);
  return "";
}

std::string ElasticLife::FailNode() {
  Node& node = cluster_.nodes[static_cast<std::size_t>(random_.Between(0, 3))];
  last_step_ = "node " + node.name + " fails";
  if (!node.ready) return "";
  node.ready = false;
  for (Workload& workload : cluster_.workloads) {
    if (IsOnNode(workload, node.name)) workload.unhealthy_nodes.push_back(node.name);
  }
  return "";
}

std::string ElasticLife::RepairNode() {
  Node& node = cluster_.nodes[static_cast<std::size_t>(random_.Between(0, 3))];
  last_step_ = "node " + node.name + " is repaired";
  node.ready = true;
  for (Workload& workload : cluster_.workloads) {
    std::erase(workload.unhealthy_nodes, node.name);
  }
  return "";
}

// All slices of a job go together (W5.5).
std::string ElasticLife::EvictJob() {
  const std::vector<VictimSlices> jobs = RunningJobs(cluster_, {});
  std::map<std::string, std::int64_t> units;
  for (const VictimSlices& slices : jobs) {
    const Workload& first = cluster_.workloads[slices.front()];
    for (const Job& job : jobs_) {
      if (SliceName(first) == job.name || IsReplicaOf(first, job.name)) ++units[job.name];
    }
  }
  for (const auto& [name, count] : units) {
    if (count != 1) return fmt::format("job {} is {} victims", name, count);
  }
  if (jobs.empty()) return "";
  const VictimSlices slices = random_.Pick(jobs);
  last_step_ = "evict the job of " + cluster_.workloads[slices.front()].key.name;
  ++seen_["evicted"];
  Suspend(slices);
  EndOldSlices();
  return "";
}

void ElasticLife::MakePods(const Job& job) {
  std::vector<Pod>& pods = pods_[job.name];
  const Workload* running = RunningOf(job);
  const Workload* newest = NewestOf(job);
  std::vector<Pod> kept;
  for (std::size_t i = 0; i < newest->pod_sets.size(); ++i) {
    const PodSet& pod_set = newest->pod_sets[i];
    std::map<std::string, std::int64_t> places;
    if (running != nullptr) {
      for (const auto& [values, count] : ByDomain(PlacesOf(*running, i).domains)) {
        places[values.back()] = count;
      }
    }
    std::int64_t left = pod_set.count;
    for (const bool gated : {false, true}) {
      for (const Pod& pod : pods) {
        if (*pod.labels.Find(kPodSetLabel) != pod_set.name || IsGated(pod) != gated) continue;
        if (left == 0) continue;
        if (!gated && places[*pod.node_selector.Find(kHostnameLabel)]-- <= 0) continue;
        --left;
        kept.push_back(pod);
      }
    }
    for (; left > 0; --left) {
      Pod& pod = kept.emplace_back();
      pod.key = {"team", fmt::format("{}-{:06}", job.name, made_++)};
      pod.labels = {{std::string(kPodSetLabel), pod_set.name}};
      pod.annotations = {{std::string(kWorkloadAnnotation), job.name},
                         {std::string(kSliceNameAnnotation), job.name}};
      pod.scheduling_gates = {std::string(kElasticJobGate), std::string(kTopologyGate)};
      pod.phase = "Pending";
    }
  }
  pods = std::move(kept);
}

std::string ElasticLife::Ungate() {
  const Job& job = random_.Pick(jobs_);
  last_step_ = "ungate pods of " + job.name;
  MakePods(job);
  const Workload* running = RunningOf(job);
  if (running == nullptr) return "";
  std::vector<Pod>& pods = pods_[job.name];
  const auto ungated = UngateWorkload(*running, pods);
  if (!ungated) return ungated.error().message;
  if (UnconfirmedPod(*running, pods) != nullptr) {  // W2.7
    for (Pod& pod : pods) pod.ungating_unconfirmed = false;
    return ungated->empty() ? "" : "pods are ungated beside one that is unconfirmed";
  }
  bool unconfirmed = false;
  for (const UngatedPod& one : *ungated) {
    const auto pod = std::ranges::find(pods, one.pod, &Pod::key);
    if (pod == pods.end() || !IsGated(*pod)) return "a pod is ungated that is not gated";
    ++seen_["ungated"];
    if (random_.Chance(5)) {
      pod->ungating_unconfirmed = unconfirmed = true;
      continue;
    }
    pod->node_selector = one.node_selector;
    for (const std::string& gate : one.gates) std::erase(pod->scheduling_gates, gate);
  }
  for (std::size_t i = 0; i < running->pod_sets.size(); ++i) {
    std::vector<TopologyDomainAssignment> run;
    std::int64_t made = 0;
    for (const Pod& pod : pods) {
      if (*pod.labels.Find(kPodSetLabel) != running->pod_sets[i].name) continue;
      ++made;
      if (!IsGated(pod)) run.push_back({{*pod.node_selector.Find(kHostnameLabel)}, 1});
    }
    if (!Contains(PlacesOf(*running, i), {{}, run})) return "more pods run than have places";
    const std::int64_t may = std::min<std::int64_t>(made, running->pod_sets[i].count);
    if (!unconfirmed && running->unhealthy_nodes.empty() && std::ssize(run) != may) {
      return fmt::format("{} pods run where {} may", run.size(), may);
    }
  }
  return "";
}

}  // namespace espalier::oracle
