// Tests what Kueue makes of pods, Deployments, StatefulSets, LeaderWorkerSets and AppWrappers.
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/readers/cluster_files.hpp"

namespace espalier::kueue_serving_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::vector<Workload> Read(const std::string& text) {
  auto read = ReadClusterText("f", text);
  EXPECT_TRUE(read) << read.error().message;
  return read ? std::move(read->cluster.workloads) : std::vector<Workload>();
}

// "2 name [labels with its index] cpu" of each pod set.
std::vector<std::string> PodSets(const Workload& workload) {
  std::vector<std::string> texts;
  for (const PodSet& pod_set : workload.pod_sets) {
    std::string labels;
    if (const auto& request = pod_set.topology_request) {
      labels = request->pod_index_label.value_or("-");
      if (request->sub_group_index_label) {
        labels += fmt::format(" {} {}", *request->sub_group_index_label,
                              request->sub_group_count.value_or(0));
      }
    }
    std::int64_t cpu = 0;
    for (const auto& [name, amount] : pod_set.pod_template.requests) {
      if (name == "cpu") cpu = amount;
    }
    texts.push_back(fmt::format("{} {} [{}] {}m", pod_set.count, pod_set.name, labels, cpu));
  }
  return texts;
}

// "name: pod sets", or why there is none.
std::vector<std::string> Made(const std::string& text) {
  std::vector<std::string> made;
  for (const Workload& workload : Read(text)) {
    const std::string& why = workload.refusal.empty() ? workload.reconcile_error : workload.refusal;
    made.push_back(fmt::format(
        "{}: {}", workload.key.name,
        why.empty() ? fmt::format("{}", fmt::join(PodSets(workload), ", ")) : "none, " + why));
  }
  return made;
}

// A container limited to two CPUs, for which a LimitRange would request one.
constexpr const char* kLimited = "spec: {containers: [{resources: {limits: {cpu: 2}}}]}";
constexpr const char* kLimitRange =
    "---\napiVersion: v1\nkind: LimitRange\nmetadata: {name: lr, namespace: team}\n"
    "spec: {limits: [{type: Container, default: {cpu: 3}, defaultRequest: {cpu: 1}}]}\n";

std::string ObjectText(const std::string& version, const std::string& kind,
                       const std::string& spec) {
  return fmt::format(
      "---\napiVersion: {}\nkind: {}\nmetadata: {{name: w, namespace: team, labels: "
      "{{kueue.x-k8s.io/queue-name: q}}}}\nspec: {{{}}}\n",
      version, kind, spec);
}

TEST(KueueServing, EachPodOfADeploymentIsAWorkload_R30_1) {
  const std::string scaler =
      "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: w, "
      "namespace: team}\nspec: {scaleTargetRef: {kind: Deployment, name: w}, minReplicas: 5}\n";
  EXPECT_THAT(Made(ObjectText("apps/v1", "Deployment",
                              fmt::format("replicas: 2, template: {{{}}}", kLimited)) +
                   kLimitRange + scaler),
              ElementsAre("w-0: 1 main [kueue.x-k8s.io/pod-group-pod-index] 2000m",
                          "w-1: 1 main [kueue.x-k8s.io/pod-group-pod-index] 2000m"));
}

TEST(KueueServing, LimitRangesComeBeforeLimitsInATemplate_R30_4) {
  EXPECT_THAT(Made(ObjectText("apps/v1", "StatefulSet",
                              fmt::format("replicas: 3, template: {{{}}}", kLimited)) +
                   kLimitRange),
              ElementsAre("w: 3 main [apps.kubernetes.io/pod-index] 1000m"));
}

TEST(KueueServing, WithoutReplicasThereIsNoWorkload) {
  for (const char* kind : {"Deployment", "StatefulSet"}) {
    EXPECT_THAT(
        Made(ObjectText("apps/v1", kind, fmt::format("replicas: 0, template: {{{}}}", kLimited))),
        ElementsAre(HasSubstr("none, it has no replicas")));
  }
}

TEST(KueueServing, TheLimitOfAPodAsAWholeIsItsRequest) {
  const std::string pods =
      "template: {spec: {containers: [{resources: {requests: {cpu: 1}}}], resources: {limits: "
      "{cpu: 4}}}}";
  EXPECT_THAT(Made(ObjectText("apps/v1", "StatefulSet", pods)),
              ElementsAre("w: 1 main [apps.kubernetes.io/pod-index] 4000m"));
}

std::string LeaderWorkerSetText(const std::string& more) {
  return ObjectText("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet",
                    fmt::format("replicas: 2, leaderWorkerTemplate: {{workerTemplate: {{{}}}, {}}}",
                                kLimited, more));
}

TEST(KueueServing, EachReplicaOfALeaderWorkerSetIsAWorkload_R30_1) {
  EXPECT_THAT(Made(LeaderWorkerSetText("size: 4, subGroupPolicy: {subGroupSize: 2}")),
              ElementsAre("w-0: 4 main [leaderworkerset.sigs.k8s.io/worker-index] 2000m",
                          "w-1: 4 main [leaderworkerset.sigs.k8s.io/worker-index] 2000m"));
}

TEST(KueueServing, ALeaderAloneHasAPodSetOfNoWorkersBesideIt) {
  const std::string leader = fmt::format("size: 1, leaderTemplate: {{{}}}", kLimited);
  EXPECT_THAT(Made(LeaderWorkerSetText(leader)),
              Contains("w-1: 1 leader [] 2000m, 0 worker "
                       "[leaderworkerset.sigs.k8s.io/worker-index] 2000m"));
}

std::string WrapperText(const std::string& components) {
  return ObjectText("workload.codeflare.dev/v1beta2", "AppWrapper",
                    fmt::format("components: [{}]", components));
}

TEST(KueueServing, AnAppWrapperHasThePodsOfTheKindsThatKueueKnows) {
  const std::string job_set = fmt::format(
      "{{template: {{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, spec: {{replicatedJobs: "
      "[{{name: a, replicas: 2, template: {{spec: {{parallelism: 3, completions: 2, template: "
      "{{{}}}}}}}}}]}}}}}}",
      kLimited);
  const std::string ray = fmt::format(
      "{{template: {{apiVersion: ray.io/v1, kind: RayJob, spec: {{rayClusterSpec: {{headGroupSpec: "
      "{{template: {{{0}}}}}, workerGroupSpecs: [{{replicas: 3, numOfHosts: 2, template: "
      "{{{0}}}}}]}}}}}}}}",
      kLimited);
  const std::string service = "{template: {apiVersion: v1, kind: Service, spec: {}}}";
  EXPECT_THAT(Made(WrapperText(job_set + ", " + service + ", " + ray)),
              ElementsAre("w: 4 w-0 [batch.kubernetes.io/job-completion-index "
                          "jobset.sigs.k8s.io/job-index 2] 2000m, 1 w-1 [] 2000m, 3 w-2 [] 2000m"));
}

TEST(KueueServing, AnAppWrapperDropsOfATemplateWhatKueueDoesNotKnow) {
  const std::string pod =
      "{template: {apiVersion: v1, kind: Pod, spec: {runtimeClassName: kata, resources: {requests: "
      "{cpu: 9}}, initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 3}}}], "
      "containers: [{resources: {requests: {cpu: 2}}}]}}}";
  const std::string kata =
      "---\napiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: kata}\n"
      "overhead: {podFixed: {cpu: 1}}\n";
  EXPECT_THAT(Made(WrapperText(pod) + kata), ElementsAre("w: 1 w-0 [] 3000m"));
}

TEST(KueueServing, AnAppWrapperLeavesOutAPathThatLeadsNowhere) {
  const std::string parts = fmt::format(
      "{{template: {{apiVersion: e.com/v1, kind: Thing, parts: [{{{}}}]}}, podSets: [{{path: "
      "'template.parts[1]'}}, {{path: 'parts[0]'}}, {{replicas: 2, path: 'template.parts[0]', "
      "annotations: {{workload.codeflare.dev.appwrapper/tas-pod-index-label: idx}}}}]}}",
      kLimited);
  EXPECT_THAT(Made(WrapperText(parts)), ElementsAre("w: 2 w-0 [idx] 2000m"));
}

// A pod that asks for `cpu`, made at that minute.
std::string PodText(int minute, int cpu, const std::string& labels,
                    const std::string& annotations = "") {
  return fmt::format(
      "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p-{0}, namespace: team, "
      "creationTimestamp: '2026-01-01T00:{0:02}:00Z', labels: {{kueue.x-k8s.io/queue-name: q, {2}}}"
      ", annotations: {{{3}}}}}\nspec: {{containers: [{{resources: {{requests: {{cpu: {1}}}}}}}]"
      "}}\n",
      minute, cpu, labels, annotations);
}

constexpr const char* kGroup = "kueue.x-k8s.io/pod-group-name: g";
constexpr const char* kThree = "kueue.x-k8s.io/pod-group-total-count: '3'";

TEST(KueueServing, APodAloneIsAWorkload) {
  EXPECT_THAT(Made(PodText(1, 2, "a: b")),
              ElementsAre("p-1: 1 main [kueue.x-k8s.io/pod-group-pod-index] 2000m"));
}

TEST(KueueServing, PodsOfAGroupAreAlikeByTheirRole) {
  const std::string role = std::string(kThree) + ", kueue.x-k8s.io/role-hash: same";
  EXPECT_THAT(Made(PodText(3, 1, kGroup, role) + PodText(1, 2, kGroup, role) +
                   PodText(2, 3, kGroup, std::string(kThree) + ", kueue.x-k8s.io/role-hash: a")),
              ElementsAre("g: 1 a [kueue.x-k8s.io/pod-group-pod-index] 3000m, 2 same "
                          "[kueue.x-k8s.io/pod-group-pod-index] 2000m"));
}

TEST(KueueServing, TheAnnotationNamesTheGroupBeforeTheLabel) {
  const std::string annotations =
      "kueue.x-k8s.io/pod-group-name: h, "
      "kueue.x-k8s.io/pod-group-total-count: '1'";
  const std::vector<std::string> made = Made(PodText(1, 2, kGroup, annotations));
  ASSERT_THAT(made, SizeIs(1));
  EXPECT_THAT(made[0], testing::StartsWith("h: 1 "));
}

TEST(KueueServing, AGroupWaitsForItsPodsUnlessItsFirstAdmitsIt) {
  EXPECT_THAT(Made(PodText(1, 2, kGroup, kThree)), ElementsAre(HasSubstr("none, ")));
  const std::string fast =
      std::string(kThree) + ", kueue.x-k8s.io/pod-group-fast-admission: 'true'";
  EXPECT_THAT(Made(PodText(1, 2, kGroup, fast + ", kueue.x-k8s.io/role-hash: b") +
                   PodText(2, 1, kGroup, fast + ", kueue.x-k8s.io/role-hash: a")),
              ElementsAre("g: 3 b [kueue.x-k8s.io/pod-group-pod-index] 2000m"));
}

TEST(KueueServing, PodsOfOneGroupThatDifferAreNoWorkload) {
  const std::string other = "kueue.x-k8s.io/pod-group-total-count: '2'";
  EXPECT_THAT(Made(PodText(1, 1, kGroup, kThree) + PodText(2, 1, kGroup, kThree) +
                   PodText(3, 1, kGroup, other)),
              ElementsAre(HasSubstr("different annotations")));
  const std::string index = std::string(kGroup) + ", kueue.x-k8s.io/pod-group-pod-index: '3'";
  EXPECT_THAT(Made(PodText(1, 1, index, kThree) + PodText(2, 1, kGroup, kThree) +
                   PodText(3, 1, kGroup, kThree)),
              ElementsAre(HasSubstr("pod-group-pod-index is ")));
}

TEST(KueueServing, ABadLabelOfATemplateThatIsNotKeptIsNoError) {
  const std::string labelled = "metadata: {labels: {'a b': c}}, ";
  for (const auto& [version, kind, spec, errors] :
       std::vector<std::tuple<std::string, std::string, std::string, std::size_t>>{
           {"apps/v1", "StatefulSet", fmt::format("template: {{{}{}}}", labelled, kLimited), 0},
           {"leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet",
            fmt::format("leaderWorkerTemplate: {{workerTemplate: {{{}{}}}}}", labelled, kLimited),
            1}}) {
    const std::vector<Workload> made = Read(ObjectText(version, kind, spec));
    ASSERT_THAT(made, SizeIs(1)) << kind;
    EXPECT_THAT(made[0].webhook_errors, SizeIs(errors)) << kind;
  }
}

}  // namespace
}  // namespace espalier::kueue_serving_test
