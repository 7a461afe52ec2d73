// The engine and the oracle answer random questions alike.
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/conformance/case_file.hpp"
#include "host/conformance/difference.hpp"
#include "host/engine/workload_placement.hpp"
#include "tests/differential/check.hpp"
#include "tests/differential/generator.hpp"
#include "tests/differential/large_cluster.hpp"
#include "tests/differential/queue.hpp"
#include "tests/differential/shrinker.hpp"
#include "tests/engine/in_order_backend.hpp"

namespace espalier::differential::differential_test {
namespace {

constexpr std::uint64_t kSeedsPerTest = 1000;
constexpr std::uint64_t kTests = 24;
constexpr std::uint64_t kLargeSeeds = 8;

class Seeds : public testing::TestWithParam<std::uint64_t> {
 protected:
  std::uint64_t first() const { return GetParam() * kSeedsPerTest; }
};

TEST_P(Seeds, EngineAgreesWithOracle) {
  const auto backend = MakeCpuBackend(1);
  for (std::uint64_t seed = first(); seed < first() + kSeedsPerTest; ++seed) {
    const auto report = CheckSeed(seed, backend);
    ASSERT_EQ(report, std::nullopt) << *report;
  }
}

INSTANTIATE_TEST_SUITE_P(Thousands, Seeds, testing::Range(std::uint64_t{0}, kTests));

// Many times the same pod sets under other names: each sees the usage of all before it, which is
// booked on a state of their own.
TEST(ManyPodSets, EngineAgreesWithOracle) {
  const auto backend = MakeCpuBackend(1);
  for (std::uint64_t seed = 0; seed < kSeedsPerTest; ++seed) {
    Instance instance = Generate(seed);
    WorkloadRequest& request = instance.request;
    if (request.replacement) continue;
    const std::vector<PodSetRequest> few = std::move(request.pod_sets);
    request.pod_sets.clear();
    for (int i = 0; request.pod_sets.size() <= 2 * WorkloadPlacement::kManyPodSets; ++i) {
      for (PodSetRequest pod_set : few) {
        pod_set.name += fmt::format("-{}", i);
        if (pod_set.group) *pod_set.group += fmt::format("-{}", i);
        request.pod_sets.push_back(std::move(pod_set));
      }
    }
    const auto difference = Difference(AskOracle(instance), AskEngine(instance, backend));
    ASSERT_EQ(difference, std::nullopt) << "seed " << seed << "\n" << *difference;
  }
}

// Runs and groups of leaves, several tiles, more classes than are kept, one level: and what was
// known before a change is used after it.
class LargeClusters : public testing::TestWithParam<std::uint64_t> {};

TEST_P(LargeClusters, EngineAgreesWithOracleAsTheyChange) {
  const auto backend = MakeCpuBackend(1);
  for (std::uint64_t seed = 0; seed < kLargeSeeds; ++seed) {
    const auto report = CheckLargeCluster(GetParam() * kLargeSeeds + seed, backend);
    ASSERT_EQ(report, std::nullopt) << *report;
  }
}

INSTANTIATE_TEST_SUITE_P(Dozens, LargeClusters, testing::Range(std::uint64_t{0}, std::uint64_t{8}));

std::vector<WorkloadAnswer> AskEngine(const Queue& queue, PlacementMode mode, int threads) {
  auto state = ClusterState::Build(queue.instance.cluster);
  EXPECT_TRUE(state) << state.error().message;
  return Engine(MakeCpuBackend(threads), queue.instance.gates).Place(*state, queue.requests, mode);
}

bool IsPlaced(const WorkloadAnswer& answer) { return answer.FirstFailure() == nullptr; }

// R5.4
void Book(ClusterStateInput& cluster, const WorkloadRequest& request,
          const WorkloadAnswer& answer) {
  for (const PodSetAnswer& pod_set : answer.pod_sets) {
    const auto asked =
        std::find_if(request.pod_sets.begin(), request.pod_sets.end(),
                     [&](const PodSetRequest& other) { return other.name == pod_set.name; });
    for (const TopologyDomainAssignment& domain : pod_set.assignment->domains) {
      Resources usage = Times(asked->requests, domain.count);
      AddTo(usage, {{std::string(kPodsResource), domain.count}});
      cluster.tas_usage.push_back(
          {pod_set.flavor, fmt::format("{}", fmt::join(domain.values, ",")), usage});
    }
  }
}

TEST(Queues, SequentialPlacementBooksWhatItPlaces) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Queue queue = GenerateQueue(seed, 6);
    const auto answers = AskEngine(queue, PlacementMode::kSequential, 1);
    ASSERT_EQ(answers.size(), queue.requests.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      queue.instance.request = queue.requests[i];
      const WorkloadAnswer expected = AskOracle(queue.instance);
      const auto difference = Difference(expected, answers[i]);
      ASSERT_EQ(difference, std::nullopt)
          << "seed " << seed << " workload " << i << "\n"
          << *difference << "\n"
          << CaseLine(fmt::format("queue-{}-{}", seed, i), queue.instance, expected);
      if (IsPlaced(expected)) Book(queue.instance.cluster, queue.instance.request, expected);
    }
  }
}

TEST(Queues, AnyNumberOfThreadsGivesTheSameAnswers) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Queue queue = GenerateQueue(seed, 6);
    for (const PlacementMode mode : {PlacementMode::kNominate, PlacementMode::kSequential}) {
      ASSERT_EQ(AskEngine(queue, mode, 1), AskEngine(queue, mode, 3)) << "seed " << seed;
    }
  }
}

// However many are decided in a row, the answers are those of one request after the other.
TEST(Queues, DecidingInARowGivesTheSameAnswers) {
  std::size_t in_a_row = 0;
  std::size_t others = 0;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    const Queue queue = GenerateQueue(seed, 16);
    const auto backend = std::make_shared<InOrderBackend>(MakeCpuBackend(1), 1 + seed % 15, 4);
    auto state = ClusterState::Build(queue.instance.cluster);
    const auto answers = Engine(backend, queue.instance.gates).PlaceInOrder(*state, queue.requests);
    ASSERT_EQ(AskEngine(queue, PlacementMode::kSequential, 1), answers) << "seed " << seed;
    in_a_row += backend->in_order();
    others += backend->one_by_one();
  }
  EXPECT_GT(in_a_row, 4000u);
  EXPECT_GT(others, 4000u);
}

// A failure is printed in a form that reads back as the same question and answer.
TEST(CaseLine, ReadsBackAsTheSameCase) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Instance instance = Generate(seed);
    instance.request.affinity_scores_consumed = false;  // not in the form
    const WorkloadAnswer expected = AskOracle(instance);
    const std::string line = CaseLine("name", instance, expected);
    const auto recorded = ReadCase(line);
    ASSERT_TRUE(recorded) << recorded.error().message << "\n" << line;
    const auto& placement = std::get<PlacementCase>(recorded->value);
    const auto difference = espalier::Difference(placement.any_of.front(), expected, {});
    EXPECT_EQ(difference, std::nullopt) << *difference << "\n" << line;
    const Instance read{placement.gates, placement.cluster, placement.request};
    EXPECT_EQ(Difference(expected, AskOracle(read)), std::nullopt) << line;
  }
}

// Shrinking keeps what is wrong and drops everything else.
TEST(Shrinker, LeavesOnlyWhatMatters) {
  const auto has_gpu_node = [](const Instance& instance) {
    for (const Node& node : instance.cluster.nodes) {
      if (node.allocatable.Contains("nvidia.com/gpu")) return true;
    }
    return false;
  };
  std::uint64_t seed = 1;
  while (!has_gpu_node(Generate(seed))) ++seed;
  const Instance shrunk = Shrink(Generate(seed), has_gpu_node);
  ASSERT_EQ(shrunk.cluster.nodes.size(), 1u);
  EXPECT_EQ(shrunk.cluster.nodes.front().allocatable.size(), 1u);
  EXPECT_TRUE(shrunk.cluster.nodes.front().labels.empty());
  EXPECT_EQ(shrunk.request.pod_sets.size(), 1u);
  EXPECT_EQ(shrunk.gates, FeatureGates{});
}

}  // namespace
}  // namespace espalier::differential::differential_test
