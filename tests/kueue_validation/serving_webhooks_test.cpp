// Tests what the webhooks of pods, Deployments, StatefulSets, LeaderWorkerSets and AppWrappers
// refuse.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/readers/cluster_files.hpp"
#include "host/readers/sources/job_object.hpp"
#include "host/webhooks/job_webhooks.hpp"

namespace espalier::serving_webhooks_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

std::vector<Violation> Validate(const std::string& text) {
  std::vector<Violation> found;
  ReadOptions options;
  options.keep_errors = true;
  options.on_job = [&](const JobObject& job) {
    for (Violation& violation : ValidateJob(job, {})) found.push_back(std::move(violation));
  };
  const auto read = ReadClusterText("f", text, options);
  EXPECT_TRUE(read) << read.error().message;
  return found;
}

// The lines that Kueue answers.
std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (const Violation& violation : Validate(text)) lines.push_back(violation.text);
  return lines;
}

constexpr const char* kQueue = "kueue.x-k8s.io/queue-name: q";
constexpr const char* kElastic = "kueue.x-k8s.io/elastic-job: 'true'";
constexpr const char* kBothLevels =
    "metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: a, "
    "kueue.x-k8s.io/podset-preferred-topology: b}}, ";
constexpr const char* kPods = "spec: {containers: [{resources: {requests: {cpu: 1}}}]}";

std::string ObjectText(const std::string& version, const std::string& kind,
                       const std::string& labels, const std::string& annotations,
                       const std::string& spec) {
  return fmt::format(
      "---\napiVersion: {}\nkind: {}\nmetadata: {{name: w, namespace: team, labels: {{{}}}, "
      "annotations: {{{}}}}}\n{}\n",
      version, kind, labels, annotations, spec);
}

std::string PodText(const std::string& labels, const std::string& annotations) {
  return ObjectText("v1", "Pod", labels, annotations, kPods);
}

constexpr const char* kGroup = "kueue.x-k8s.io/pod-group-name: g";
constexpr const char* kCount = "kueue.x-k8s.io/pod-group-total-count";

TEST(ServingWebhooks, APodThatKueueDoesNotManageCannotSayOtherwise) {
  const std::string unmanaged = "kueue.x-k8s.io/managed: 'false'";
  EXPECT_THAT(Lines(PodText(unmanaged, "")),
              ElementsAre("metadata.labels[kueue.x-k8s.io/managed]: Forbidden: managed label value "
                          "can only be 'true'"));
  EXPECT_THAT(Lines(PodText(unmanaged + ", " + kQueue, "")), IsEmpty());
  EXPECT_THAT(Lines(PodText(unmanaged, "kueue.x-k8s.io/pod-suspending-parent: x")), IsEmpty());
}

TEST(ServingWebhooks, AGroupHasANameAndACount) {
  EXPECT_THAT(Lines(PodText(kQueue, fmt::format("{}: '2'", kCount))),
              ElementsAre("metadata.labels[kueue.x-k8s.io/pod-group-name]: Required value: both "
                          "the 'kueue.x-k8s.io/pod-group-total-count' annotation and the "
                          "'kueue.x-k8s.io/pod-group-name' label should be set"));
  EXPECT_THAT(Lines(PodText(kQueue, kGroup)),
              ElementsAre("metadata.annotations[kueue.x-k8s.io/pod-group-total-count]: Required "
                          "value: both the 'kueue.x-k8s.io/pod-group-total-count' annotation and "
                          "the 'kueue.x-k8s.io/pod-group-name' annotation should be set"));
  EXPECT_THAT(
      Lines(PodText(fmt::format("{}, kueue.x-k8s.io/pod-group-name: A_b", kQueue),
                    fmt::format("{}: '2'", kCount))),
      ElementsAre(StartsWith(
          "metadata.labels[kueue.x-k8s.io/pod-group-name]: Invalid value: \"A_b\": a lowercase")));
}

TEST(ServingWebhooks, TheCountOfAGroupIsANumberAboveZero) {
  const auto lines = [](const std::string& count) {
    return Lines(
        PodText(fmt::format("{}, {}", kQueue, kGroup), fmt::format("{}: '{}'", kCount, count)));
  };
  EXPECT_THAT(lines("1"), IsEmpty());
  EXPECT_THAT(lines("-3"),
              ElementsAre("metadata.annotations[kueue.x-k8s.io/pod-group-total-count]: Invalid "
                          "value: \"-3\": incorrect annotation value "
                          "'kueue.x-k8s.io/pod-group-total-count=-3': group total count should be "
                          "greater than zero"));
  EXPECT_THAT(lines("two"),
              ElementsAre("metadata.annotations[kueue.x-k8s.io/pod-group-total-count]: Invalid "
                          "value: \"two\": strconv.Atoi: parsing \"two\": invalid syntax"));
}

TEST(ServingWebhooks, TheWorkloadOfAGroupHasItsName) {
  const auto lines = [](const std::string& prebuilt) {
    return Lines(PodText(
        fmt::format("{}, {}, kueue.x-k8s.io/prebuilt-workload-name: {}", kQueue, kGroup, prebuilt),
        fmt::format("{}: '1'", kCount)));
  };
  EXPECT_THAT(lines("g"), IsEmpty());
  EXPECT_THAT(lines("h"),
              ElementsAre("metadata.labels[kueue.x-k8s.io/prebuilt-workload-name]: Invalid value: "
                          "\"h\": prebuilt workload and pod group should be equal"));
}

TEST(ServingWebhooks, NoneOfTheseKindsIsElastic) {
  const auto line = [](const std::string& kind) {
    return fmt::format(
        "metadata.annotations[kueue.x-k8s.io/elastic-job]: Forbidden: elastic job is not supported "
        "for \"{}\"",
        kind);
  };
  const std::string spec = fmt::format("spec: {{template: {{{}}}}}", kPods);
  EXPECT_THAT(Lines(PodText(kQueue, kElastic)), ElementsAre(line("/v1, Kind=Pod")));
  EXPECT_THAT(Lines(ObjectText("apps/v1", "Deployment", kQueue, kElastic, spec)),
              ElementsAre(line("apps/v1, Kind=Deployment")));
  EXPECT_THAT(Lines(ObjectText("apps/v1", "StatefulSet", kQueue, kElastic, spec)),
              ElementsAre(line("apps/v1, Kind=StatefulSet")));
  EXPECT_THAT(Lines(ObjectText("workload.codeflare.dev/v1beta2", "AppWrapper", kQueue, kElastic,
                               "spec: {components: []}")),
              ElementsAre(line("workload.codeflare.dev/v1beta2, Kind=AppWrapper")));
}

TEST(ServingWebhooks, ThePodsOfADeploymentAreRefusedByTheirs) {
  const std::string spec = fmt::format("spec: {{template: {{{}{}}}}}", kBothLevels, kPods);
  const auto found = Validate(ObjectText("apps/v1", "Deployment", kQueue, "", spec));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].object, "Deployment team/w");
  EXPECT_EQ(found[0].field, "spec.template.metadata.annotations");
  EXPECT_THAT(found[0].text, StartsWith("metadata.annotations: Invalid value: must not contain"));
  EXPECT_THAT(Validate(ObjectText("apps/v1", "Deployment", "a: b", "", spec)), IsEmpty());
}

TEST(ServingWebhooks, ThePodsOfAStatefulSetAreNotLookedAt) {
  EXPECT_THAT(Lines(ObjectText("apps/v1", "StatefulSet", kQueue, "",
                               fmt::format("spec: {{template: {{{}{}}}}}", kBothLevels, kPods))),
              IsEmpty());
}

TEST(ServingWebhooks, BothTemplatesOfALeaderWorkerSetAreLookedAt) {
  const auto lines = [](const std::string& leader, const std::string& worker) {
    const auto pods = [](const std::string& annotations) {
      return fmt::format("{{metadata: {{annotations: {{{}}}}}, {}}}", annotations, kPods);
    };
    return Lines(ObjectText(
        "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", kQueue, "",
        fmt::format("spec: {{leaderWorkerTemplate: {{size: 4, leaderTemplate: {}, workerTemplate: "
                    "{}}}}}",
                    pods(leader), pods(worker))));
  };
  const std::string level = "kueue.x-k8s.io/podset-required-topology: rack";
  const std::string slices =
      "kueue.x-k8s.io/podset-slice-required-topology: host, "
      "kueue.x-k8s.io/podset-slice-size: '4'";
  EXPECT_THAT(lines(level, level), IsEmpty());
  EXPECT_THAT(lines("", level + ", " + slices),
              ElementsAre("spec.leaderWorkerTemplate.workerTemplate.metadata.annotations["
                          "kueue.x-k8s.io/podset-slice-size]: Invalid value: \"4\": must not be "
                          "greater than pod set count 3"));
  EXPECT_THAT(lines(level + ", kueue.x-k8s.io/podset-group-name: g", ""),
              ElementsAre(HasSubstr("leaderTemplate.metadata.annotations[kueue.x-k8s.io/"
                                    "podset-group-name]: Invalid value: \"g\": can only define "
                                    "groups of exactly 2 pod sets")));
}

}  // namespace
}  // namespace espalier::serving_webhooks_test
