#include "host/what_if/prefix_batch.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include <tbb/task_arena.h>

#include "host/engine/chunks.hpp"
#include "host/engine/workload_placement.hpp"
#include "host/packing/parallel_for.hpp"
#include "host/what_if/atlas.hpp"
#include "host/what_if/fit_tracker.hpp"
#include "host/what_if/removal_trial.hpp"
#include "host/what_if/victims_by_flavor.hpp"

namespace espalier {
namespace {

// Places of a list between which requests that walk through it together are told apart.
constexpr std::size_t kPlaces = 32;
// Rows that one tracker counts for; it counts the cluster once for all of them.
constexpr std::size_t kRowsOfTracker = 16;
// Requests that are answered together.
constexpr std::size_t kMostTogether = 256;

// Calls body(i) for each i below `count` on all threads, with pauses for other work.
template <class Body>
void ForEach(std::size_t count, WorkBudget& budget, const Body& body) {
  if (count == 1) return body(0);
  const auto threads = static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
  Chunks chunks(budget, std::max(kMostTogether, threads), threads);
  for (std::size_t begin = 0; begin < count && chunks.Begin();) {
    const std::size_t size = std::min(std::max(chunks.size(), threads), count - begin);
    ParallelFor(size, std::numeric_limits<std::size_t>::max(), [&](std::size_t i) {
      if (!budget.stopped()) body(begin + i);
    });
    begin += size;
  }
}

// Who of a list holds something on which leaves of a flavor.
class Holders {
 public:
  Holders(const VictimsOnFlavor& held, std::span<const std::uint32_t> list)
      : begin_(static_cast<std::size_t>(held.flavor()->snapshot().leaf_count()) + 1, 0) {
    const auto for_each = [&](const auto& visit) {
      for (std::size_t position = 0; position < list.size(); ++position) {
        std::int32_t last = -1;
        for (const LeafAmount& amount : held.Of(list[position])) {
          if (amount.leaf != last) visit(static_cast<std::size_t>(amount.leaf), position);
          last = amount.leaf;
        }
      }
    };
    for_each([&](std::size_t leaf, std::size_t) { ++begin_[leaf + 1]; });
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    positions_.resize(begin_.back());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for_each([&](std::size_t leaf, std::size_t position) {
      positions_[next[leaf]++] = static_cast<std::uint32_t>(position);
    });
  }

  // Returns who of the first `limit` of the list holds something in any of some domains of a level,
  // in the order of the list.
  std::vector<std::size_t> In(std::span<const std::int32_t> domains, const TreeView& tree,
                              std::int32_t level, std::size_t limit) const {
    std::vector<std::size_t> found;
    for (const std::int32_t domain : domains) {
      const DomainRange leaves = LeavesBelow(tree, {domain, domain + 1}, level);
      for (std::size_t i = begin_[static_cast<std::size_t>(leaves.begin)];
           i < begin_[static_cast<std::size_t>(leaves.end)]; ++i) {
        if (positions_[i] < limit) found.push_back(positions_[i]);
      }
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

 private:
  std::vector<std::size_t> begin_;  // by leaf, into positions_; one more at the end
  std::vector<std::uint32_t> positions_;
};

// The targets of FindPrefix while victims are tried from the last but one to the first, without
// those that have their turn yet.
class Targets {
 public:
  explicit Targets(std::size_t last) : order_{static_cast<std::uint32_t>(last)} {}

  void Keep(std::size_t position) { order_.push_front(static_cast<std::uint32_t>(position)); }
  // Puts back the next `victims`, each of which has its place taken by the last target.
  void PutBack(std::size_t victims) {
    for (std::size_t i = victims % order_.size(); i > 0; --i) {
      order_.push_front(order_.back());
      order_.pop_back();
    }
  }

  std::vector<std::uint32_t> Take() const { return {order_.begin(), order_.end()}; }

 private:
  std::deque<std::uint32_t> order_;
};

// What is found for requests that ask for the same of the same list.
struct FoundPrefix {
  enum Kind {
    kAlone,   // nothing: each is searched on its own
    kAtOnce,  // it fits without removals
    kLater,   // it fits without some
    kNever,   // it does not fit without all
  };
  Kind kind = kAlone;
  std::size_t prefix = 0;
  std::vector<std::uint32_t> targets;  // positions in the list
};

// Requests that ask for the same and begin to fit between two places of their list.
struct Row {
  std::vector<std::size_t> requests;
  PlacementJob job;
  std::vector<std::int32_t> domains;  // of a required level: that hold it at the second place
  std::size_t first = 0;              // victims before the first place
  std::size_t second = 0;             // and before the second
  FoundPrefix found;
};

// Rows with equal keys may be counted together: by their shape and the level of their room.
auto KeyOf(const Row& row) {
  const PlacementQuery& query = row.job.query;
  return std::tuple(row.job.state, row.job.shape.get(), row.job.filter.get(), query.leaders,
                    query.required ? -1 : FirstTallied(query));
}
bool IsSharable(const Row& row) { return row.job.assumed.empty() && !IsPartial(row.job); }

// Finds prefix and targets of rows that are counted together, one after the other.
class RowsSearch {
 public:
  RowsSearch(const PlacementJob& job, const Backend& backend, const VictimsOnFlavor& held,
             std::span<const std::uint32_t> list, const Holders& holders)
      : job_(job), tracker_(job_, backend), held_(held), list_(list), holders_(holders) {}

  // Leaves row.found.kind as kAlone once the budget is stopped. Rows without a required level need
  // no fewer slices than those before them.
  void Find(Row& row) { row.job.query.required ? FindInDomains(row) : FindAnywhere(row); }

 private:
  // Return whether any count has changed.
  bool Remove(std::size_t position) { return tracker_.Change(held_.Of(list_[position]), 1); }
  bool PutBack(std::size_t position) { return tracker_.Change(held_.Of(list_[position]), -1); }
  bool stopped() const { return job_.budget->stopped(); }

  // Only the domains that suffice at the second place may do so before it, and whoever holds
  // nothing there makes no difference.
  void FindInDomains(Row& row) {
    const PlacementQuery& query = row.job.query;
    const TreeView tree = row.job.state->snapshot().tree();
    const auto suffices = [&](std::int32_t domain) {
      return Sufficient(MakeCandidate(tracker_.counts(), domain), query);
    };
    std::vector<std::int32_t>& domains = row.domains;
    const auto fits = [&] { return std::ranges::any_of(domains, suffices); };
    const std::vector<std::size_t> gone = holders_.In(domains, tree, query.level, row.second);
    std::size_t removed = 0;
    bool found = false;
    while (!found && removed < gone.size() && !stopped()) {
      const bool changed = Remove(gone[removed]);
      found = gone[removed++] >= row.first && changed && fits();
    }
    if (found) {
      std::erase_if(domains, [&](std::int32_t domain) { return !suffices(domain); });
      std::size_t last = gone[removed - 1];
      row.found = {FoundPrefix::kLater, last + 1, {}};
      Targets targets(last);
      std::vector<std::size_t> back;
      const std::vector<std::size_t> tried = holders_.In(domains, tree, query.level, last);
      for (auto next = tried.rbegin(); next != tried.rend() && !stopped(); ++next) {
        targets.PutBack(last - *next - 1);
        last = *next;
        Try(last, fits, targets, back);
      }
      targets.PutBack(last);
      row.found.targets = targets.Take();
      for (const std::size_t position : back) Remove(position);
    }
    while (removed > 0) PutBack(gone[--removed]);
  }

  // The room of all domains together grows with every victim: those of the row before are still
  // removed.
  void FindAnywhere(Row& row) {
    const auto fits = [&] { return tracker_.Bound(row.job.query) == FitBound::kYes; };
    while (!fits() && removed_ < list_.size() && !stopped()) Remove(removed_++);
    if (removed_ == 0 || !fits() || stopped()) return;
    row.found = {FoundPrefix::kLater, removed_, {}};
    Targets targets(removed_ - 1);
    std::vector<std::size_t> back;
    for (std::size_t next = removed_ - 1; next-- > 0 && !stopped();) {
      Try(next, fits, targets, back);
    }
    row.found.targets = targets.Take();
    for (const std::size_t position : back) Remove(position);
  }

  // Puts a victim back if it fits all the same.
  template <class Fits>
  void Try(std::size_t position, const Fits& fits, Targets& targets,
           std::vector<std::size_t>& back) {
    if (!PutBack(position) || fits()) {
      back.push_back(position);
      targets.PutBack(1);
    } else {
      Remove(position);
      targets.Keep(position);
    }
  }

  const PlacementJob job_;
  FitTracker tracker_;
  const VictimsOnFlavor& held_;
  const std::span<const std::uint32_t> list_;
  const Holders& holders_;
  std::size_t removed_ = 0;  // of the list, for rows without a required level
};

}  // namespace

class PrefixBatch::Impl {
 public:
  Impl(const Engine& engine, const ClusterState& state, std::span<const WorkloadRequest> requests,
       std::vector<Victim> victims, const VictimLists& lists)
      : engine_(engine),
        budget_(engine.budget()),
        state_(state),
        requests_(requests),
        victims_(std::move(victims)),
        lists_(lists),
        found_of_(requests.size(), 0) {}

  Result<void> Resolve() {
    Result<VictimsByFlavor> held = ResolveVictims(state_, victims_, /*together=*/false);
    std::optional<TogetherCheck> together;
    if (held) {
      held_ = *std::move(held);
      together.emplace(held_, victims_);
    }
    const auto less = [](const auto* a, const auto* b) { return a != b && *a < *b; };
    std::map<const std::vector<std::uint32_t>*, std::size_t, decltype(less)> known(less);
    for (std::size_t w = 0; w < requests_.size(); ++w) {
      const auto [group, is_new] = known.try_emplace(&ListOf(w), groups_.size());
      if (is_new) groups_.push_back({&ListOf(w), {}});
      groups_[group->second].requests.push_back(w);
      group_of_.push_back(group->second);
      if (!is_new || (together && together->Holds(ListOf(w)))) continue;
      if (!budget_.MayContinue()) return budget_.Check();
      if (auto wrong = CheckVictims(state_, VictimsOf(ListOf(w)), /*together=*/true); !wrong) {
        return wrong;
      }
    }
    if (!held) return tl::unexpected(held.error());  // of a victim that no list names
    return {};
  }

  Result<std::vector<PrefixAnswer>> Next() {
    budget_.Release(std::exchange(told_bytes_, 0));
    if (found_.empty()) Search();
    const std::size_t size = std::min(kMostTogether, requests_.size() - next_);
    std::vector<PrefixAnswer> answers(size);
    const std::int64_t charged = budget_.charged();
    std::vector<std::size_t> others;
    std::vector<std::pair<std::size_t, std::size_t>> never;  // groups, and requests
    std::vector<std::size_t> at_once;
    for (std::size_t w = next_; w < next_ + size; ++w) {
      const FoundPrefix::Kind kind = FoundOf(w).kind;
      if (kind == FoundPrefix::kAtOnce) {
        at_once.push_back(w);
      } else if (kind == FoundPrefix::kNever) {
        never.emplace_back(group_of_[w], w);
      } else {
        others.push_back(w);
      }
    }
    Nominate(at_once, state_, answers);
    std::ranges::sort(never);
    for (std::size_t i = 0; i < never.size() && !budget_.stopped();) {
      const std::size_t group = never[i].first;
      std::vector<std::size_t> of_group;
      for (; i < never.size() && never[i].first == group; ++i) of_group.push_back(never[i].second);
      if (RemoveAllOf(group)) Nominate(of_group, *without_all_, answers);
    }
    ForEach(others.size(), budget_, [&](std::size_t i) {
      answers[others[i] - next_] = Answer(others[i], others.size() == 1);
    });
    for (const PrefixAnswer& answer : answers) {
      budget_.Charge(static_cast<std::int64_t>(answer.targets.size() * sizeof(std::size_t)));
    }
    if (auto check = budget_.Check(); !check) return tl::unexpected(check.error());
    told_bytes_ = budget_.charged() - charged;
    next_ += size;
    return answers;
  }

 private:
  struct Group {
    const std::vector<std::uint32_t>* list;
    std::vector<std::size_t> requests;
  };

  const std::vector<std::uint32_t>& ListOf(std::size_t request) const {
    return lists_.size() == 1 ? lists_[0] : lists_[request];
  }
  const FoundPrefix& FoundOf(std::size_t request) const { return found_[found_of_[request]]; }

  std::vector<Victim> VictimsOf(const std::vector<std::uint32_t>& list) const {
    std::vector<Victim> victims;
    for (const std::uint32_t position : list) victims.push_back(victims_[position]);
    return victims;
  }

  // Finds what requests with the same list have in common.
  void Search() {
    found_.emplace_back();  // of those that are searched on their own
    for (const Group& group : groups_) {
      if (group.requests.size() == 1) continue;
      std::vector<std::size_t> together;
      for (const std::size_t w : group.requests) {
        if (!budget_.MayContinue()) return;
        if (GoesTogether(requests_[w])) together.push_back(w);
      }
      if (together.size() > 1) SearchTogether(*group.list, together);
    }
  }

  // Returns whether the counts of one job tell whether a request fits, and more room never makes it
  // fit less.
  bool GoesTogether(const WorkloadRequest& request) const {
    if (request.tree || (request.simulate_empty && request.replacement)) return false;
    WorkloadPlacement placement(request, state_, engine_.gates(), budget_);
    const PlacementJob* job = placement.NextJob();
    if (job == nullptr || job->simulate_empty) return true;  // usage makes no difference
    return IsOneGroup(request) && NeedsOnlyRoom(*job);
  }

  void SearchTogether(const std::vector<std::uint32_t>& list,
                      const std::vector<std::size_t>& members) {
    std::vector<WorkloadRequest> requests;
    for (const std::size_t w : members) requests.push_back(requests_[w]);
    const std::size_t places = std::min(kPlaces, list.size());
    const auto place = [&](std::size_t i) {
      return list.begin() + static_cast<std::ptrdiff_t>(list.size() * i / places);
    };
    std::vector<std::vector<std::uint32_t>> steps;
    for (std::size_t i = 0; i < places; ++i) steps.emplace_back(place(i), place(i + 1));
    AtlasSearch search = AtlasSearch::OfFirstSteps(engine_, state_, requests, held_, steps);
    std::map<const FlavorState*, Holders> holders;
    for (const VictimsOnFlavor& held : held_) {
      holders.emplace(held.flavor(), Holders(held, list));
    }
    while (true) {
      auto steps_of_rows = search.Next();
      if (!steps_of_rows || steps_of_rows->empty()) return;
      std::vector<Row> rows;
      for (AtlasRow& of_row : *steps_of_rows) {
        for (std::size_t& request : of_row.requests) request = members[request];
        if (of_row.anywhere == 0) {
          Tell({FoundPrefix::kAtOnce, 0, {}}, of_row.requests);
        } else if (of_row.anywhere == search.never()) {
          Tell({FoundPrefix::kNever, 0, {}}, of_row.requests);
        } else if (auto row = RowOf(of_row)) {
          row->first = static_cast<std::size_t>(
              place(static_cast<std::size_t>(of_row.anywhere) - 1) - list.begin());
          row->second = static_cast<std::size_t>(place(static_cast<std::size_t>(of_row.anywhere)) -
                                                 list.begin());
          rows.push_back(*std::move(row));
        }
      }
      FindRows(list, holders, rows);
      for (Row& row : rows) Tell(std::move(row.found), row.requests);
    }
  }

  // Returns a row with a job of its own; nullopt once the budget is stopped.
  std::optional<Row> RowOf(AtlasRow& of_row) const {
    WorkloadPlacement placement(requests_[of_row.requests.front()], state_, engine_.gates(),
                                budget_);
    const PlacementJob* job = placement.NextJob();
    if (job == nullptr) return std::nullopt;
    Row row{std::move(of_row.requests), *job};
    for (std::int32_t d = of_row.domains.begin; d < of_row.domains.end; ++d) {
      if (of_row.steps[static_cast<std::size_t>(d - of_row.domains.begin)] == of_row.anywhere) {
        row.domains.push_back(d);
      }
    }
    return row;
  }

  void Tell(FoundPrefix found, const std::vector<std::size_t>& requests) {
    budget_.Charge(static_cast<std::int64_t>(sizeof(FoundPrefix) +
                                             found.targets.size() * sizeof(std::uint32_t)));
    for (const std::size_t w : requests) found_of_[w] = found_.size();
    found_.push_back(std::move(found));
  }

  void FindRows(const std::vector<std::uint32_t>& list,
                const std::map<const FlavorState*, Holders>& holders, std::vector<Row>& rows) {
    std::ranges::sort(rows, {}, [](const Row& row) {
      return std::tuple(KeyOf(row), row.job.query.slices(), row.requests.front());
    });
    std::vector<std::span<Row>> runs;  // that are counted together
    for (Row& row : rows) {
      const bool joins = !runs.empty() && runs.back().size() < kRowsOfTracker && IsSharable(row) &&
                         IsSharable(runs.back().front()) &&
                         KeyOf(row) == KeyOf(runs.back().front());
      if (joins) {
        runs.back() = {runs.back().data(), runs.back().size() + 1};
      } else {
        runs.emplace_back(&row, 1);
      }
    }
    ForEach(runs.size(), budget_, [&](std::size_t i) {
      const PlacementJob& job = runs[i].front().job;
      const auto held = std::ranges::find(held_, job.state, &VictimsOnFlavor::flavor);
      if (held == held_.end()) return;
      RowsSearch search(job, engine_.backend(), *held, list, holders.at(job.state));
      for (Row& row : runs[i]) search.Find(row);
    });
  }

  // Makes without_all_ the state without all victims of a group's list. Returns false once the
  // budget is stopped.
  bool RemoveAllOf(std::size_t group) {
    if (without_all_ && group == group_without_) return true;
    without_all_.reset();
    group_without_ = group;
    auto branch = state_.Branch(budget_);
    if (!branch) return false;
    without_all_ = *std::move(branch);
    for (const VictimsOnFlavor& held : held_) {
      without_all_->Find(held.flavor()->snapshot().flavor().name)
          ->Remove(held.HeldBy(*groups_[group].list));
    }
    return true;
  }

  // Answers requests for which nothing else is decided than whether they fit on a state.
  void Nominate(const std::vector<std::size_t>& requests, const ClusterState& state,
                std::vector<PrefixAnswer>& answers) const {
    std::vector<RequestOnState> asked;
    for (const std::size_t w : requests) asked.push_back({&requests_[w], &state});
    if (asked.empty()) return;
    std::vector<WorkloadAnswer> placed = engine_.Nominate(asked);
    for (std::size_t i = 0; i < placed.size(); ++i) {
      PrefixAnswer& answer = answers[requests[i] - next_];
      answer.fits = FoundOf(requests[i]).kind == FoundPrefix::kAtOnce;
      answer.answer = std::move(placed[i]);
    }
  }

  // Answers a request that fits later, or is searched on its own; `alone`: no other thread works
  // for the budget.
  PrefixAnswer Answer(std::size_t request, bool alone) const {
    const FoundPrefix& found = FoundOf(request);
    const std::vector<std::uint32_t>& list = ListOf(request);
    PrefixAnswer answer;
    if (found.kind == FoundPrefix::kAlone) {
      answer = FindPrefixOf(engine_, state_, requests_[request], victims_, held_, list, alone);
    } else {
      answer.fits = true;
      answer.prefix = found.prefix;
      answer.targets.assign(found.targets.begin(), found.targets.end());
      auto branch = state_.Branch(budget_);
      if (!branch) return answer;  // the budget is stopped
      for (const std::size_t target : answer.targets) {
        branch->RemoveUsage(victims_[list[target]].usage);
      }
      answer.answer = engine_.NominateOne(*branch, requests_[request]);
    }
    for (std::size_t& target : answer.targets) target = list[target];
    return answer;
  }

  const Engine& engine_;
  WorkBudget& budget_;
  const ClusterState& state_;
  const std::span<const WorkloadRequest> requests_;
  const std::vector<Victim> victims_;
  const VictimLists& lists_;
  VictimsByFlavor held_;
  std::vector<Group> groups_;          // of requests with equal lists
  std::vector<std::size_t> group_of_;  // by request
  std::vector<FoundPrefix> found_;     // empty: nothing was searched yet
  std::vector<std::size_t> found_of_;  // by request, into found_
  std::optional<ClusterState> without_all_;
  std::size_t group_without_ = 0;  // whose victims are removed there
  std::size_t next_ = 0;           // request
  std::int64_t told_bytes_ = 0;    // charged for the last answers
};

PrefixBatch::PrefixBatch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PrefixBatch::PrefixBatch(PrefixBatch&&) noexcept = default;
PrefixBatch& PrefixBatch::operator=(PrefixBatch&&) noexcept = default;
PrefixBatch::~PrefixBatch() = default;

Result<PrefixBatch> PrefixBatch::Open(const Engine& engine, const ClusterState& state,
                                      std::span<const WorkloadRequest> requests,
                                      std::vector<Victim> victims, const VictimLists& lists) {
  auto impl = std::make_unique<Impl>(engine, state, requests, std::move(victims), lists);
  if (auto sound = impl->Resolve(); !sound) return tl::unexpected(sound.error());
  return PrefixBatch(std::move(impl));
}

Result<std::vector<PrefixAnswer>> PrefixBatch::Next() { return impl_->Next(); }

}  // namespace espalier
