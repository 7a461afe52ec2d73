// Plans are what going through the order gives, from a histogram and from the values themselves.
#include "kernels/decisions/take_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "tests/generated/random.hpp"
#include "tests/kernels/random_values.hpp"
#include "tests/kernels/teams.hpp"

namespace espalier::take_plan_test {
namespace {

CountRun RunOf(const std::vector<StoredCount>& values) {
  return {values.data(), static_cast<std::int32_t>(values.size())};
}

// Values in several runs of which no team makes a histogram.
struct InRuns {
  using Run = InRuns;

  CountRun values;
  std::int32_t first_run = 0;

  template <class Visit>
  void ForEachRun(const Visit& visit) const {
    visit(CountRun{values.values, first_run});
    visit(CountRun{values.values + first_run, 0});
    visit(CountRun{values.values + first_run, values.size() - first_run});
  }
};

struct Planned {
  TakePlan plan;
  StoredCount last = 0;
  bool operator==(const Planned& other) const {
    if (plan.suffices != other.plan.suffices || plan.held != other.plan.held) return false;
    if (!plan.suffices || (plan.domains == 0 && other.plan.domains == 0)) return true;
    return plan.least_whole == other.plan.least_whole && plan.most_whole == other.plan.most_whole &&
           plan.bound == other.plan.bound && plan.at_bound == other.plan.at_bound &&
           plan.rest == other.plan.rest && plan.domains == other.plan.domains && last == other.last;
  }
};

template <class Team, class Domains>
Planned Plan(const DomainCounts<Team, Domains>& counts, Count need, bool least_free) {
  Planned planned{PlanTake(counts, need, least_free)};
  if (planned.plan.suffices && need > 0) {
    planned.last = LastTaken(counts, planned.plan, least_free);
  }
  return planned;
}

// All that is said of a plan, by sorting.
Planned Expected(std::vector<StoredCount> values, Count need, bool least_free) {
  Planned expected;
  const Count all = std::accumulate(values.begin(), values.end(), Count{0});
  const StoredCount most = values.empty() ? 0 : *std::ranges::max_element(values);
  TakePlan& plan = expected.plan;
  plan.suffices = need <= 0 || need <= all;
  if (!plan.suffices) plan.held = all;
  if (need <= 0 || !plan.suffices) return expected;
  std::erase(values, 0);
  std::ranges::sort(values);
  if (!least_free) std::ranges::reverse(values);
  std::size_t i = 0;
  for (; plan.held + values[i] < need; ++i) plan.held += values[i];
  plan.domains = static_cast<std::int32_t>(i) + 1;
  plan.bound = values[i];
  plan.rest = need - plan.held;
  for (std::size_t j = i; j-- > 0 && values[j] == plan.bound;) ++plan.at_bound;
  const bool most_is_bound = plan.bound == most;
  plan.least_whole = least_free ? 1 : plan.bound + (most_is_bound ? 0 : 1);
  plan.most_whole = least_free || most_is_bound ? plan.bound - 1 : most;
  expected.last = plan.bound;
  for (; !least_free && i < values.size() && values[i] >= plan.rest; ++i) {
    expected.last = values[i];
  }
  return expected;
}

void ExpectPlans(const std::vector<StoredCount>& values, Count need, bool least_free) {
  SCOPED_TRACE(testing::Message() << values.size() << " values, need " << need
                                  << (least_free ? ", least free" : ""));
  const Planned expected = Expected(values, need, least_free);
  const CountRun run = RunOf(values);
  const Histogram histogram(run.values, run.size());
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_EQ(
        runner.Ask([&](auto& team) { return Plan(DomainCounts(team, run), need, least_free); }),
        expected);
    const InRuns runs{run, run.size() / 3};
    EXPECT_EQ(
        runner.Ask([&](auto& team) { return Plan(DomainCounts(team, runs), need, least_free); }),
        expected);
  });
  if (!histogram.fits()) return;
  SerialTeam team;
  EXPECT_EQ(Plan(DomainCounts(team, run, &histogram), need, least_free), expected) << "known";
}

TEST(PlanTakeTest, R12_3_LargestFirst) {
  for (const Count need : {0, 1, 7, 8, 9, 13, 14, 20, 21, 22}) {
    ExpectPlans({3, 8, 0, 5, 0, 5}, need, false);
  }
}

TEST(PlanTakeTest, R12_5_SmallestFirstUnderLeastFree) {
  for (const Count need : {0, 1, 3, 4, 8, 9, 13, 20, 21, 22}) {
    ExpectPlans({3, 8, 0, 5, 0, 5}, need, true);
  }
}

TEST(PlanTakeTest, HasNoBoundsButThoseOfCounts) {
  constexpr Count kHuge = Count{kMaxStored} * 1000;
  for (const bool least_free : {false, true}) {
    for (const Count need : {Count{0}, Count{1}, Count{1024}, Count{kMaxStored}, kHuge}) {
      ExpectPlans({}, need, least_free);
      ExpectPlans({0, 0, 0}, need, least_free);
      ExpectPlans({1023, 1023}, need, least_free);
      ExpectPlans({1024, 1, 1023}, need, least_free);
      ExpectPlans({kMaxStored, 1, kMaxStored, 2}, need, least_free);
      ExpectPlans(std::vector<StoredCount>(1000, kMaxStored), need, least_free);
    }
    ExpectPlans(std::vector<StoredCount>(1000, kMaxStored), kHuge + 1, least_free);
  }
}

TEST(PlanTakeTest, IsWhatSortingGives) {
  Random random(15);
  for (int round = 0; round < 80; ++round) {
    const std::uint32_t ends[] = {2, 4, 9, 200, 1024, 1026, 100'000, 1u << 31};
    const auto size = static_cast<std::int32_t>(random.Below(round % 20 == 0 ? 700 : 30));
    const std::vector<StoredCount> values = RandomValues(random, size, ends[round % 8]);
    const Count all = std::accumulate(values.begin(), values.end(), Count{0});
    const Count some = all / (1 + random.Below(9)) + random.Below(3);
    for (const Count need : {some, all, all + 1}) ExpectPlans(values, need, random.Below(2) == 0);
  }
}

// R12.3 to R12.5, one domain after the other.
std::map<StoredCount, Count> TakenInOrder(std::vector<StoredCount> values, Count need,
                                          bool least_free) {
  std::erase(values, 0);
  std::ranges::sort(values);
  if (!least_free) std::ranges::reverse(values);
  std::map<StoredCount, Count> taken;  // pods taken of domains that hold so much
  while (need > 0) {
    auto next = values.begin();
    if (!least_free && *next >= need) {  // the tightest that still suffices (R9.4)
      next = std::ranges::min_element(
          values, {}, [&](StoredCount value) { return value >= need ? value : kMaxStored; });
    }
    const Count pods = std::min<Count>(*next, need);
    taken[*next] += pods;
    need -= pods;
    values.erase(next);
  }
  return taken;
}

TEST(PlanTakeTest, R12_3_TakesWhatGoingThroughTheOrderTakes) {
  Random random(14);
  for (int round = 0; round < 2000; ++round) {
    const std::vector<StoredCount> values =
        RandomValues(random, 1 + static_cast<std::int32_t>(random.Below(12)), 8);
    const Count all = std::accumulate(values.begin(), values.end(), Count{0});
    const Count need = 1 + random.Below(static_cast<std::uint32_t>(all) + 2);
    const bool least_free = round % 2 == 0;
    SerialTeam team;
    const CountRun run = RunOf(values);
    const Histogram pool(run.values, run.size());
    const auto [take, last] = Plan(DomainCounts(team, run), need, least_free);
    ASSERT_EQ(take.suffices, need <= all);
    if (need > all) continue;
    std::map<StoredCount, Count> planned;
    Count domains = 0;
    for (StoredCount value = 1; value <= pool.most(); ++value) {
      const bool before = value >= take.least_whole && value <= take.most_whole;
      EXPECT_EQ(before, least_free ? value < take.bound : value > take.bound);
      const std::int32_t wholly = before ? pool[value] : value == take.bound ? take.at_bound : 0;
      if (wholly > 0) planned[value] += Count{value} * wholly;
      domains += wholly;
    }
    planned[last] += take.rest;
    EXPECT_EQ(planned, TakenInOrder(values, need, least_free)) << "need " << need;
    EXPECT_EQ(take.held + take.rest, need);
    EXPECT_EQ(take.domains, domains + 1);
    EXPECT_LE(take.rest, last);
  }
}

}  // namespace
}  // namespace espalier::take_plan_test
