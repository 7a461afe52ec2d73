#include "host/engine/gang_batch.hpp"

#include <algorithm>
#include <utility>

#include "host/engine/failure_text.hpp"
#include "host/engine/rounds.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {

namespace {

// Gangs nominated together: enough to keep every thread and a device busy, few enough to bound
// memory.
constexpr std::size_t kNominateBatch = 8192;
// Bytes of memory that a share takes in the answers, while they grow, and at least on the wire.
constexpr std::int64_t kBytesOfShare = 3 * sizeof(LeafShare);
constexpr std::int64_t kLeastAnswerBytesOfShare = 2;
// Bytes of memory that a failure takes besides its numbers, with its text.
constexpr std::int64_t kBytesOfFailure = 2 * sizeof(GangAnswers::Failure) + 512;

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

// The gangs of a call.
class GangBatch::Requests final : public PlacementRequests {
 public:
  // `state` is that of the batch where placements are to be booked, else null.
  Requests(const GangBatch& batch, std::span<const Gang> gangs, ClusterState* state,
           GangAnswers& answers)
      : batch_(batch), gangs_(gangs), state_(state), answers_(answers) {
    Clear(gangs.size(), answers);
  }

  std::size_t size() const override { return gangs_.size(); }

  void Open(std::size_t first, std::size_t count) override {
    first_ = first;
    count_ = count;
    results_ = {};
  }
  void AppendJobs(RequestJobs& jobs) override {
    for (; count_ > 0; --count_, ++first_) {
      if (batch_.Resolved(gangs_[first_])) jobs.Add(batch_.JobOf(gangs_[first_]), first_);
    }
  }
  bool Accept(std::span<PlacementResult> results) override {
    results_ = results;
    return true;
  }

  bool Keep(std::size_t gang) override {
    if (!batch_.Resolved(gangs_[gang])) {
      PlacementResult unresolved;
      return Append(gang, unresolved, batch_.budget_, answers_);
    }
    PlacementResult& result = results_.front();
    results_ = results_.subspan(1);
    return Append(gang, result, batch_.budget_, answers_);
  }
  void Book(std::size_t gang, BookedLeaves* booked) override {
    if (answers_.status[gang] != PlacementStatus::kPlaced) return;
    const std::span<const LeafShare> shares = answers_.SharesOf(gang);
    const ResolvedGangShape& shape = batch_.ShapeOf(gangs_[gang]);
    if (booked != nullptr) {
      const FlavorState& flavor = *batch_.StateOf(gangs_[gang]);
      for (const LeafShare& share : shares) booked->Note(flavor, share.leaf);
    }
    state_->Find(shape.specification.workers.flavor)->Book(shares, *shape.resolved.shape);
  }

  // Appends one job for the gangs of a shape, as they share counts: that of the largest, for which
  // reasons are counted where it may fail.
  void AppendUpcoming(std::size_t first, std::size_t count, RequestJobs& jobs) const override {
    for (std::size_t gang = first; gang < first + count; ++gang) {
      if (!batch_.Resolved(gangs_[gang])) continue;
      const auto known = std::ranges::find(jobs.requests, gangs_[gang].shape,
                                           [&](std::size_t other) { return gangs_[other].shape; });
      if (known == jobs.requests.end()) {
        jobs.Add(batch_.JobOf(gangs_[gang]), gang);
      } else {
        Count& pods = jobs.jobs[static_cast<std::size_t>(known - jobs.requests.begin())].query.pods;
        pods = std::max<Count>(pods, gangs_[gang].pods);
      }
    }
  }

 private:
  const GangBatch& batch_;
  std::span<const Gang> gangs_;
  ClusterState* state_;
  GangAnswers& answers_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;               // of the open gangs, until they have given their jobs
  std::span<PlacementResult> results_;  // of those that have not been kept
};

ResolvedGangShape Resolve(GangShape shape, const ClusterState& state, const FeatureGates& gates,
                          WorkBudget& budget) {
  ResolvedGangShape result{std::move(shape), {}, {}};
  const auto& [workers, leader] = result.specification;
  const FlavorState* flavor = state.Find(workers.flavor);
  if (flavor == nullptr) {
    result.failure = UnknownFlavorText(workers.flavor);
    return result;
  }
  auto resolved =
      ResolveShape(workers, leader ? &*leader : nullptr, flavor->snapshot(), gates, budget);
  if (resolved) {
    result.resolved = *std::move(resolved);
  } else {
    result.failure = std::move(resolved.error());
  }
  return result;
}

GangBatch::GangBatch(const ClusterState& state, Shapes shapes, WorkBudget& budget)
    : shapes_(std::move(shapes)), budget_(budget) {
  states_.reserve(shapes_.size());
  filters_.reserve(shapes_.size());
  for (const auto& shape : shapes_) {
    const FlavorState* flavor =
        shape->failure.empty() ? state.Find(shape->specification.workers.flavor) : nullptr;
    states_.push_back(flavor);
    filters_.push_back(
        flavor == nullptr ? nullptr : flavor->snapshot().FilterOf(*shape->resolved.shape, budget_));
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

PlacementJob GangBatch::JobOf(const Gang& gang) const {
  return MakeJob(ShapeOf(gang).resolved, *StateOf(gang),
                 filters_[static_cast<std::size_t>(gang.shape)], gang.pods, budget_);
}

void GangBatch::Nominate(Backend& backend, std::span<const Gang> gangs, GangAnswers& answers) {
  Requests requests(*this, gangs, nullptr, answers);
  NominateInRounds(backend, requests, kNominateBatch, budget_);
}

void GangBatch::PlaceInOrder(Backend& backend, ClusterState& state, std::span<const Gang> gangs,
                             GangAnswers& answers) {
  Requests requests(*this, gangs, &state, answers);
  PlaceInRounds(backend, requests, budget_);
}

PlacementFailure GangBatch::Describe(std::span<const Gang> gangs,
                                     const GangAnswers::Failure& failure) const {
  const Gang& gang = gangs[static_cast<std::size_t>(failure.gang)];
  if (!Resolved(gang)) return {ShapeOf(gang).failure, std::nullopt};
  return DescribeFailure(JobOf(gang), failure.result);
}

}  // namespace espalier
