// The engine: answers a batch of workload requests on one state of a cluster.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/engine/request.hpp"
#include "host/engine/request_on_state.hpp"
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
  std::vector<WorkloadAnswer> Nominate(std::span<const RequestOnState> requests,
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
  std::vector<WorkloadAnswer> NominateApart(std::span<const RequestOnState> requests,
                                            const AnsweredProgress& progress) const;

  std::shared_ptr<Backend> backend_;
  FeatureGates gates_;
  WorkBudget& budget_;
};

}  // namespace espalier
