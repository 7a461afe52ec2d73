// R21.14: requests above limits and outside of LimitRanges, in Kueue's words.
#include "host/readers/resource_limits.hpp"

#include <gtest/gtest.h>

#include "tests/readers/json_text.hpp"

namespace espalier::resource_limits_test {
namespace {

class ResourceLimitsTest : public ::testing::Test {
 protected:
  void AddLimitRange(const std::string& limits) {
    JsonText json(R"({"metadata": {"name": "l", "namespace": "team"}, "spec": {"limits": [)" +
                  limits + "]}}");
    ReadLimitRange(json.root(), json.context(), defaults_);
  }
  // `spec` is that of the pods of the first pod set.
  std::string ErrorOf(const std::string& spec) {
    JsonText json(spec);
    const std::string error = ResourcesError({json.root()}, json.context(), defaults_, "team");
    EXPECT_EQ(json.diagnostics.error_count(), 0U);
    return error;
  }

  ClusterDefaults defaults_;
};

TEST_F(ResourceLimitsTest, RequestsWithinLimitsAreSound) {
  EXPECT_EQ(ErrorOf(R"({"containers": [{"resources": {
      "requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1000m"}}}]})"),
            "");
  EXPECT_EQ(ErrorOf("{}"), "");
}

TEST_F(ResourceLimitsTest, RequestsAboveLimits) {
  EXPECT_EQ(ErrorOf(R"({"containers": [{}, {"resources": {
      "requests": {"cpu": "2", "memory": "2Gi"}, "limits": {"memory": "1Gi", "cpu": "1"}}}]})"),
            "resources validation failed: spec.podSets[0].template.spec.containers[1]: Invalid "
            "value: [\"cpu\",\"memory\"]: requests must not exceed its limits");
}

TEST_F(ResourceLimitsTest, SeveralErrorsAreInBrackets) {
  const std::string above = R"({"requests": {"cpu": "2"}, "limits": {"cpu": "1"}})";
  EXPECT_EQ(ErrorOf(R"({"containers": [{"resources": )" + above +
                    R"(}], "initContainers": [{"resources": )" + above + R"(}], "resources": )" +
                    above + "}"),
            "resources validation failed: ["
            "spec.podSets[0].template.spec.initContainers[0]: Invalid value: [\"cpu\"]: requests "
            "must not exceed its limits, "
            "spec.podSets[0].template.spec.containers[0]: Invalid value: [\"cpu\"]: requests "
            "must not exceed its limits, "
            "spec.podSets[0].template.spec.resources: Invalid value: [\"cpu\"]: requests must not "
            "exceed its limits]");
}

TEST_F(ResourceLimitsTest, LimitRangesBoundContainersAndPods) {
  AddLimitRange(R"({"type": "Container", "max": {"cpu": "4"}, "min": {"memory": "1Gi"}})");
  AddLimitRange(R"({"type": "Container", "max": {"cpu": "8"}, "min": {"memory": "2Gi"}},
                   {"type": "Pod", "max": {"cpu": "6"}, "min": {"cpu": "3"}},
                   {"type": "PersistentVolumeClaim", "max": {"storage": "1"}})");
  EXPECT_EQ(ErrorOf(R"({"containers": [{"resources": {"requests":
                        {"cpu": "4", "memory": "2Gi"}}}]})"),
            "");
  EXPECT_EQ(ErrorOf(R"({"containers": [
      {"resources": {"requests": {"cpu": "4500m", "memory": "1Gi"}, "limits": {"cpu": "5"}}},
      {"resources": {"requests": {"cpu": "2", "memory": "2Gi"}}}]})"),
            "resources didn't satisfy LimitRange constraints: ["
            "spec.podSets[0].template.spec.containers[0]: Invalid value: [\"cpu\"]: requests must "
            "not be above the limitRange max, "
            "spec.podSets[0].template.spec.containers[0]: Invalid value: [\"memory\"]: requests "
            "must not be below the limitRange min, "
            "spec.podSets[0].template.spec: Invalid value: [\"cpu\"]: requests must not be above "
            "the limitRange max]");
  EXPECT_EQ(ErrorOf(R"({"containers": [{"resources": {"requests":
                        {"cpu": "1", "memory": "2Gi"}}}]})"),
            "resources didn't satisfy LimitRange constraints: spec.podSets[0].template.spec: "
            "Invalid value: [\"cpu\"]: requests must not be below the limitRange min");
}

TEST_F(ResourceLimitsTest, ALimitMayComeFromALimitRange) {
  AddLimitRange(R"({"type": "Container", "default": {"cpu": "1"}})");
  EXPECT_EQ(
      ErrorOf(R"({"containers": [{"resources": {"requests": {"cpu": "2", "memory": "2Gi"}}}]})"),
      "resources validation failed: spec.podSets[0].template.spec.containers[0]: Invalid "
      "value: [\"cpu\"]: requests must not exceed its limits");
}

TEST_F(ResourceLimitsTest, OfAnotherNamespaceDoNotCount) {
  JsonText json(R"({"metadata": {"name": "l", "namespace": "other"},
                    "spec": {"limits": [{"type": "Pod", "max": {"cpu": "1"}}]}})");
  ReadLimitRange(json.root(), json.context(), defaults_);
  EXPECT_EQ(
      ErrorOf(R"({"containers": [{"resources": {"requests": {"cpu": "2", "memory": "2Gi"}}}]})"),
      "");
}

}  // namespace
}  // namespace espalier::resource_limits_test
