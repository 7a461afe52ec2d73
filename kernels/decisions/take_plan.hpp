// Finds which domains a walk along the plain order takes, without putting them in order: that
// follows from how many domains hold how much.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/decisions/histogram.hpp"
#include "kernels/team/scanning.hpp"
#include "kernels/views.hpp"

namespace espalier {

// The counts that domains in a row hold. Like every kind of domains that counts are taken of, it
// names its runs and goes through them.
struct CountRun {
  using Run = CountRun;

  const StoredCount* values = nullptr;
  std::int32_t count = 0;

  ESPALIER_HD std::int32_t size() const { return count; }
  ESPALIER_HD StoredCount operator[](std::int32_t i) const { return values[i]; }
  template <class Visit>
  ESPALIER_HD void ForEachRun(const Visit& visit) const {
    visit(*this);
  }
};

// The amount that some domains hold together, and their number.
struct CountSum {
  Count held = 0;
  Count domains = 0;
};

// Say what FindBound measures: what domains hold together, or how many they are.
struct InCounts {
  ESPALIER_HD Count operator()(const CountSum& sum) const { return sum.held; }
};
struct InDomains {
  ESPALIER_HD Count operator()(const CountSum& sum) const { return sum.domains; }
};

struct PlusCounts {
  ESPALIER_HD CountSum operator()(const CountSum& a, const CountSum& b) const {
    return {a.held + b.held, a.domains + b.domains};
  }
};

// The least and the most that a domain holds, of those that hold something, and what all hold.
struct CountSpan {
  StoredCount least = kMaxStored;
  StoredCount most = 0;
  Count held = 0;
};

struct JoinSpans {
  ESPALIER_HD CountSpan operator()(const CountSpan& a, const CountSpan& b) const {
    return {a.least < b.least ? a.least : b.least, a.most > b.most ? a.most : b.most,
            a.held + b.held};
  }
};

// Some values, and what the domains hold together that hold as much as one of these.
struct CountPart {
  StoredCount low = 0;
  StoredCount high = 0;
  CountSum sum;
};

// Answers how many of some domains hold how much. Every question is a pass over the domains on all
// lanes. One lane instead counts domains that lie in a row once, where none of them holds much, or
// is given a histogram of them.
template <class Team, class Domains>
class DomainCounts {
 public:
  // Looks at the domains for the first time. Neither they nor `known` may change while this object
  // lives; null: no histogram of them is known.
  ESPALIER_HD DomainCounts(Team& team, const Domains& domains, const Histogram* known = nullptr)
      : team_(team), domains_(domains) {
    if (UseHistogram(known)) return;
    CountSpan mine;
    domains.ForEachRun([&](const auto& run) {
      for (std::int32_t i = team.rank(); i < run.size(); i += team.size()) {
        const StoredCount value = run[i];
        mine.least = value > 0 && value < mine.least ? value : mine.least;
        mine.most = value > mine.most ? value : mine.most;
        mine.held += value;
      }
    });
    span_ = team.reduce(mine, CountSpan{}, JoinSpans{});
  }
  DomainCounts(const DomainCounts&) = delete;

  static constexpr Count kUnknown = -1;
  // Returns what all domains hold together; kUnknown: a histogram does not say.
  ESPALIER_HD Count held() const { return span_.held; }
  // Return bounds of what domains hold that hold something.
  ESPALIER_HD StoredCount least() const { return span_.least; }
  ESPALIER_HD StoredCount most() const { return span_.most; }

  // Returns the part of the values `low` to `high` that a search for a bound looks at first, and
  // what the domains hold together that hold so much each: one value of a histogram, else half.
  ESPALIER_HD CountPart FirstPart(StoredCount low, StoredCount high, bool ascending) const {
    if (const Histogram* const known = histogram(); known != nullptr) {
      const StoredCount value = ascending ? low : high;
      return {value, value, {Count{value} * (*known)[value], (*known)[value]}};
    }
    const StoredCount stride = (high - low) / 2;
    low = ascending ? low : high - stride;
    high = ascending ? low + stride : high;
    Count held = 0;
    std::int32_t count = 0;
    domains_.ForEachRun([&](const auto& run) {
      for (std::int32_t i = team_.rank(); i < run.size(); i += team_.size()) {
        const StoredCount value = run[i];
        const bool within = value >= low && value <= high;
        held += within ? value : 0;
        count += within ? 1 : 0;
      }
    });
    return {low, high, team_.reduce(CountSum{held, count}, CountSum{}, PlusCounts{})};
  }

  // Returns the least value from `low` on that a domain holds, `high` at most.
  ESPALIER_HD StoredCount LeastFrom(StoredCount low, StoredCount high) const {
    if (const Histogram* const known = histogram(); known != nullptr) {
      while (low < high && (*known)[low] == 0) ++low;
      return low;
    }
    StoredCount least = high;
    domains_.ForEachRun([&](const auto& run) {
      for (std::int32_t i = team_.rank(); i < run.size(); i += team_.size()) {
        const StoredCount value = run[i];
        least = value >= low && value < least ? value : least;
      }
    });
    return team_.reduce(least, high, SmallerInt{});
  }

 private:
  static constexpr bool kMayCount =
      Team::kOneLane && std::is_same_v<typename Domains::Run, CountRun>;
  struct NoHistogram {};

  // Returns whether there is a histogram now: `known`, or one that is made of small values.
  ESPALIER_HD bool UseHistogram(const Histogram* known) {
    if constexpr (kMayCount) {
      histogram_ = known != nullptr ? known : &own_;
      if (known == nullptr) {
        domains_.ForEachRun([&](const CountRun& run) { own_.Add(run.values, run.size()); });
        if (!own_.fits()) histogram_ = nullptr;
      }
      if (histogram_ != nullptr) span_ = {1, histogram_->most(), kUnknown};
    }
    return histogram() != nullptr;
  }

  ESPALIER_HD const Histogram* histogram() const {
    if constexpr (kMayCount) return histogram_;
    return nullptr;
  }

  Team& team_;
  const Domains& domains_;
  CountSpan span_;
  const Histogram* histogram_ = nullptr;  // of all domains
  // The histogram that histogram_ points to when none was given. Takes 4 KB, so teams of many lanes
  // have none.
  std::conditional_t<kMayCount, Histogram, NoHistogram> own_;
};

// The value at which a walk along the plain order comes to have `need`.
struct CountBound {
  bool found = false;
  StoredCount value = 0;
  CountSum before;  // domains that come before all that hold `value`; all domains if not found
};

// Returns the bound of `need` > 0, as `unit` measures it. Smaller values come first where
// `ascending`, else larger ones. `enough`: all domains together are known to have so much.
template <class Team, class Domains, class Unit>
ESPALIER_HD CountBound FindBound(const DomainCounts<Team, Domains>& counts, Count need,
                                 bool ascending, Unit unit, bool enough) {
  CountBound bound;
  StoredCount low = counts.least();
  StoredCount high = counts.most();
  while (low <= high && (low < high || !enough)) {
    const CountPart part = counts.FirstPart(low, high, ascending);
    const CountSum gone = PlusCounts{}(bound.before, part.sum);
    if (unit(gone) >= need) {
      low = part.low;
      high = part.high;
      enough = true;
    } else {
      bound.before = gone;
      low = ascending ? part.high + 1 : low;
      high = ascending ? high : part.low - 1;
    }
  }
  bound.found = low <= high;
  bound.value = low;
  return bound;
}

// The domains that are taken along the plain order until `need` is held: wholly all that hold from
// `least_whole` to `most_whole` each and `at_bound` of those that hold `bound`, the smallest ids
// first; and `rest` of one more.
struct TakePlan {
  bool suffices = false;  // if not, of the rest only `held` has a meaning
  StoredCount least_whole = 1;
  StoredCount most_whole = 0;
  StoredCount bound = 0;
  std::int32_t at_bound = 0;
  Count rest = 0;
  Count held = 0;            // by all that are taken wholly; by all there are if that is too little
  std::int32_t domains = 0;  // taken wholly, and the one more
};

// Plans R12.3 to R12.5 up to the domain that takes the rest. Nothing is taken for nothing.
template <class Team, class Domains>
ESPALIER_HD TakePlan PlanTake(const DomainCounts<Team, Domains>& counts, Count need,
                              bool least_free) {
  TakePlan plan;
  const bool known = counts.held() != counts.kUnknown;
  plan.suffices = need <= 0 || !known || counts.held() >= need;
  plan.held = plan.suffices ? 0 : counts.held();
  if (need <= 0 || !plan.suffices) return plan;
  const CountBound bound = FindBound(counts, need, least_free, InCounts{}, known);
  plan.suffices = bound.found;
  plan.held = bound.before.held;
  if (!bound.found) return plan;
  plan.bound = bound.value;
  const bool most_is_bound = bound.value == counts.most();  // no larger value, and maybe no number
  plan.least_whole = least_free ? 1 : bound.value + (most_is_bound ? 0 : 1);
  plan.most_whole = least_free || most_is_bound ? bound.value - 1 : counts.most();
  // One more takes the rest.
  plan.at_bound = static_cast<std::int32_t>((need - bound.before.held - 1) / bound.value);
  plan.held = bound.before.held + Count{plan.at_bound} * bound.value;
  plan.rest = need - plan.held;
  plan.domains = static_cast<std::int32_t>(bound.before.domains) + plan.at_bound + 1;
  return plan;
}

// Returns what the domain holds that takes the rest of a plan. Of those that hold the bound one is
// left for sure; the tightest of what is left takes the rest (R9.4), but not under
// least-free-capacity (R12.5).
template <class Team, class Domains>
ESPALIER_HD StoredCount LastTaken(const DomainCounts<Team, Domains>& counts, const TakePlan& plan,
                                  bool least_free) {
  return least_free ? plan.bound
                    : counts.LeastFrom(static_cast<StoredCount>(plan.rest), plan.bound);
}

}  // namespace espalier
