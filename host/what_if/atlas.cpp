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

// States that are held at once, one for each step: with more priorities they are made anew for
// every batch of rows.
constexpr std::size_t kMostStates = 16;
// Shapes from which on it is sooner to count them in classes of equal leaves, which are found
// first.
constexpr std::size_t kWorthClassifying = 16;
// Shapes whose rows are made together, and the memory of these from which on no more are.
constexpr std::size_t kMostShapes = 512;
constexpr std::int64_t kEnoughBytes = std::int64_t{64} << 20;

// A state without the victims of some of the lowest priorities.
struct Step {
  PriorityStep step = 0;
  const ClusterState* state = nullptr;
};

// A row that is being made.
struct Draft {
  AtlasRow row;
  PlacementQuery query;
  bool scored = false;    // domains have affinity scores that the query reads
  bool decides = false;   // the counts are of the whole request
  bool constant = false;  // usage makes no difference
  // Steps of the current states, ascending, of which only a placement can tell; all are lower than
  // `row.anywhere`.
  std::vector<Step> open;
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

// Enters into a draft what the counts of a step tell.
void Read(const TreeView& tree, const CountsView& counts, const Step& step, PriorityStep never,
          Draft& draft) {
  const PlacementQuery& query = draft.query;
  AtlasRow& row = draft.row;
  LevelTally tallies[kMaxLevels];
  for (std::int32_t d = row.domains.begin; d < row.domains.end; ++d) {
    PriorityStep& first = row.steps[static_cast<std::size_t>(d - row.domains.begin)];
    if (first == never && Sufficient(MakeCandidate(counts, d), query)) first = step.step;
  }
  if (row.anywhere != never) return;
  for (std::int32_t level = FirstTallied(query); level <= query.level; ++level) {
    for (std::int32_t d = tree.LevelBegin(level); d < tree.LevelEnd(level); ++d) {
      Tally(counts, query, d, 1, tallies[level]);
    }
  }
  const FitBound bound = BoundOf(tree, tallies, query, draft.scored);
  if (bound == FitBound::kYes && draft.decides) {
    row.anywhere = step.step;
  } else if (bound != FitBound::kNo) {
    draft.open.push_back(step);
  }
}

bool IsDone(const Draft& draft, PriorityStep never) {
  return draft.row.anywhere != never && std::ranges::count(draft.row.steps, never) == 0;
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
       VictimsByFlavor held, std::span<const std::int64_t> priorities)
      : engine_(engine),
        state_(state),
        requests_(requests),
        budget_(engine.budget()),
        held_(std::move(held)) {
    std::map<std::int64_t, std::vector<std::size_t>> by_priority;
    for (std::size_t v = 0; v < priorities.size(); ++v) by_priority[priorities[v]].push_back(v);
    for (auto& [priority, of_priority] : by_priority) {
      priorities_.push_back(priority);
      of_priority_.push_back(std::move(of_priority));
    }
    never_ = static_cast<PriorityStep>(priorities_.size()) + 1;
    for (std::size_t i = 0; i < requests.size() && budget_.MayContinue(); ++i) AddRequest(i);
    shape_of_.clear();
    draft_of_.clear();
  }

  std::span<const std::int64_t> priorities() const { return priorities_; }

  Result<std::vector<AtlasRow>> Next() {
    budget_.Release(std::exchange(told_bytes_, 0));
    std::vector<AtlasRow> rows;
    const std::span<ShapeRows> batch = TakeBatch();
    for (std::size_t first = 0; first <= priorities_.size() && !batch.empty();
         first += kMostStates) {
      if (auto made = MakeStates(first); !made) return tl::unexpected(made.error());
      Count(batch);
      Place(batch);
      if (auto check = budget_.Check(); !check) return tl::unexpected(check.error());
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
    if (!query.unconstrained && query.slices() > 0) {
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

  // Makes the states of the steps from `first` on, kMostStates at most.
  Result<void> MakeStates(std::size_t first) {
    if (!steps_.empty() && static_cast<std::size_t>(steps_.front().step) == first) return {};
    std::optional<ClusterState> before;
    if (first > 0) {
      before = std::move(branches_.back());
    }
    branches_.clear();
    steps_.clear();
    branches_.reserve(kMostStates);  // so that none moves
    const std::size_t end = std::min(first + kMostStates, priorities_.size() + 1);
    for (std::size_t s = first; s < end; ++s) {
      if (s == 0) {
        steps_.push_back({0, &state_});
        continue;
      }
      const ClusterState& from = !branches_.empty() ? branches_.back() : before ? *before : state_;
      auto branch = from.Branch(budget_);
      if (!branch) return tl::unexpected(branch.error());
      for (const VictimsOnFlavor& held : held_) {
        FlavorState& flavor = *branch->Find(held.flavor()->snapshot().flavor().name);
        for (const std::size_t victim : of_priority_[s - 1]) {
          if (!budget_.MayContinue()) return budget_.Check();
          flavor.Remove(held.Of(victim));
        }
      }
      if (shapes_.size() >= kWorthClassifying) branch->ClassifyLeaves(budget_);
      branches_.push_back(*std::move(branch));
      steps_.push_back({static_cast<PriorityStep>(s), &branches_.back()});
    }
    return {};
  }

  // Enters into the drafts of a batch what counts tell of the current states. One state after the
  // other, so that all shapes read it while it is in the caches.
  void Count(std::span<ShapeRows> batch) {
    for (ShapeRows& shape : batch) {
      if (!shape.job) OpenAll(shape.drafts.front());
    }
    for (const Step& step : steps_) {
      Chunks chunks(budget_, batch.size());
      for (std::size_t begin = 0; begin < batch.size() && chunks.Begin();) {
        const std::size_t end = std::min(begin + chunks.size(), batch.size());
        std::size_t leaves = 0;
        for (std::size_t i = begin; i < end; ++i) {
          if (!batch[i].job) continue;
          leaves += static_cast<std::size_t>(batch[i].job->state->snapshot().leaf_count());
        }
        ParallelFor(end - begin, leaves,
                    [&](std::size_t i) { CountShape(batch[begin + i], step); });
        begin = end;
      }
    }
  }

  // Leaves a request that no counts help with to placements.
  void OpenAll(Draft& draft) const {
    if (draft.row.anywhere != never_) return;
    draft.open = steps_;
    if (draft.constant) draft.open.resize(steps_.front().step == 0 ? 1 : 0);
  }

  void CountShape(ShapeRows& shape, const Step& step) const {
    const auto done = [&](const Draft& draft) { return IsDone(draft, never_); };
    if (!shape.job || budget_.stopped() || std::ranges::all_of(shape.drafts, done)) return;
    thread_local CountsStorage counts;  // as large as the largest flavor
    PlacementJob job = *shape.job;
    const FlavorSnapshot& snapshot = job.state->snapshot();
    job.state = step.state->Find(snapshot.flavor().name);
    if (job.query.level == snapshot.tree().lowest()) {
      engine_.backend().CountDomains(job, counts);
    } else {
      engine_.backend().CountAboveLeaves(job, counts);
    }
    for (Draft& draft : shape.drafts) Read(snapshot.tree(), counts.View(), step, never_, draft);
  }

  // Decides the open steps of a batch by placing the requests.
  void Place(std::span<ShapeRows> batch) {
    std::vector<Draft*> asking;
    for (ShapeRows& shape : batch) {
      for (Draft& draft : shape.drafts) {
        if (!draft.open.empty()) asking.push_back(&draft);
      }
    }
    for (std::size_t i = 0; !asking.empty() && !budget_.stopped(); ++i) {
      std::vector<RequestOnState> asked;
      for (const Draft* draft : asking) {
        asked.push_back({&requests_[draft->row.requests.front()], draft->open[i].state});
      }
      const std::int64_t charged = budget_.charged();
      const std::vector<WorkloadAnswer> answers = engine_.Nominate(asked);
      if (budget_.stopped()) return;
      std::vector<Draft*> left;
      for (std::size_t a = 0; a < asking.size(); ++a) {
        Draft& draft = *asking[a];
        if (Fits(answers[a])) {
          draft.row.anywhere = draft.open[i].step;
        } else if (i + 1 < draft.open.size()) {
          left.push_back(&draft);
        }
      }
      budget_.Release(budget_.charged() - charged);
      asking = std::move(left);
    }
    for (ShapeRows& shape : batch) {
      for (Draft& draft : shape.drafts) draft.open.clear();
    }
  }

  const Engine& engine_;
  const ClusterState& state_;
  const std::span<const WorkloadRequest> requests_;
  WorkBudget& budget_;
  const VictimsByFlavor held_;
  std::vector<std::int64_t> priorities_;
  std::vector<std::vector<std::size_t>> of_priority_;  // victims, by index into priorities_
  PriorityStep never_ = 0;
  std::vector<ShapeRows> shapes_;
  std::map<ShapeKey, std::size_t> shape_of_;
  std::map<std::pair<std::size_t, QueryKey>, std::size_t> draft_of_;
  std::optional<std::size_t> alone_;  // the shape of the last request that counts do not decide
  std::size_t next_ = 0;              // of shapes_
  std::int64_t told_bytes_ = 0;       // charged for the last rows
  std::vector<ClusterState> branches_;
  std::vector<Step> steps_;  // of branches_
};

AtlasSearch::AtlasSearch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AtlasSearch::AtlasSearch(AtlasSearch&&) noexcept = default;
AtlasSearch& AtlasSearch::operator=(AtlasSearch&&) noexcept = default;
AtlasSearch::~AtlasSearch() = default;

Result<AtlasSearch> AtlasSearch::Open(const Engine& engine, const ClusterState& state,
                                      std::span<const WorkloadRequest> requests,
                                      std::span<const Victim> victims,
                                      std::span<const std::int64_t> priorities) {
  Result<VictimsByFlavor> held = ResolveVictims(state, victims, /*together=*/true);
  if (!held) return tl::unexpected(held.error());
  auto impl = std::make_unique<Impl>(engine, state, requests, *std::move(held), priorities);
  if (auto check = engine.budget().Check(); !check) return tl::unexpected(check.error());
  return AtlasSearch(std::move(impl));
}

std::span<const std::int64_t> AtlasSearch::priorities() const { return impl_->priorities(); }

Result<std::vector<AtlasRow>> AtlasSearch::Next() { return impl_->Next(); }

}  // namespace espalier
