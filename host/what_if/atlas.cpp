#include "host/what_if/atlas.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "host/engine/chunks.hpp"
#include "host/engine/workload_placement.hpp"
#include "host/packing/parallel_for.hpp"
#include "host/what_if/prefix_search.hpp"
#include "host/what_if/removal_trial.hpp"
#include "host/what_if/victims_by_flavor.hpp"
#include "kernels/decisions/fit_bound.hpp"

namespace espalier {
namespace {

// Shapes from which on it is sooner to count them in classes of equal leaves, which are found
// first, where as many amounts change as there are groups of leaves.
constexpr std::size_t kWorthClassifying = 16;
// Shapes whose rows are made together, while the victims leave once; and the memory of these from
// which on no more are.
constexpr std::size_t kMostShapes = 2048;
constexpr std::int64_t kEnoughBytes = std::int64_t{64} << 20;

// A row that is being made.
struct Draft {
  AtlasRow row;
  PlacementQuery query;
  bool scored = false;    // domains have affinity scores that the query reads
  bool decides = false;   // the counts are of the whole request
  bool constant = false;  // usage makes no difference
  bool open = false;      // only a placement can tell whether it fits at the current step
  bool done = false;      // every step is known
  // Read at the current step.
  LevelCounts held = {};
  Count slices = 0;
};

// What leaves a flavor with each step but 0.
struct Leaving {
  std::string flavor;
  std::vector<std::vector<LeafAmount>> with_step;  // [step - 1]
};

// Rows of one shape, which is counted once for all of them.
struct ShapeRows {
  std::optional<PlacementJob> job;  // absent: no counts help
  std::vector<Draft> drafts;
};

bool AsksTheSame(const WorkloadRequest& a, WorkloadRequest b) {
  b.key = a.key;
  return a == b;
}

// Returns what is to be read for a draft of the counts of a step.
DomainReading ReadingFor(std::size_t job, PriorityStep step, PriorityStep never, Draft& draft) {
  const PlacementQuery& query = draft.query;
  DomainReading reading;
  reading.job = job;
  reading.asked = {.slices = query.slices(),
                   .leaders = query.leaders,
                   .first_level = query.level,
                   .last_level = query.level};
  reading.held = draft.held.data();
  if (draft.row.domains.size() > 0) reading.marks = draft.row.steps.data();
  reading.mark = step;
  if (draft.row.anywhere != never) return reading;
  reading.asked.first_level = FirstTallied(query);
  if (!query.required) reading.slices = &draft.slices;
  return reading;
}

// Enters into a draft what was read of the counts of a step.
void Conclude(const TreeView& tree, PriorityStep step, PriorityStep never, Draft& draft) {
  const PlacementQuery& query = draft.query;
  if (draft.row.anywhere != never) return;
  LevelTally tallies[kMaxLevels];
  const std::int32_t top = FirstTallied(query);
  for (std::int32_t level = top; level <= query.level; ++level) {
    tallies[level].sufficient = draft.held[static_cast<std::size_t>(level)];
  }
  tallies[top].slices = draft.slices;
  const FitBound bound = BoundOf(tree, tallies, query, draft.scored);
  if (bound == FitBound::kYes && draft.decides) {
    draft.row.anywhere = step;
  } else {
    draft.open = bound != FitBound::kNo;
  }
}

// Requests with equal shape keys have the same counts, of leaves too where they are the level of
// the query; with equal query keys besides, the same decisions. The numbers are those of the
// PlacementQuery.
using ShapeKey = std::tuple<const FlavorState*, const PodShape*, const NodeFilter*, Count, bool>;
using QueryKey = std::tuple<std::int32_t, Count, bool, bool, bool, bool>;

}  // namespace

class AtlasSearch::Impl {
 public:
  Impl(const Engine& engine, const ClusterState& state, std::span<const WorkloadRequest> requests,
       const VictimsByFlavor& held, std::span<const std::vector<std::uint32_t>> with_step,
       std::vector<std::int64_t> priorities, bool first_only)
      : engine_(engine),
        state_(state),
        requests_(requests),
        budget_(engine.budget()),
        first_only_(first_only),
        priorities_(std::move(priorities)),
        never_(static_cast<PriorityStep>(with_step.size()) + 1) {
    std::size_t victims = 0;
    for (const std::vector<std::uint32_t>& leaving : with_step) victims += leaving.size();
    for (const VictimsOnFlavor& on_flavor : held) {
      Leaving& leaving = leaving_.emplace_back();
      leaving.flavor = on_flavor.flavor()->snapshot().flavor().name;
      leaving.with_step.resize(with_step.size());
      ParallelFor(with_step.size(), victims,
                  [&](std::size_t i) { leaving.with_step[i] = on_flavor.HeldBy(with_step[i]); });
    }
    for (std::size_t i = 0; i < requests.size() && budget_.MayContinue(); ++i) AddRequest(i);
    shape_of_.clear();
    draft_of_.clear();
  }

  std::span<const std::int64_t> priorities() const { return priorities_; }
  PriorityStep never() const { return never_; }

  Result<std::vector<AtlasRow>> Next() {
    budget_.Release(std::exchange(told_bytes_, 0));
    std::vector<AtlasRow> rows;
    const std::span<ShapeRows> batch = TakeBatch();
    bool left = !batch.empty();
    for (PriorityStep step = 0; step < never_ && left; ++step) {
      if (auto gone = GoTo(step); !gone) return tl::unexpected(gone.error());
      Count(batch);
      Place(batch);
      if (auto check = budget_.Check(); !check) return tl::unexpected(check.error());
      left = FindDone(batch);
    }
    for (ShapeRows& shape : batch) {
      for (Draft& draft : shape.drafts) rows.push_back(std::move(draft.row));
      shape = {};
    }
    if (auto check = budget_.Check(); !check) return tl::unexpected(check.error());
    return rows;
  }

 private:
  void AddRequest(std::size_t position) {
    const WorkloadRequest& request = requests_[position];
    Draft draft;
    draft.row.requests = {position};
    draft.row.anywhere = never_;
    if (!request.pod_sets.empty()) draft.row.flavor = request.pod_sets.front().flavor;
    draft.constant = request.simulate_empty;
    std::optional<PlacementJob> job;
    if (!request.tree && !draft.constant) {
      WorkloadPlacement placement(request, state_, engine_.gates(), budget_);
      const PlacementJob* next = placement.NextJob();
      draft.constant = next == nullptr || next->simulate_empty;
      if (!draft.constant) job = *next;
    }
    draft.decides = job && IsOneGroup(request);
    if (!draft.decides) return AddAlone(std::move(job), std::move(draft));
    draft.query = job->query;
    draft.scored = job->query.affinity && ScoresOf(*job) != nullptr;
    const PlacementQuery& query = draft.query;
    if (query.slices() > 0 && (first_only_ ? query.required : !query.unconstrained)) {
      const TreeView tree = job->state->snapshot().tree();
      draft.row.domains = {tree.LevelBegin(query.level), tree.LevelEnd(query.level)};
    }
    if (!job->assumed.empty() || IsPartial(*job)) return AddAlone(std::move(job), std::move(draft));
    const auto [shape, is_new] = shape_of_.try_emplace(
        ShapeKey(job->state, job->shape.get(), job->filter.get(), query.leaders,
                 query.level == job->state->snapshot().tree().lowest()),
        shapes_.size());
    if (is_new) shapes_.push_back({std::move(job), {}});
    ShapeRows& rows = shapes_[shape->second];
    const auto [same, is_first] = draft_of_.try_emplace(
        std::pair(shape->second, QueryKey(query.level, query.pods, query.required,
                                          query.unconstrained, query.balanced, draft.scored)),
        rows.drafts.size());
    if (is_first) {
      rows.drafts.push_back(std::move(draft));
    } else {
      rows.drafts[same->second].row.requests.push_back(position);
    }
  }

  // Adds a request that shares nothing, unless the one before it is the same.
  void AddAlone(std::optional<PlacementJob> job, Draft draft) {
    if (!job || !draft.decides) {
      const std::size_t position = draft.row.requests.front();
      if (alone_ && AsksTheSame(requests_[shapes_[*alone_].drafts.front().row.requests.front()],
                                requests_[position])) {
        shapes_[*alone_].drafts.front().row.requests.push_back(position);
        return;
      }
      alone_ = shapes_.size();
    }
    if (job) draft.query = job->query;
    ShapeRows& rows = shapes_.emplace_back();
    rows.job = std::move(job);
    rows.drafts.push_back(std::move(draft));
  }

  // Takes shapes whose rows are made together, and makes room for these.
  std::span<ShapeRows> TakeBatch() {
    const std::size_t first = next_;
    while (next_ < shapes_.size() && next_ - first < kMostShapes && told_bytes_ < kEnoughBytes) {
      for (Draft& draft : shapes_[next_++].drafts) {
        const auto domains = static_cast<std::size_t>(draft.row.domains.size());
        const auto bytes = static_cast<std::int64_t>(domains * sizeof(PriorityStep));
        told_bytes_ += bytes;
        if (!budget_.Charge(bytes)) return {};
        draft.row.steps.assign(domains, never_);
      }
    }
    return std::span(shapes_).subspan(first, next_ - first);
  }

  // Makes the current state that of a step: the one after the last, or 0.
  Result<void> GoTo(PriorityStep step) {
    step_ = step;
    if (step == 0) {
      branch_.reset();
      return {};
    }
    if (!branch_) {
      auto branch = state_.Branch(budget_);
      if (!branch) return tl::unexpected(branch.error());
      branch_ = *std::move(branch);
    }
    for (const Leaving& leaving : leaving_) {
      if (!budget_.MayContinue()) return budget_.Check();
      FlavorState& flavor = *branch_->Find(leaving.flavor);
      const std::vector<LeafAmount>& gone = leaving.with_step[static_cast<std::size_t>(step - 1)];
      flavor.Remove(gone);
      const auto groups = static_cast<std::size_t>(flavor.snapshot().group_count());
      if (shapes_.size() >= kWorthClassifying && gone.size() >= groups) flavor.ClassifyLeaves();
    }
    return {};
  }

  const ClusterState& current() const { return branch_ ? *branch_ : state_; }

  // Enters into the drafts of a batch what the counts of the current state tell.
  void Count(std::span<ShapeRows> batch) {
    std::vector<ShapeRows*> counted;
    std::vector<PlacementJob> jobs;
    for (ShapeRows& shape : batch) {
      if (!shape.job) {
        Draft& draft = shape.drafts.front();
        draft.open = !draft.done && (step_ == 0 || !draft.constant);
      } else if (!std::ranges::all_of(shape.drafts, &Draft::done)) {
        counted.push_back(&shape);
        PlacementJob& job = jobs.emplace_back(*shape.job);
        job.state = current().Find(job.state->snapshot().flavor().name);
      }
    }
    Chunks chunks(budget_, jobs.size(), engine_.backend().quick_batch());
    for (std::size_t begin = 0; begin < jobs.size() && chunks.Begin();) {
      const std::size_t size = std::min(chunks.size(), jobs.size() - begin);
      std::vector<DomainReading> readings;
      const auto for_each_draft = [&](const auto& body) {
        for (std::size_t i = 0; i < size; ++i) {
          for (Draft& draft : counted[begin + i]->drafts) {
            if (!draft.done) body(i, draft);
          }
        }
      };
      for_each_draft([&](std::size_t i, Draft& draft) {
        readings.push_back(ReadingFor(i, step_, never_, draft));
      });
      const auto some = std::span(jobs).subspan(begin, size);
      engine_.backend().CountEach(some, readings, {});
      for_each_draft([&](std::size_t i, Draft& draft) {
        Conclude(some[i].state->snapshot().tree(), step_, never_, draft);
      });
      begin += size;
    }
  }

  // Decides the open drafts of a batch by placing the requests on the current state.
  void Place(std::span<ShapeRows> batch) {
    std::vector<Draft*> asking;
    std::vector<RequestOnState> asked;
    for (ShapeRows& shape : batch) {
      for (Draft& draft : shape.drafts) {
        if (!std::exchange(draft.open, false)) continue;
        asking.push_back(&draft);
        asked.push_back({&requests_[draft.row.requests.front()], &current()});
      }
    }
    if (asking.empty() || budget_.stopped()) return;
    const std::int64_t charged = budget_.charged();
    const std::vector<WorkloadAnswer> answers = engine_.Nominate(asked);
    if (budget_.stopped()) return;
    for (std::size_t a = 0; a < asking.size(); ++a) {
      if (Fits(answers[a])) asking[a]->row.anywhere = step_;
    }
    budget_.Release(budget_.charged() - charged);
  }

  // Marks the drafts of a batch of which every step is known; returns whether there are others.
  bool FindDone(std::span<ShapeRows> batch) const {
    bool left = false;
    for (ShapeRows& shape : batch) {
      for (Draft& draft : shape.drafts) {
        const AtlasRow& row = draft.row;
        draft.done = draft.done ||
                     (row.anywhere != never_ &&
                      (first_only_ || std::ranges::find(row.steps, never_) == row.steps.end()));
        left = left || !(draft.done || draft.constant);
      }
    }
    return left;
  }

  const Engine& engine_;
  const ClusterState& state_;
  const std::span<const WorkloadRequest> requests_;
  WorkBudget& budget_;
  const bool first_only_;  // only the first step of a request is searched
  const std::vector<std::int64_t> priorities_;
  const PriorityStep never_;
  std::vector<Leaving> leaving_;
  std::vector<ShapeRows> shapes_;
  std::map<ShapeKey, std::size_t> shape_of_;
  std::map<std::pair<std::size_t, QueryKey>, std::size_t> draft_of_;
  std::optional<std::size_t> alone_;  // the shape of the last request that counts do not decide
  std::size_t next_ = 0;              // of shapes_
  std::int64_t told_bytes_ = 0;       // charged for the last rows
  PriorityStep step_ = 0;
  std::optional<ClusterState>
      branch_;  // without the victims of the current step; absent: nobody is
};

AtlasSearch::AtlasSearch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AtlasSearch::AtlasSearch(AtlasSearch&&) noexcept = default;
AtlasSearch& AtlasSearch::operator=(AtlasSearch&&) noexcept = default;
AtlasSearch::~AtlasSearch() = default;

Result<AtlasSearch> AtlasSearch::Open(const Engine& engine, const ClusterState& state,
                                      std::span<const WorkloadRequest> requests,
                                      std::span<const Victim> victims,
                                      std::span<const std::int64_t> priorities) {
  const Result<VictimsByFlavor> held = ResolveVictims(state, victims, /*together=*/true);
  if (!held) return tl::unexpected(held.error());
  std::map<std::int64_t, std::vector<std::uint32_t>> by_priority;
  for (std::size_t v = 0; v < priorities.size(); ++v) {
    by_priority[priorities[v]].push_back(static_cast<std::uint32_t>(v));
  }
  std::vector<std::int64_t> distinct;
  std::vector<std::vector<std::uint32_t>> with_step;
  for (auto& [priority, of_priority] : by_priority) {
    distinct.push_back(priority);
    with_step.push_back(std::move(of_priority));
  }
  auto impl = std::make_unique<Impl>(engine, state, requests, *held, with_step, std::move(distinct),
                                     /*first_only=*/false);
  if (auto check = engine.budget().Check(); !check) return tl::unexpected(check.error());
  return AtlasSearch(std::move(impl));
}

AtlasSearch AtlasSearch::OfFirstSteps(const Engine& engine, const ClusterState& state,
                                      std::span<const WorkloadRequest> requests,
                                      const VictimsByFlavor& held,
                                      std::span<const std::vector<std::uint32_t>> with_step) {
  return AtlasSearch(std::make_unique<Impl>(engine, state, requests, held, with_step,
                                            std::vector<std::int64_t>(), /*first_only=*/true));
}

std::span<const std::int64_t> AtlasSearch::priorities() const { return impl_->priorities(); }

PriorityStep AtlasSearch::never() const { return impl_->never(); }

Result<std::vector<AtlasRow>> AtlasSearch::Next() { return impl_->Next(); }

}  // namespace espalier
