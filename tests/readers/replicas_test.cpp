// Workloads of the gang API whose replicas are gangs, and the pods of each replica.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/readers/cluster_files.hpp"
#include "tests/readers/read_text.hpp"

namespace espalier::replicas_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kShape = "template: {resources: {requests: {cpu: 1}}}";

// A Workload of replicas of a leader and workers.
std::string WorkloadText(int leaders, int workers, const std::string& more = "") {
  return fmt::format(
      "---\napiVersion: scheduling/v1alpha1\nkind: Workload\nmetadata: {{name: w}}\nspec: {{"
      "controllerRef: {{apiGroup: leaderworkerset.x-k8s.io, kind: LeaderWorkerSet, name: lws}}, "
      "replicaMode: ReplicatedGangs, {}gangGroups: [{{name: gg, eqGroups: [{{name: leader, count: "
      "{}, {}}}, {{name: worker, count: {}, {}}}]}}]}}\n",
      more, leaders, kShape, workers, kShape);
}

std::string OwnerText(int replicas, int size) {
  return fmt::format(
      "---\napiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {{name: lws}}"
      "\nspec: {{replicas: {}, leaderWorkerTemplate: {{size: {}, leaderTemplate: {{spec: {{"
      "containers: [{{}}]}}}}, workerTemplate: {{spec: {{containers: [{{}}]}}}}}}}}\n",
      replicas, size);
}

// Pod `rank` of a replica; `key` is a label, as "group-key: a".
std::string PodText(const std::string& replica, int rank, const std::string& key,
                    const std::string& node = "") {
  return fmt::format(
      "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p-{0}-{1}, labels: {{{2}, "
      "leaderworkerset.sigs.k8s.io/worker-index: \"{1}\"}}}}\nspec: {{workload: {{name: w}}, {3}"
      "containers: [{{resources: {{requests: {{cpu: 1}}}}}}]}}\n",
      replica, rank, key, node.empty() ? "" : fmt::format("nodeName: {}, ", node));
}

std::string Key(const std::string& replica) {
  return "leaderworkerset.sigs.k8s.io/group-key: " + replica;
}

std::string IndexAndKey(int index) {
  return fmt::format("leaderworkerset.sigs.k8s.io/group-index: \"{}\", {}", index,
                     Key(fmt::format("k{}", index)));
}

// W1.2, W8.1: the document's own example counts the pods of all replicas.
TEST(Replicas, CountsMayBeThoseOfAllOfThem) {
  const ClusterRead of_all = Read(OwnerText(3, 4) + WorkloadText(3, 9));
  EXPECT_THAT(UnitTexts(of_all),
              ElementsAre("w-0: leader x 1 worker x 3", "w-1: leader x 1 worker x 3",
                          "w-2: leader x 1 worker x 3"));
  EXPECT_THAT(of_all.gang_workloads.at(0).notes,
              Contains("gangGroup gg: its eqGroups count the 12 pods of all its 3 replicas, of "
                       "which each has 4"));
  const ClusterRead of_one = Read(OwnerText(3, 4) + WorkloadText(1, 3));
  EXPECT_EQ(UnitTexts(of_one), UnitTexts(of_all));
  EXPECT_THAT(of_one.gang_workloads.at(0).notes, IsEmpty());
  const ClusterRead neither = Read(OwnerText(3, 4) + WorkloadText(1, 4));
  EXPECT_THAT(neither.gang_workloads.at(0).notes,
              Contains("gangGroup gg: its eqGroups have 5 pods, but a replica has 4, and all of "
                       "them 12"));
}

TEST(Replicas, ACountOfTheGangMayBeThatOfAllOfThem) {
  const ClusterRead read =
      Read(OwnerText(2, 4) +
           "---\napiVersion: scheduling/v1alpha1\nkind: Workload\nmetadata: {name: w}\nspec: "
           "{controllerRef: {apiGroup: leaderworkerset.x-k8s.io, kind: LeaderWorkerSet, name: "
           "lws}, replicaMode: ReplicatedGangs, gangGroups: [{name: gg, minCount: 8}]}\n");
  EXPECT_THAT(UnitTexts(read),
              ElementsAre("w-0: leader x 1 worker x 3", "w-1: leader x 1 worker x 3"));
}

// W3.3: pods of one replica are one gang, by the keys of a LeaderWorkerSet.
TEST(Replicas, PodsOfOneReplicaAreOneGang) {
  const std::string pods = PodText("b", 1, IndexAndKey(1)) + PodText("a", 0, IndexAndKey(0)) +
                           PodText("b", 0, IndexAndKey(1)) + PodText("a", 1, IndexAndKey(0));
  for (const std::string& owner : {std::string(), OwnerText(2, 2)}) {
    for (const std::string& workload : {WorkloadText(1, 1), WorkloadText(2, 2)}) {
      const ClusterRead read = Read(owner + workload + pods);
      EXPECT_THAT(UnitTexts(read),
                  ElementsAre("w-0: leader x 1 worker x 1", "w-1: leader x 1 worker x 1"))
          << owner << workload;
      ASSERT_THAT(read.gang_workloads, SizeIs(1)) << "they are alike";
      EXPECT_EQ(read.gang_workloads[0].replicas, 2);
    }
  }
}

TEST(Replicas, EachWaitsAndRunsByItself) {
  const ClusterRead read =
      Read(OwnerText(4, 2) + WorkloadText(1, 1) + PodText("a", 0, IndexAndKey(0), "node") +
           PodText("a", 1, IndexAndKey(0), "node") + PodText("b", 0, IndexAndKey(1)) +
           PodText("c", 0, IndexAndKey(2)) + PodText("c", 1, IndexAndKey(2)));
  EXPECT_THAT(UnitTexts(read),
              ElementsAre("w-1:1 of the 2 pods that w-1 needs are there: it waits for "
                          "the others",
                          "w-2: leader x 1 worker x 1"));
  EXPECT_THAT(read.gang_workloads.at(0).notes,
              Contains("3 of its 4 replicas have pods: the others are placed once theirs are "
                       "there"));
  EXPECT_TRUE(read.gang_workloads.at(0).running);
}

// W1.6: some run, some wait, and what the Workload asks for is for all of them together.
TEST(Replicas, AreGangsOfOneWorkloadThatAsksForATopology) {
  const std::string asks = "topologyRequest: {required: block}, ";
  const ClusterRead read =
      Read(OwnerText(4, 2) + WorkloadText(1, 1, asks) + PodText("a", 0, IndexAndKey(0), "node") +
           PodText("a", 1, IndexAndKey(0), "node") + PodText("b", 0, IndexAndKey(1)) +
           PodText("c", 0, IndexAndKey(2)) + PodText("c", 1, IndexAndKey(2)));
  ASSERT_THAT(read.gang_workloads, SizeIs(1));
  const GangWorkload& workload = read.gang_workloads[0];
  ASSERT_THAT(workload.gang_groups, SizeIs(3));
  EXPECT_EQ(workload.gang_groups[2].name, "2");
  EXPECT_THAT(workload.notes, Contains("replica 0: 2 of its 2 pods run already: 2 on node"));
  const std::vector<Workload>& units = read.cluster.workloads;
  ASSERT_THAT(units, SizeIs(2));
  EXPECT_EQ(units[0].key.name, "w");
  ASSERT_NE(units[0].tree, nullptr);
  ASSERT_THAT(units[0].tree->gang_groups, SizeIs(1)) << "what runs is placed, and 1 waits";
  ASSERT_THAT(units[0].tree->beside, SizeIs(2)) << "of leader and worker";
  EXPECT_EQ(units[0].tree->beside[0].node, "node");
  EXPECT_EQ(units[1].key.name, "w-1");
  EXPECT_THAT(units[1].refusal, HasSubstr("waits for the others"));

  const ClusterRead all_run =
      Read(OwnerText(2, 2) + WorkloadText(1, 1, asks) + PodText("a", 0, Key("a"), "node") +
           PodText("a", 1, Key("a"), "node") + PodText("b", 0, Key("b"), "node") +
           PodText("b", 1, Key("b"), "node"));
  ASSERT_THAT(all_run.gang_workloads, SizeIs(1));
  EXPECT_TRUE(all_run.gang_workloads[0].running);
  EXPECT_THAT(all_run.cluster.workloads, IsEmpty());
}

// The key that the Workload names, or that pods name beside it.
TEST(Replicas, TheirKeyMayBeAnother) {
  const auto pods = [](const std::string& key) {
    return PodText("a", 0, key + "a") + PodText("a", 1, key + "a") + PodText("b", 0, key + "b") +
           PodText("b", 1, key + "b");
  };
  const std::vector<std::string> by_key = {"w-a: leader x 1 worker x 1",
                                           "w-b: leader x 1 worker x 1"};
  EXPECT_EQ(UnitTexts(Read(WorkloadText(1, 1, "replicaKey: team/copy, ") + pods("team/copy: "))),
            by_key);
  std::string named = WorkloadText(1, 1) + pods("x: ");
  for (const char* replica : {"a", "b"}) {
    for (const char* rank : {"0", "1"}) {
      const std::size_t pod = named.find(fmt::format("name: p-{}-{}", replica, rank));
      named.replace(named.find("{name: w}", pod), 9,
                    fmt::format("{{name: w, replicaKey: {}}}", replica));
    }
  }
  EXPECT_EQ(UnitTexts(Read(named)), by_key);
}

TEST(Replicas, PodsThatNameNoneWait) {
  const ClusterRead read = Read(OwnerText(2, 2) + WorkloadText(1, 1) + PodText("a", 0, "x: none"));
  EXPECT_THAT(UnitTexts(read),
              ElementsAre("w:1 pod names no replica: want the label "
                          "leaderworkerset.sigs.k8s.io/group-key, or that which the Workload names "
                          "as replicaKey"));
}

// R25.10, R25.11: ranks that are placed by the domains of a level.
TEST(RankPlacements, SayWhatIsWrongWithThem) {
  const auto error_of = [](const std::string& placement) {
    const auto read = ReadClusterText(
        "f",
        "apiVersion: scheduling/v1alpha1\nkind: Workload\nmetadata: {name: w}\nspec: "
        "{gangGroups: [{rankedGroups: [{rankPlacement: " +
            placement + "}]}]}\n");
    return read ? std::string() : read.error().message;
  };
  EXPECT_EQ(error_of("{policy: Balanced, level: rack}"), "");
  EXPECT_THAT(error_of("{policy: Balanced}"), HasSubstr("rankPlacement.level: it is missing"));
  EXPECT_THAT(error_of("{policy: Contiguous, level: rack}"), HasSubstr("want none"));
  EXPECT_THAT(error_of("{level: rack}"), HasSubstr("rankPlacement.policy: it is missing"));
  EXPECT_THAT(error_of("{policy: Sideways, level: rack}"), HasSubstr("Contiguous, Balanced"));
}

// W1.5.
TEST(LargestSize, IsThatOfThePodSet) {
  const ClusterRead read = Read(
      "apiVersion: scheduling/v1alpha1\nkind: Workload\nmetadata: {name: w}\nspec: {gangGroups: "
      "[{eqGroups: [{count: 2, template: {resources: {requests: {cpu: 1}}}, maxTemplate: "
      "{resources: {requests: {cpu: 3}}}}]}]}\n");
  ASSERT_THAT(read.cluster.workloads, SizeIs(1));
  EXPECT_EQ(read.cluster.workloads[0].pod_sets.at(0).max_requests, (Resources{{"cpu", 3000}}));
}

}  // namespace
}  // namespace espalier::replicas_test
