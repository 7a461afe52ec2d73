#include "host/cuda/known_jobs.hpp"

namespace espalier {
namespace {

// Returns what decisions on the job have in common, without its counts.
DecideShape DecisionsOf(const PlacementJob& job) {
  const PlacementQuery& query = job.query;
  return {.level = query.level,
          .leader = query.leaders > 0,
          .required = query.required,
          .unconstrained = query.unconstrained,
          .least_free = query.least_free,
          .balanced = query.balanced,
          .affinity = query.affinity,
          .scored = job.affinity_scores};
}

}  // namespace

bool KnownJob::IsOf(const PlacementJob& job) const {
  DecideShape wanted = DecisionsOf(job);
  wanted.shape = decide.shape;
  return state == job.state->identity() && shape == job.shape.get() && filter == job.filter &&
         simulate_empty == job.simulate_empty && decide == wanted && SharesCounts(job) &&
         !kept.expired();
}

void KnownJobs::Begin(std::span<const PlacementJob> jobs) {
  ++batch_;
  jobs_ = jobs;
  states_.clear();
  number_of_state_.clear();
  if (known_.size() > kMostKept) known_.resize(kMostKept);
  if (known_.size() < jobs.size()) known_.resize(jobs.size());
}

void KnownJobs::Open(const PlacementJob& job, KnownJob& known) {
  if (!known.IsOf(job)) {
    known = {};
    known.state = job.state->identity();
    known.shape = job.shape.get();
    known.filter = job.filter;
    known.simulate_empty = job.simulate_empty;
    known.decide = DecisionsOf(job);
    known.resources = static_cast<std::int32_t>(job.shape->workers.names.size());
    known.layers = job.query.slice.layer_count;
  }
  known.batch = batch_;
  const auto next = static_cast<std::int32_t>(states_.size());
  known.state_number = number_of_state_.try_emplace(known.state, next).first->second;
  if (known.state_number == next) states_.emplace_back();
  OfState& of_state = states_[static_cast<std::size_t>(known.state_number)];
  of_state.balanced = of_state.balanced || known.decide.balanced;
  of_state.unbounded = of_state.unbounded || !known.bounded;
}

}  // namespace espalier
