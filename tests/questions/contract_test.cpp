// Tests what every answerer of questions owes, whether it has the files or asks a server.
#include <gmock/gmock.h>

#include "host/live/cluster_difference.hpp"
#include "tests/questions/both_doors.hpp"

namespace espalier::contract_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class Contract : public BothDoors {
 protected:
  static std::string FirstText(const Result<WorkloadAnswer>& answer) {
    return answer ? Texts(*answer).front() : answer.error().message;
  }

  static std::vector<std::string> DomainsOf(const NamedVictimSets& sets) {
    std::vector<std::string> texts;
    for (const NamedDomainVictims& domain : sets.domains) {
      std::string text = domain.flavor + " " + domain.values.back() + ":";
      for (const VictimSet& set : domain.sets) {
        for (const std::size_t victim : set.victims) text += " " + std::to_string(victim);
      }
      texts.push_back(text);
    }
    return texts;
  }

  // Returns the gangs of a census by level, the whole flavor first.
  static std::vector<Count> GangsOf(const NamedCensus& census) {
    std::vector<Count> gangs;
    for (const NamedCensus::Level& level : census.levels) gangs.push_back(level.gangs);
    return gangs;
  }

  std::vector<Count> CountOf(std::int32_t pods) {
    const auto census = Asked().CountGangs(Gang("gang", pods, Unconstrained()));
    EXPECT_TRUE(census) << census.error().message;
    return census ? GangsOf(*census) : std::vector<Count>();
  }
};

TEST_P(Contract, NominatesEachOnTheSameState) {
  const std::vector<WorkloadRequest> requests = {Gang("x", 3, Required("rack")),
                                                 Gang("y", 3, Required("rack")),
                                                 Gang("z", 4, Required("rack"))};
  const auto answers = Asked().Nominate(requests);
  ASSERT_TRUE(answers) << answers.error().message;
  ASSERT_EQ(answers->size(), 3u);
  EXPECT_THAT(Texts((*answers)[0]), ElementsAre("main -> b:3"));
  EXPECT_EQ((*answers)[1].pod_sets, (*answers)[0].pod_sets);
  EXPECT_NE((*answers)[2].FirstFailure(), nullptr);
  EXPECT_EQ(FirstText(Asked().NominateOne(requests[0])), "main -> b:3");
  EXPECT_TRUE(Asked().Nominate({})->empty());
}

TEST_P(Contract, ReadsWhatTheClusterIsMadeOf) {
  Pod pod;
  pod.key = {"other", "web"};
  pod.node_name = "node-b";
  pod.requests = {{"gpu", 1}};
  pod.phase = "Running";
  cluster_.pods = {pod};
  const auto input = Asked().ReadInput();
  ASSERT_TRUE(input) << input.error().message;
  EXPECT_EQ(input->nodes, cluster_.nodes);
  EXPECT_EQ(input->topologies, cluster_.topologies);
  EXPECT_EQ(input->flavors, cluster_.flavors);
  EXPECT_THAT(input->non_tas_usage, ElementsAre(NodeUsage{"node-b", {{"gpu", 1}, {"pods", 1}}}));
  EXPECT_THAT(input->tas_usage,
              UnorderedElementsAre(FlavorLeafUsage{"tas", "a", {{"gpu", 2}, {"pods", 2}}},
                                   FlavorLeafUsage{"tas", "b", {{"gpu", 1}, {"pods", 1}}},
                                   FlavorLeafUsage{"tas", "c", {{"gpu", 2}, {"pods", 2}}}));
}

TEST_P(Contract, EmptyNodesHoldWhatNoWorkloadAndNoPodThatEndsUses) {
  Pod pod;
  pod.key = {"other", "web"};
  pod.node_name = "node-a";
  pod.requests = {{"gpu", 1}};
  pod.phase = "Running";
  cluster_.pods = {pod};
  const std::vector<WorkloadRequest> requests = {Gang("x", 12, Unconstrained()),
                                                 Gang("y", 13, Unconstrained())};
  const auto answers = Asked().NominateOnEmpty(requests);
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ((*answers)[0].FirstFailure(), nullptr);
  EXPECT_NE((*answers)[1].FirstFailure(), nullptr);
  EXPECT_NE(Asked().NominateOne(requests[0])->FirstFailure(), nullptr);
}

TEST_P(Contract, ExplainsWithTheWorkloadsThatAreKnown) {
  const WorkloadRequest request = Gang("x", 4, Required("rack"));
  const auto all = Asked().Explain(request, std::nullopt);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_FALSE(all->fits);
  EXPECT_THAT(all->changes.gone, ElementsAre(ObjectKey{"team", "one"}, ObjectKey{"team", "two"}));
  const std::vector<RunningWorkload> two = {Victim("two")};
  EXPECT_THAT(Asked().Explain(request, two)->changes.gone, ElementsAre(ObjectKey{"team", "two"}));
  EXPECT_THAT(Asked().Explain(request, std::span<const RunningWorkload>())->changes.gone,
              IsEmpty());
}

TEST_P(Contract, ExplainsWhatRepairsAndLabelsWouldGive) {
  cluster_.nodes[2].unschedulable = true;
  cluster_.workloads.pop_back();
  Node unlabelled = HostInRack("d", "r3");
  unlabelled.labels.Erase("rack");
  cluster_.nodes.push_back(unlabelled);
  const auto found = Asked().Explain(Gang("x", 4, Required("rack")), std::nullopt);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->changes.repaired, ElementsAre("node-c"));
  EXPECT_FALSE(found->never);
  EXPECT_THAT(found->left_out, testing::SizeIs(2));
}

TEST_P(Contract, FindsTheFewestVictims) {
  const WorkloadRequest request = Gang("x", 4, Required("rack"));
  const std::vector<RunningWorkload> victims = {Victim("two"), Victim("one")};
  const auto found = Asked().FindVictims(request, victims);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->fits);
  EXPECT_EQ(found->prefix, 1u);
  EXPECT_THAT(found->targets, ElementsAre(0));
  EXPECT_THAT(Texts(found->answer), ElementsAre("main -> c:4"));
}

TEST_P(Contract, FindsTheFewestVictimsOfEach) {
  const std::vector<WorkloadRequest> requests = {
      Gang("x", 4, Required("rack")), Gang("y", 3, Required("rack")),
      Gang("z", 5, Required("rack")), Gang("u", 9, Unconstrained())};
  const std::vector<RunningWorkload> victims = {Victim("two"), Victim("one")};
  const auto found = Asked().FindVictimsOfEach(requests, victims);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), requests.size());
  for (std::size_t w = 0; w < requests.size(); ++w) {
    EXPECT_EQ((*found)[w], *Asked().FindVictims(requests[w], victims)) << w;
  }
  EXPECT_FALSE((*found)[2].fits);
  const auto listed = Asked().FindVictimsOfEach(requests, victims, {{1}, {}, {0, 1}, {1, 0}});
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_THAT((*listed)[0].targets, ElementsAre(1));
  EXPECT_EQ((*listed)[1].prefix, 0u);
  EXPECT_EQ((*listed)[2], (*found)[2]);
  EXPECT_EQ((*listed)[3].prefix, 1u);
  EXPECT_EQ(Asked().FindVictimsOfEach(requests, victims, {{1}})->front(), (*listed)[0]);
  EXPECT_TRUE(Asked().FindVictimsOfEach({}, victims)->empty());
}

TEST_P(Contract, FindsTheCheapestVictimsOfEachDomain) {
  const std::vector<RunningWorkload> victims = {Victim("one"), Victim("two")};
  const auto found = Asked().FindCheapestVictims(Gang("x", 4, Required("rack")), victims);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_FALSE(found->fits);
  EXPECT_THAT(DomainsOf(*found), ElementsAre("tas r1: 0", "tas r2: 0", "tas r3: 1"));
}

TEST_P(Contract, TellsTheAtlas) {
  const std::vector<WorkloadRequest> requests = {
      Gang("x", 4, Required("rack")), Gang("y", 6, Unconstrained()), Gang("z", 4, Required("rack")),
      Gang("w", 3, Preferred("rack")), Gang("v", 13, Required("rack"))};
  std::size_t answered = 0;
  const auto atlas =
      Asked().Atlas(requests, std::nullopt, [&](std::size_t so_far) { answered = so_far; });
  ASSERT_TRUE(atlas) << atlas.error().message;
  EXPECT_EQ(answered, requests.size());
  EXPECT_THAT(atlas->priorities, ElementsAre(1, 2));
  ASSERT_EQ(atlas->levels.size(), 1u);
  EXPECT_EQ(atlas->levels[0].flavor, "tas");
  EXPECT_EQ(atlas->levels[0].level, "rack");
  EXPECT_THAT(atlas->levels[0].domains,
              ElementsAre(ElementsAre("r1"), ElementsAre("r2"), ElementsAre("r3")));
  std::vector<std::vector<int>> rows(requests.size());
  for (const NamedAtlas::Row& row : atlas->rows) {
    for (const std::size_t request : row.requests) {
      rows[request] = {row.steps.begin(), row.steps.end()};
      rows[request].push_back(row.anywhere);
      EXPECT_EQ(row.level.has_value(), request != 1);
    }
  }
  EXPECT_THAT(rows, ElementsAre(ElementsAre(1, 1, 2, 1), ElementsAre(0), ElementsAre(1, 1, 2, 1),
                                ElementsAre(1, 0, 2, 0), ElementsAre(3, 3, 3, 3)));
}

TEST_P(Contract, TellsTheAtlasOfThoseWhoMayGo) {
  const std::vector<WorkloadRequest> requests = {Gang("x", 4, Required("rack"))};
  const std::vector<RunningWorkload> two = {Victim("two")};
  const auto atlas = Asked().Atlas(requests, two);
  ASSERT_TRUE(atlas) << atlas.error().message;
  EXPECT_THAT(atlas->priorities, ElementsAre(2));
  ASSERT_EQ(atlas->rows.size(), 1u);
  EXPECT_THAT(atlas->rows[0].steps, ElementsAre(2, 2, 1));
  const auto nobody = Asked().Atlas(requests, std::span<const RunningWorkload>());
  ASSERT_TRUE(nobody) << nobody.error().message;
  EXPECT_THAT(nobody->rows[0].steps, ElementsAre(1, 1, 1));
  const auto nothing = Asked().Atlas({}, std::nullopt);
  ASSERT_TRUE(nothing) << nothing.error().message;
  EXPECT_THAT(nothing->rows, IsEmpty());
}

TEST_P(Contract, TellsTheAtlasOfWhatIsSupposed) {
  ASSERT_TRUE(Asked().Suppose({.drained = {"node-a"}}));
  const std::vector<WorkloadRequest> requests = {Gang("x", 4, Required("rack"))};
  const auto atlas = Asked().Atlas(requests, std::nullopt);
  ASSERT_TRUE(atlas) << atlas.error().message;
  EXPECT_THAT(atlas->rows[0].steps, ElementsAre(1, 2)) << "the rack of node-a is gone";
}

// More than one message of a server holds.
TEST_P(Contract, TellsTheAtlasOfMany) {
  std::vector<WorkloadRequest> requests;
  for (std::int32_t i = 0; i < 2000; ++i) {
    requests.push_back(Gang("x" + std::to_string(i), 1 + i % 3, Required("rack")));
    requests.back().pod_sets.front().requests = {{"gpu", 1}, {"cpu", i}};
  }
  const auto atlas = Asked().Atlas(requests, std::nullopt);
  ASSERT_TRUE(atlas) << atlas.error().message;
  std::vector<int> seen(requests.size());
  for (const NamedAtlas::Row& row : atlas->rows) {
    for (const std::size_t request : row.requests) ++seen[request];
  }
  EXPECT_THAT(seen, testing::Each(1));
}

TEST_P(Contract, CountsGangsByLevel) {
  EXPECT_THAT(CountOf(2), ElementsAre(3, 3, 3));
  EXPECT_THAT(CountOf(3), ElementsAre(2, 1, 1));
  const auto census = Asked().CountGangs(Gang("gang", 2, Unconstrained()));
  ASSERT_EQ(census->levels[1].domains.size(), 3u);
  EXPECT_THAT(census->levels[1].domains[1].values, ElementsAre("r2"));
  EXPECT_EQ(census->levels[1].domains[1].pods, 3);
}

TEST_P(Contract, CountsWhatIsMoreThanAGangAsAWhole) {
  WorkloadRequest pair = Gang("pair", 1, Required("rack"));
  pair.pod_sets.push_back(pair.pod_sets.front());
  pair.pod_sets[1].name = "other";
  pair.pod_sets[1].count = 2;
  const auto census = Asked().CountGangs(pair);
  ASSERT_TRUE(census) << census.error().message;
  EXPECT_THAT(GangsOf(*census), ElementsAre(2));
  EXPECT_EQ(census->levels.front().domains.front().pods, 6);
}

TEST_P(Contract, SupposesDrainedNodes) {
  ASSERT_TRUE(Asked().Suppose({.drained = {"node-b"}}));
  EXPECT_THAT(CountOf(2), ElementsAre(2, 2, 2));
  EXPECT_NE(Asked().FindVictims(Gang("x", 3, Required("rack")), {})->answer.FirstFailure(),
            nullptr);
  EXPECT_EQ(FirstText(Asked().NominateOne(Gang("x", 3, Required("rack")))), "main -> b:3")
      << "what is asked of the cluster as it is";
  ASSERT_TRUE(Asked().Suppose({}));
  EXPECT_THAT(CountOf(2), ElementsAre(3, 3, 3));
}

TEST_P(Contract, SupposesWhatComesAndGoes) {
  Cluster after = cluster_;
  after.nodes.push_back(HostInRack("d", "r4"));
  after.workloads.pop_back();
  after.workloads.push_back(RunningOn("three", 1, {{"d", 1}}));
  Pod pod;
  pod.key = {"other", "web"};
  pod.node_name = "node-d";
  pod.requests = {{"gpu", 1}};
  pod.phase = "Running";
  after.pods = {pod};
  ASSERT_TRUE(Asked().Suppose(ChangeBetween(cluster_, after, gates_)));
  EXPECT_THAT(CountOf(1), ElementsAre(11, 11, 11));
  EXPECT_THAT(CountOf(4), ElementsAre(2, 1, 1));
}

TEST_P(Contract, SupposesAnotherTopology) {
  Cluster after = cluster_;
  after.topologies.push_back({"flat", {std::string(kHostnameLabel)}});
  after.flavors.push_back({});
  after.flavors.back().name = "flat";
  after.flavors.back().topology_name = "flat";
  ASSERT_TRUE(Asked().Suppose(ChangeBetween(cluster_, after, gates_)));
  const auto census = Asked().CountGangs(Gang("gang", 2, Unconstrained()));
  ASSERT_TRUE(census) << census.error().message;
  EXPECT_THAT(GangsOf(*census), ElementsAre(3, 3, 3));
}

TEST_P(Contract, SupposesPodsAsWorkloads) {
  Pod pod;
  pod.key = {"other", "web"};
  pod.node_name = "node-b";
  pod.requests = {{"gpu", 3}};
  pod.phase = "Running";
  cluster_.pods = {pod};
  const Resources held = {{"gpu", 3}, {"pods", 1}};
  ProposedChange change;
  change.delta.set_non_tas_usage = {{"node-b", {{"gpu", -3}, {"pods", -1}}}};
  change.delta.set_workloads = {{{"", "pods"}, 0, 0, {{"tas", "b", held}}, {}}};
  ASSERT_TRUE(Asked().Suppose(change));
  EXPECT_NE(Asked().FindVictims(Gang("x", 3, Required("rack")), {})->answer.FirstFailure(),
            nullptr);
  const std::vector<RunningWorkload> victims = {
      {{"other", "web"}, {"pod other/web", {{"tas", "b", held}}}, 0}};
  EXPECT_THAT(Texts(Asked().FindVictims(Gang("x", 3, Required("rack")), victims)->answer),
              ElementsAre("main -> b:3"));
  change.delta.set_non_tas_usage = {{"node-b", {{"gpu", -4}}}};
  const auto refused = Asked().Suppose(change);
  const auto asked = Asked().CountGangs(Gang("gang", 1, Unconstrained()));
  const std::string message = refused ? asked.error().message : refused.error().message;
  EXPECT_THAT(message, HasSubstr("node node-b: 4 gpu is to be taken away, more than its pods"));
}

TEST_P(Contract, DrainsTellWhoIsHitAndWhereTheyGo) {
  const auto hits = Asked().Drain({"node-a", "node-c"}, {});
  ASSERT_TRUE(hits) << hits.error().message;
  ASSERT_EQ(hits->hits.size(), 2u);
  EXPECT_EQ(hits->hits[0].key, (ObjectKey{"team", "two"}));
  EXPECT_EQ(hits->hits[1].pods_hit, 2);
  EXPECT_EQ(hits->hits[1].pods, 3);
  const std::vector<WorkloadRequest> requests = {Gang("two", 2, Unconstrained()),
                                                 Gang("one", 3, Unconstrained())};
  const auto moved = Asked().Drain({"node-c"}, requests);
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_THAT(moved->moved, ElementsAre(0));
  ASSERT_EQ(moved->answers.size(), 1u);
  EXPECT_THAT(Texts(moved->answers[0]), ElementsAre("main -> a:2"));
}

TEST_P(Contract, DrainsOfWhatIsNotThereAreRefused) {
  const auto no_node = Asked().Drain({"node-x"}, {});
  ASSERT_FALSE(no_node);
  EXPECT_EQ(no_node.error().error_class, ErrorClass::kNotFound);
  EXPECT_THAT(no_node.error().message, HasSubstr("node node-x"));
  const std::vector<WorkloadRequest> unknown = {Gang("x", 1, Unconstrained())};
  const auto no_workload = Asked().Drain({"node-a"}, unknown);
  ASSERT_FALSE(no_workload);
  EXPECT_EQ(no_workload.error().error_class, ErrorClass::kNotFound);
  EXPECT_THAT(no_workload.error().message, HasSubstr("team/x"));
}

TEST_P(Contract, DefragmentsByWhatIsKnown) {
  const std::vector<WorkloadRequest> requests = {Gang("one", 3, Unconstrained()),
                                                 Gang("x", 1, Unconstrained())};
  const auto found = Asked().Defragment(requests, {.level = "rack"});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->unknown, ElementsAre(1));
  EXPECT_THAT(found->plan.staying, ElementsAre(ObjectKey{"team", "two"}));
  EXPECT_EQ(found->plan.domains, 3);
  const auto no_level = Asked().Defragment(requests, {.level = "block"});
  ASSERT_FALSE(no_level);
  EXPECT_EQ(no_level.error().error_class, ErrorClass::kBadInput);
}

TEST_P(Contract, ReplaysOnWhatIsFreeAtEachTurn) {
  ReplayedWorkloads replayed;
  replayed.requests = {Gang("x", 4, Required("rack")), Gang("y", 4, Required("rack"))};
  replayed.chosen = {{{"tas", "c", {{"gpu", 4}, {"pods", 4}}}}, {}};
  replayed.ended = {{"team", "two"}};
  const auto answers = Asked().Replay(replayed);
  ASSERT_TRUE(answers) << answers.error().message;
  ASSERT_EQ(answers->size(), 2u);
  EXPECT_THAT(Texts((*answers)[0]), ElementsAre("main -> c:4"));
  EXPECT_NE((*answers)[1].FirstFailure(), nullptr);
}

TEST_P(Contract, ValidatesBesideAllThatIsKnown) {
  EXPECT_EQ(Asked().Validate(cluster_.workloads)->workloads, 2u);
  EXPECT_THAT(Asked().Validate(cluster_.workloads)->faults, IsEmpty());
  const std::vector<Workload> proposed = {RunningOn("three", 0, {{"c", 3}})};
  const auto check = Asked().Validate(proposed);
  ASSERT_TRUE(check) << check.error().message;
  ASSERT_EQ(check->faults.size(), 1u);
  EXPECT_EQ(check->faults[0].workload, (ObjectKey{"team", "three"}));
}

TEST_P(Contract, UnknownFlavorsAreNotFound) {
  WorkloadRequest request = Gang("x", 1, Unconstrained());
  request.pod_sets[0].flavor = "other";
  const auto expect_unknown = [&](const auto& answer) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().error_class, ErrorClass::kNotFound) << answer.error().message;
    EXPECT_THAT(answer.error().message, HasSubstr("other"));
  };
  expect_unknown(Asked().NominateOne(request));
  expect_unknown(Asked().Explain(request, std::nullopt));
  expect_unknown(Asked().FindVictims(request, {}));
  expect_unknown(Asked().FindVictimsOfEach({&request, 1}, {}));
  expect_unknown(Asked().FindCheapestVictims(request, {}));
  expect_unknown(Asked().Atlas({&request, 1}, std::nullopt));
  expect_unknown(Asked().CountGangs(request));
}

INSTANTIATE_TEST_SUITE_P(Doors, Contract, testing::Values(Door::kFiles, Door::kServer), NameOf);

}  // namespace
}  // namespace espalier::contract_test
