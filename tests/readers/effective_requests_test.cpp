// Tests what a pod takes from its node (R20.4), one rule per test.
#include "host/readers/effective_requests.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/readers/json_text.hpp"

namespace espalier::effective_requests_test {
namespace {

using testing::ElementsAre;

Resources Of(std::string_view pod_spec, const ClusterDefaults& defaults = {},
             const NamespaceLimits* limits = nullptr) {
  JsonText json(pod_spec);
  const Resources requests = EffectiveRequests(json.root(), json.context(), defaults, limits);
  EXPECT_THAT(json.Errors(), ElementsAre());
  return requests;
}

TEST(EffectiveRequests, ContainersAddUp) {
  EXPECT_EQ(Of(R"({"containers": [
      {"resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}},
      {"resources": {"requests": {"cpu": 2, "nvidia.com/gpu": 8}}},
      {"name": "silent"}]})"),
            (Resources{{"cpu", 2500}, {"memory", 1 << 30}, {"nvidia.com/gpu", 8}}));
}

TEST(EffectiveRequests, AreOfAtMostAsManyResourcesAsAreNumbered) {
  std::string requests = R"("r0": 1)";
  for (int i = 1; i < 32'766; ++i) requests += ", \"r" + std::to_string(i) + "\": 1";
  const auto spec = [&](const std::string& more) {
    return R"({"containers": [{"resources": {"requests": {)" + requests + more + "}}}]}";
  };
  EXPECT_EQ(Of(spec("")).size(), 32'766u);
  JsonText json(spec(R"(, "r32766": 1)"));
  EXPECT_EQ(EffectiveRequests(json.root(), json.context(), {}, nullptr), Resources());
  EXPECT_THAT(json.Errors(), ElementsAre(": it requests 32767 resources"));
}

TEST(EffectiveRequests, NoContainersRequestNothing) {
  EXPECT_EQ(Of("{}"), Resources());
  EXPECT_EQ(Of(R"({"containers": null})"), Resources());
}

TEST(EffectiveRequests, AmountsAreRoundedOnceForThePod) {
  EXPECT_EQ(Of(R"({"containers": [
      {"resources": {"requests": {"cpu": "400u", "memory": "500m"}}},
      {"resources": {"requests": {"cpu": "400u", "memory": "500m"}}}]})"),
            (Resources{{"cpu", 1}, {"memory", 1}}));
}

TEST(EffectiveRequests, LimitsStandInForMissingRequests) {
  EXPECT_EQ(Of(R"({"containers": [
      {"resources": {"limits": {"cpu": "4", "memory": "2"}, "requests": {"cpu": "1"}}}],
      "initContainers": [{"resources": {"limits": {"memory": "7"}}}]})"),
            (Resources{{"cpu", 1000}, {"memory", 7}}));
}

TEST(EffectiveRequests, InitContainersRunOneAfterTheOther) {
  EXPECT_EQ(Of(R"({"containers": [{"resources": {"requests": {"cpu": "2", "memory": "10"}}}],
      "initContainers": [{"resources": {"requests": {"cpu": "3"}}},
                         {"resources": {"requests": {"cpu": "1", "memory": "20"}}}]})"),
            (Resources{{"cpu", 3000}, {"memory", 20}}));
}

TEST(EffectiveRequests, RestartableInitContainersKeepRunning) {
  EXPECT_EQ(Of(R"({"containers": [{"resources": {"requests": {"cpu": "2"}}}],
      "initContainers": [
        {"restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}]})"),
            (Resources{{"cpu", 3000}}));
}

TEST(EffectiveRequests, RestartableOnesCountForTheInitContainersAfterThem) {
  // Before the sidecar: 5 alone. After it: 5 and the sidecar's 1.
  constexpr std::string_view kPlain = R"({"resources": {"requests": {"cpu": "5"}}})";
  constexpr std::string_view kSidecar =
      R"({"restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}})";
  const auto pod = [](std::string_view first, std::string_view second) {
    return fmt::format(R"({{"containers": [{{"resources": {{"requests": {{"cpu": "2"}}}}}}],
                            "initContainers": [{}, {}]}})",
                       first, second);
  };
  EXPECT_EQ(Of(pod(kPlain, kSidecar)), (Resources{{"cpu", 5000}}));
  EXPECT_EQ(Of(pod(kSidecar, kPlain)), (Resources{{"cpu", 6000}}));
}

TEST(EffectiveRequests, PodLevelReplacesCpuMemoryAndHugepages) {
  EXPECT_EQ(
      Of(R"({"resources": {"requests": {"cpu": "1", "hugepages-2Mi": "4Mi",
                                              "nvidia.com/gpu": "9"}},
      "containers": [{"resources": {"requests": {"cpu": "8", "memory": "5",
                                                 "nvidia.com/gpu": "2"}}}]})"),
      (Resources{{"cpu", 1000}, {"hugepages-2Mi", 4 << 20}, {"memory", 5}, {"nvidia.com/gpu", 2}}));
}

TEST(EffectiveRequests, OtherResourcesOfThePodAreAWarning) {
  JsonText json(R"({"resources": {"limits": {"nvidia.com/gpu": "9"}}, "containers": [{}]})");
  EXPECT_EQ(EffectiveRequests(json.root(), json.context(), {}, nullptr), Resources());
  ASSERT_EQ(json.diagnostics.warning_count(), 1u);
  EXPECT_EQ(json.diagnostics.warnings()[0].problem,
            "nvidia.com/gpu of a pod as a whole is not known, and not honoured");
}

TEST(EffectiveRequests, LimitRangesOfAnUnknownTypeAreAWarning) {
  ClusterDefaults defaults;
  JsonText limits(R"({"metadata": {"name": "limits"}, "spec": {"limits": [
      {"type": "container", "defaultRequest": {"cpu": "1"}}, {"max": {"cpu": "1"}},
      {"type": "PersistentVolumeClaim"}, {"type": "example.com/x"}]}})");
  ReadLimitRange(limits.root(), limits.context(), defaults);
  ASSERT_EQ(limits.diagnostics.warning_count(), 2u);
  EXPECT_EQ(limits.diagnostics.warnings()[0].field, "spec.limits[0].type");
}

TEST(EffectiveRequests, OverheadIsAddedLast) {
  EXPECT_EQ(Of(R"({"overhead": {"cpu": "250m", "memory": "1"},
                   "resources": {"requests": {"cpu": "1"}},
                   "containers": [{"resources": {"requests": {"cpu": "8"}}}]})"),
            (Resources{{"cpu", 1250}, {"memory", 1}}));
}

TEST(EffectiveRequests, OverheadComesFromTheRuntimeClassWhenThePodHasNone) {
  ClusterDefaults defaults;
  JsonText kata(R"({"metadata": {"name": "kata"}, "overhead": {"podFixed": {"cpu": "250m"}}})");
  ReadRuntimeClass(kata.root(), kata.context(), defaults);
  EXPECT_EQ(Of(R"({"runtimeClassName": "kata"})", defaults), (Resources{{"cpu", 250}}));
  EXPECT_EQ(Of(R"({"runtimeClassName": "kata", "overhead": {"cpu": "1"}})", defaults),
            (Resources{{"cpu", 1000}}));
}

TEST(EffectiveRequests, AnUnknownRuntimeClassIsAWarning) {
  JsonText json(R"({"runtimeClassName": "gvisor"})");
  EffectiveRequests(json.root(), json.context(), {}, nullptr);
  EXPECT_EQ(json.diagnostics.warning_count(), 1u);
  EXPECT_EQ(json.diagnostics.warnings()[0].field, "runtimeClassName");
}

TEST(EffectiveRequests, LimitRangesFillWhatAContainerLeavesOpen) {
  ClusterDefaults defaults;
  JsonText limits(R"({"metadata": {"namespace": "team", "name": "limits"}, "spec": {"limits": [
      {"type": "Pod", "max": {"cpu": "100"}},
      {"type": "Container", "defaultRequest": {"cpu": "1"}, "default": {"cpu": "2", "memory": "3"},
       "max": {"memory": "9", "ephemeral-storage": "5"}, "min": {"nvidia.com/gpu": "0"}}]}})");
  ReadLimitRange(limits.root(), limits.context(), defaults);
  const NamespaceLimits& filled = *defaults.LimitsOf("team");
  EXPECT_EQ(defaults.LimitsOf("other"), nullptr);
  EXPECT_EQ(
      Of(R"({"containers": [{}]})", {}, &filled),
      (Resources{{"cpu", 1000}, {"ephemeral-storage", 5}, {"memory", 3}, {"nvidia.com/gpu", 0}}));
}

// Limits become requests only where neither the container nor a LimitRange has one.
TEST(EffectiveRequests, LimitRangesComeBeforeLimits_R30_4) {
  ClusterDefaults defaults;
  JsonText limits(R"({"metadata": {"namespace": "team", "name": "limits"}, "spec": {"limits": [
      {"type": "Container", "defaultRequest": {"cpu": "1"}, "default": {"memory": "3"}}]}})");
  ReadLimitRange(limits.root(), limits.context(), defaults);
  for (const std::string list : {"containers", "initContainers"}) {
    EXPECT_EQ(Of("{\"" + list + R"(": [{"resources": {"limits": {"cpu": "7", "nvidia.com/gpu": "8"},
                                                   "requests": {"memory": "1"}}}]})",
                 {}, defaults.LimitsOf("team")),
              (Resources{{"cpu", 1000}, {"memory", 1}, {"nvidia.com/gpu", 8}}));
  }
}

// A pod's own limit is its request, whatever its containers ask for; containers' defaults are not
// for it.
TEST(EffectiveRequests, LimitsOfThePodReplaceTheSums_R30_4) {
  ClusterDefaults defaults;
  JsonText limits(R"({"metadata": {"namespace": "team", "name": "limits"}, "spec": {"limits": [
      {"type": "Container", "defaultRequest": {"cpu": "1"}}]}})");
  ReadLimitRange(limits.root(), limits.context(), defaults);
  const NamespaceLimits* of_team = defaults.LimitsOf("team");
  EXPECT_EQ(Of(R"({"resources": {"limits": {"cpu": "8", "nvidia.com/gpu": 9}},
                   "containers": [{"resources": {"requests": {"cpu": "2", "memory": "1"}}}]})",
               {}, of_team),
            (Resources{{"cpu", 8000}, {"memory", 1}}));
  EXPECT_EQ(Of(R"({"resources": {"limits": {"memory": "5"}}, "containers": [{}]})", {}, of_team),
            (Resources{{"cpu", 1000}, {"memory", 5}}));
}

TEST(EffectiveRequests, ErrorsNameTheContainerAndTheResource) {
  JsonText json(R"({"spec": {"containers": [{}, {"resources": {
      "requests": {"cpu": "4 cores", "nvidia.com/gpu": "-1", "memory": true}}}]}})");
  EffectiveRequests(*Member(json.root(), "spec"), json.context(), {}, nullptr);
  EXPECT_THAT(
      json.Errors(),
      ElementsAre("spec.containers[1].resources.requests.cpu: it is not a quantity: the suffix is "
                  "not one that Kubernetes knows",
                  "spec.containers[1].resources.requests.memory: it is not a quantity: it is "
                  "empty",
                  "spec.containers[1].resources.requests[nvidia.com/gpu]: it is negative"));
}

TEST(EffectiveRequests, AbsurdAmountsStayAtTheLimit) {
  EXPECT_EQ(Of(R"({"containers": [{"resources": {"requests": {"x/y": "9223372036854775807"}}},
                                  {"resources": {"requests": {"x/y": 1e300, "cpu": "1e300"}}}]})"),
            (Resources{{"cpu", INT64_MAX}, {"x/y", INT64_MAX}}));
}

}  // namespace
}  // namespace espalier::effective_requests_test
