// The engine: a batch of workload requests on one state of a cluster -> answers.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/engine/request.hpp"
#include "host/model/work_budget.hpp"
#include "host/packing/cluster_state.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {

class Backend;

enum class PlacementMode {
  kNominate,    // every workload on the same state, independently, in parallel
  kSequential,  // in order; a placed workload's usage is booked before the next is answered
};

class Engine {
 public:
  // `backend` decides where counting and decisions run; never null. `budget` bounds all that the
  // engine is asked and outlives it: once it is stopped, answers are meaningless.
  Engine(std::shared_ptr<Backend> backend, FeatureGates gates,
         WorkBudget& budget = WorkBudget::Unlimited());
  ~Engine();

  const FeatureGates& gates() const { return gates_; }
  WorkBudget& budget() const { return budget_; }

  // One answer per request, in order, the same bits for any thread count and back end. `progress`,
  // when given, is called from the calling thread with the number of requests answered so far.
  using Progress = std::function<void(std::size_t)>;

  // Every workload on the same state, independently. Several threads may call it at once.
  std::vector<WorkloadAnswer> Nominate(const ClusterState& state,
                                       std::span<const WorkloadRequest> requests,
                                       const Progress& progress = {}) const;

  // In order: what a workload gets is booked into `state` before the next one is answered, all of
  // it or nothing.
  std::vector<WorkloadAnswer> PlaceInOrder(ClusterState& state,
                                           std::span<const WorkloadRequest> requests,
                                           const Progress& progress = {}) const;

  // One of the two by mode.
  std::vector<WorkloadAnswer> Place(ClusterState& state, std::span<const WorkloadRequest> requests,
                                    PlacementMode mode, const Progress& progress = {}) const;

 private:
  std::shared_ptr<Backend> backend_;
  FeatureGates gates_;
  WorkBudget& budget_;
};

// Pods of one pod set that an answer adds to one leaf.
struct AddedPods {
  const PodSetRequest* pod_set = nullptr;  // in the request
  std::string leaf;                        // as in R4.1
  std::int64_t count = 0;                  // positive
};

// What an answer adds, per pod set and domain in their order: for a replacement only the pods that
// moved, for a resize only those beyond the previous assignment (R21.8). Points into `request`.
std::vector<AddedPods> PodsAdded(const WorkloadRequest& request, const WorkloadAnswer& answer);

// The usage an answer books: per flavor and leaf id, pods * requests and the pod slots (R5.4).
// Of replacements and resizes only the added pods.
std::vector<FlavorLeafUsage> BookedUsage(const WorkloadRequest& request,
                                         const WorkloadAnswer& answer);

}  // namespace espalier
