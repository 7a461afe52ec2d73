// What cannot be honoured, mapped or read is said, and the exit code says no; what can be is
// honoured by profile espalier (W1.6, W1.8, W4.6).
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"
#include "tests/cli/tas_queue.hpp"

namespace espalier {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// A node of so many cpus in a rack; a rack b1r2 is in block b1.
std::string Node(const std::string& rack, int number, int cpus) {
  const std::string name = rack + "h" + std::to_string(number);
  return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name +
         ", labels: {pool: tas, cloud/block: " + rack.substr(0, 2) + ", cloud/rack: " + rack +
         ", kubernetes.io/hostname: " + name + "}}\nstatus: {allocatable: {cpu: '" +
         std::to_string(cpus) + "', pods: '110'}, conditions: [{type: Ready, status: 'True'}]}\n";
}

std::string Nodes(const std::vector<std::string>& racks, int per_rack, int cpus) {
  std::string text;
  for (const std::string& rack : racks) {
    for (int i = 1; i <= per_rack; ++i) text += Node(rack, i, cpus);
  }
  return text;
}

std::string Pod(const std::string& name, const std::string& metadata) {
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", " + metadata +
         "}\nspec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n"
         "status: {phase: Pending}\n";
}

std::string Job(const std::string& name, int pods, const std::string& annotations,
                const std::string& of_template, const std::string& spec = "") {
  return "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name +
         ", labels: {kueue.x-k8s.io/queue-name: q}, annotations: {" + annotations +
         "}}\nspec:\n  parallelism: " + std::to_string(pods) +
         "\n  completions: " + std::to_string(pods) +
         "\n  completionMode: Indexed\n  template:\n    metadata: {labels: {app: x}, annotations: "
         "{" +
         of_template + "}}\n    spec: {" + spec +
         "containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n";
}

ProcessResult Place(const std::string& text, const std::string& profile,
                    const std::vector<std::string>& more = {}) {
  std::vector<std::string> command = {"place", "-", "--profile", profile};
  command.insert(command.end(), more.begin(), more.end());
  return RunEspalier(command, kQueues + text);
}

// W4.6: the tree of KAI's documentation. A block has room for ab, whose two parts need a rack each.
TEST(Silence, AMiddleGroupIsHonouredOrSaid) {
  const std::string group = R"(---
apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: kai}
spec:
  queue: q
  minMember: 4
  subGroups:
  - {name: ab, topologyConstraint: {requiredTopologyLevel: cloud/block}}
  - {name: a, parent: ab, minMember: 2, topologyConstraint: {requiredTopologyLevel: cloud/rack}}
  - {name: b, parent: ab, minMember: 2, topologyConstraint: {requiredTopologyLevel: cloud/rack}}
)";
  std::string pods;
  for (const char* pod : {"a0", "a1", "b0", "b1"}) {
    pods += Pod(pod, "annotations: {pod-group-name: kai}, labels: {kai.scheduler/subgroup-name: " +
                         std::string(1, pod[0]) + "}");
  }
  // Alone each part fits tightest into a rack of another block.
  const std::string cluster =
      Node("b1r1", 1, 2) + Node("b2r1", 1, 2) + Node("b3r1", 1, 3) + Node("b3r2", 1, 3);
  const ProcessResult kueue = Place(cluster + group + pods, "kueue");
  EXPECT_EQ(kueue.exit_code, 1);
  EXPECT_THAT(kueue.output,
              HasSubstr("not as asked: topologyRequest of group ab: required cloud/block"));
  EXPECT_EQ(Place(cluster + group + pods, "kueue", {"--best-effort"}).exit_code, 0);
  const ProcessResult tree = Place(cluster + group + pods, "espalier");
  EXPECT_EQ(tree.exit_code, 0) << tree.output << tree.errors;
  EXPECT_THAT(tree.output, AllOf(HasSubstr("b3r1"), HasSubstr("b3r2"), Not(HasSubstr("b1r1"))));
  EXPECT_EQ(Place(Node("b1r1", 1, 2) + Node("b2r1", 1, 2) + group + pods, "espalier").exit_code, 1);
}

TEST(Silence, PodsBeyondWholeSlicesAreAShorterOne) {
  const std::string cluster = Nodes({"b1r1", "b1r2", "b1r3"}, 4, 1);
  const std::string job = Job("ten", 10, "",
                              "kueue.x-k8s.io/podset-required-topology: cloud/block, "
                              "kueue.x-k8s.io/podset-slice-required-topology: cloud/rack, "
                              "kueue.x-k8s.io/podset-slice-size: '4'");
  const ProcessResult kueue = Place(cluster + job, "kueue");
  EXPECT_EQ(kueue.exit_code, 1);
  EXPECT_THAT(kueue.output,
              HasSubstr("not as asked: pod set main: 2 of its 10 pods get no place, as they are "
                        "beyond the last whole slice of 4"));
  EXPECT_EQ(Place(cluster + job, "kueue", {"--best-effort"}).exit_code, 0);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"cycle", "-"}, {"explain", "ten", "-"}}) {
    EXPECT_EQ(RunEspalier(command, kQueues + cluster + job).exit_code, 1) << command[0];
  }
  const ProcessResult all = Place(cluster + job, "espalier");
  EXPECT_EQ(all.exit_code, 0) << all.output << all.errors;
  EXPECT_THAT(all.output, AllOf(HasSubstr("last"), Not(HasSubstr("8 of 10"))));
  EXPECT_EQ(Place(Nodes({"b1r1", "b1r2"}, 4, 1) + job, "espalier").exit_code, 1);
}

std::string Admitted(const std::string& name, const std::string& domains,
                     const std::string& condition = "Admitted") {
  return "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: Workload\nmetadata: {name: " + name +
         R"(}
spec: {queueName: q, podSets: [{name: main, count: 4, template: {spec: {containers: [{resources: {requests: {cpu: 1}}}]}}}]}
status:
  conditions: [{type: QuotaReserved, status: 'True'}, {type: )" +
         condition + R"(, status: 'True'}]
  admission:
    clusterQueue: cq
    podSetAssignments:
    - {name: main, count: 4, flavors: {cpu: tas}, resourceUsage: {cpu: 4},
       topologyAssignment: {levels: [kubernetes.io/hostname], domains: [)" +
         domains + "]}}\n";
}

TEST(Silence, UsageThatIsNowhereIsTold) {
  const std::string cluster = Node("b1r1", 1, 4) + Job("next", 1, "", "");
  const std::vector<std::vector<std::string>> commands = {
      {"place", "-"}, {"cycle", "-"}, {"explain", "next", "-"}, {"capacity", "-"}};
  const std::string levels = "levels: [";
  std::string by_path = Admitted("mpi", "{values: [b1, b1r1, b1r1h1], count: 4}");
  by_path.insert(by_path.find(levels) + levels.size(), "cloud/block, cloud/rack, ");
  for (const std::vector<std::string>& command : commands) {
    const auto told = [&](const std::string& text) {
      return RunEspalier(command, kQueues + cluster + text).errors;
    };
    EXPECT_THAT(told(Admitted("mpi", "")),
                HasSubstr("workload default/mpi: 4 of the 4 pods of pod set main have no place in "
                          "its assignment: what they use counts as nothing"));
    EXPECT_THAT(
        told(Admitted("mpi", "{values: [b1r1h1], count: 3}, {values: [gone], count: 1}")),
        HasSubstr("workload default/mpi: 1 pod of pod set main is in gone, where flavor tas "
                  "has no node"));
    EXPECT_THAT(told(std::regex_replace(Admitted("mpi", "{values: [b1r1h1], count: 4}"),
                                        std::regex("cpu: tas"), "cpu: gone")),
                HasSubstr("workload default/mpi: pod set main has places on gone, which is no "
                          "flavor with a topology in the input"));
    EXPECT_THAT(told(by_path),
                HasSubstr("workload default/mpi: 4 pods of pod set main are in b1,b1r1,b1r1h1, "
                          "where flavor tas has no node"))
        << "hosts are named by their names alone (R4.1)";
    EXPECT_THAT(told(Admitted("mpi", "{values: [b1r1h1], count: 4}")),
                Not(HasSubstr("counts as nothing")));
    EXPECT_THAT(
        told(Admitted("mpi", "{values: [b1r1h1], count: 4}", "Finished") +
             "---\napiVersion: v1\nkind: Pod\nmetadata: {name: mpi-0, annotations: "
             "{kueue.x-k8s.io/workload: mpi, kueue.x-k8s.io/podset-required-topology: cloud/rack}, "
             "deletionTimestamp: '2026-08-01T00:00:00Z'}\nspec: {nodeName: b1r1h1, containers: "
             "[{resources: {requests: {cpu: 1}}}]}\nstatus: {phase: Running}\n"),
        HasSubstr("workload default/mpi has finished, but 1 pod of it is on nodes: what it uses "
                  "there counts as nothing"));
  }
}

// A group of another scheduler's is one gang, whoever describes it.
TEST(Silence, GroupsOfOtherSchedulersAreGangs) {
  const std::string group =
      "---\napiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {name: gang}\n"
      "spec: {minMember: 3}\n";
  const auto pods = [](const std::string& label) {
    std::string text;
    for (const char* name : {"c0", "c1", "c2"}) {
      text += Pod(name, "labels: {kueue.x-k8s.io/queue-name: q, " + label + "}");
    }
    return text;
  };
  const std::string members = pods("scheduling.x-k8s.io/pod-group: gang");
  const ProcessResult two = Place(Nodes({"b1r1"}, 2, 1) + group + members, "kueue");
  EXPECT_EQ(two.exit_code, 1);
  EXPECT_THAT(two.output, AllOf(ContainsRegex("default/gang +main +3 .*not placed"),
                                HasSubstr("0 placed, 1 not placed")));
  const ProcessResult three = Place(Nodes({"b1r1"}, 3, 1) + group + members, "kueue");
  EXPECT_EQ(three.exit_code, 0) << three.output;
  EXPECT_THAT(three.output, HasSubstr("1 placed, 0 not placed"));
  EXPECT_THAT(Place(Nodes({"b1r1"}, 3, 1) + members, "kueue").output,
              HasSubstr("PodGroup gang is not in the input; 3 pods wait for it"));
  EXPECT_THAT(
      Place(Nodes({"b1r1"}, 3, 1) + pods("pod-group.scheduling.sigs.k8s.io/name: gang, "
                                         "pod-group.scheduling.sigs.k8s.io/min-available: '3'"),
            "kueue")
          .output,
      HasSubstr("1 placed, 0 not placed"));
}

constexpr const char* kHyperNodes = R"(---
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: s0}
spec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: b1r1h1}}}]}
---
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: s1}
spec: {tier: 1, members: [{type: Node, selector: {labelMatch: {matchLabels: {cloud/rack: b1r2}}}}]}
---
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: s2}
spec: {tier: 2, members: [{type: HyperNode, selector: {exactMatch: {name: s0}}}, {type: HyperNode, selector: {exactMatch: {name: s1}}}]}
)";

TEST(Silence, VolcanosTopologyIsHonouredOrSaid) {
  const std::string cluster = Node("b1r1", 1, 1) + Nodes({"b1r2"}, 2, 1);
  const auto group = [](int tier) {
    return "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: vpg}\n"
           "spec: {minMember: 2, networkTopology: {mode: hard, highestTierAllowed: " +
           std::to_string(tier) + "}}\n";
  };
  const auto pods = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += Pod("v" + std::to_string(i), "annotations: {scheduling.k8s.io/group-name: vpg}");
    }
    return text;
  };
  const ProcessResult without = Place(cluster + group(1) + pods(2), "espalier", {"--guess-flavor"});
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_THAT(without.output, HasSubstr("no HyperNode of the input has that tier"));
  const ProcessResult placed =
      Place(cluster + kHyperNodes + group(1) + pods(2), "espalier", {"--guess-flavor"});
  EXPECT_EQ(placed.exit_code, 0) << placed.output << placed.errors;
  EXPECT_THAT(placed.output, AllOf(HasSubstr("s2/s1"), Not(HasSubstr("b1r1h1"))));
  const std::string three = R"(---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: vj}
spec:
  minAvailable: 3
  networkTopology: {mode: hard, highestTierAllowed: TIER}
  tasks: [{name: w, replicas: 3, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}]
)";
  const auto job = [&](const std::string& tier) {
    return std::string(three).replace(three.find("TIER"), 4, tier);
  };
  EXPECT_EQ(Place(cluster + kHyperNodes + job("1"), "kueue", {"--guess-flavor"}).exit_code, 1);
  EXPECT_EQ(Place(cluster + kHyperNodes + job("2"), "kueue", {"--guess-flavor"}).exit_code, 0);
}

TEST(Silence, APodWithoutAnOwnerIsAWorkload) {
  const ProcessResult said = Place(Nodes({"b1r1"}, 2, 1) + Pod("c0", "labels: {}"), "kueue");
  EXPECT_EQ(said.exit_code, 1);
  EXPECT_THAT(said.output, ContainsRegex("default/c0 +main +1 .*not placed"));
  EXPECT_EQ(
      Place(Nodes({"b1r1"}, 2, 1) + Pod("c0", "labels: {}"), "kueue", {"--guess-flavor"}).exit_code,
      0);
}

TEST(Silence, KaisAnnotationsAreHonoured) {
  const std::string cluster = Nodes({"b1r1", "b1r2"}, 2, 1) + Nodes({"b2r1"}, 3, 1);
  const std::string placement = "kai.scheduler/topology-required-placement: cloud/rack";
  const ProcessResult job = Place(cluster + Job("train", 3, placement, ""), "kueue");
  EXPECT_EQ(job.exit_code, 0) << job.errors;
  EXPECT_THAT(job.output, AllOf(HasSubstr("required rack"), HasSubstr("b2/b2r1")));
  const std::string set = R"(---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: serve, labels: {kueue.x-k8s.io/queue-name: q}, annotations: {PLACEMENT}}
spec:
  replicas: 3
  podManagementPolicy: Parallel
  template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
)";
  EXPECT_THAT(
      Place(cluster + std::string(set).replace(set.find("PLACEMENT"), 9, placement), "kueue")
          .output,
      HasSubstr("b2/b2r1"));
  EXPECT_THAT(Place(cluster + Pod("p", "labels: {kai.scheduler/queue: q}, annotations: {" +
                                           placement + "}"),
                    "kueue")
                  .output,
              ContainsRegex("default/p +main +1 +required rack"));
  const ProcessResult share = Place(cluster + Job("half", 1, "", "gpu-fraction: '0.5'"), "kueue");
  EXPECT_EQ(share.exit_code, 1);
  EXPECT_THAT(share.output, HasSubstr("annotation gpu-fraction of its pods is 0.5"));
}

TEST(Silence, PartsThatAreToBeApartAreApartOrSaid) {
  const std::string cluster = Nodes({"b1r1"}, 1, 9) + Nodes({"b1r2"}, 1, 2);
  const std::string set = R"(---
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: js, labels: {kueue.x-k8s.io/queue-name: q},
           annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: cloud/rack}}
spec:
  replicatedJobs:
  - name: a
    replicas: 2
    template: {spec: {parallelism: 2, completions: 2, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}}
)";
  const ProcessResult kueue = Place(cluster + set, "kueue");
  EXPECT_EQ(kueue.exit_code, 1);
  EXPECT_THAT(kueue.output,
              HasSubstr("not as asked: that each 2 pods of eqGroup a have a domain of "
                        "cloud/rack to themselves is not honoured"));
  const ProcessResult tree = Place(cluster + set, "espalier");
  EXPECT_EQ(tree.exit_code, 0) << tree.output << tree.errors;
  EXPECT_THAT(tree.output, AllOf(HasSubstr("b1r1"), HasSubstr("b1r2")));
  EXPECT_EQ(Place(Nodes({"b1r1"}, 1, 9) + set, "espalier").exit_code, 1);

  const std::string apart =
      "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
      "kubernetes.io/hostname, labelSelector: {matchLabels: {app: x}}}]}}, ";
  EXPECT_EQ(Place(cluster + Job("two", 2, "", "", apart), "espalier").exit_code, 0);
  EXPECT_EQ(Place(Nodes({"b1r1"}, 1, 9) + Job("two", 2, "", "", apart), "espalier").exit_code, 1);
  EXPECT_EQ(Place(cluster + Job("two", 2, "", "", apart), "kueue").exit_code, 1);

  const std::string spread =
      "topologySpreadConstraints: [{maxSkew: 1, topologyKey: cloud/rack, whenUnsatisfiable: "
      "DoNotSchedule, labelSelector: {matchLabels: {app: x}}}], ";
  const ProcessResult refused = Place(cluster + Job("two", 2, "", "", spread), "espalier");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.output,
              HasSubstr("topology spread over cloud/rack keeps the pods of eqGroup"));
}

}  // namespace
}  // namespace espalier
