// Pods and what owns them: which of them a Workload of Kueue's stands for, and which make up a
// gang.
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/readers/cluster_files.hpp"

namespace espalier::pod_members_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

using Documents = std::vector<std::string>;

ClusterRead Read(const Documents& documents, const ReadOptions& options = {}) {
  std::string text;
  for (const std::string& document : documents) text += "---\n" + document + "\n";
  auto read = ReadClusterText("f", text, options);
  EXPECT_TRUE(read) << read.error().message;
  return read ? *std::move(read) : ClusterRead();
}

// "name, queue, priority: pod set x count of cpu, ...", or why it waits.
std::vector<std::string> Units(const ClusterRead& read) {
  std::vector<std::string> units;
  for (const Workload& unit : read.cluster.workloads) {
    std::string text =
        fmt::format("{}, {}, {}:{}", unit.key.name, unit.queue_name, unit.priority, unit.refusal);
    for (const PodSet& pod_set : unit.pod_sets) {
      const auto* cpu = pod_set.pod_template.requests.Find("cpu");
      text += fmt::format(" {} x {} of {}m", pod_set.name, pod_set.count, cpu ? *cpu : 0);
    }
    units.push_back(text);
  }
  return units;
}

std::string Owner(const std::string& kind, const std::string& name, const std::string& uid) {
  return fmt::format("ownerReferences: [{{kind: {}, name: {}, uid: {}, controller: true}}]", kind,
                     name, uid);
}

struct PodText {
  std::string name;
  std::string labels = "";
  std::string annotations = "";
  std::string metadata = "";
  std::string spec = "";
  std::string cpu = "1";
  std::string status = "{phase: Pending}";
};

std::string Pod(const PodText& pod) {
  return fmt::format(R"(
apiVersion: v1
kind: Pod
metadata: {{name: '{0}', namespace: team, uid: u-{0}, {3}
           labels: {{{1}}}, annotations: {{{2}}}}}
spec: {{{4} containers: [{{resources: {{requests: {{cpu: {5}}}}}}}]}}
status: {6})",
                     pod.name, pod.labels, pod.annotations, pod.metadata, pod.spec, pod.cpu,
                     pod.status);
}

std::string KueueWorkload(const std::string& name, const std::string& owner) {
  return fmt::format(R"(
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata: {{name: {}, namespace: team, {}}}
spec: {{queueName: q, podSets: [{{name: main, count: 1, template: {{spec: {{containers: [
  {{resources: {{requests: {{cpu: 1}}}}}}]}}}}}}]}})",
                     name, owner);
}

std::string Scaled(const std::string& kind, const std::string& name) {
  return fmt::format(R"(
apiVersion: apps/v1
kind: {}
metadata: {{name: {}, namespace: team, labels: {{kueue.x-k8s.io/queue-name: q}}}}
spec: {{replicas: 1, template: {{spec: {{containers: [{{resources: {{requests: {{cpu: 1}}}}}}]}}}}}})",
                     kind, name);
}

const std::string kReplicaSet =
    "apiVersion: apps/v1\nkind: ReplicaSet\n"
    "metadata: {name: d-x, namespace: team, " +
    Owner("Deployment", "d", "u-d") +
    "}\nspec: {replicas: 1, template: {spec: {containers: [{name: c}]}}}";

// Kueue makes a Workload of each pod, which the pod owns.
TEST(PodWorkloads, StandForTheDeploymentOfThePods) {
  const std::string pod =
      Pod({.name = "d-x-1", .metadata = Owner("ReplicaSet", "d-x", "u-x") + ","});
  const std::string workload = KueueWorkload("pod-1", Owner("Pod", "d-x-1", "u-d-x-1"));
  const ClusterRead read = Read({Scaled("Deployment", "d"), kReplicaSet, pod, workload});
  EXPECT_THAT(Units(read), ElementsAre("pod-1, q, 0: main x 1 of 1000m"));
  EXPECT_THAT(read.facts.skipped, Contains(Pair("Deployment with a Workload", 1u)));
  const ClusterRead without = Read({Scaled("Deployment", "d"), kReplicaSet, pod});
  EXPECT_THAT(Units(without), ElementsAre("d-0, q, 0: main x 1 of 1000m"));
}

// Pods of an elastic job name the first Workload of its chain of slices (W5.1).
TEST(PodWorkloads, OfAChainOfSlicesStandForItsPods) {
  const std::string pod =
      Pod({.name = "p", .annotations = "kueue.x-k8s.io/workload-slice-name: first"});
  const auto slice = [](const std::string& name, const std::string& of) {
    return KueueWorkload(name, "annotations: {kueue.x-k8s.io/workload-slice-name: " + of + "}");
  };
  for (const std::string& workload : {KueueWorkload("first", ""), slice("second", "first")}) {
    const ClusterRead read = Read({pod, workload});
    EXPECT_EQ(read.cluster.workloads.size(), 1u);
    EXPECT_THAT(read.facts.skipped, IsEmpty());
  }
  EXPECT_THAT(Read({pod, slice("second", "other")}).facts.skipped,
              Contains(Pair("Pod whose Workload is not in the input", 1u)));
}

TEST(PodWorkloads, OfAGroupStandForTheStatefulSet) {
  const auto pod = [](const std::string& spec) {
    return Pod({.name = "s-0",
                .labels = "kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/pod-group-name: s-ab",
                .annotations = "kueue.x-k8s.io/pod-group-total-count: '1'",
                .metadata = Owner("StatefulSet", "s", "u-s") + ",",
                .spec = spec});
  };
  const std::string workload = KueueWorkload("s-ab", "ownerReferences: [{kind: Pod, name: other}]");
  for (const char* spec : {"", "nodeName: host,"}) {
    const ClusterRead read = Read({Scaled("StatefulSet", "s"), pod(spec), workload});
    EXPECT_THAT(Units(read), ElementsAre("s-ab, q, 0: main x 1 of 1000m")) << spec;
  }
  // Before Kueue has made the Workload, what the StatefulSet says counts, and not its pods too.
  EXPECT_THAT(Units(Read({Scaled("StatefulSet", "s"), pod("")})),
              ElementsAre("s, q, 0: main x 1 of 1000m"));
}

// Its status says so only when they are ready.
TEST(BoundPods, MakeTheirDeploymentRun) {
  const std::string bound = Pod({.name = "d-x-1",
                                 .metadata = Owner("ReplicaSet", "d-x", "u-x") + ",",
                                 .spec = "nodeName: host,"});
  const ClusterRead read = Read({Scaled("Deployment", "d"), kReplicaSet, bound});
  EXPECT_THAT(read.cluster.workloads, IsEmpty());
  EXPECT_THAT(read.gang_workloads.at(0).notes, Contains("its pods run already"));
}

// `kubectl get workloads,jobs` has the Jobs of a JobSet, but not the JobSet.
TEST(Jobs, OfAControllerWithAWorkloadAreLeftOut) {
  const auto job = [](const std::string& uid) {
    return fmt::format(R"(
apiVersion: batch/v1
kind: Job
metadata: {{name: js-w-0, namespace: team, labels: {{kueue.x-k8s.io/queue-name: q}}, {}}}
spec: {{suspend: true, template: {{spec: {{containers: [{{resources: {{requests: {{cpu: 1}}}}}}]}}}}}})",
                       Owner("JobSet", "js", uid));
  };
  const std::string workload = KueueWorkload("jobset-js", Owner("JobSet", "js", "u-js"));
  for (const bool keep_errors : {false, true}) {
    for (const char* uid : {"u-js", "''"}) {
      const ClusterRead read = Read({workload, job(uid)}, {.keep_errors = keep_errors});
      EXPECT_THAT(Units(read), ElementsAre("jobset-js, q, 0: main x 1 of 1000m"));
      EXPECT_THAT(read.diagnostics.warnings(), IsEmpty());
    }
  }
  EXPECT_THAT(Units(Read({job("u-js")})), ElementsAre("js-w-0, q, 0: main x 1 of 1000m"));
}

// A pod of a group of plain pods; `at` is the second in which it was made.
std::string GroupPod(const std::string& name, int at, PodText pod = {}) {
  pod.name = name;
  if (pod.labels.empty()) pod.labels = "kueue.x-k8s.io/queue-name: q";
  pod.labels += ", kueue.x-k8s.io/pod-group-name: g";
  if (pod.annotations.empty()) pod.annotations = "kueue.x-k8s.io/pod-group-total-count: '2'";
  pod.metadata += fmt::format("creationTimestamp: '2026-01-01T00:00:{:02}Z',", at);
  return Pod(pod);
}

// Checks that all orders of the documents are read alike.
void ExpectSameInAnyOrder(Documents documents, const std::vector<std::string>& units) {
  std::ranges::sort(documents);
  do {
    EXPECT_EQ(Units(Read(documents)), units);
  } while (std::ranges::next_permutation(documents).found);
}

TEST(PodGroup, IsThatOfItsOldestPodInAnyOrder) {
  const auto priority = [](int value) { return fmt::format("priorityClassName: c{},", value); };
  const auto priority_class = [](int value) {
    return fmt::format(
        "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: c{0}}}\n"
        "value: {0}",
        value);
  };
  ExpectSameInAnyOrder(
      {GroupPod("x", 5, {.spec = priority(1)}), GroupPod("z", 3, {.spec = priority(2)}),
       priority_class(1), priority_class(2)},
      {"g, q, 2: dc85db45 x 2 of 1000m"});
  // The first by name counts where pods are of the same age.
  ExpectSameInAnyOrder({GroupPod("x", 3), GroupPod("z", 3)}, {"g, q, 0: dc85db45 x 2 of 1000m"});
}

TEST(PodGroup, HasPodSetsInTheOrderOfTheirRoles) {
  const auto role = [](const std::string& hash, const std::string& cpu) {
    return PodText{.labels = "kueue.x-k8s.io/queue-name: q",
                   .annotations =
                       "kueue.x-k8s.io/pod-group-total-count: '3', "
                       "kueue.x-k8s.io/role-hash: " +
                       hash,
                   .cpu = cpu};
  };
  ExpectSameInAnyOrder({GroupPod("x", 1, role("rb", "1")), GroupPod("y", 2, role("ra", "2")),
                        GroupPod("z", 3, role("rc", "3"))},
                       {"g, q, 0: ra x 1 of 2000m rb x 1 of 1000m rc x 1 of 3000m"});
  // Without roles in the order of the oldest pods.
  const auto shape = [](const std::string& cpu) {
    return PodText{.labels = "kueue.x-k8s.io/queue-name: q", .cpu = cpu};
  };
  ExpectSameInAnyOrder({GroupPod("x", 2, shape("1")), GroupPod("y", 1, shape("2"))},
                       {"g, q, 0: 21a4619c x 1 of 2000m dc85db45 x 1 of 1000m"});
}

TEST(PodGroup, OfTheSchedulerIsReadInAnyOrder) {
  const auto pod = [](const std::string& name, int at, const std::string& cpu) {
    return Pod({.name = name,
                .metadata = fmt::format("creationTimestamp: '2026-01-01T00:00:{:02}Z',", at),
                .spec = "schedulingGroup: {podGroupName: g}, priorityClassName: c" + name + ",",
                .cpu = cpu});
  };
  ExpectSameInAnyOrder({"apiVersion: scheduling.k8s.io/v1alpha2\nkind: PodGroup\n"
                        "metadata: {name: g, namespace: team}\n"
                        "spec: {schedulingPolicy: {gang: {minCount: 2}}}",
                        pod("x", 5, "1"), pod("y", 3, "2"),
                        "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n"
                        "metadata: {name: cy}\nvalue: 7"},
                       {"g, , 7: main-0 x 1 of 2000m main-1 x 1 of 1000m"});
}

// W3.6
TEST(CompositePodGroup, HasItsChildrenInTheOrderOfTheirCreation) {
  const auto group = [](const std::string& kind, const std::string& name, int at,
                        const std::string& spec) {
    return fmt::format(R"(
apiVersion: scheduling.k8s.io/v1alpha2
kind: {}
metadata: {{name: {}, namespace: team, creationTimestamp: '2026-01-01T00:00:{:02}Z'}}
spec: {{{}}})",
                       kind, name, at, spec);
  };
  const auto child = [&](const std::string& name, int at) {
    return group("PodGroup", name, at,
                 "parentCompositePodGroupName: c, schedulingPolicy: {gang: {minCount: 1}}");
  };
  const auto pod = [](const std::string& name, const std::string& of) {
    return Pod({.name = name, .spec = "schedulingGroup: {podGroupName: " + of + "},"});
  };
  ExpectSameInAnyOrder(
      {group("CompositePodGroup", "c", 0, "schedulingPolicy: {gang: {minGroupCount: 2}}"),
       child("x", 2), child("z", 1), pod("px", "x"), pod("pz", "z")},
      {"c, , 0: z x 1 of 1000m x x 1 of 1000m"});
}

TEST(CompositePodGroup, SaysWhichGroupBelowItIsWrong) {
  const auto read = ReadClusterText("f", R"(
apiVersion: scheduling.k8s.io/v1alpha2
kind: CompositePodGroup
metadata: {name: c, namespace: team}
spec: {schedulingPolicy: {gang: {minGroupCount: 1}}}
---
apiVersion: scheduling.k8s.io/v1alpha2
kind: PodGroup
metadata: {name: child, namespace: team}
spec: {parentCompositePodGroupName: c, schedulingPolicy: {gang: {minCount: 0}}}
)");
  ASSERT_FALSE(read);
  EXPECT_EQ(
      read.error().message,
      "f, object 2: PodGroup team/child: spec.schedulingPolicy.gang.minCount: it is out of range "
      "or no integer, got 0; want an integer from 1 to 2147483647");
}

// Those that go before they had a node, and those above the count, which Kueue deletes.
TEST(PodGroup, CountsItsPodsAsKueueDoes) {
  const PodText gated{.spec = "schedulingGates: [{name: kueue.x-k8s.io/admission}],"};
  PodText deleted = gated;
  deleted.metadata = "deletionTimestamp: '2026-01-01T00:01:00Z',";
  EXPECT_THAT(
      Units(Read({GroupPod("x", 1, gated), GroupPod("y", 2, deleted), GroupPod("z", 3, gated)})),
      ElementsAre("g, q, 0: dc85db45 x 2 of 1000m"));
  deleted.spec = "nodeName: host,";  // it still has its place
  EXPECT_THAT(Units(Read({GroupPod("x", 1, gated), GroupPod("y", 2, deleted)})),
              ElementsAre("g, q, 0: dc85db45 x 1 of 1000m"));
  const auto of_cpu = [](PodText pod, const std::string& cpu) {
    pod.cpu = cpu;
    return pod;
  };
  // The third is kept as it has no gate; of the others the oldest.
  const ClusterRead excess =
      Read({GroupPod("x", 1, of_cpu(gated, "1")), GroupPod("y", 2, of_cpu(gated, "2")),
            GroupPod("z", 3, of_cpu({}, "3"))});
  EXPECT_THAT(Units(excess), ElementsAre("g, q, 0: 5a03e517 x 1 of 3000m dc85db45 x 1 of 1000m"));
  EXPECT_THAT(excess.gang_workloads.at(0).notes,
              Contains("1 pod above its count of 2 is left out: Kueue deletes it"));
}

constexpr const char* kLimitRange = R"(
apiVersion: v1
kind: LimitRange
metadata: {name: l, namespace: team}
spec: {limits: [{type: Container, defaultRequest: {memory: 1Gi}, max: {cpu: 2}}]})";

TEST(PlainPods, GetTheDefaultsAndBoundsOfTheirNamespace) {
  for (const char* group : {"", "kueue.x-k8s.io/pod-group-name: g"}) {
    const ClusterRead read =
        Read({kLimitRange, Pod({.name = "p", .labels = group, .cpu = "3", .status = "{}"})});
    ASSERT_EQ(read.cluster.workloads.size(), 1u);
    const Workload& unit = read.cluster.workloads[0];
    EXPECT_EQ(*unit.pod_sets[0].pod_template.requests.Find("memory"), std::int64_t{1} << 30);
    EXPECT_THAT(unit.resources_error, HasSubstr("cpu")) << group;
  }
}

// The findings about a pod of a group say which file and object it is.
TEST(PodGroup, SaysWhichPodIsWrong) {
  const ClusterRead read =
      Read({GroupPod("a", 1, {.spec = "priorityClassName: high,"}), GroupPod("b", 2)});
  ASSERT_EQ(read.diagnostics.warnings().size(), 1u);
  EXPECT_THAT(ToString(read.diagnostics.warnings()[0]),
              HasSubstr("f, object 1: Pod team/a: spec: the priority class high is not"));
}

}  // namespace
}  // namespace espalier::pod_members_test
