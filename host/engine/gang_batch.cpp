#include "host/engine/gang_batch.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "host/engine/assignments.hpp"
#include "host/engine/booked_usage.hpp"
#include "host/engine/chunks.hpp"
#include "host/engine/failure_text.hpp"
#include "host/engine/rounds.hpp"
#include "host/engine/workload_placement.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {

namespace {

// Gangs nominated together: enough to keep every thread and a device busy, few enough to bound
// memory.
constexpr std::size_t kNominateBatch = 8192;
// The same where stepped workloads are among them, which take more.
constexpr std::size_t kNominateSteppedBatch = 1024;
// Bytes of memory that a share takes in the answers, while they grow, and at least on the wire.
constexpr std::int64_t kBytesOfShare = 3 * sizeof(LeafShare);
constexpr std::int64_t kLeastAnswerBytesOfShare = 2;
// Bytes of memory that a failure takes besides its numbers, with its text.
constexpr std::int64_t kBytesOfFailure = 2 * sizeof(FailedPlacement) + 512;

// Charges rows with so many shares, and their failures. Returns false where the work is to stop.
bool ChargeRows(std::size_t shares, std::span<const FailedPlacement> failures, WorkBudget& budget) {
  std::int64_t bytes = static_cast<std::int64_t>(shares) * kBytesOfShare;
  for (const FailedPlacement& failed : failures) {
    const std::size_t numbers = failed.layer_fits.size() + failed.limited_by.size();
    bytes += kBytesOfFailure + static_cast<std::int64_t>(numbers * sizeof(Count));
  }
  return budget.Charge(bytes) &&
         budget.ChargeAnswer(static_cast<std::int64_t>(shares) * kLeastAnswerBytesOfShare);
}

// Moves a row, charged, behind the answers. Returns false where the work is to stop.
bool Append(PlacementColumns& from, std::size_t row, WorkBudget& budget, GangAnswers& answers) {
  answers.MoveRow(from, row);
  const bool failed = answers.status.back() != PlacementStatus::kPlaced;
  const auto failures = std::span<const FailedPlacement>(answers.failures);
  return ChargeRows(answers.SharesOf(answers.size() - 1).size(), failures.last(failed ? 1 : 0),
                    budget);
}

void Clear(std::size_t gangs, GangAnswers& answers) {
  answers.Clear();
  answers.Reserve(gangs);
  answers.stepped.clear();
}

}  // namespace

// The gangs and stepped workloads of a call.
class GangBatch::Requests final : public PlacementRequests {
 public:
  // `state` is that of the batch where placements are to be booked, else null.
  Requests(const GangBatch& batch, std::span<const GangRow> gangs, ClusterState* state,
           GangAnswers& answers)
      : batch_(batch), gangs_(gangs), state_(state), answers_(answers) {
    Clear(gangs.size(), answers);
  }

  std::size_t size() const override { return gangs_.size(); }
  std::span<const PlacementJob> SharedJobs() const override { return batch_.jobs_; }

  void Open(std::size_t first, std::size_t count) override {
    opened_ = gangs_.subspan(first, count);
    first_ = first;
    fresh_ = true;
    next_row_ = 0;
    steps_.Open(*this);
  }
  void AppendJobs(RequestJobs& jobs) override {
    if (steps_.none()) {
      for (std::size_t i = 0; fresh_ && i < opened_.size(); ++i) {
        if (batch_.Resolved(opened_[i])) jobs.Add(EvaluationOf(opened_[i]), first_ + i);
      }
    } else {
      steps_.AppendJobs(*this, jobs);
    }
    fresh_ = false;
  }
  bool Accept(PlacementColumns& answers) override {
    if (!steps_.none()) return steps_.Accept(*this, answers);
    decided_ = &answers;
    return true;
  }

  bool Keep(std::size_t request) override {
    const GangRow& gang = gangs_[request];
    if (gang.is_stepped()) return KeepStepped(steps_.Take(request - first_));
    if (!batch_.Resolved(gang)) {
      answers_.EndRow({}, 0);
      return ChargeRows(0, std::span(answers_.failures).last(1), batch_.budget_);
    }
    if (!steps_.none()) return steps_.Keep(request - first_, batch_.budget_, answers_);
    return Append(*decided_, next_row_++, batch_.budget_, answers_);
  }
  void Book(std::size_t request) override {
    if (answers_.status[request] != PlacementStatus::kPlaced) return;
    const GangRow& gang = gangs_[request];
    if (gang.is_stepped()) {
      const WorkloadRequest& workload = *batch_.stepped_[gang.stepped_index()].request;
      return state_->AddUsage(BookedUsage(workload, answers_.stepped.back()));
    }
    const std::span<const LeafShare> shares = answers_.SharesOf(request);
    const ResolvedGangShape& shape = batch_.ShapeOf(gang);
    state_->Find(shape.specification.workers.flavor)->Book(shares, *shape.resolved.shape);
  }

  void AppendUpcoming(std::size_t first, std::size_t count, RequestJobs& jobs) const override {
    for (std::size_t gang = first; gang < first + count; ++gang) {
      if (gangs_[gang].is_stepped() || !batch_.Resolved(gangs_[gang])) continue;
      jobs.Add(EvaluationOf(gangs_[gang]), gang);
    }
  }

 private:
  // Holds the open gangs and their answers, by position, where stepped workloads are among them.
  class Steps {
   public:
    bool none() const { return workloads_.empty(); }

    void Open(const Requests& of) {
      asking_.clear();
      workloads_.clear();
      first_round_ = true;
      const auto stepped = std::ranges::count_if(of.opened_, &GangRow::is_stepped);
      if (stepped == 0) return;
      workloads_.reserve(static_cast<std::size_t>(stepped));
      workload_at_.resize(of.opened_.size());
      row_at_.resize(of.opened_.size());
      for (std::size_t i = 0; i < of.opened_.size(); ++i) {
        const GangRow& gang = of.opened_[i];
        if (gang.is_stepped()) {
          const RequestOnState& asked = of.batch_.stepped_[gang.stepped_index()];
          workload_at_[i] = workloads_.size();
          workloads_.emplace_back(*asked.request, *asked.state, of.batch_.gates_,
                                  of.batch_.budget_);
          // The jobs of one that is opened alone are not kept.
          if (of.opened_.size() == 1) workloads_.back().BookManyPodSets();
          asking_.push_back(i);
        } else if (of.batch_.Resolved(gang)) {
          asking_.push_back(i);
        }
      }
    }

    void AppendJobs(const Requests& of, RequestJobs& jobs) {
      std::erase_if(asking_, [&](std::size_t i) {
        const GangRow& gang = of.opened_[i];
        if (!gang.is_stepped()) {
          if (of.fresh_) jobs.Add(EvaluationOf(gang), of.first_ + i);
          return !of.fresh_;
        }
        const PlacementJob* job = of.batch_.budget_.stopped() ? nullptr : WorkloadAt(i).NextJob();
        if (job != nullptr) jobs.Add(*job, of.first_ + i);
        return job == nullptr;
      });
    }

    // Copies the answers of the first round, which are those of gangs too: a later round takes
    // their place.
    bool Accept(const Requests& of, const PlacementColumns& answers) {
      if (std::exchange(first_round_, false)) gangs_ = answers;
      for (std::size_t row = 0; row < answers.size(); ++row) {
        const std::size_t i = asking_[row];
        if (!of.opened_[i].is_stepped()) {
          row_at_[i] = row;
          continue;
        }
        const PlacementResult result = answers.At(row);
        if (!ChargeDomains(result.shares.size(), of.batch_.budget_)) return false;
        WorkloadAt(i).Accept(result);
      }
      return true;
    }

    // Adds the answer of a gang.
    bool Keep(std::size_t position, WorkBudget& budget, GangAnswers& answers) {
      return Append(gangs_, row_at_[position], budget, answers);
    }
    WorkloadAnswer Take(std::size_t position) { return WorkloadAt(position).TakeAnswer(); }

   private:
    WorkloadPlacement& WorkloadAt(std::size_t position) {
      return workloads_[workload_at_[position]];
    }

    std::vector<std::size_t> asking_;  // positions that may have a job left
    std::vector<WorkloadPlacement> workloads_;
    std::vector<std::size_t> workload_at_;  // by position, of those that are stepped
    bool first_round_ = true;
    PlacementColumns gangs_;           // the answers of the first round
    std::vector<std::size_t> row_at_;  // by position, of gangs
  };

  bool KeepStepped(WorkloadAnswer answer) {
    answers_.status.push_back(Fits(answer) ? PlacementStatus::kPlaced
                                           : PlacementStatus::kDoesNotFit);
    answers_.level.push_back(0);
    answers_.share_end.push_back(static_cast<std::uint32_t>(answers_.shares.size()));
    answers_.stepped.push_back(std::move(answer));
    return true;
  }

  const GangBatch& batch_;
  std::span<const GangRow> gangs_;
  ClusterState* state_;
  GangAnswers& answers_;
  std::span<const GangRow> opened_;
  std::size_t first_ = 0;                // the number of the first of them
  bool fresh_ = false;                   // they have given no jobs yet
  PlacementColumns* decided_ = nullptr;  // their answers, without steps
  std::size_t next_row_ = 0;             // of these, the first that has not been kept
  Steps steps_;
};

ResolvedGangShape Resolve(GangShape shape, const ClusterState& state, const FeatureGates& gates,
                          WorkBudget& budget) {
  ResolvedGangShape result{std::move(shape), {}, {}};
  const PodSetRequest& workers = result.specification.workers;
  const std::optional<PodSetRequest>& leader = result.specification.leader;
  const FlavorState* flavor = state.Find(workers.flavor);
  if (flavor == nullptr) {
    result.failure = UnknownFlavorText(workers.flavor);
    return result;
  }
  auto resolved = MakePlacementTemplate(workers, leader ? &*leader : nullptr, flavor->snapshot(),
                                        gates, budget);
  if (resolved) {
    result.resolved = *std::move(resolved);
  } else {
    result.failure = std::move(resolved.error());
  }
  return result;
}

GangBatch::GangBatch(const ClusterState& state, Shapes shapes, WorkBudget& budget)
    : shapes_(std::move(shapes)), budget_(budget) {
  jobs_.reserve(shapes_.size());
  for (const auto& shape : shapes_) AddShape(state, *shape);
}

GangBatch::GangBatch(std::span<const ClusterState* const> states, Shapes shapes,
                     std::span<const RequestOnState> stepped, const FeatureGates& gates,
                     WorkBudget& budget)
    : shapes_(std::move(shapes)), stepped_(stepped), gates_(gates), budget_(budget) {
  jobs_.reserve(shapes_.size());
  for (std::size_t i = 0; i < shapes_.size(); ++i) AddShape(*states[i], *shapes_[i]);
}

void GangBatch::AddShape(const ClusterState& state, const ResolvedGangShape& shape) {
  PlacementJob& job = jobs_.emplace_back();
  const FlavorState* flavor =
      shape.failure.empty() ? state.Find(shape.specification.workers.flavor) : nullptr;
  if (flavor == nullptr) return;
  job = MakeJob(shape.resolved, *flavor,
                flavor->snapshot().FilterOf(*shape.resolved.shape, budget_), 0, budget_);
  job.simulate_empty = shape.specification.simulate_empty;
  job.affinity_scores = !shape.specification.affinity_scores_consumed;
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

void GangBatch::Nominate(Backend& backend, std::span<const GangRow> gangs, GangAnswers& answers,
                         const AnsweredProgress& progress) {
  if (stepped_.empty() &&
      std::ranges::all_of(jobs_, [](const PlacementJob& job) { return job.state != nullptr; })) {
    return NominateResolved(backend, gangs, answers, progress);
  }
  Requests requests(*this, gangs, nullptr, answers);
  NominateInRounds(backend, requests, stepped_.empty() ? kNominateBatch : kNominateSteppedBatch,
                   budget_, progress);
}

// The rows of the back end are the answers.
void GangBatch::NominateResolved(Backend& backend, std::span<const GangRow> gangs,
                                 GangAnswers& answers, const AnsweredProgress& progress) const {
  Clear(gangs.size(), answers);
  std::vector<Evaluation> asked;
  PlacementColumns more;
  Chunks chunks(budget_, kNominateBatch, backend.quick_batch());
  for (std::size_t done = 0; done < gangs.size() && chunks.Begin();) {
    const auto chunk = gangs.subspan(done, std::min(chunks.size(), gangs.size() - done));
    asked.clear();
    asked.reserve(chunk.size());
    for (const GangRow& gang : chunk) asked.push_back(EvaluationOf(gang));
    PlacementColumns& decided = done == 0 ? answers : more;
    backend.Evaluate(jobs_, asked, decided);
    if (!ChargeRows(decided.shares.size(), decided.failures, budget_)) return;
    if (done > 0) answers.AddRows(more);
    done += chunk.size();
    if (progress) progress(done);
  }
}

void GangBatch::PlaceInOrder(Backend& backend, ClusterState& state, std::span<const GangRow> gangs,
                             GangAnswers& answers, const AnsweredProgress& progress) {
  Requests requests(*this, gangs, &state, answers);
  PlaceOneByOne(backend, requests, budget_, progress);
}

PlacementFailure GangBatch::Describe(std::span<const GangRow> gangs, const GangAnswers& answers,
                                     std::size_t gang) const {
  const GangRow& failed = gangs[gang];
  if (!Resolved(failed)) return {ShapeOf(failed).failure, std::nullopt};
  return DescribeFailure(JobOf(jobs_, EvaluationOf(failed)), answers.At(gang));
}

std::vector<WorkloadAnswer> GangBatch::TakeNamed(std::span<const GangRow> gangs,
                                                 GangAnswers& answers) const {
  std::vector<WorkloadAnswer> named;
  named.reserve(answers.status.size());
  auto stepped = std::make_move_iterator(answers.stepped.begin());
  for (std::size_t g = 0; g < answers.status.size() && !budget_.stopped(); ++g) {
    if (gangs[g].is_stepped()) {
      named.push_back(*stepped++);
      continue;
    }
    const GangShape& shape = ShapeOf(gangs[g]).specification;
    std::vector<PodSetAnswer>& pod_sets = named.emplace_back().pod_sets;
    pod_sets.push_back({shape.workers.name, shape.workers.flavor, {}, {}});
    if (shape.leader) pod_sets.push_back({shape.leader->name, shape.leader->flavor, {}, {}});
    if (answers.status[g] == PlacementStatus::kPlaced) {
      const std::span<const LeafShare> shares = answers.SharesOf(g);
      const FlavorSnapshot& snapshot = StateOf(gangs[g])->snapshot();
      if (!ChargeNames(shares.size(), budget_)) break;
      pod_sets.front().assignment = ToAssignment(shares, false, snapshot);
      if (shape.leader) pod_sets.back().assignment = ToAssignment(shares, true, snapshot);
    } else {
      const PlacementFailure why = Describe(gangs, answers, g);
      for (PodSetAnswer& pod_set : pod_sets) pod_set.failure = why;
    }
    if (shape.leader_first) std::swap(pod_sets.front(), pod_sets.back());
  }
  return named;
}

}  // namespace espalier
