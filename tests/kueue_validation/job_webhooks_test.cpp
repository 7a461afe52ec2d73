// Tests what the webhooks of jobs refuse, in the order and with the words of Kueue.
#include "host/webhooks/job_webhooks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/readers/cluster_files.hpp"

namespace espalier::job_webhooks_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

// Kueue's lines for all objects of a text.
std::vector<std::string> Lines(const std::string& text, const FeatureGates& gates = {}) {
  std::vector<std::string> lines;
  ReadOptions options;
  options.keep_errors = true;
  options.on_job = [&](const JobObject& job) {
    for (const Violation& violation : ValidateJob(job, gates)) lines.push_back(violation.text);
  };
  const auto read = ReadClusterText("f", text, options);
  EXPECT_TRUE(read) << read.error().message;
  return lines;
}

std::string Job(const std::string& metadata, const std::string& spec = "",
                const std::string& annotations = "") {
  return R"({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", )" + metadata +
         R"(}, "spec": {)" + spec + R"("template": {"metadata": {"annotations": {)" + annotations +
         R"(}}, "spec": {"containers": [{}]}}}})";
}

std::string Label(const std::string& key, const std::string& value) {
  return R"("labels": {"kueue.x-k8s.io/)" + key + R"(": ")" + value + "\"}";
}
std::string Annotation(const std::string& key, const std::string& value) {
  return R"("annotations": {"kueue.x-k8s.io/)" + key + R"(": ")" + value + "\"}";
}

TEST(JobMetadata, NamesAreChecked) {
  EXPECT_THAT(Lines(Job(Label("queue-name", "q"))), IsEmpty());
  EXPECT_THAT(Lines(Job(Label("queue-name", "Q"))),
              ElementsAre(StartsWith("metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: "
                                     "\"Q\": a lowercase RFC 1123 subdomain")));
  EXPECT_THAT(Lines(Job(Annotation("prebuilt-workload-name", "A_b"))),
              ElementsAre(StartsWith(
                  "metadata.annotations[kueue.x-k8s.io/prebuilt-workload-name]: Invalid value: ")));
}

TEST(JobMetadata, ExecutionTimeIsAPositiveInteger) {
  const std::string path = "metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: ";
  EXPECT_THAT(Lines(Job(Label("max-exec-time-seconds", "60"))), IsEmpty());
  EXPECT_THAT(Lines(Job(Label("max-exec-time-seconds", "0"))),
              ElementsAre(path + "0: should be greater than 0"));
  EXPECT_THAT(Lines(Job(Label("max-exec-time-seconds", "1h"))),
              ElementsAre(path + "\"1h\": strconv.Atoi: parsing \"1h\": invalid syntax"));
}

TEST(JobMetadata, GatesHaveDomains) {
  const std::string path =
      "metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Invalid value: ";
  EXPECT_THAT(Lines(Job(Annotation("admission-gated-by", "a.b/c,a.b/d"))), IsEmpty());
  EXPECT_THAT(
      Lines(Job(Annotation("admission-gated-by", "a.b/c,,d"))),
      ElementsAre(path + "\"a.b/c,,d\": cannot contain empty gate names",
                  path + "\"d\": must be a domain-prefixed path (such as \"acme.io/foo\")"));
}

TEST(BatchJobs, PartialAdmissionAndSyncedCompletions) {
  const std::string eight = R"("parallelism": 8, "completions": 8, )";
  EXPECT_THAT(Lines(Job(Annotation("job-min-parallelism", "7"), eight)), IsEmpty());
  EXPECT_THAT(Lines(Job(Annotation("job-min-parallelism", "8"), eight)),
              ElementsAre("metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid "
                          "value: 8: should be between 0 and 7"));
  const std::string synced = Annotation("job-completions-equal-parallelism", "true");
  EXPECT_THAT(Lines(Job(synced, R"("completionMode": "Indexed", )" + eight)), IsEmpty());
  EXPECT_THAT(Lines(Job(synced, R"("completionMode": "Indexed", "parallelism": 4,
                                   "completions": 6, )")),
              ElementsAre(StartsWith("spec.completions: Invalid value: 6: should be equal to")));
  EXPECT_THAT(Lines(Job(synced, R"("parallelism": 4, )")),
              ElementsAre("metadata.annotations[kueue.x-k8s.io/job-completions-equal-parallelism]: "
                          "Invalid value: \"true\": should not be enabled for NonIndexed jobs",
                          StartsWith("spec.completions: Invalid value: \"null\": should be")));
  EXPECT_THAT(
      Lines(Job(Annotation("job-min-parallelism", "3"), R"("parallelism": 8, "completions": 3, )")),
      ElementsAre("metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid "
                  "value: 3: should be between 0 and 2"));
}

// The level is forbidden in an elastic job; a kind that cannot be elastic says so.
TEST(ElasticJobs, ByKind_R23_10) {
  const std::string elastic = Annotation("elastic-job", "true");
  EXPECT_THAT(Lines(Job(elastic)), IsEmpty());
  EXPECT_THAT(Lines(Job(elastic, "", R"("kueue.x-k8s.io/podset-required-topology": "rack")")),
              ElementsAre("spec.template.metadata.annotations.kueue.x-k8s.io/"
                          "podset-required-topology: Forbidden: required topology is not supported "
                          "with elastic jobs"));
  EXPECT_THAT(Lines(R"({"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {
                 "name": "t", )" +
                    elastic + R"(}, "spec": {"tfReplicaSpecs": {}}})"),
              ElementsAre("metadata.annotations[kueue.x-k8s.io/elastic-job]: Forbidden: elastic "
                          "job is not supported for \"kubeflow.org/v1, Kind=TFJob\""));
}

// The file of an object and its field are named, so that the table of validate-objects can.
TEST(JobWebhooks, NameObjectFieldAndValue) {
  std::vector<Violation> found;
  ReadOptions options;
  options.keep_errors = true;
  options.on_job = [&](const JobObject& job) {
    EXPECT_TRUE(HasJobWebhook(job));
    EXPECT_EQ(JobKind(job), "Job");
    EXPECT_EQ(JobPlace(job), "f");
    found = ValidateJob(job, {});
  };
  ASSERT_TRUE(ReadClusterText("f", Job(Label("queue-name", "Q")), options));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].object, "Job j");
  EXPECT_EQ(found[0].field, "metadata.labels[kueue.x-k8s.io/queue-name]");
  EXPECT_EQ(found[0].value, "Q");
}

}  // namespace
}  // namespace espalier::job_webhooks_test
