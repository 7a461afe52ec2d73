#include "host/readers/redaction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier {
namespace {

using testing::HasSubstr;

std::string Redacted(std::string_view json) {
  Redaction redaction;
  if (const auto added = redaction.Add(json); !added) return added.error().message;
  const auto written = redaction.Write(json);
  return written ? *written : written.error().message;
}

TEST(Redaction, NumbersNamesInTheirOrderAndKeepsWhatDecides) {
  EXPECT_EQ(
      Redacted(R"({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "node-b",
      "uid": "u-1", "labels": {"acme.com/rack": "r2", "size": "10", "big": "true"},
      "annotations": {"acme.com/owner": "me", "kueue.x-k8s.io/podset-required-topology": "acme.com/rack",
                      "kueue.x-k8s.io/workload": "node-a"}},
      "spec": {"taints": [{"key": "acme.com/t", "value": "node-a", "effect": "NoSchedule"}], "unschedulable": false},
      "status": {"allocatable": {"cpu": "64", "memory": "1Ti"}, "images": [{"names": ["x"]}],
                 "conditions": [{"type": "Ready", "status": "True", "message": "fine"}]}})"),
      R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n00000002","uid":"u-1",)"
      R"("labels":{"acme.com/rack":"n00000003","size":"10","big":"true"},"annotations":{)"
      R"("kueue.x-k8s.io/podset-required-topology":"acme.com/rack",)"
      R"("kueue.x-k8s.io/workload":"n00000001"}},"spec":{"taints":[{"key":"acme.com/t",)"
      R"("value":"n00000001","effect":"NoSchedule"}],"unschedulable":false},"status":{)"
      R"("allocatable":{"cpu":"64","memory":"1Ti"},"conditions":[{"type":"Ready","status":"True"}]}})");
}

TEST(Redaction, WritesWholeValuesOfTopologyAssignments) {  // R19.1
  EXPECT_EQ(Redacted(R"({"valuesPerLevel": [{"individual": {"prefix": "host-", "suffix": ".x",
      "roots": ["1", "3"]}}, {"universal": "host-2.x"}], "levels": ["acme.com/rack"]})"),
            R"({"valuesPerLevel":[{"individual":{"roots":["n00000001","n00000003"]}},)"
            R"({"universal":"n00000002"}],"levels":["acme.com/rack"]})");
}

TEST(Redaction, KeepsTheResourcesOfQuotas) {
  EXPECT_EQ(Redacted(R"({"flavors": [{"name": "gpu", "resources": [{"name": "nvidia.com/gpu",
      "nominalQuota": "8"}]}], "podSetAssignments": [{"flavors": {"cpu": "gpu"}}]})"),
            R"({"flavors":[{"name":"n00000001","resources":[{"name":"nvidia.com/gpu",)"
            R"("nominalQuota":"8"}]}],"podSetAssignments":[{"flavors":{"cpu":"n00000001"}}]})");
}

TEST(Redaction, RefusesWhatIsNotJson) {
  EXPECT_THAT(Redacted("{\"a\": x}"),
              HasSubstr("it is not valid JSON: line 1, column 7: x is not"));
}

}  // namespace
}  // namespace espalier
