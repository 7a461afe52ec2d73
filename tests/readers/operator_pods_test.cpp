// Pods of Ray and of Spark, which their operators make of more than a template.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/readers/redaction.hpp"
#include "tests/readers/read_text.hpp"

namespace espalier::operator_pods_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr Amount kMi = Amount{1} << 20;

// The pod sets of the only workload in the text.
std::vector<PodSet> PodSetsOf(const std::string& text) {
  const ClusterRead read = Read(text);
  EXPECT_THAT(read.cluster.workloads, SizeIs(1));
  if (read.cluster.workloads.empty()) return {};
  EXPECT_EQ(read.cluster.workloads[0].refusal, "");
  return read.cluster.workloads[0].pod_sets;
}

// "name x count: cpu 500, memory 1"
std::string TextOf(const PodSet& pod_set) {
  std::string text = pod_set.name + " x " + std::to_string(pod_set.count) + ":";
  for (const auto& [name, amount] : pod_set.pod_template.requests) {
    text += " " + std::string(name) + " " +
            (name == "memory" ? std::to_string(amount / kMi) + "Mi" : std::to_string(amount));
  }
  return text;
}

std::vector<std::string> TextsOf(const std::string& text) {
  std::vector<std::string> texts;
  for (const PodSet& pod_set : PodSetsOf(text)) texts.push_back(TextOf(pod_set));
  return texts;
}

std::string Object(const std::string& api_version, const std::string& kind, const std::string& spec,
                   const std::string& annotations = "") {
  return R"({"apiVersion": ")" + api_version + R"(", "kind": ")" + kind +
         R"(", "metadata": {"name": "o", "namespace": "team", "annotations": {)" + annotations +
         R"(}, "labels": {"kueue.x-k8s.io/queue-name": "lq"}}, "spec": {)" + spec + "}}";
}

std::string Pods(const std::string& requests, const std::string& limits = "") {
  return R"("template": {"spec": {"containers": [{"name": "ray", "resources": {"requests": {)" +
         requests + R"(}, "limits": {)" + limits + "}}}]}}";
}

std::string Cluster(const std::string& more, const std::string& head = R"("cpu": "1")",
                    const std::string& head_limits = "") {
  return more + R"("headGroupSpec": {)" + Pods(head, head_limits) + R"(},
    "workerGroupSpecs": [{"groupName": "W", "replicas": 2, )" +
         Pods(R"("cpu": "1")") + "}]";
}

TEST(RayPods, TheHeadHasTheAutoscaler_R30_3) {
  EXPECT_THAT(TextsOf(Object("ray.io/v1", "RayCluster", Cluster(""))),
              ElementsAre("head x 1: cpu 1000", "w x 2: cpu 1000"));
  EXPECT_THAT(
      TextsOf(Object("ray.io/v1", "RayCluster", Cluster(R"("enableInTreeAutoscaling": true, )"))),
      ElementsAre("head x 1: cpu 1500 memory 512Mi", "w x 2: cpu 1000"));
  // Its own resources take the place of all of KubeRay's; a limit is a request.
  EXPECT_THAT(
      TextsOf(Object("ray.io/v1", "RayService",
                     R"("rayClusterConfig": {)" + Cluster(R"("enableInTreeAutoscaling": true,
                                   "autoscalerOptions": {"resources": {
                                     "requests": {"cpu": "250m"},
                                     "limits": {"cpu": "1", "memory": "1Gi"}}}, )") +
                         "}")),
      ElementsAre("head x 1: cpu 1250 memory 1024Mi", "w x 2: cpu 1000"));
}

TEST(RayPods, TheHeadAsksForNoLessThanTheCleanUpInRedis_R30_3) {
  const std::string recovers = R"("gcsFaultToleranceOptions": {"redisAddress": "r:1"}, )";
  EXPECT_THAT(TextsOf(Object("ray.io/v1", "RayCluster", Cluster(recovers, R"("cpu": "100m")"))),
              Contains("head x 1: cpu 200 memory 256Mi"));
  EXPECT_THAT(TextsOf(Object("ray.io/v1", "RayCluster",
                             Cluster(recovers, R"("cpu": 3, "memory": "64Mi")"))),
              Contains("head x 1: cpu 3000 memory 256Mi"));
  // A limit alone is no request: the clean-up's is.
  EXPECT_THAT(TextsOf(Object("ray.io/v1", "RayCluster",
                             Cluster(recovers, "", R"("cpu": "1", "memory": "1Gi")"))),
              Contains("head x 1: cpu 200 memory 256Mi"));
  for (const auto& [value, head] : {std::pair{"True", "head x 1: cpu 200 memory 256Mi"},
                                    std::pair{"false", "head x 1: cpu 100"}}) {
    EXPECT_THAT(TextsOf(Object("ray.io/v1", "RayCluster", Cluster("", R"("cpu": "100m")"),
                               R"("ray.io/ft-enabled": ")" + std::string(value) + R"(")")),
                Contains(head));
  }
}

TEST(RayPods, AJobIsSubmittedByAPodOrInTheHead_R30_3) {
  const auto job = [](const std::string& mode) {
    return Object("ray.io/v1", "RayJob", mode + R"("rayClusterSpec": {)" + Cluster("") + "}");
  };
  EXPECT_THAT(TextsOf(job("")), Contains("submitter x 1: cpu 500 memory 200Mi"));
  EXPECT_THAT(TextsOf(job(R"("submissionMode": "HTTPMode", )")),
              ElementsAre("head x 1: cpu 1000", "w x 2: cpu 1000"));
  const std::string by_sidecar = R"("submissionMode": "SidecarMode",
      "submitterPodTemplate": {"spec": {"containers": [
        {"name": "s", "resources": {"requests": {"cpu": "4"}}}]}}, )";
  EXPECT_THAT(TextsOf(job(by_sidecar)),
              ElementsAre("head x 1: cpu 1500 memory 200Mi", "w x 2: cpu 1000"));
  EXPECT_THAT(Read(job(by_sidecar)).gang_workloads.at(0).notes,
              Contains("spec.submitterPodTemplate is not used with submissionMode SidecarMode"));
}

TEST(RayPods, AJobIsSubmittedInAKnownWay) {
  EXPECT_THAT(
      ErrorOf(Object("ray.io/v1", "RayJob",
                     R"("submissionMode": "Later", "rayClusterSpec": {)" + Cluster("") + "}")),
      HasSubstr("spec.submissionMode: there is no such submissionMode, got \"Later\""));
}

// Kueue makes no Workload of a job that runs on a cluster that is there.
TEST(RayPods, AJobOnAClusterThatIsThereIsLeftAlone) {
  const ClusterRead read =
      Read(Object("ray.io/v1", "RayJob", R"("clusterSelector": {"ray.io/cluster": "c"})"));
  ASSERT_THAT(read.cluster.workloads, SizeIs(1));
  EXPECT_THAT(read.cluster.workloads[0].pod_sets, SizeIs(0));
  EXPECT_THAT(read.cluster.workloads[0].reconcile_error, HasSubstr("leaves jobs alone"));
}

TEST(RayPods, AGroupIsThereOnEachOfItsHosts_R30_3) {
  const auto group = [](const std::string& counts) {
    return Object("ray.io/v1", "RayCluster",
                  R"("headGroupSpec": {)" + Pods("") + R"(}, "workerGroupSpecs": [
                    {"groupName": "w", )" +
                      counts + Pods(R"("cpu": "1")") + "}]");
  };
  const auto count = [&](const std::string& counts) {
    return PodSetsOf(group(counts)).at(1).count;
  };
  EXPECT_EQ(count(R"("replicas": 3, "numOfHosts": 4, )"), 12);
  EXPECT_EQ(count(R"("replicas": 3, "numOfHosts": 0, )"), 3);
  EXPECT_EQ(count(R"("numOfHosts": 4, )"), 0) << "as the API server fills in";
  const ClusterRead most = Read(group(R"("replicas": 2147483647, "numOfHosts": 2147483647, )"));
  EXPECT_EQ(most.cluster.workloads.at(0).refusal, "how many pods gangGroup gg needs is not known");
}

// Containers that the head gets count where limits are checked, at the place where they will be.
TEST(RayPods, LimitsHoldForWhatIsAdded_R21_14) {
  const std::string limits = R"({"apiVersion": "v1", "kind": "LimitRange",
      "metadata": {"name": "l", "namespace": "team"},
      "spec": {"limits": [{"type": "Container", "max": {"memory": "400Mi"}}]}})";
  const ClusterRead read =
      Read(limits + "\n" +
           Object("ray.io/v1", "RayCluster", Cluster(R"("enableInTreeAutoscaling": true, )")));
  ASSERT_THAT(read.cluster.workloads, SizeIs(1));
  EXPECT_THAT(
      read.cluster.workloads[0].resources_error,
      HasSubstr("spec.podSets[0].template.spec.containers[1]: Invalid value: [\"memory\"]"));
}

TEST(RayPods, FaultsOfWhatIsAddedAreNamed) {
  EXPECT_THAT(ErrorOf(Object("ray.io/v1", "RayCluster", Cluster(R"("enableInTreeAutoscaling": true,
                 "autoscalerOptions": {"resources": {"requests": {"cpu": "much"}}}, )"))),
              HasSubstr("spec.autoscalerOptions.resources.requests.cpu"));
}

std::string Spark(const std::string& driver, const std::string& executor) {
  return Object(
      "sparkoperator.k8s.io/v1beta2", "SparkApplication",
      R"("mode": "cluster", "driver": {)" + driver + R"(}, "executor": {)" + executor + "}");
}

TEST(SparkPods, AreMadeOfTheFieldsOfTheirRole) {
  EXPECT_THAT(
      TextsOf(Spark(R"("cores": 2, "coreRequest": "1.5", "memory": "2g", "memoryOverhead": "1g",
                       "gpu": {"name": "nvidia.com/gpu", "quantity": 2})",
                    R"("instances": 3, "coreLimit": "1200m", "memory": "1024k", "gpu":
                       {"name": "nvidia.com/gpu", "quantity": 0})")),
      ElementsAre("driver x 1: cpu 1500 memory 2048Mi nvidia.com/gpu 2",
                  "executor x 3: cpu 1200 memory 1Mi"));
  EXPECT_THAT(TextsOf(Spark("", "")), ElementsAre("driver x 1:", "executor x 0:"));
}

// Kueue takes the metadata of a template alone; the role's own comes before it.
TEST(SparkPods, TakeTheMetadataOfATemplate) {
  const std::vector<PodSet> pod_sets = PodSetsOf(Spark(
      R"("labels": {"a": "role"},
         "annotations": {"kueue.x-k8s.io/podset-required-topology": "rack"},
         "template": {"metadata": {"labels": {"a": "template", "b": "template"}, "annotations":
             {"kueue.x-k8s.io/podset-required-topology": "block"}},
           "spec": {"nodeSelector": {"x": "y"}, "containers": [
             {"name": "spark-kubernetes-driver", "resources": {"requests": {"cpu": "7"}}}]}})",
      R"("instances": 1)"));
  EXPECT_THAT(TextOf(pod_sets.at(0)), "driver x 1:");
  const PodTemplate& pods = pod_sets[0].pod_template;
  EXPECT_EQ(pods.labels, (StringMap{{"a", "role"}, {"b", "template"}}));
  EXPECT_EQ(pods.node_selector, StringMap());
  ASSERT_TRUE(pod_sets[0].topology_request);
  EXPECT_EQ(pod_sets[0].topology_request->required, "rack");
}

TEST(SparkPods, HaveSidecarsAndInitContainers) {
  EXPECT_THAT(
      TextsOf(Spark(
          R"("coreRequest": "1", "nodeSelector": {"pool": "p"}, "sidecars": [
               {"name": "s", "resources": {"requests": {"cpu": "250m"}}},
               {"name": "s", "resources": {"requests": {"cpu": "250m"}}}], "initContainers": [
               {"name": "i", "resources": {"requests": {"memory": "1Gi"}}}])",
          // The first container that is called executor has what the role asks for.
          R"("instances": 1, "coreRequest": "1", "sidecars": [
               {"name": "executor", "resources": {"requests": {"cpu": "5", "memory": "1Mi"}}}])")),
      ElementsAre("driver x 1: cpu 1250 memory 1024Mi", "executor x 1: cpu 1000 memory 1Mi"));
}

TEST(SparkPods, FaultsAreNamedWhereTheyAre) {
  const auto refusal = [](const std::string& driver) {
    return ErrorOf(Spark(driver, R"("instances": 1)"));
  };
  EXPECT_THAT(refusal(R"("memory": "lots")"), HasSubstr("spec.driver.memory"));
  EXPECT_THAT(refusal(R"("memory": "2G")"), HasSubstr("spec.driver.memory")) << "2GGi, as in Kueue";
  EXPECT_THAT(refusal(R"("coreRequest": "-1")"), HasSubstr("it is negative"));
  EXPECT_THAT(refusal(R"("tolerations": [{"effect": 1}])"),
              HasSubstr("spec.driver.tolerations[0]"));
  EXPECT_THAT(refusal(R"("sidecars": [{"resources": {"requests": {"cpu": "x"}}}])"),
              HasSubstr("spec.driver.sidecars[0].resources.requests.cpu"));
  EXPECT_THAT(
      refusal(R"("annotations": {"kueue.x-k8s.io/podset-unconstrained-topology": "maybe"})"),
      HasSubstr("spec.driver.annotations[kueue.x-k8s.io/podset-unconstrained-topology]"));
}

TEST(SparkPods, WhatIsNotCountedIsSaid) {
  const ClusterRead read =
      Read(Spark(R"("cores": 2, "memoryOverhead": "1g", "template": {"spec": {}})", ""));
  EXPECT_THAT(read.gang_workloads.at(0).notes,
              ElementsAre(HasSubstr("SparkApplicationIntegration"),
                          "spec.driver.memoryOverhead is not counted, as in Kueue",
                          "spec.driver.cores is not counted, as in Kueue",
                          "spec.driver.template.spec is not counted, as in Kueue"));
}

// Without names, pods ask for what they did.
TEST(OperatorPods, AreThoseOfARedactedInput) {
  for (const std::string& text : {Spark(R"("coreRequest": "1.5", "memory": "2g",
                 "gpu": {"name": "nvidia.com/gpu", "quantity": 2})",
                                        R"("instances": 2, "coreLimit": "500m", "memory": "512m")"),
                                  Object("ray.io/v1", "RayJob",
                                         R"("submissionMode": "SidecarMode", "rayClusterSpec": {)" +
                                             Cluster("", R"("cpu": "100m")") + "}",
                                         R"("ray.io/ft-enabled": "true")")}) {
    Redaction redaction;
    ASSERT_TRUE(redaction.Add(text));
    const auto redacted = redaction.Write(text);
    ASSERT_TRUE(redacted);
    const std::vector<PodSet> before = PodSetsOf(text);
    const std::vector<PodSet> after = PodSetsOf(*redacted);
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(after[i].pod_template.requests, before[i].pod_template.requests);
      EXPECT_EQ(after[i].count, before[i].count);
    }
  }
}

}  // namespace
}  // namespace espalier::operator_pods_test
