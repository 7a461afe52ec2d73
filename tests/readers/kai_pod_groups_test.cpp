// KAI's pod groups, and what its annotations say of the pods of jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/readers/cluster_files.hpp"
#include "tests/readers/read_text.hpp"

namespace espalier::kai_pod_groups_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// `labels` has further labels, each with a comma before it.
std::string KaiPod(const std::string& name, const std::string& sub_group,
                   const std::string& labels = "") {
  return PodText(name, "",
                 R"(, "annotations": {"pod-group-name": "k"},
                               "labels": {"kai.scheduler/subgroup-name": ")" +
                     sub_group + '"' + labels + "}");
}

std::string KaiGroup(const std::string& spec) {
  return R"({"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
      "metadata": {"name": "k", "namespace": "team"}, "spec": {)" +
         spec + "}}\n";
}

// W4.6: a tree, in whichever order its groups are listed, and also where a group with others inside
// has a minimum of pods too.
TEST(KaiPodGroups, AreTrees) {
  const std::string group = KaiGroup(R"("minMember": 3, "subGroups": [
      {"name": "a", "parent": "ab", "minMember": 2},
      {"name": "c", "minMember": 1, "topologyConstraint": {"requiredTopologyLevel": "rack"}},
      {"name": "ab", "minMember": 3, "minSubGroup": 1,
       "topologyConstraint": {"requiredTopologyLevel": "spine"}},
      {"name": "b", "parent": "ab", "minMember": 2}])");
  std::string pods;
  for (const char* pod : {"a0", "a1", "b0", "b1", "c0"}) {
    pods += KaiPod(pod, std::string(1, pod[0]));
  }
  const ClusterRead read = Read(group + pods);
  ASSERT_THAT(read.gang_workloads, SizeIs(1));
  const GangGroup& gang = read.gang_workloads[0].gang_groups.at(0);
  EXPECT_THAT(gang.middle_groups,
              ElementsAre(MiddleGroup{
                  .name = "ab",
                  .min_groups = 1,
                  .topology_request = {.levels = TopologyRequest{.required = "spine"}}}));
  ASSERT_THAT(gang.ranked_groups, SizeIs(3));
  EXPECT_EQ(gang.ranked_groups[0].name, "c");
  EXPECT_EQ(gang.ranked_groups[1].within, 0);
  EXPECT_EQ(gang.ranked_groups[2].within, 0);
  EXPECT_THAT(read.cluster.workloads.at(0).not_honoured,
              ElementsAre(HasSubstr("topologyRequest of group ab: required spine")));
  const auto tree = ReadClusterText("f", group + pods, {.trees = Trees::kNested});
  ASSERT_TRUE(tree);
  EXPECT_TRUE(tree->cluster.workloads.at(0).tree);
  EXPECT_THAT(tree->cluster.workloads.at(0).not_honoured, IsEmpty());
}

// W4.3: also where all pods are in groups inside the group.
TEST(KaiPodGroups, HaveTheQueueOfTheirPods) {
  const std::string pod = KaiPod("a0", "a", R"(, "kai.scheduler/queue": "of-pod")");
  const std::string spec = R"("subGroups": [{"name": "a", "minMember": 1}])";
  const auto queue_of = [](const std::string& text) {
    const ClusterRead read = Read(text);
    return read.cluster.workloads.empty() ? "none" : read.cluster.workloads[0].queue_name;
  };
  EXPECT_EQ(queue_of(KaiGroup(spec) + pod), "of-pod");
  EXPECT_EQ(queue_of(KaiGroup(R"("queue": "of-group", )" + spec) + pod), "of-group");
}

TEST(KaiPodGroups, DoWithoutAGroupWhosePodsAreMissing) {
  const std::string group = KaiGroup(R"("minSubGroup": 2, "subGroups": [
      {"name": "a", "minMember": 1}, {"name": "b", "minMember": 2}, {"name": "c", "minMember": 1}])");
  const ClusterRead two = Read(group + KaiPod("a0", "a") + KaiPod("b0", "b") + KaiPod("c0", "c"));
  EXPECT_THAT(UnitTexts(two), ElementsAre("k: a x 1 c x 1"));
  EXPECT_THAT(two.gang_workloads[0].notes,
              Contains("1 of the 2 pods of subgroup b are there; subgroup b is left out, as 2 of 3 "
                       "do"));
  EXPECT_THAT(UnitTexts(Read(group + KaiPod("a0", "a") + KaiPod("b0", "b"))),
              ElementsAre("k:1 of the 2 pods of subgroup b are there: it waits for the others"));
}

// W4.8
TEST(KaiMinMember, OfAJobIsHowManyOfItsPodsStartTogether) {
  const auto job = [](const std::string& least) {
    return R"({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace":
        "team", "labels": {"kai.scheduler/queue": "q"}, "annotations":
        {"kai.scheduler/batch-min-member": ")" +
           least + R"("}}, "spec": {"parallelism": 6, "template": {"spec": {"containers":
        [{"name": "c"}]}}}})";
  };
  const auto read = [](const std::string& text, Trees trees = Trees::kNested) {
    return ReadClusterText("f", text, {.trees = trees});
  };
  const auto two = read(job("2"));
  ASSERT_TRUE(two) << two.error().message;
  const GangGroup& gang = two->gang_workloads.at(0).gang_groups.at(0);
  EXPECT_EQ(gang.mode, GangMode::kGang);
  EXPECT_EQ(gang.min_count, 2);
  EXPECT_EQ(gang.max_count, 6);
  EXPECT_THAT(two->gang_workloads.at(0).notes, IsEmpty());
  EXPECT_THAT(read(job("7"))->cluster.workloads.at(0).refusal,
              HasSubstr("batch-min-member wants 7 pods, and it has 6"));
  for (const std::string wrong : {"0", "-1", "two", "99999999999"}) {
    EXPECT_THAT(read(job(wrong))->gang_workloads.at(0).notes,
                Contains(HasSubstr("it is not honoured, as that is no number of pods")));
  }
  EXPECT_THAT(read(job("2"), Trees::kNone)->gang_workloads.at(0).notes,
              Contains(HasSubstr("it is not honoured, as Kueue places all pods of a job")));
}

TEST(KaiPodGroups, SayThatTheirParentsAreWrong) {
  const auto why = [](const std::string& sub_groups) {
    return UnitTexts(Read(KaiGroup("\"subGroups\": [" + sub_groups + "]") + KaiPod("a0", "a")));
  };
  EXPECT_THAT(why(R"({"name": "a", "minMember": 1, "parent": "x"})"),
              ElementsAre("k:subgroup a names the parent x, which is none of its subgroups"));
  EXPECT_THAT(why(R"({"name": "a", "minMember": 1, "parent": "b"}, {"name": "b", "parent": "a"})"),
              testing::Contains("k:the parents of subgroup a lead back to it"));
}

TEST(KaiPodGroups, HaveSubgroupsOfDifferentNames) {
  const std::string twice = R"("subGroups": [{"name": "a", "minMember": 1}, {"name": "a"}])";
  EXPECT_THAT(ErrorOf(KaiGroup(twice)),
              HasSubstr("spec.subGroups[1].name: one before it has that name"));
  EXPECT_THAT(ErrorOf(R"({"apiVersion": "scheduling.k8s.io/v1alpha1", "kind": "Workload",
      "metadata": {"name": "w"}, "spec": {"podGroups": [
        {"name": "g", "policy": {"basic": {}}}, {"name": "g", "policy": {"basic": {}}}]}})"),
              HasSubstr("spec.podGroups[1].name: one before it has that name"));
}

// Each replica is a group by itself, and so is each pod of a Deployment (W4.3).
TEST(KaiTopology, OfWhatIsReplicatedHoldsForEachOfThem) {
  const auto read = [](const std::string& version, const std::string& kind,
                       const std::string& spec) {
    const auto found = ReadClusterText("f",
                                       R"({"apiVersion": ")" + version + R"(", "kind": ")" + kind +
                                           R"(", "metadata":
          {"name": "w", "labels": {"kai.scheduler/queue": "q"}, "annotations":
            {"kai.scheduler/topology-required-placement": "rack"}}, "spec": {)" +
                                           spec + "}}",
                                       {.trees = Trees::kNone});
    EXPECT_TRUE(found) << found.error().message;
    std::vector<std::string> levels;
    for (const Workload& unit : found->cluster.workloads) {
      const auto& request = unit.pod_sets.at(0).topology_request;
      levels.push_back(unit.key.name + " " +
                       (request && request->required ? *request->required : "anywhere"));
    }
    return levels;
  };
  const std::string pods = R"({"spec": {"containers": [{}]}})";
  EXPECT_THAT(
      read("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet",
           R"("replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": )" + pods + "}"),
      ElementsAre("w-0 rack", "w-1 rack"));
  EXPECT_THAT(read("apps/v1", "Deployment", R"("replicas": 2, "template": )" + pods),
              ElementsAre("w-0 rack", "w-1 rack"));
}

TEST(KaiPodGroups, SayWhatOfThemIsMissingOrNotHonoured) {
  const std::string group = R"({"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
      "metadata": {"name": "k", "namespace": "team", "annotations": {
        "kai.scheduler/segment-topology-required-placement": "rack",
        "kai.scheduler/segment-topology-preferred-placement": "host"}},
      "spec": {"minSubGroup": 1, "subGroups": [{"name": "a", "minMember": 1, "maxMember": 2},
                                               {"name": "b", "minMember": 1}]}})"
                            "\n";
  const ClusterRead read = Read(group + KaiPod("p", "a") + KaiPod("q", "b") + KaiPod("r", "c"));
  EXPECT_THAT(UnitTexts(read), ElementsAre("k: a x 1 b x 1",
                                           "k-c:PodGroup k has no subgroup c; 1 pod waits for it"));
  const auto& notes = read.gang_workloads.at(0).notes;
  EXPECT_THAT(notes, Contains("all 2 groups of k are placed together; 1 would do"));
  EXPECT_THAT(notes, Contains("annotation kai.scheduler/segment-topology-preferred-placement is "
                              "not honoured"));
  EXPECT_THAT(notes, Contains("annotation kai.scheduler/segment-topology-required-placement is "
                              "not honoured without kai.scheduler/segment-size"));
  ASSERT_THAT(read.diagnostics.warnings(), SizeIs(1));
  EXPECT_THAT(ToString(read.diagnostics.warnings()[0]), HasSubstr("the key maxMember is unknown"));
}

}  // namespace
}  // namespace espalier::kai_pod_groups_test
