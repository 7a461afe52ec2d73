// Tests what Kueue's webhooks refuse of Ray's objects and SparkApplications, in Kueue's words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/readers/cluster_files.hpp"
#include "host/webhooks/job_webhooks.hpp"

namespace espalier::operator_webhooks_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Refused(const std::string& object, const FeatureGates& gates = {}) {
  std::vector<std::string> lines;
  ReadOptions options;
  options.keep_errors = true;
  options.on_job = [&](const JobObject& job) {
    for (const Violation& violation : ValidateJob(job, gates)) lines.push_back(violation.text);
  };
  const auto read = ReadClusterText("f", object, options);
  EXPECT_TRUE(read) << read.error().message;
  return lines;
}

std::string Object(const std::string& api_version, const std::string& kind, const std::string& spec,
                   const std::string& annotations = "", const std::string& queue = "lq") {
  return R"({"apiVersion": ")" + api_version + R"(", "kind": ")" + kind +
         R"(", "metadata": {"name": "o", "namespace": "team", "annotations": {)" + annotations +
         R"(}, "labels": {"kueue.x-k8s.io/queue-name": ")" + queue + R"("}}, "spec": {)" + spec +
         "}}";
}

std::string Ray(const std::string& kind, const std::string& spec,
                const std::string& annotations = "") {
  return Object("ray.io/v1", kind, spec, annotations);
}

std::string Pods(const std::string& annotations = "", const std::string& containers = R"({})") {
  return R"("template": {"metadata": {"annotations": {)" + annotations +
         R"(}}, "spec": {"containers": [)" + containers + "]}}";
}

std::string Cluster(const std::string& more, const std::string& head_annotations = "",
                    const std::string& worker_annotations = "") {
  return more + R"("headGroupSpec": {)" + Pods(head_annotations) +
         R"(}, "workerGroupSpecs": [{"groupName": "W", "replicas": 2, "numOfHosts": 2, )" +
         Pods(worker_annotations) + "}]";
}

const std::string kElastic = R"("kueue.x-k8s.io/elastic-job": "true")";
const std::string kNoBool = R"("kueue.x-k8s.io/podset-unconstrained-topology": "maybe")";
const std::string kSlices = R"("kueue.x-k8s.io/podset-slice-required-topology": "rack",
                               "kueue.x-k8s.io/podset-slice-size": "4")";
constexpr const char* kNotBool = R"(Invalid value: "maybe": must be a boolean value)";
constexpr const char* kParseBool = R"(strconv.ParseBool: parsing "maybe": invalid syntax)";

TEST(RayWebhooks, ScalingIsForElasticJobs) {
  const std::string scales = Cluster(R"("enableInTreeAutoscaling": true, )");
  EXPECT_THAT(
      Refused(Ray("RayCluster", scales)),
      ElementsAre(
          "spec.enableInTreeAutoscaling: Invalid value: true: a kueue-managed RayCluster can use "
          "autoscaling only as an elastic job: enable the ElasticJobsViaWorkloadSlices feature "
          "gate and set the \"kueue.x-k8s.io/elastic-job\": \"true\" annotation"));
  EXPECT_THAT(Refused(Ray("RayCluster", scales, kElastic)), IsEmpty());
  FeatureGates gates;
  gates.elastic_jobs_via_workload_slices = false;
  EXPECT_THAT(
      Refused(Ray("RayService", R"("rayClusterConfig": {)" + scales + "}", kElastic), gates),
      ElementsAre("spec.rayClusterSpec.enableInTreeAutoscaling: Invalid value: true: a "
                  "kueue managed job should only use autoscaling when workload slicing is "
                  "enabled"));
}

TEST(RayWebhooks, GroupsAreNotTooManyAndNotTheHead_R23_14) {
  std::string groups;
  for (int i = 0; i < 18; ++i) {
    groups += (i == 0 ? "" : ", ") + std::string(R"({"groupName": ")") +
              (i == 1 ? "head" : "g" + std::to_string(i)) + R"(", )" + Pods() + "}";
  }
  EXPECT_THAT(
      Refused(Ray("RayCluster",
                  R"("headGroupSpec": {)" + Pods() + R"(}, "workerGroupSpecs": [)" + groups + "]")),
      ElementsAre("spec.workerGroupSpecs: Too many: 19: must have at most 18 items",
                  "spec.workerGroupSpecs[1].groupName: Forbidden: \"head\" is reserved for the "
                  "head group"));
}

// Slices are held against what the group has on all of its hosts, whatever the case of its name.
TEST(RayWebhooks, SlicesFitTheGroup_R23_6) {
  EXPECT_THAT(Refused(Ray("RayCluster", Cluster("", "", kSlices))), IsEmpty());
  EXPECT_THAT(Refused(Ray("RayCluster", Cluster("", kSlices))),
              ElementsAre("spec.headGroupSpec.template.metadata.annotations[kueue.x-k8s.io/"
                          "podset-slice-size]: Invalid value: \"4\": must not be greater than pod "
                          "set count 1"));
}

// A RayCluster's workers are not looked at where Kueue makes no pod sets, those of a RayJob are;
// where nothing else is wrong, why it makes none is all that is said.
TEST(RayWebhooks, PodSetsThatAreNotMade) {
  const std::string head =
      "spec.headGroupSpec.template.metadata.annotations[kueue.x-k8s.io/"
      "podset-unconstrained-topology]: ";
  EXPECT_THAT(Refused(Ray("RayCluster", Cluster("", kNoBool, kNoBool))),
              ElementsAre(head + kNotBool));
  EXPECT_THAT(Refused(Ray("RayCluster", Cluster("", "", kNoBool))), ElementsAre(kParseBool));
  const auto job = [](const std::string& cluster, const std::string& more = "") {
    return Ray("RayJob",
               more + R"("shutdownAfterJobFinishes": true, "rayClusterSpec": {)" + cluster + "}");
  };
  EXPECT_THAT(Refused(job(Cluster("", "", kNoBool))),
              ElementsAre("spec.rayClusterSpec.workerGroupSpecs[0].template.metadata.annotations["
                          "kueue.x-k8s.io/podset-unconstrained-topology]: " +
                          std::string(kNotBool)));
  EXPECT_THAT(Refused(job(Cluster(""), R"("submitterPodTemplate": {"metadata": {"annotations": {)" +
                                           kNoBool + "}}}, ")),
              ElementsAre(kParseBool));
  EXPECT_THAT(Refused(Ray("RayCluster", R"("gcsFaultToleranceOptions": {}, "headGroupSpec": {)" +
                                            Pods("", "") + R"(}, "workerGroupSpecs": [])")),
              ElementsAre("cannot account for Redis cleanup resources: head pod template must "
                          "include the Ray container"));
}

// A group that is named without a level is none: no other pod set is missing in it.
TEST(RayWebhooks, OnlyRequestsOfALevelAreInGroups_R23_9) {
  const std::string group = R"("kueue.x-k8s.io/podset-group-name": "g")";
  const std::string level = R"(, "kueue.x-k8s.io/podset-required-topology": "rack")";
  EXPECT_THAT(Refused(Ray("RayCluster", Cluster("", group))),
              ElementsAre(HasSubstr("may not be set when neither")));
  EXPECT_THAT(Refused(Ray("RayCluster", Cluster("", group + level))),
              ElementsAre(HasSubstr("can only define groups of exactly 2 pod sets, got: 1")));
  EXPECT_THAT(Refused(Ray("RayCluster", Cluster("", group + level, group + level))), IsEmpty());
}

TEST(RayWebhooks, AJobHasItsOwnClusterAndEndsIt) {
  EXPECT_THAT(Refused(Ray("RayJob", R"("entrypoint": "e")")),
              ElementsAre("spec.rayClusterSpec: Required value: rayClusterSpec is required for "
                          "Kueue-managed jobs that don't use clusterSelector"));
  const std::string selector = R"("clusterSelector": {"b": "x", "a": "y"})";
  EXPECT_THAT(Refused(Ray("RayJob", selector)), IsEmpty());
  EXPECT_THAT(Refused(Ray("RayJob", selector + R"(, "rayClusterSpec": {)" + Cluster("") + "}")),
              ElementsAre("spec.clusterSelector: Invalid value: {\"a\":\"y\",\"b\":\"x\"}: a kueue "
                          "managed job should not use an existing cluster"));
  EXPECT_THAT(Refused(Ray("RayJob", R"("rayClusterSpec": {)" + Cluster("") + "}")),
              ElementsAre("spec.shutdownAfterJobFinishes: Invalid value: false: a kueue managed "
                          "job should delete the cluster after finishing"));
}

std::string Spark(const std::string& driver, const std::string& executor = "",
                  const std::string& more = "", const std::string& annotations = "") {
  return Object("sparkoperator.k8s.io/v1beta2", "SparkApplication",
                R"("mode": "cluster", )" + more + R"("driver": {)" + driver +
                    R"(}, "executor": {)" + executor + "}",
                annotations);
}

TEST(SparkWebhook, QuantitiesAreRead) {
  EXPECT_THAT(Refused(Spark(R"("memory": "512m", "coreRequest": "1.5", "coreLimit": "2")")),
              IsEmpty());
  EXPECT_THAT(Refused(Spark(R"("coreLimit": "lots", "memory": "2G")")),
              ElementsAre("failed to parse CPU limit lots: quantities must match the regular "
                          "expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"));
  EXPECT_THAT(Refused(Spark("", R"("memory": "2G")")),
              ElementsAre("failed to parse memory requests 2G: unable to parse quantity's suffix"));
  EXPECT_THAT(Refused(Spark(R"("memoryLimit": "")")),
              ElementsAre(HasSubstr("failed to parse memory limit : quantities must match")));
}

// The webhook says nothing but what keeps Kueue from making pod sets.
TEST(SparkWebhook, PodSetsThatAreNotMadeAreAllThatIsSaid) {
  EXPECT_THAT(Refused(Spark(R"("annotations": {)" + kNoBool + "}", "", "", kElastic)),
              ElementsAre(kParseBool));
}

TEST(SparkWebhook, AnnotationsOfTheTemplateCountToo_R23_6) {
  EXPECT_THAT(Refused(Spark(R"("template": {"metadata": {"annotations": {)" + kSlices + "}}}",
                            R"("instances": 4, "annotations": {)" + kSlices + "}")),
              ElementsAre("spec.driver.annotations[kueue.x-k8s.io/podset-slice-size]: Invalid "
                          "value: \"4\": must not be greater than pod set count 1"));
}

TEST(SparkWebhook, OnlyClustersOfAFixedSizeAreManaged) {
  EXPECT_THAT(Refused(Object("sparkoperator.k8s.io/v1beta2", "SparkApplication",
                             R"("mode": "client", "driver": {}, "executor": {},
                                "dynamicAllocation": {"enabled": true})")),
              ElementsAre("spec.mode: Invalid value: \"client\": only Cluster mode is supported "
                          "for a kueue managed job",
                          HasSubstr("spec.dynamicAllocation.enabled: Invalid value: true: ")));
  EXPECT_THAT(Refused(Spark("", "", "", kElastic)),
              ElementsAre("metadata.annotations[kueue.x-k8s.io/elastic-job]: Forbidden: elastic "
                          "job is not supported for \"sparkoperator.k8s.io/v1beta2, "
                          "Kind=SparkApplication\""));
}

}  // namespace
}  // namespace espalier::operator_webhooks_test
