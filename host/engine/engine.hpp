// The engine: answers a batch of workload requests on one state of a cluster.
#pragma once

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

// A workload and the state that its request is answered on; both must outlive it.
struct StateRequest {
  const WorkloadRequest* request = nullptr;
  const ClusterState* state = nullptr;
};

class Engine {
 public:
  // Makes an engine that answers on `backend`, which counts and decides and is never null. `budget`
  // bounds all calls and must outlive the engine: once it is stopped, answers are meaningless.
  Engine(std::shared_ptr<Backend> backend, FeatureGates gates,
         WorkBudget& budget = WorkBudget::Unlimited());
  ~Engine();

  Backend& backend() const { return *backend_; }
  const FeatureGates& gates() const { return gates_; }
  WorkBudget& budget() const { return budget_; }

  // All calls below answer each request, in order, with the same bits for any thread count and back
  // end. They call `progress` from the calling thread.

  // Answers every workload on the same state, independently. Several threads may call it at once.
  std::vector<WorkloadAnswer> Nominate(const ClusterState& state,
                                       std::span<const WorkloadRequest> requests,
                                       const AnsweredProgress& progress = {}) const;

  // Answers one workload; an empty answer once the budget is stopped.
  WorkloadAnswer NominateOne(const ClusterState& state, const WorkloadRequest& request) const;

  // Answers every workload on its own state, as above; workloads on different states are answered
  // together.
  std::vector<WorkloadAnswer> Nominate(std::span<const StateRequest> requests,
                                       const AnsweredProgress& progress = {}) const;

  // Answers in order: books the placement of a workload into `state`, all of it or nothing, before
  // the next one is answered.
  std::vector<WorkloadAnswer> PlaceInOrder(ClusterState& state,
                                           std::span<const WorkloadRequest> requests,
                                           const AnsweredProgress& progress = {}) const;

  // Calls Nominate or PlaceInOrder, by mode.
  std::vector<WorkloadAnswer> Place(ClusterState& state, std::span<const WorkloadRequest> requests,
                                    PlacementMode mode,
                                    const AnsweredProgress& progress = {}) const;

 private:
  // Nominates requests some of which are trees.
  std::vector<WorkloadAnswer> NominateApart(std::span<const StateRequest> requests,
                                            const AnsweredProgress& progress) const;

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

// Returns what an answer adds, per pod set and domain in their order: for a replacement only the
// pods that moved, for a resize only those beyond the previous assignment (R21.8). Points into
// `request`.
std::vector<AddedPods> PodsAdded(const WorkloadRequest& request, const WorkloadAnswer& answer);

// Returns the usage that an answer books: per flavor and leaf id, pods * requests and the pod slots
// (R5.4). For replacements and resizes only the added pods count.
std::vector<FlavorLeafUsage> BookedUsage(const WorkloadRequest& request,
                                         const WorkloadAnswer& answer);

}  // namespace espalier
