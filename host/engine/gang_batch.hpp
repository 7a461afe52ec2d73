// Answers thousands of requests in the form that they are decided in. Gangs, which are workloads of
// one pod set, or of one with a leader, are integers: names are resolved once per shape, a gang is
// a shape and a number of pods, and answers are columns. Workloads that take several steps stand
// among them as they are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/engine/backend.hpp"
#include "host/engine/feature_gates.hpp"
#include "host/engine/request.hpp"
#include "host/engine/request_on_state.hpp"
#include "host/engine/request_resolution.hpp"
#include "host/model/work_budget.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// The part of a request that equal gangs share. Counts of the pod sets are ignored; previous
// assignments must be absent.
struct GangShape {
  PodSetRequest workers;
  std::optional<PodSetRequest> leader;  // one pod, on the flavor of the workers
  bool leader_first = false;            // in the order of pod sets
  // The same as in WorkloadRequest.
  bool simulate_empty = false;
  bool affinity_scores_consumed = false;
};

// A shape with its names resolved to integers.
struct ResolvedGangShape {
  GangShape specification;
  std::string failure;         // why no gang of it can be placed; then nothing below is set
  PlacementTemplate resolved;  // valid as long as it says
};

// Resolves a shape against a state. One that names an unknown flavor or cannot be resolved gets its
// failure text. The result is meaningless once `budget` is stopped.
ResolvedGangShape Resolve(GangShape shape, const ClusterState& state, const FeatureGates& gates,
                          WorkBudget& budget = WorkBudget::Unlimited());

// A workload of a batch.
struct GangRow {
  std::int32_t shape = 0;  // index into the batch's shapes, or of a stepped workload
  std::int32_t pods = 0;   // workers, >= 0; 0 of a stepped workload

  // Returns what stands for a workload that takes several steps, by its index among these.
  static GangRow Stepped(std::size_t index) { return {~static_cast<std::int32_t>(index), 0}; }
  bool is_stepped() const { return shape < 0; }
  std::size_t stepped_index() const { return static_cast<std::size_t>(~shape); }
};

// Answers of gangs, one a row. The row of a stepped workload has level 0, no shares and no failure;
// its status tells whether the workload was placed.
struct GangAnswers : PlacementColumns {
  std::vector<WorkloadAnswer> stepped;  // in the order of their gangs

  bool operator==(const GangAnswers&) const = default;
};

class GangBatch {
 public:
  using Shapes = std::vector<std::shared_ptr<const ResolvedGangShape>>;

  // Takes shapes that were resolved against the nodes of `state`. A shape that has a failure text
  // answers every gang of it with that. `state` may change its usage afterwards, not its nodes.
  // `budget` bounds the calls below and must outlive the batch: once it is stopped, answers are
  // meaningless.
  GangBatch(const ClusterState& state, Shapes shapes, WorkBudget& budget = WorkBudget::Unlimited());
  // Resolves the shapes and takes them.
  GangBatch(const ClusterState& state, const FeatureGates& gates,
            std::span<const GangShape> shapes);
  // Takes shapes on states of their own, as above: `states[i]` is that of `shapes[i]`. The batch
  // may have stepped workloads, which are placed by `gates`; all must outlive it.
  GangBatch(std::span<const ClusterState* const> states, Shapes shapes,
            std::span<const RequestOnState> stepped, const FeatureGates& gates, WorkBudget& budget);

  // Answers every gang on the same state, independently. Overwrites `answers` and reuses its
  // memory.
  void Nominate(Backend& backend, std::span<const GangRow> gangs, GangAnswers& answers,
                const AnsweredProgress& progress = {});
  // Answers in order: books the placement of a gang into `state`, the one given to the constructor,
  // before the next is answered.
  void PlaceInOrder(Backend& backend, ClusterState& state, std::span<const GangRow> gangs,
                    GangAnswers& answers, const AnsweredProgress& progress = {});

  // Returns the shape of a gang, which is no stepped workload, and the state of its flavor; null:
  // the shape has a failure text.
  const ResolvedGangShape& ShapeOf(const GangRow& gang) const {
    return *shapes_[static_cast<std::size_t>(gang.shape)];
  }
  const FlavorState* StateOf(const GangRow& gang) const {
    return jobs_[static_cast<std::size_t>(gang.shape)].state;
  }

  // Returns Kueue's text for one of these answers that is a failure (section 18). `gang` is its row
  // and that of its gang, which is no stepped workload.
  PlacementFailure Describe(std::span<const GangRow> gangs, const GangAnswers& answers,
                            std::size_t gang) const;
  // Returns all answers with names, stepped ones moved out of `answers`. Charges the names; returns
  // nothing sensible once the budget is stopped.
  std::vector<WorkloadAnswer> TakeNamed(std::span<const GangRow> gangs, GangAnswers& answers) const;

 private:
  class Requests;

  static Evaluation EvaluationOf(const GangRow& gang) { return {gang.shape, gang.pods}; }
  bool Resolved(const GangRow& gang) const { return StateOf(gang) != nullptr; }
  void AddShape(const ClusterState& state, const ResolvedGangShape& shape);
  // Nominates gangs all of whose shapes could be resolved.
  void NominateResolved(Backend& backend, std::span<const GangRow> gangs, GangAnswers& answers,
                        const AnsweredProgress& progress) const;

  Shapes shapes_;
  std::span<const RequestOnState> stepped_;
  FeatureGates gates_;
  WorkBudget& budget_;
  std::vector<PlacementJob> jobs_;  // [shapes] without pods; no state: the shape has a failure text
};

}  // namespace espalier
