#include "host/engine/gang_batch.hpp"

#include <algorithm>
#include <utility>

#include "host/engine/booked_leaves.hpp"
#include "host/engine/chunks.hpp"
#include "host/engine/failure_text.hpp"
#include "host/engine/request_resolution.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {

namespace {

// Gangs nominated together: enough to keep every thread and a device busy, few enough to bound
// memory.
constexpr std::size_t kNominateBatch = 8192;
// Bytes of memory that a share takes in the answers, while they grow, and at least on the wire.
constexpr std::int64_t kBytesOfShare = 3 * sizeof(LeafShare);
constexpr std::int64_t kLeastAnswerBytesOfShare = 2;
// The same of a failure besides its numbers, with its text.
constexpr std::int64_t kBytesOfFailure = 2 * sizeof(GangAnswers::Failure) + 512;
// Gangs answered one by one whose counts are brought up to date together: what the gangs before
// them in the batch change has to be counted again.
constexpr std::size_t kPrepareBatch = 64;
// Shares that a thread keeps memory for between calls: 4 MiB.
constexpr std::size_t kMostKeptShares = std::size_t{1} << 18;

// Takes the result of a gang that was not placed. Returns false where the work is to stop.
bool Append(std::size_t gang, PlacementResult& result, WorkBudget& budget, GangAnswers& answers) {
  const auto shares = static_cast<std::int64_t>(result.shares.size());
  const auto numbers =
      static_cast<std::int64_t>(result.layer_fits.size() + result.limited_by.size());
  const std::int64_t failure = result.status == PlacementStatus::kPlaced
                                   ? 0
                                   : kBytesOfFailure + numbers * std::int64_t{sizeof(Count)};
  if (!budget.Charge(shares * kBytesOfShare + failure) ||
      !budget.ChargeAnswer(shares * kLeastAnswerBytesOfShare)) {
    return false;
  }
  answers.status.push_back(result.status);
  answers.level.push_back(static_cast<std::int8_t>(result.level));
  answers.shares.insert(answers.shares.end(), result.shares.begin(), result.shares.end());
  answers.share_end.push_back(static_cast<std::uint32_t>(answers.shares.size()));
  if (result.status != PlacementStatus::kPlaced) {
    answers.failures.push_back({static_cast<std::int32_t>(gang), std::move(result)});
  }
  return true;
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

// Where a thread decides the gangs of a call. Its memory is used again by the next: thousands of
// lists of shares take longer to allocate than to fill.
struct GangBatch::Scratch {
  std::vector<PlacementJob> jobs;
  std::vector<PlacementResult> results;

  static Scratch& OfThisThread() {
    thread_local Scratch scratch;
    return scratch;
  }

  std::span<PlacementResult> Results(std::size_t count) {
    results.resize(std::max(results.size(), count));
    return std::span(results).first(count);
  }

  // After a call: lets go of the shapes, and of more memory than a thread should sit on.
  void Leave() {
    jobs.clear();
    std::size_t shares = 0;
    for (const PlacementResult& result : results) shares += result.shares.capacity();
    if (shares > kMostKeptShares) results = {};
  }
};

ResolvedGangShape Resolve(GangShape shape, const ClusterState& state, const FeatureGates& gates,
                          WorkBudget& budget) {
  ResolvedGangShape resolved{std::move(shape), {}, {}, {}, {}, {}};
  const PodSetRequest& workers = resolved.words.workers;
  const FlavorState* flavor = state.Find(workers.flavor);
  if (flavor == nullptr) {
    resolved.failure = UnknownFlavorText(workers.flavor);
    return resolved;
  }
  const FlavorSnapshot& snapshot = flavor->snapshot();
  auto request = ResolveRequest(workers, snapshot, gates);
  if (!request) {
    resolved.failure = std::move(request.error());
    return resolved;
  }
  const PodSetRequest* leader = resolved.words.leader ? &*resolved.words.leader : nullptr;
  resolved.query = request->query;
  resolved.query.leaders = leader != nullptr ? 1 : 0;
  resolved.shape = MakeShape(*request, workers, leader, snapshot, budget);
  resolved.leaves = {0, snapshot.leaf_count()};
  if (leader != nullptr) resolved.leader = BindRequests(leader->requests, snapshot);
  return resolved;
}

GangBatch::GangBatch(const ClusterState& state, Shapes shapes, WorkBudget& budget)
    : shapes_(std::move(shapes)), budget_(budget) {
  states_.reserve(shapes_.size());
  for (const auto& shape : shapes_) {
    states_.push_back(shape->failure.empty() ? state.Find(shape->words.workers.flavor) : nullptr);
  }
}

GangBatch::GangBatch(const ClusterState& state, const FeatureGates& gates,
                     std::span<const GangShape> shapes)
    : GangBatch(state, [&] {
        Shapes resolved;
        for (const GangShape& shape : shapes) {
          resolved.push_back(
              std::make_shared<const ResolvedGangShape>(Resolve(shape, state, gates)));
        }
        return resolved;
      }()) {}

// Those of the gangs whose shape could be resolved.
std::span<const PlacementJob> GangBatch::JobsOf(std::span<const Gang> gangs,
                                                Scratch& scratch) const {
  scratch.jobs.clear();
  scratch.jobs.reserve(gangs.size());
  for (const Gang& gang : gangs) {
    if (!Resolved(gang)) continue;
    const ResolvedGangShape& shape = ShapeOf(gang);
    PlacementJob& job = scratch.jobs.emplace_back();
    job.state = StateOf(gang);
    job.shape = shape.shape;
    job.query = shape.query;
    job.query.pods = gang.pods;
    job.replacement_domain = shape.leaves;
    job.budget = &budget_;
  }
  return scratch.jobs;
}

void GangBatch::Nominate(Backend& backend, std::span<const Gang> gangs, GangAnswers& answers) {
  Scratch& scratch = Scratch::OfThisThread();
  Clear(gangs.size(), answers);
  Chunks chunks(budget_, kNominateBatch);
  for (std::size_t first = 0; first < gangs.size() && chunks.Begin();) {
    const std::size_t end = std::min(first + chunks.size(), gangs.size());
    const std::span<const PlacementJob> jobs = JobsOf(gangs.subspan(first, end - first), scratch);
    const std::span<PlacementResult> results = scratch.Results(jobs.size());
    backend.Evaluate(jobs, results);
    if (budget_.stopped()) break;
    std::size_t next = 0;
    PlacementResult unresolved;
    for (; first < end; ++first) {
      PlacementResult& result = Resolved(gangs[first]) ? results[next++] : unresolved;
      if (!Append(first, result, budget_, answers)) break;
    }
  }
  scratch.Leave();
}

void GangBatch::PlaceInOrder(Backend& backend, ClusterState& state, std::span<const Gang> gangs,
                             GangAnswers& answers) {
  Scratch& scratch = Scratch::OfThisThread();
  Clear(gangs.size(), answers);
  const auto round = [&](std::size_t first, std::size_t count, BookedLeaves& booked) {
    if (!budget_.Pause()) return count;  // the others are passed over likewise
    if (count == 1 && first % kPrepareBatch == 0) {
      backend.Prepare(
          JobsOf(gangs.subspan(first, std::min(kPrepareBatch, gangs.size() - first)), scratch));
    }
    const std::span<const PlacementJob> jobs = JobsOf(gangs.subspan(first, count), scratch);
    const std::span<PlacementResult> results = scratch.Results(jobs.size());
    if (!jobs.empty()) backend.Evaluate(jobs, results);
    if (budget_.stopped()) return count;
    std::size_t next = 0;
    for (std::size_t g = first; g < first + count; ++g) {
      if (!Resolved(gangs[g])) {
        PlacementResult unresolved;
        Append(g, unresolved, budget_, answers);
        continue;
      }
      const PlacementJob& job = jobs[next];
      PlacementResult& result = results[next++];
      if (!booked.Stands(job, result)) return g - first;
      if (result.status == PlacementStatus::kPlaced) {
        if (g + 1 < first + count) {
          for (const LeafShare& share : result.shares) booked.Note(*job.state, share.leaf);
        }
        const ResolvedGangShape& shape = ShapeOf(gangs[g]);
        state.Find(shape.words.workers.flavor)
            ->Book(result.shares, job.shape->workers, shape.leader);
      }
      if (!Append(g, result, budget_, answers)) break;
    }
    return count;
  };
  PlaceInRounds(backend, gangs.size(), round);
  scratch.Leave();
}

PlacementFailure GangBatch::Describe(std::span<const Gang> gangs,
                                     const GangAnswers::Failure& failure) const {
  const Gang& gang = gangs[static_cast<std::size_t>(failure.gang)];
  if (!Resolved(gang)) return {ShapeOf(gang).failure, std::nullopt};
  Scratch scratch;
  return DescribeFailure(JobsOf({&gang, 1}, scratch).front(), failure.result);
}

}  // namespace espalier
