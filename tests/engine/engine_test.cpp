#include "host/engine/engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/booked_usage.hpp"
#include "tests/engine/requests.hpp"
#include "tests/generated/random.hpp"
#include "tests/packing/states.hpp"

namespace espalier::engine_test {
namespace {

using ::testing::ElementsAre;

Engine MakeEngine(int threads = 1, const FeatureGates& gates = {}) {
  return Engine(MakeCpuBackend(threads), gates);
}

std::vector<std::string> AllTexts(const std::vector<WorkloadAnswer>& answers) {
  std::vector<std::string> texts;
  for (const WorkloadAnswer& answer : answers) {
    for (std::string& text : Texts(answer)) texts.push_back(std::move(text));
  }
  return texts;
}

const std::vector<WorkloadRequest> kThreeOfThree = {
    MakeWorkload({MakePodSet(3, Required("rack"))}),
    MakeWorkload({MakePodSet(3, Required("rack"))}),
    MakeWorkload({MakePodSet(3, Required("rack"))})};

TEST(EngineTest, NominateAnswersEachOnTheSameState) {
  ClusterState state = BuildState(Gpus({{"r1/a", 4}, {"r2/b", 4}}));
  EXPECT_THAT(AllTexts(MakeEngine().Nominate(state, kThreeOfThree)),
              ElementsAre("main -> a:3", "main -> a:3", "main -> a:3"));
}

TEST(EngineTest, SequentialBooksWhatItPlaces) {
  ClusterState state = BuildState(Gpus({{"r1/a", 4}, {"r2/b", 4}}));
  EXPECT_THAT(AllTexts(MakeEngine().PlaceInOrder(state, kThreeOfThree)),
              ElementsAre("main -> a:3", "main -> b:3",
                          "main -> topology \"default\" allows to fit only 1 out of 3 pod(s)"));
}

TEST(EngineTest, SequentialBooksAllOfAWorkloadOrNothing) {
  ClusterState state = BuildState(Gpus({{"r1/a", 4}, {"r2/b", 2}}));
  const std::vector<WorkloadRequest> requests = {
      MakeWorkload(
          {MakePodSet(4, Required("rack"), "first"), MakePodSet(3, Required("rack"), "second")}),
      MakeWorkload({MakePodSet(4, Required("rack"))})};
  const auto answers = MakeEngine().PlaceInOrder(state, requests);
  EXPECT_EQ(Text(answers[0].pod_sets[0]), "a:4");  // kept in the answer (R15.6)
  ASSERT_NE(answers[0].FirstFailure(), nullptr);
  EXPECT_EQ(answers[0].FirstFailure()->name, "second");
  EXPECT_THAT(Texts(answers[1]), ElementsAre("main -> a:4"));  // but not booked
}

TEST(EngineTest, PlaceGoesByMode) {
  ClusterState state = BuildState(Gpus({{"r1/a", 4}, {"r2/b", 4}}));
  const Engine engine = MakeEngine();
  EXPECT_EQ(engine.Place(state, kThreeOfThree, PlacementMode::kNominate),
            engine.Nominate(state, kThreeOfThree));
  EXPECT_THAT(AllTexts(engine.Place(state, {&kThreeOfThree[0], 2}, PlacementMode::kSequential)),
              ElementsAre("main -> a:3", "main -> b:3"));
}

TEST(EngineTest, ProgressReachesTheNumberOfRequests) {
  ClusterState state = BuildState(Gpus({{"r1/a", 4}}));
  std::vector<std::size_t> seen;
  const auto note = [&](std::size_t answered) { seen.push_back(answered); };
  MakeEngine().PlaceInOrder(state, kThreeOfThree, note);
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
  seen.clear();
  MakeEngine().Nominate(state, kThreeOfThree, note);
  EXPECT_EQ(seen.back(), 3u);
  EXPECT_TRUE(MakeEngine().Nominate(state, {}).empty());
}

// E17: n1 is partly used by others and by an admitted workload, n2 is overfull, n3 is out.
struct Ledger {
  Ledger() {
    ClusterStateInput input = OneFlavor(LevelKeys(2));
    input.nodes = {HostNode("r1/n1", {{"cpu", 3900}, {"memory", 4096}, {"pods", 6}}),
                   HostNode("r1/n2", {{"cpu", 1000}, {"memory", 4096}, {"pods", 6}}),
                   HostNode("r1/n3", {{"cpu", 9000}, {"memory", 4096}, {"pods", 6}})};
    input.nodes[2].unschedulable = true;
    input.non_tas_usage = {{"n1", {{"cpu", 600}, {"pods", 1}}},
                           {"n2", {{"cpu", 1600}, {"pods", 2}}}};
    input.tas_usage = {{"tas", "n1", {{"cpu", 1000}, {"memory", 200}, {"pods", 2}}}};
    state = BuildState(input);
    PodSetRequest a = MakePodSet(2, Required("rack"), "a");
    a.requests = {{"cpu", 500}, {"memory", 100}};
    PodSetRequest b = MakePodSet(2, Required("rack"), "b");
    b.requests = {{"cpu", 100}, {"memory", 1}};
    request = MakeWorkload({a, b});
  }
  ClusterState state = BuildState({});
  WorkloadRequest request;
};

TEST(EngineTest, E17_AssumedUsageAndTheLedger) {
  Ledger e17;
  EXPECT_THAT(AllTexts(MakeEngine().Nominate(e17.state, {&e17.request, 1})),
              ElementsAre("a -> n1:2",
                          "b -> topology \"default\" allows to fit only 1 out of 2 pod(s). Total "
                          "nodes: 2; excluded: resource \"cpu\": 1"));
}

TEST(EngineTest, E17_SimulateEmptyIgnoresOnlyAdmittedWorkloads) {
  Ledger e17;
  e17.request.simulate_empty = true;
  EXPECT_THAT(AllTexts(MakeEngine().Nominate(e17.state, {&e17.request, 1})),
              ElementsAre("a -> n1:2", "b -> n1:2"));
}

TEST(EngineTest, R21_8_OnlyAddedPodsAreBooked) {
  WorkloadRequest request = MakeWorkload({MakePodSet(5, Unconstrained())});
  request.pod_sets[0].previous_assignment = OnHosts({{"h2", 2}, {"h1", 1}});
  WorkloadAnswer answer;
  answer.pod_sets.push_back({"main", "tas", OnHosts({{"h1", 3}, {"h2", 2}}), std::nullopt});
  EXPECT_EQ(BookedUsage(request, answer),
            (std::vector<FlavorLeafUsage>{{"tas", "h1", {{"gpu", 2}, {"pods", 2}}}}));
}

// Fails only by taking minutes where each pod set is looked for among all.
TEST(EngineTest, R21_8_ManyPodSetsAreFoundByName) {
  constexpr int kPodSets = 100'000;
  std::vector<PodSetRequest> pod_sets;
  WorkloadAnswer answer;
  for (int i = kPodSets; i-- > 0;) {
    pod_sets.push_back(MakePodSet(2, Unconstrained(), std::to_string(i)));
    answer.pod_sets.push_back({pod_sets.back().name, "tas", OnHosts({{"h1", 2}}), std::nullopt});
  }
  pod_sets.front().previous_assignment = OnHosts({{"h1", 2}});
  pod_sets.back().previous_assignment = OnHosts({{"h1", 1}});
  const WorkloadRequest request = MakeWorkload(std::move(pod_sets));
  const std::vector<AddedPods> added = PodsAdded(request, answer);
  ASSERT_EQ(added.size(), kPodSets - 1U);
  EXPECT_EQ(added.front().pod_set, &request.pod_sets[1]);
  EXPECT_EQ(added.back().count, 1);
}

TEST(EngineTest, R17_2_AKeptAssignmentIsSharedWithTheRequest) {
  const ClusterState state = BuildState(Gpus({{"r/h1", 4}, {"r/h2", 4}}));
  WorkloadRequest request = MakeWorkload({MakePodSet(2, Unconstrained())});
  PodSetAssignment admitted;
  admitted.name = "main";
  admitted.topology_assignment = OnHosts({{"h1", 2}});
  request.replacement = ReplacementContext{{"h1"}, {admitted}, true};
  FeatureGates gates;
  gates.skip_reassignment_for_pod_owned_workloads = true;
  const Engine engine(MakeCpuBackend(1), gates);
  const auto answers = engine.Nominate(state, {&request, 1});
  ASSERT_TRUE(answers[0].pod_sets.at(0).assignment);
  EXPECT_EQ(&*answers[0].pod_sets[0].assignment, &*admitted.topology_assignment);
}

// A seeded cluster and queue for comparing runs with each other.
struct RandomQueue {
  explicit RandomQueue(std::uint64_t seed) {
    Random random(seed);
    input = MakeRacks(
        {.depth = 3, .racks = 9, .racks_of_block = 3, .has = {{"gpu", {0, 8}}, {"pods", 110}}},
        random);
    for (int i = 0; i < 60; ++i) {
      const auto pods = static_cast<std::int32_t>(random.Between(1, 12));
      const TopologyRequest topology =
          random.Pick({Required("rack"), Preferred("rack"), Preferred(kHost), Unconstrained(),
                       Required("block", {{kHost, 2}})});
      if (random.Chance(30)) {
        requests.push_back(MakeWorkload({InGroup(MakePodSet(1, topology, "leader"), "g"),
                                         InGroup(MakePodSet(pods, topology, "workers"), "g")}));
      } else {
        requests.push_back(MakeWorkload({MakePodSet(pods, topology)}));
      }
    }
  }
  ClusterStateInput input;
  std::vector<WorkloadRequest> requests;
};

TEST(EngineTest, SameBitsForAnyNumberOfThreads) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const RandomQueue queue(seed);
    const ClusterState state = BuildState(queue.input);
    const auto nominated = MakeEngine(1).Nominate(state, queue.requests);
    ClusterState used = state.Clone();
    const auto placed = MakeEngine(1).PlaceInOrder(used, queue.requests);
    for (const int threads : {2, 5}) {
      EXPECT_EQ(MakeEngine(threads).Nominate(state, queue.requests), nominated);
      ClusterState copy = state.Clone();
      EXPECT_EQ(MakeEngine(threads).PlaceInOrder(copy, queue.requests), placed);
      EXPECT_EQ(copy.Find("tas")->remaining(), used.Find("tas")->remaining());
    }
  }
}

// Warm counts of earlier requests must not show in later answers.
TEST(EngineTest, SequentialAnswersAsAFreshEngineWould) {
  const RandomQueue queue(4);
  ClusterState state = BuildState(queue.input);
  ClusterState replay = state.Clone();
  const auto answers = MakeEngine(2).PlaceInOrder(state, queue.requests);
  for (std::size_t i = 0; i < queue.requests.size(); ++i) {
    EXPECT_EQ(MakeEngine(1).NominateOne(replay, queue.requests[i]), answers[i]);
    MakeEngine(1).PlaceInOrder(replay, {&queue.requests[i], 1});
  }
}

}  // namespace
}  // namespace espalier::engine_test
