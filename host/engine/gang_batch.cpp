#include "host/engine/gang_batch.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "host/engine/booked_leaves.hpp"
#include "host/engine/failure_text.hpp"
#include "host/engine/request_resolution.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {

struct GangBatch::Prepared {
  PlacementJob job;      // of a gang without pods; state is null when `failure` says why
  RequestVector leader;  // what the leader books; empty: no leader
  std::string failure;
  std::string flavor;
};

namespace {

// Gangs nominated together: enough to keep every thread and a device busy, few enough to bound
// memory.
constexpr std::size_t kNominateBatch = 8192;
// Gangs answered one by one whose counts are brought up to date together: what the gangs before
// them in the batch change has to be counted again.
constexpr std::size_t kPrepareBatch = 64;

// Takes the result of a gang that was not placed.
void Append(std::size_t gang, PlacementResult& result, GangAnswers& answers) {
  answers.status.push_back(result.status);
  answers.level.push_back(static_cast<std::int8_t>(result.level));
  answers.shares.insert(answers.shares.end(), result.shares.begin(), result.shares.end());
  answers.share_end.push_back(static_cast<std::uint32_t>(answers.shares.size()));
  if (result.status != PlacementStatus::kPlaced) {
    answers.failures.push_back({static_cast<std::int32_t>(gang), std::move(result)});
  }
}

void Clear(std::size_t gangs, GangAnswers& answers) {
  answers.status.clear();
  answers.level.clear();
  answers.share_end.clear();
  answers.shares.clear();
  answers.failures.clear();
  answers.status.reserve(gangs);
  answers.level.reserve(gangs);
  answers.share_end.reserve(gangs);
}

}  // namespace

GangBatch::GangBatch(const ClusterState& state, const FeatureGates& gates,
                     std::span<const GangShape> shapes) {
  shapes_.reserve(shapes.size());
  for (const GangShape& shape : shapes) {
    Prepared& prepared = shapes_.emplace_back();
    prepared.flavor = shape.workers.flavor;
    const FlavorState* flavor = state.Find(shape.workers.flavor);
    if (flavor == nullptr) {
      prepared.failure = UnknownFlavorText(shape.workers.flavor);
      continue;
    }
    const FlavorSnapshot& snapshot = flavor->snapshot();
    auto resolved = ResolveRequest(shape.workers, snapshot, gates);
    if (!resolved) {
      prepared.failure = std::move(resolved.error());
      continue;
    }
    const PodSetRequest* leader = shape.leader ? &*shape.leader : nullptr;
    prepared.job.state = flavor;
    prepared.job.query = resolved->query;
    prepared.job.query.leaders = leader != nullptr ? 1 : 0;
    prepared.job.shape = MakeShape(*resolved, shape.workers, leader, snapshot);
    prepared.job.replacement_domain = {0, snapshot.leaf_count()};
    if (leader != nullptr) prepared.leader = BindRequests(leader->requests, snapshot);
  }
}

GangBatch::~GangBatch() = default;
GangBatch::GangBatch(GangBatch&&) noexcept = default;

// Those of the gangs whose shape could be resolved.
std::span<const PlacementJob> GangBatch::JobsOf(std::span<const Gang> gangs) {
  jobs_.clear();
  for (const Gang& gang : gangs) {
    const Prepared& shape = shapes_[static_cast<std::size_t>(gang.shape)];
    if (shape.job.state == nullptr) continue;
    jobs_.push_back(shape.job);
    jobs_.back().query.pods = gang.pods;
  }
  return jobs_;
}

void GangBatch::Nominate(Backend& backend, std::span<const Gang> gangs, GangAnswers& answers) {
  Clear(gangs.size(), answers);
  for (std::size_t first = 0; first < gangs.size(); first += kNominateBatch) {
    const std::size_t end = std::min(first + kNominateBatch, gangs.size());
    const std::span<const PlacementJob> jobs = JobsOf(gangs.subspan(first, end - first));
    results_.resize(std::max(results_.size(), jobs.size()));  // their memory is used again
    backend.Evaluate(jobs, std::span(results_).first(jobs.size()));
    std::size_t next = 0;
    PlacementResult unresolved;
    for (std::size_t g = first; g < end; ++g) {
      const Prepared& shape = shapes_[static_cast<std::size_t>(gangs[g].shape)];
      Append(g, shape.job.state == nullptr ? unresolved : results_[next++], answers);
    }
  }
}

void GangBatch::PlaceInOrder(Backend& backend, ClusterState& state, std::span<const Gang> gangs,
                             GangAnswers& answers) {
  Clear(gangs.size(), answers);
  const auto round = [&](std::size_t first, std::size_t count, BookedLeaves& booked) {
    if (count == 1 && first % kPrepareBatch == 0) {
      backend.Prepare(JobsOf(gangs.subspan(first, std::min(kPrepareBatch, gangs.size() - first))));
    }
    const std::span<const PlacementJob> jobs = JobsOf(gangs.subspan(first, count));
    results_.resize(std::max(results_.size(), jobs.size()));  // their memory is used again
    if (!jobs.empty()) backend.Evaluate(jobs, std::span(results_).first(jobs.size()));
    std::size_t next = 0;
    for (std::size_t g = first; g < first + count; ++g) {
      const Prepared& shape = shapes_[static_cast<std::size_t>(gangs[g].shape)];
      if (shape.job.state == nullptr) {
        PlacementResult unresolved;
        Append(g, unresolved, answers);
        continue;
      }
      const PlacementJob& job = jobs[next];
      PlacementResult& result = results_[next++];
      if (!booked.Stands(job, result)) return g - first;
      if (result.status == PlacementStatus::kPlaced) {
        if (g + 1 < first + count) {
          for (const LeafShare& share : result.shares) booked.Note(*job.state, share.leaf);
        }
        state.Find(shape.flavor)->Book(result.shares, job.shape->workers, shape.leader);
      }
      Append(g, result, answers);
    }
    return count;
  };
  PlaceInRounds(backend, gangs.size(), round);
}

PlacementFailure GangBatch::Describe(std::span<const Gang> gangs,
                                     const GangAnswers::Failure& failure) const {
  const Gang& gang = gangs[static_cast<std::size_t>(failure.gang)];
  const Prepared& shape = shapes_[static_cast<std::size_t>(gang.shape)];
  if (shape.job.state == nullptr) return {shape.failure, std::nullopt};
  PlacementJob job = shape.job;
  job.query.pods = gang.pods;
  return DescribeFailure(job, failure.result);
}

}  // namespace espalier
