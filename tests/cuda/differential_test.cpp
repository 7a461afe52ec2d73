// The device answers random questions as the oracle and the CPU do. ESPALIER_SEEDS: how many, 500
// unless told. ESPALIER_SECONDS: begins no question of a test after so many, and prints how many
// were answered.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/what_if/victim_sets.hpp"
#include "tests/cuda/ask.hpp"
#include "tests/cuda/device_under_test.hpp"
#include "tests/differential/check.hpp"
#include "tests/differential/large_cluster.hpp"
#include "tests/differential/queue.hpp"
#include "tests/differential/victims.hpp"
#include "tests/generated/random.hpp"

namespace espalier::differential_test {
namespace {

using DeviceDifferential = DeviceTest;

long MostSeeds() {
  const char* wanted = std::getenv("ESPALIER_SEEDS");
  return wanted == nullptr ? 500 : std::atol(wanted);
}

// The seeds of a test: from 0, as many as are wanted or as time allows.
class Seeds {
 public:
  explicit Seeds(long most = MostSeeds()) : most_(most) {
    const char* seconds = std::getenv("ESPALIER_SECONDS");
    timed_ = seconds != nullptr;
    if (timed_) end_ = Clock::now() + std::chrono::seconds(std::atol(seconds));
  }
  ~Seeds() {
    if (!timed_) return;
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    fmt::print("{}: {} seeds\n", test->name(), next_);
  }
  Seeds(const Seeds&) = delete;
  Seeds& operator=(const Seeds&) = delete;

  bool More() const { return next_ < most_ && (!timed_ || Clock::now() < end_); }
  std::uint64_t Next() { return static_cast<std::uint64_t>(next_++); }

 private:
  using Clock = std::chrono::steady_clock;

  long most_;
  long next_ = 0;
  bool timed_ = false;
  Clock::time_point end_;
};

TEST_F(DeviceDifferential, AgreesWithTheOracle) {
  for (Seeds seeds; seeds.More();) {
    const auto report = differential::CheckSeed(seeds.Next(), backend_);
    ASSERT_EQ(report, std::nullopt) << *report;
  }
  ExpectAllOnDevice();
}

// Several blocks of every kernel, and counts that are brought up to date.
TEST_F(DeviceDifferential, LargeClustersAgreeWithTheOracle) {
  for (Seeds seeds(std::min(MostSeeds() / 50, 200L)); seeds.More();) {
    const auto report = differential::CheckLargeCluster(seeds.Next(), backend_);
    ASSERT_EQ(report, std::nullopt) << *report;
  }
  ExpectAllOnDevice();
}

TEST_F(DeviceDifferential, RemovesTheVictimsThatTheOracleRemoves_R29_3) {
  for (Seeds seeds; seeds.More();) {
    const auto report = differential::CheckVictims(seeds.Next(), backend_);
    ASSERT_EQ(report, std::nullopt) << *report;
  }
  ExpectAllOnDevice();
}

// Each victim gone alone, and the cheapest of all, as the CPU says.
TEST_F(DeviceDifferential, FindsTheVictimsThatTheCpuFinds) {
  const auto cpu = MakeCpuBackend(1);
  for (Seeds seeds; seeds.More();) {
    const std::uint64_t seed = seeds.Next();
    SCOPED_TRACE(seed);
    const auto made = differential::GenerateVictims(seed);
    const ClusterState state = Build(made.instance.cluster);
    const WorkloadRequest& request = made.instance.request;
    std::vector<PricedVictim> priced;
    for (const Victim& victim : made.victims) priced.push_back({victim, std::ssize(priced) % 3});
    const auto without_each = [&](const std::shared_ptr<Backend>& backend) {
      return FitsWithoutEach(Engine(backend, made.instance.gates), state, request, made.victims);
    };
    const auto fits = without_each(backend_);
    ASSERT_TRUE(fits) << fits.error().message;
    ASSERT_EQ(*fits, *without_each(cpu));
    const auto cheapest = [&](const std::shared_ptr<Backend>& backend) {
      return FindVictimSets(Engine(backend, made.instance.gates), state, request, priced, 200);
    };
    const auto sets = cheapest(backend_);
    const auto expected = cheapest(cpu);
    ASSERT_TRUE(sets) << sets.error().message;
    ASSERT_EQ(sets->fits, expected->fits);
    ASSERT_EQ(sets->domains.size(), expected->domains.size());
    for (std::size_t i = 0; i < sets->domains.size(); ++i) {
      ASSERT_EQ(sets->domains[i].sets, expected->domains[i].sets);
    }
  }
  ExpectAllOnDevice();
}

// Batches of changed states, each without some of the victims: whether the request fits, and where
// it goes, as the CPU says of states that are built so.
TEST_F(DeviceDifferential, AnswersChangedStatesAsBuiltAnew) {
  const auto cpu = MakeCpuBackend(1);
  for (Seeds seeds; seeds.More();) {
    const std::uint64_t seed = seeds.Next();
    SCOPED_TRACE(seed);
    const auto made = differential::GenerateVictims(seed);
    const ClusterState state = Build(made.instance.cluster);
    const Engine engine(backend_, made.instance.gates);
    const std::vector<WorkloadRequest> asked = {made.instance.request};
    Random random(seed);
    std::vector<Victim> changes;
    std::vector<bool> expected;
    for (int q = 0; q < 8; ++q) {
      Victim& change = changes.emplace_back(Victim{fmt::format("question {}", q), {}});
      std::vector<std::uint32_t> gone;
      for (std::uint32_t v = 0; v < made.victims.size(); ++v) {
        if (!random.Chance(40)) continue;
        gone.push_back(v);
        std::ranges::copy(made.victims[v].usage, std::back_inserter(change.usage));
      }
      ClusterStateInput anew = made.instance.cluster;
      anew.tas_usage = differential::UsageWithout(anew.tas_usage, made.victims, gone);
      const auto right = Engine(cpu, made.instance.gates).Nominate(Build(anew), asked);
      expected.push_back(right.front().FirstFailure() == nullptr);
      ClusterState branch = state.Branch();
      branch.RemoveUsage(change.usage);
      ASSERT_EQ(engine.Nominate(branch, asked), right) << "question " << q;
    }
    const auto fits = FitsWithoutEach(engine, state, asked.front(), changes);
    ASSERT_TRUE(fits) << fits.error().message;
    ASSERT_EQ(*fits, expected);
  }
  ExpectAllOnDevice();
}

// Requests in order are decided many at a time and answered as one after the other.
TEST_F(DeviceDifferential, InOrderAgreesWithTheCpu) {
  const auto cpu = MakeCpuBackend(1);
  for (Seeds seeds(4 * MostSeeds()); seeds.More();) {
    const std::uint64_t seed = 1 + seeds.Next();
    const auto queue = differential::GenerateQueue(seed, 16);
    const auto place = [&](const std::shared_ptr<Backend>& backend) {
      ClusterState state = Build(queue.instance.cluster);
      return Engine(backend, queue.instance.gates).PlaceInOrder(state, queue.requests);
    };
    ASSERT_EQ(place(backend_), place(cpu)) << "seed " << seed;
  }
  ExpectAllOnDevice();
}

}  // namespace
}  // namespace espalier::differential_test
