// The interface of back ends, which count and decide. A back end answers independent jobs; it knows
// no workloads, names or texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "host/engine/counts_storage.hpp"
#include "host/engine/domain_reading.hpp"
#include "host/engine/placement_columns.hpp"
#include "host/model/shared_value.hpp"
#include "host/model/work_budget.hpp"
#include "host/packing/flavor_state.hpp"
#include "host/packing/pod_shape.hpp"
#include "kernels/views.hpp"

namespace espalier {

class TreePlacer;

// The Backend::quick_batch of threads that decide one evaluation after the other.
inline constexpr std::size_t kQuickBatch = 64;

// Usage assumed on one leaf during a job (R5.8), by column of the snapshot.
struct AssumedLeaf {
  LeafId leaf;
  std::vector<Amount> amounts;  // one per resource of the snapshot
};

// Assumed usage, leaves ascending. Copies share it, so that the many pod sets of a workload, each
// of which assumes the usage of those before it, do not hold a list each.
class AssumedLeaves {
 public:
  bool empty() const { return !leaves_ || leaves_->empty(); }
  std::size_t size() const { return leaves_ ? leaves_->size() : 0; }
  const AssumedLeaf* begin() const { return leaves_ ? leaves_->data() : nullptr; }
  const AssumedLeaf* end() const { return begin() + size(); }
  const AssumedLeaf& operator[](std::size_t i) const { return (*leaves_)[i]; }

  // Returns the list for changes, which no copy sees; it must ascend again before it is read.
  std::vector<AssumedLeaf>& Mutable() { return leaves_.Mutable(); }

 private:
  SharedValue<std::vector<AssumedLeaf>> leaves_;
};

// What is evaluated by sections 7 to 14 on one flavor.
struct PlacementJob {
  const FlavorState* state = nullptr;        // outlives the job and does not change while it runs
  std::shared_ptr<const PodShape> shape;     // interned in the state's snapshot
  std::shared_ptr<const NodeFilter> filter;  // the snapshot's FilterOf the shape; null: every leaf
  PlacementQuery query;
  bool simulate_empty = false;     // R5.1
  bool affinity_scores = true;     // false: scores are consumed and read 0 (R7.9)
  DomainRange replacement_domain;  // leaves that may be used (R7.10); all of them usually
  AssumedLeaves assumed;
  // Bounds the evaluation: the shares of answers are charged, and once it is stopped answers are
  // meaningless. Outlives the job, is never null and is the same for all jobs evaluated together.
  WorkBudget* budget = &WorkBudget::Unlimited();
};

// Returns whether a job may use only some of the leaves (R7.10).
inline bool IsPartial(const PlacementJob& job) {
  return job.replacement_domain.begin != 0 ||
         job.replacement_domain.end != job.state->snapshot().leaf_count();
}

// Returns whether the decisions on a job read every leaf's counts; all others read those of the
// leaves that they reach. `lowest` is the level of the leaves.
inline bool NeedsLeaves(const PlacementQuery& query, std::int32_t lowest) {
  return query.balanced || query.level == lowest;
}
inline bool NeedsLeaves(const PlacementJob& job) {
  return NeedsLeaves(job.query, job.state->snapshot().tree().lowest());
}

// Returns the capacity that a job looks at (R5.1), laid out as FlavorSnapshot::free().
inline const PagedArray<Amount>& AmountsOf(const PlacementJob& job) {
  return job.simulate_empty ? job.state->free() : job.state->remaining();
}
// Returns the stamps of that capacity.
inline const GroupStamps& StampsOf(const PlacementJob& job) {
  return job.simulate_empty ? *job.state->free_stamps() : job.state->stamps();
}
inline std::shared_ptr<const GroupStamps> SharedStampsOf(const PlacementJob& job) {
  return job.simulate_empty ? job.state->free_stamps() : job.state->SharedStamps();
}

// Returns the affinity scores that a job reads, by domain; null: there are none (R7.9).
inline const std::int64_t* ScoresOf(const PlacementJob& job) {
  const bool scored = job.affinity_scores && job.filter != nullptr && !job.filter->affinity.empty();
  return scored ? job.filter->affinity.data() : nullptr;
}

// An evaluation of one of a table of jobs, with a number of pods of its own: what gangs of a shape
// are to each other.
struct Evaluation {
  std::int32_t job = 0;  // index into the table
  Count pods = 0;        // takes the place of the query's, >= 0
};

// Returns what is evaluated as a job of its own.
inline PlacementJob JobOf(std::span<const PlacementJob> jobs, const Evaluation& evaluation) {
  PlacementJob job = jobs[static_cast<std::size_t>(evaluation.job)];
  job.query.pods = evaluation.pods;
  return job;
}

// Returns an evaluation of each job, with its own pods.
std::vector<Evaluation> EachOf(std::span<const PlacementJob> jobs);

// Sees the counts of one of a table of jobs, by its index; they are valid during the call.
using CountsVisitor = std::function<void(std::size_t job, const CountsView& counts)>;

// Makes the readings of jobs[i] of its counts, and shows them to `visit` unless that is empty.
void ReadCounts(std::span<const PlacementJob> jobs, std::size_t i, const CountsView& counts,
                std::span<const DomainReading> readings, const CountsVisitor& visit);

// Makes room for the counts of all domains of a job's flavor, as Backend::CountDomains fills them.
CountsView ResizeFor(const PlacementJob& job, CountsStorage& counts);

class Backend {
 public:
  Backend();
  virtual ~Backend();

  virtual std::string_view name() const = 0;

  // Answers asked[i], an evaluation of one of `jobs`, in row i of `answers`, which it overwrites
  // and whose memory it reuses. Evaluations are independent; answers do not depend on how they are
  // spread over threads. Returns when all are answered; once the jobs' budget is stopped sooner,
  // and with meaningless rows. Several threads may call it at once.
  virtual void Evaluate(std::span<const PlacementJob> jobs, std::span<const Evaluation> asked,
                        PlacementColumns& answers) = 0;
  // Answers one job in row 0.
  void EvaluateOne(const PlacementJob& job, PlacementColumns& answers) {
    const Evaluation one{0, job.query.pods};
    Evaluate({&job, 1}, {&one, 1}, answers);
  }

  // Does on all threads the first part of Evaluate for these evaluations on their states as they
  // are now. Useful before some that are made one by one.
  virtual void Prepare(std::span<const PlacementJob> /*jobs*/,
                       std::span<const Evaluation> /*asked*/) {}

  // Counts what each domain of the job's flavor holds of its shape, the job's assumed usage taken
  // out (sections 7 and 8); `counts` has one entry per domain then. Slices have an array of their
  // own only where the shape has any, and the leader only where the query has one. Works in the
  // calling thread; several may call it at once. Leaf by leaf unless a back end is sooner.
  virtual void CountDomains(const PlacementJob& job, CountsStorage& counts) const;

  // Counts the same for each of a table of jobs, on all threads, and makes the readings of it,
  // which ascend by job; then calls visit(i, counts) for jobs[i], unless `visit` is empty: once for
  // each, in any order and several at a time. Counts are those of the domains above the leaves, and
  // of the leaves where NeedsLeaves says so; readings ask for no others. A visit must not call a
  // back end. Returns when all is done; once the jobs' budget is stopped sooner.
  virtual void CountEach(std::span<const PlacementJob> jobs,
                         std::span<const DomainReading> readings, const CountsVisitor& visit);

  // Returns how many evaluations a call should have at first where other work waits for its turn:
  // about as many as take little longer than one.
  virtual std::size_t quick_batch() const { return kQuickBatch; }

  // Returns how many evaluations a call of EvaluateInOrder should have; 0: it makes none.
  virtual std::size_t in_order_batch() const { return 0; }
  // Makes evaluations one after the other, each on the state with the placements before it booked;
  // that state itself does not change. Answers as many of the first ones as it can in this way, in
  // rows of `answers`, which it overwrites, and returns how many; 0 also where it cannot make the
  // first one, which Evaluate can. Once the jobs' budget is stopped answers are meaningless.
  virtual std::size_t EvaluateInOrder(std::span<const PlacementJob> /*jobs*/,
                                      std::span<const Evaluation> /*asked*/,
                                      PlacementColumns& /*answers*/) {
    return 0;
  }

  // Returns what places trees beside this back end, or null.
  TreePlacer* trees() const { return trees_.get(); }
  void SetTrees(std::unique_ptr<TreePlacer> trees);

 private:
  std::unique_ptr<TreePlacer> trees_;
};

}  // namespace espalier
