#include "host/kueue/planning/placement_plan.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/cycle/flavor_choice.hpp"
#include "host/kueue/cycle/queue_order.hpp"
#include "host/kueue/elastic/job_slices.hpp"
#include "host/kueue/elastic/workload_slices.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/objects/missing_queue.hpp"
#include "host/kueue/objects/workload_requests.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

// Choices of flavors that are looked at for one workload. Lists of flavors of different lengths go
// round in the product of their lengths.
constexpr std::size_t kMostChoices = 64;

class PlacementPlanner {
 public:
  PlacementPlanner(const Cluster& cluster, const PlacementPlanOptions& options)
      : cluster_(cluster), options_(options), lookup_(cluster), missing_(cluster, lookup_) {
    for (const ResourceFlavor& flavor : cluster.flavors) {
      if (lookup_.TopologyOf(flavor) != nullptr) tas_flavors_.push_back(&flavor);
    }
  }

  PlannedWorkload Plan(std::size_t index) const {
    const Workload& workload = cluster_.workloads[index];
    const ClusterQueue* queue = lookup_.QueueOf(workload);
    PlannedWorkload planned{index, queue == nullptr ? "" : queue->name, {}, {}};
    if (!workload.refusal.empty()) {
      planned.plan = RefusedWorkload{workload.refusal};
      return planned;
    }
    if (!workload.resources_error.empty()) {  // R21.14
      planned.plan = RefusedWorkload{workload.resources_error};
      return planned;
    }
    if (workload.pod_sets.empty()) {
      planned.plan = NothingToPlace{"it asks for no pods"};
      return planned;
    }
    if (queue != nullptr) {
      AskOnEach(workload, *queue, planned);
    } else if (const Workload* was = AsAdmitted(index)) {
      planned.plan = Ask(workload, RecordedFlavors(*was), nullptr);
    } else if (auto only = OnlyTasFlavor(workload)) {
      planned.plan = Ask(workload, AllOn(**only, workload), nullptr);
      planned.guessed_flavor = (*only)->name;
    } else {
      planned.plan = RefusedWorkload{std::move(only.error())};
    }
    return planned;
  }

 private:
  // The first choice of flavors that gives a request or needs none is the plan; without any it is
  // why the first one does not.
  void AskOnEach(const Workload& workload, const ClusterQueue& queue,
                 PlannedWorkload& planned) const {
    const Workload* slice = ReplacedSlice(workload, lookup_, &queue, options_.gates);
    const FlavorChoiceContext context{.lookup = lookup_,
                                      .queue = queue,
                                      .replaced_slice = slice,
                                      .parent = ParentOf(workload, lookup_)};
    std::vector<std::variant<WorkloadRequest, RefusedWorkload, NothingToPlace>> plans;
    for (const FlavorAssignment& flavors :
         AllFlavorChoices(workload, PendingCounts(workload), context, kMostChoices)) {
      plans.push_back(Ask(workload, flavors, &queue));
    }
    const auto first = std::ranges::find_if(
        plans, [](const auto& plan) { return !std::holds_alternative<RefusedWorkload>(plan); });
    if (first == plans.end()) {
      planned.plan = std::move(plans.front());
      return;
    }
    planned.plan = std::move(*first);
    const auto* chosen = std::get_if<WorkloadRequest>(&planned.plan);
    if (chosen == nullptr) return;
    FewerPods fewer{PartialCounts(workload), {}};
    for (const PodSet& pod_set : workload.pod_sets) fewer.pod_sets.push_back(pod_set.name);
    if (slice == nullptr && !chosen->tree && fewer.counts.Range() > 0) {
      planned.fewer = std::move(fewer);
    }
    for (auto plan = first + 1; plan != plans.end(); ++plan) {
      auto* request = std::get_if<WorkloadRequest>(&*plan);
      if (request == nullptr) continue;
      const auto same = [&](const WorkloadRequest* other) { return *other == *request; };
      if (std::ranges::any_of(planned.Choices(), same)) continue;
      planned.others.push_back(std::move(*request));
    }
  }

  std::variant<WorkloadRequest, RefusedWorkload, NothingToPlace> Ask(
      const Workload& workload, const FlavorAssignment& flavors, const ClusterQueue* queue) const {
    if (flavors.Mode() == AssignmentMode::kNoFit) return RefusedWorkload{flavors.Message()};
    auto request = BuildWorkloadRequest(workload, flavors,
                                        {.lookup = lookup_,
                                         .gates = options_.gates,
                                         .queue = queue,
                                         .rules = {.trees = options_.tree_rules}});
    if (!request) return RefusedWorkload{std::move(request.error())};
    if (request->pod_sets.empty()) return NothingToPlace{"no topology: nothing to place"};
    request->simulate_empty = options_.simulate_empty;
    return std::move(*request);
  }

  // The workload before its admission was taken away; null: it had none.
  const Workload* AsAdmitted(std::size_t index) const {
    if (options_.admitted_in == nullptr) return nullptr;
    const Workload& was = options_.admitted_in->workloads[index];
    return HasReservation(was) ? &was : nullptr;
  }

  // For a workload whose queue is not known.
  tl::expected<const ResourceFlavor*, std::string> OnlyTasFlavor(const Workload& workload) const {
    std::string missing = missing_.WhyMissing(workload);
    if (!options_.guess_flavor) return tl::unexpected(std::move(missing));
    std::vector<const ResourceFlavor*> fit = tas_flavors_;
    const std::string& wanted = workload.topology_name;
    if (!wanted.empty()) {
      std::erase_if(fit,
                    [&](const ResourceFlavor* flavor) { return *flavor->topology_name != wanted; });
    }
    if (fit.size() == 1) return fit.front();
    return tl::unexpected(
        fmt::format("{}; no flavor can be guessed, as {} have {} and exactly one must", missing,
                    fit.empty() ? "none" : std::to_string(fit.size()),
                    wanted.empty() ? "a topology" : "the topology " + Excerpt(wanted)));
  }

  FlavorAssignment AllOn(const ResourceFlavor& flavor, const Workload& workload) const {
    FlavorAssignment result;
    const std::vector<std::int32_t> counts = PendingCounts(workload);
    for (std::size_t i = 0; i < workload.pod_sets.size(); ++i) {
      const PodSet& pod_set = workload.pod_sets[i];
      PodSetFlavors& flavors = result.pod_sets.emplace_back();
      flavors.name = pod_set.name;
      flavors.count = counts[i];
      flavors.requests = Times(pod_set.pod_template.requests, counts[i]);
      flavors.flavors.Set(kPodsResource, flavor.name);  // also with no request at all
      for (const auto& [resource, amount] : flavors.requests) {
        flavors.flavors.Set(resource, flavor.name);
      }
      auto reason = WhyOtherTopology(workload, flavor);
      if (!reason) reason = WhyFlavorDoesNotMatch(pod_set, flavor, {}, true, lookup_);
      if (reason) {
        flavors.mode = AssignmentMode::kNoFit;
        flavors.refusals.push_back({FlavorRefusal::Kind::kNoMatch, std::move(*reason)});
      }
    }
    return result;
  }

  const Cluster& cluster_;
  const PlacementPlanOptions& options_;
  ClusterLookup lookup_;
  MissingQueues missing_;
  std::vector<const ResourceFlavor*> tas_flavors_;
};

Result<std::size_t> FindPending(const Cluster& cluster, const ObjectKey& key) {
  const auto it = std::ranges::find(cluster.workloads, key, &Workload::key);
  if (it == cluster.workloads.end()) {
    return tl::unexpected(
        Error{ErrorClass::kNotFound,
              fmt::format("workload {} is not in the input", Excerpt(key.ToString()))});
  }
  if (!IsPending(*it)) {
    return BadInput(fmt::format("workload {} is not pending ({})", Excerpt(key.ToString()),
                                HasCondition(*it, kFinished) ? "it has finished"
                                : !it->active                ? "spec.active is false"
                                                             : "it has a quota reservation"));
  }
  return static_cast<std::size_t>(it - cluster.workloads.begin());
}

// Returns a request for the counts of that index.
WorkloadRequest WithFewer(WorkloadRequest request, const FewerPods& fewer, std::int64_t index) {
  const std::vector<std::int32_t> counts = fewer.counts.At(index);
  for (PodSetRequest& pod_set : request.pod_sets) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (fewer.pod_sets[i] == pod_set.name) pod_set.count = counts[i];
    }
  }
  return request;
}

}  // namespace

std::vector<const WorkloadRequest*> PlannedWorkload::Choices() const {
  std::vector<const WorkloadRequest*> choices;
  if (const auto* request = std::get_if<WorkloadRequest>(&plan)) choices.push_back(request);
  for (const WorkloadRequest& other : others) choices.push_back(&other);
  return choices;
}

Result<std::vector<WorkloadRequest>> FindFewer(
    const FewerPods& fewer, const std::vector<const WorkloadRequest*>& choices,
    const std::function<Result<bool>(const std::vector<WorkloadRequest>&)>& holds) {
  std::optional<Error> error;
  std::vector<WorkloadRequest> held;
  const std::int64_t index = FindPartialCounts(fewer.counts, [&](std::int64_t tried) {
    if (error) return false;
    std::vector<WorkloadRequest> requests;
    for (const WorkloadRequest* request : choices) {
      requests.push_back(WithFewer(*request, fewer, tried));
    }
    const Result<bool> is_held = holds(requests);
    if (!is_held) error = is_held.error();
    if (error || !*is_held) return false;
    held = std::move(requests);
    return true;
  });
  if (error) return tl::unexpected(*std::move(error));
  if (index > fewer.counts.Range()) held.clear();
  return held;
}

std::string FlavorsText(const WorkloadRequest& request) {
  std::vector<std::string_view> flavors;
  for (const PodSetRequest& pod_set : request.pod_sets) {
    if (std::ranges::find(flavors, pod_set.flavor) == flavors.end()) {
      flavors.push_back(pod_set.flavor);
    }
  }
  return fmt::format("{}", fmt::join(flavors, " and "));
}

Result<PlacementPlan> PlanPlacement(const Cluster& cluster, const PlacementPlanOptions& options) {
  std::vector<std::size_t> pending;
  if (options.only) {
    const Result<std::size_t> index = FindPending(cluster, *options.only);
    if (!index) return tl::unexpected(index.error());
    pending.push_back(*index);
  } else {
    pending = PendingInQueueOrder(cluster);
  }
  PlacementPlan plan;
  plan.state = BuildClusterStateInput(cluster, options.gates);
  const PlacementPlanner planner(cluster, options);
  plan.workloads.reserve(pending.size());
  for (const std::size_t index : pending) plan.workloads.push_back(planner.Plan(index));
  return plan;
}

}  // namespace espalier
