// Gangs of which pods run already, and pods that are linked to Workloads: W1.3, W1.8, W3.5, W4.4,
// W8.5 and R25.12.
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/readers/cluster_files.hpp"

namespace espalier::running_pods_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kRack = "cloud.provider.com/topology-rack";

// A pod of Workload w; `more` is what else its spec has, with a comma behind it.
std::string Pod(const std::string& name, const std::string& more = "",
                const std::string& part = "a", const std::string& phase = "Running",
                const std::string& metadata = "") {
  const bool bound = more.find("nodeName") != more.npos;
  return fmt::format(
      "---\napiVersion: v1\nkind: Pod\n"
      "metadata: {{name: {}, labels: {{part: {}}}, {}}}\n"
      "spec: {{workload: {{name: w}}, {} containers: [{{resources: {{requests: {{cpu: 1}}}}}}]}}\n"
      "status: {{phase: {}}}\n",
      name, part, metadata, more, bound ? phase : "Pending");
}

std::string Bound(const std::string& name, const std::string& part = "a",
                  const std::string& phase = "Running", const std::string& metadata = "") {
  return Pod(name, "nodeName: n1,", part, phase, metadata);
}

std::string UserWorkload(const std::string& spec, const std::string& name = "w") {
  return fmt::format(
      "---\napiVersion: scheduling/v1alpha1\nkind: Workload\nmetadata: {{name: {}}}\nspec: {}\n",
      name, spec);
}

std::string Job(const std::string& name, const std::string& pod_spec = "") {
  return fmt::format(
      "---\napiVersion: batch/v1\nkind: Job\n"
      "metadata: {{name: {}, labels: {{kueue.x-k8s.io/queue-name: q}}}}\n"
      "spec: {{completions: 2, parallelism: 2, completionMode: Indexed, template: {{spec: {{{} "
      "containers: [{{resources: {{requests: {{cpu: 1}}}}}}]}}}}}}\n",
      name, pod_spec);
}

ClusterRead Read(const std::string& text, Trees trees = Trees::kNone) {
  auto read = ReadClusterText("f", text, {.trees = trees});
  EXPECT_TRUE(read) << read.error().message;
  return read ? *std::move(read) : ClusterRead();
}

// "name: pods", "name: why not", with "tree" where it is one.
std::vector<std::string> Units(const ClusterRead& read) {
  std::vector<std::string> units;
  for (const Workload& unit : read.cluster.workloads) {
    std::string text = fmt::format("{}:{}", unit.key.name, unit.refusal);
    std::int32_t pods = 0;
    for (const PodSet& pod_set : unit.pod_sets) pods += pod_set.count;
    if (pods > 0) text += fmt::format(" {}", pods);
    if (unit.tree != nullptr) text += " tree";
    units.push_back(text);
  }
  return units;
}

std::vector<std::string> Units(const std::string& text, Trees trees = Trees::kNone) {
  return Units(Read(text, trees));
}

constexpr Trees kProfiles[] = {Trees::kNone, Trees::kNested, Trees::kAll};

// R25.12: in every profile, as a flat request cannot say where the others run.
TEST(RunningPods, BindTheOthersOfTheirGangToTheirDomain) {
  const std::string gang = UserWorkload(fmt::format(
      "{{gangGroups: [{{name: gg, minCount: 3, topologyRequest: {{required: {}}}}}]}}", kRack));
  for (const Trees trees : kProfiles) {
    const ClusterRead read = Read(gang + Bound("p") + Bound("q") + Pod("r"), trees);
    EXPECT_THAT(Units(read), ElementsAre("w: 1 tree"));
    const GangGroup& group = read.gang_workloads.at(0).gang_groups.at(0);
    EXPECT_EQ(group.min_count, 3);
    const auto& running = group.ranked_groups.at(0).eq_groups.at(0).running;
    ASSERT_EQ(running.size(), 1u);
    EXPECT_EQ(running[0].node, "n1");
    EXPECT_EQ(running[0].pods, 2);
    EXPECT_THAT(read.gang_workloads[0].notes, Contains("2 of its 3 pods run already: 2 on n1"));
  }
  const std::string free = UserWorkload("{gangGroups: [{name: gg, minCount: 3}]}");
  EXPECT_THAT(Units(free + Bound("p") + Bound("q") + Pod("r")), ElementsAre("w: 1"));
}

// Each of several gangs is a tree of its own, where it needs one.
TEST(RunningPods, BindNoOtherGang) {
  const std::string gangs = UserWorkload(
      fmt::format("{{gangGroups: [{{name: g1, minCount: 2, selector: {{part: a}}, topologyRequest: "
                  "{{required: {}}}}}, {{name: g2, minCount: 1, selector: {{part: b}}}}]}}",
                  kRack));
  EXPECT_THAT(Units(gangs + Bound("p") + Pod("q") + Pod("r", "", "b")),
              ElementsAre("w-g1: 1 tree", "w-g2: 1"));
}

// Gangs of a Workload are independent: one that runs, or that waits, is in no other's way.
TEST(RunningPods, GangsWaitAndRunEachForItself) {
  const std::string gangs = UserWorkload(
      "{gangGroups: [{name: g1, minCount: 2, selector: {part: a}}, "
      "{name: g2, minCount: 2, selector: {part: b}}]}");
  const std::string runs = gangs + Bound("p") + Bound("q");
  const std::string two = Pod("r", "", "b") + Pod("s", "", "b");
  EXPECT_THAT(Units(runs + two), ElementsAre("w-g2: 2"));
  EXPECT_THAT(Units(runs + two, Trees::kNested), ElementsAre("w: 2 tree"));
  const std::string waits = gangs + Pod("p") + two;
  constexpr const char* kWhy =
      "w-g1:1 of the 2 pods that gangGroup g1 needs are there: it waits for the others";
  EXPECT_THAT(Units(waits), ElementsAre(kWhy, "w-g2: 2"));
  for (const Trees trees : {Trees::kNested, Trees::kAll}) {
    EXPECT_THAT(Units(waits, trees), ElementsAre("w: 2 tree", kWhy));
  }
}

// W1.3: what is above the minimum is best effort, and the maximum is never passed.
TEST(RunningPods, CountTowardsMinimumAndMaximum) {
  const std::string gang = UserWorkload("{gangGroups: [{name: gg, minCount: 2, maxCount: 4}]}");
  const std::string more = Pod("r") + Pod("s") + Pod("t");
  const ClusterRead late = Read(gang + Bound("p") + Bound("q") + more);
  EXPECT_THAT(Units(late), ElementsAre("w-0: 1", "w-1: 1"));
  EXPECT_THAT(late.gang_workloads.at(0).notes,
              Contains("1 pod above the maxCount of 4 of gangGroup gg is not placed"));
  for (const Trees trees : {Trees::kNested, Trees::kAll}) {
    std::int32_t pods = 0;
    for (const Workload& unit :
         Read(gang + Bound("p") + Bound("q") + more, trees).cluster.workloads) {
      for (const PodSet& pod_set : unit.pod_sets) pods += pod_set.count;
    }
    EXPECT_EQ(pods, 2);
  }
  const std::string shaped = UserWorkload(
      "{gangGroups: [{name: gg, minCount: 2, maxCount: 4, rankedGroups: [{name: rg, eqGroups: "
      "[{name: e, template: {resources: {requests: {cpu: 1}}}}]}]}]}");
  EXPECT_THAT(Units(shaped + Bound("p") + Bound("q") + more), ElementsAre("w-0: 1", "w-1: 1"));
}

// W8.5: pods that are gone, or as good as gone, do not count; those that replace them do at once.
TEST(RunningPods, ThoseThatFailDoNotCount) {
  const std::string gang = UserWorkload("{gangGroups: [{name: gg, minCount: 2, maxCount: 2}]}");
  const std::string next = Bound("p") + Pod("q");
  EXPECT_THAT(Units(gang + next), ElementsAre("w: 1"));
  for (const char* phase : {"Failed", "Unknown"}) {
    EXPECT_THAT(Units(gang + next + Bound("old", "a", phase)), ElementsAre("w: 1")) << phase;
  }
  EXPECT_THAT(Units(gang + next +
                    Bound("old", "a", "Running", "deletionTimestamp: '2026-01-01T00:00:00Z'")),
              ElementsAre("w: 1"));
}

// W1.8: pods of a Workload without gang groups wait for nothing.
TEST(Links, PodsOfAnEmptyWorkloadStartOneByOne) {
  EXPECT_THAT(Units(UserWorkload("{}") + Pod("p") + Pod("q")), ElementsAre("w-0: 1", "w-1: 1"));
  EXPECT_THAT(Units(UserWorkload("{}")), ElementsAre("w:"));
  const ClusterRead bound =
      Read(UserWorkload(fmt::format("{{topologyRequest: {{required: {}}}}}", kRack)) + Pod("p") +
           Pod("q"));
  ASSERT_EQ(bound.cluster.workloads.size(), 1u);
  EXPECT_EQ(bound.cluster.workloads[0].pod_sets.at(0).topology_request->required, kRack);
}

// W4.4: never placed without what its template names.
TEST(Links, AJobWaitsForTheWorkloadThatItsTemplateNames) {
  const std::string job = Job("j", "workload: {name: w},");
  EXPECT_THAT(Units(job),
              ElementsAre("j:its template names Workload w, which is not in the input; its pods "
                          "wait for it"));
  const std::string there = UserWorkload("{gangGroups: [{name: gg, minCount: 2}]}");
  EXPECT_THAT(Units(job + there), ElementsAre("w: 2"));
  EXPECT_THAT(Units(job + Job("k", "workload: {name: w},") + there),
              ElementsAre("k:its template names Workload w, which does not describe all of its "
                          "pods; its pods wait for it",
                          "w: 2"));
}

TEST(Links, OfTwoWorkloadsOfOneOwnerNoneVanishes) {
  const std::string spec =
      "{controllerRef: {apiGroup: batch, kind: Job, name: j}, gangGroups: [{name: gg, minCount: "
      "2}]}";
  const std::string two = UserWorkload(spec, "wb") + UserWorkload(spec, "wa");
  EXPECT_THAT(
      Units(Job("j") + two),
      ElementsAre("wa: 2", "wb:Workload wa describes Job j, which has one Workload, already"));
  EXPECT_THAT(
      Units(Job("j", "workload: {name: wb},") + two),
      ElementsAre("wb: 2", "wa:Workload wb describes Job j, which has one Workload, already"));
}

TEST(Links, MayBeAnAnnotation) {
  const auto pod = [](const char* key) {
    return fmt::format(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p, annotations: {{{}: w}}}}\n"
        "spec: {{containers: [{{resources: {{requests: {{cpu: 1}}}}}}]}}\n",
        key);
  };
  EXPECT_THAT(Units(pod("scheduling.k8s.io/workload")),
              ElementsAre("w:Workload w is not in the input; 1 pod waits for it"));
  EXPECT_THAT(Read(pod("scheduling.x-k8s.io/workload")).diagnostics.RenderWarnings(),
              HasSubstr("annotation scheduling.x-k8s.io/workload is not read"));
}

// A request that is not honoured is not placed as if it were not there.
TEST(Refused, UnknownPoliciesAndTopologySpread) {
  const std::string pods = Pod("p");
  EXPECT_THAT(
      Units(UserWorkload("{gangGroups: [{name: gg, minCount: 1, reschedulingPolicy: Odd}]}") +
            pods),
      ElementsAre("w:reschedulingPolicy of gangGroup gg is Odd, which is not known: TerminateAll "
                  "expected"));
  const std::string ok =
      UserWorkload("{gangGroups: [{name: gg, minCount: 1, reschedulingPolicy: TerminateAll}]}");
  EXPECT_THAT(Units(ok + pods), ElementsAre("w: 1"));
  for (const char* spec : {"{topologySpread: {level: rack}, gangGroups: [{name: gg, minCount: 1}]}",
                           "{gangGroups: [{name: gg, minCount: 1, topologySpread: {level: r}}]}"}) {
    EXPECT_THAT(Units(UserWorkload(spec) + pods), ElementsAre(HasSubstr("topologySpread of")))
        << spec;
  }
}

// W8.5: pods of a gang that is scheduled in part hold room for nothing.
TEST(RunningPods, ThatDoNotRunForAllTheirNodeAreNamed) {
  const std::string held =
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
      "spec: {workload: {name: w}, nodeName: n1, containers: [{resources: {requests: {cpu: 1}}}]}\n"
      "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'True', "
      "lastTransitionTime: '2020-01-01T00:00:00Z'}]}\n";
  const std::string gang =
      UserWorkload("{gangGroups: [{name: gg, minCount: 2, scheduleTimeoutSeconds: 90}]}");
  EXPECT_THAT(Read(gang + held + Pod("q")).gang_workloads.at(0).notes,
              Contains(AllOf(HasSubstr("p of gangGroup gg holds room on n1 for nothing since "
                                       "2020-01-01T00:00:00Z"),
                             HasSubstr("90 end at 2020-01-01T00:01:30Z"))));
  // Once that time has passed, the gang is queued whole, and its pod holds room no more.
  const auto at = [&](std::int64_t now) {
    auto read = ReadClusterText("f", gang + held + Pod("q"), {.now_seconds = now});
    EXPECT_TRUE(read) << read.error().message;
    return read ? *std::move(read) : ClusterRead();
  };
  constexpr std::int64_t kEnd = 1577836890;
  const ClusterRead before = at(kEnd - 1);
  EXPECT_EQ(before.cluster.pods.at(0).node_name, "n1");
  const ClusterRead after = at(kEnd);
  EXPECT_EQ(after.cluster.pods.at(0).node_name, "");
  EXPECT_THAT(after.gang_workloads.at(0).notes,
              Contains(HasSubstr("goes back to the queue whole, without p")));
  ASSERT_EQ(after.cluster.workloads.size(), 1u);
  EXPECT_EQ(after.cluster.workloads[0].pod_sets.at(0).count, 2);
}

}  // namespace
}  // namespace espalier::running_pods_test
