#include "host/readers/redaction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::redaction_test {
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
      R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"a00000003","uid":"u-1",)"
      R"("labels":{"acme.com/rack":"a00000004","size":"a00000001","big":"a00000005"},)"
      R"("annotations":{"kueue.x-k8s.io/podset-required-topology":"acme.com/rack",)"
      R"("kueue.x-k8s.io/workload":"a00000002"}},"spec":{"taints":[{"key":"acme.com/t",)"
      R"("value":"a00000002","effect":"NoSchedule"}],"unschedulable":false},"status":{)"
      R"("allocatable":{"cpu":"64","memory":"1Ti"},"conditions":[{"type":"Ready","status":"True"}]}})");
}

TEST(Redaction, WritesWholeValuesOfTopologyAssignments) {  // R19.1
  EXPECT_EQ(Redacted(R"({"valuesPerLevel": [{"individual": {"prefix": "host-", "suffix": ".x",
      "roots": ["1", "3"]}}, {"universal": "host-2.x"}], "levels": ["acme.com/rack"]})"),
            R"({"valuesPerLevel":[{"individual":{"roots":["a00000001","a00000003"]}},)"
            R"({"universal":"a00000002"}],"levels":["acme.com/rack"]})");
}

// So that others are in order with them, what stands for those begins with the one before.
TEST(Redaction, KeepsNamesThatMeanSomething) {
  EXPECT_EQ(Redacted(R"({"names": ["alpha", "default", "default-flavor", "default-queue", "nvidia",
                                   "root", "zone"]})"),
            R"({"names":["a00000001","default","default-00000002","default-queue",)"
            R"("default-queue-00000003","root","root-00000004"]})");
}

TEST(Redaction, KeepsTheResourcesOfQuotas) {
  EXPECT_EQ(Redacted(R"({"flavors": [{"name": "gpu", "resources": [{"name": "nvidia.com/gpu",
      "nominalQuota": "8"}]}], "podSetAssignments": [{"flavors": {"cpu": "gpu"}}]})"),
            R"({"flavors":[{"name":"a00000001","resources":[{"name":"nvidia.com/gpu",)"
            R"("nominalQuota":"8"}]}],"podSetAssignments":[{"flavors":{"cpu":"a00000001"}}]})");
}

// The resources that quota counts stay, and so does which DeviceClass they are of.
TEST(Redaction, KeepsTheResourcesOfDevices) {
  EXPECT_EQ(
      Redacted(
          R"({"deviceClassMappings": [{"name": "acme.com/gpu", "deviceClassNames": ["b", "a"]}],
      "spec": {"extendedResourceName": "vendor.com/gpu", "exactly": {"deviceClassName": "a"}}})"),
      R"({"deviceClassMappings":[{"name":"acme.com/gpu","deviceClassNames":["a00000002",)"
      R"("a00000001"]}],"spec":{"extendedResourceName":"vendor.com/gpu",)"
      R"("exactly":{"deviceClassName":"a00000001"}}})");
}

// A claim asks for a level by a device class that is named like it, or like what follows its slash.
TEST(Redaction, KeepsDeviceClassesThatNameLevels) {
  EXPECT_EQ(
      Redacted(R"([{"kind": "DeviceClass", "metadata": {"name": "rack"}},
      {"kind": "Node", "metadata": {"name": "rack", "labels": {"acme.com/rack": "rack"}}},
      {"exactly": {"deviceClassName": "rack"}}, {"deviceClassName": "acme.com/rack"},
      {"deviceClassName": "gpu"}, {"kind": "Topology", "levels": [{"nodeLabel": "acme.com/rack"}]}])"),
      R"([{"kind":"DeviceClass","metadata":{"name":"rack"}},)"
      R"({"kind":"Node","metadata":{"name":"a00000003","labels":{"acme.com/rack":"a00000003"}}},)"
      R"({"exactly":{"deviceClassName":"rack"}},{"deviceClassName":"acme.com/rack"},)"
      R"({"deviceClassName":"a00000002"},{"kind":"Topology","levels":[{"nodeLabel":"acme.com/rack"}]}])");
}

// Attributes of devices are label keys, also of levels; what they are compared with are names.
TEST(Redaction, NumbersTheTextsOfExpressions) {
  const auto expression = [](const std::string& text) {
    const std::string written = Redacted(R"({"cel": {"expression": ")" + text + R"("}})");
    constexpr std::string_view kBegin = R"({"cel":{"expression":")";
    return written.substr(kBegin.size(), written.size() - kBegin.size() - 3);
  };
  EXPECT_EQ(
      expression(
          "device.attributes['acme.com'].rack == 'r7' && 'rack' in  device.attributes['acme.com']"),
      "device.attributes['acme.com'].rack == 'a00000001' && 'rack' in  "
      "device.attributes['acme.com']");
  EXPECT_EQ(
      expression("device.attributes ['a.b']['c'] in ['x', 'y'] && device.driver.startsWith('z')"),
      "device.attributes ['a.b']['c'] in ['a00000001', 'a00000002'] && "
      "device.driver.startsWith('a00000003')");
  EXPECT_EQ(expression("x != 'it\\\\'s' && 'open"), "x != 'a00000001' && 'a00000002");
  EXPECT_EQ(expression("'s' in ['s']"), "'a00000001' in ['a00000001']");
}

// What of an object of an unknown kind holds pods is read, whatever its name.
TEST(Redaction, KeepsPodsInFieldsThatAreLeftOut) {
  EXPECT_EQ(
      Redacted(R"({"config": {"replicas": 2, "pods": {"spec": {"containers": [{"image": "i"}]}}},
      "parameters": {"secret": "s"}})"),
      R"({"config":{"replicas":2,"pods":{"spec":{"containers":[{"image":"a00000001"}]}}}})");
}

// Its nodeSelector has terms, as that of an affinity, and is no map of labels.
TEST(Redaction, NumbersTheNodesOfAllocatedClaims) {
  EXPECT_EQ(
      Redacted(R"({"allocation": {"nodeSelector": {"nodeSelectorTerms": [{
      "matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["host-7"]}],
      "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-7"]}]}]}}})"),
      R"({"allocation":{"nodeSelector":{"nodeSelectorTerms":[{"matchExpressions":[{)"
      R"("key":"kubernetes.io/hostname","operator":"In","values":["a00000001"]}],)"
      R"("matchFields":[{"key":"metadata.name","operator":"In","values":["a00000002"]}]}]}}})");
}

// What uses a claim is told by its resource, of which only pods go with the gang that is moved.
TEST(Redaction, KeepsWhatKindOfObjectsUseAClaim) {
  EXPECT_EQ(Redacted(R"({"reservedFor": [{"resource": "pods", "name": "p0", "uid": "u"}]})"),
            R"({"reservedFor":[{"resource":"pods","name":"a00000001","uid":"u"}]})");
}

// Keys of labels are no fields, and their values keep their order whatever they look like.
TEST(Redaction, NumbersAllValuesOfLabels) {
  EXPECT_EQ(
      Redacted(R"({"labels": {"env": "prod", "rack": "2b"}, "nodeSelector": {"env": "30"},
                         "matchLabels": {"config": "true"}, "env": [{"name": "x"}]})"),
      R"({"labels":{"env":"a00000003","rack":"a00000001"},"nodeSelector":{"env":"a00000002"},)"
      R"("matchLabels":{"config":"a00000004"}})");
}

TEST(Redaction, KeepsNumbersThatAreComparedAsSuch) {
  EXPECT_EQ(
      Redacted(R"({"labels": {"speed": "100", "slot": "7", "apps.kubernetes.io/pod-index": "3",
                              "my-index": "4"},
                   "podIndexLabel": "my-index",
                   "a": [{"key": "speed", "operator": "Gt", "values": ["90"]},
                         {"key": "slot", "operator": "In", "values": ["7"]}],
                   "taints": [{"key": "speed", "value": "100"}]})"),
      R"({"labels":{"speed":"100","slot":"a00000003","apps.kubernetes.io/pod-index":"3",)"
      R"("my-index":"4"},"podIndexLabel":"my-index",)"
      R"("a":[{"key":"speed","operator":"Gt","values":["90"]},)"
      R"({"key":"slot","operator":"In","values":["a00000003"]}],)"
      R"("taints":[{"key":"speed","value":"100"}]})");
}

TEST(Redaction, KeepsWordsAndReferencesThatDecide) {
  const auto same = [](const std::string& json) { EXPECT_EQ(Redacted(json), json); };
  same(R"({"submissionMode":"HTTPMode"})");
  same(R"({"requests":{"memory":"100GB"}})");
  // A spread that is only wished for keeps no pods apart.
  same(R"({"topologySpreadConstraints":[{"topologyKey":"acme.com/rack",)"
       R"("whenUnsatisfiable":"ScheduleAnyway"}]})");
  same(R"({"podSets":[{"name":"main","path":"template.spec.template"}]})");
  same(R"({"schedulingGates":[{"name":"kueue.x-k8s.io/topology"}]})");
  same(R"({"labels":{"trainer.kubeflow.org/trainjob-ancestor-step":"dataset-initializer",)"
       R"("kueue.x-k8s.io/podset":"main"},"replicatedJobs":[{"name":"node"}]})");
  same(R"({"annotations":{"kueue.x-k8s.io/elastic-job":"true","kai.scheduler/segment-size":"4",)"
       R"("kai.scheduler/topology-required-placement":"acme.com/rack",)"
       R"("kai.scheduler/preemptibility":"preemptible"}})");
  EXPECT_EQ(Redacted(R"({"metadata": {"name": "old", "namespace": "team", "annotations": {
                "kueue.x-k8s.io/workload-slice-replacement-for": "team/old",
                "pod-group-name": "old", "kai.scheduler/queue": "team"}}})"),
            R"({"metadata":{"name":"a00000001","namespace":"a00000002","annotations":{)"
            R"("kueue.x-k8s.io/workload-slice-replacement-for":"a00000002/a00000001",)"
            R"("pod-group-name":"a00000001","kai.scheduler/queue":"a00000002"}}})");
  EXPECT_EQ(Redacted(R"({"gangGroups": [{"name": "big"}], "fieldPath":
                         "spec.gangGroup[name=big].rankedGroup[name=rg]", "name": "a-initializer"})"),
            R"({"gangGroups":[{"name":"a00000002"}],"fieldPath":)"
            R"("spec.gangGroup[name=a00000002].rankedGroup[name=rg]",)"
            R"("name":"a00000001-initializer"})");
}

// Slices that were folded go by their uids or, as long as they have none, by their names.
TEST(Redaction, NamesWhatIsWithinAnnotations) {
  EXPECT_EQ(Redacted(R"([{"uid": "u-2"}, {"annotations": {
                "kueue.x-k8s.io/folded-workload-slices": "u-2,w-replica-1",
                "kueue.x-k8s.io/scale-request": "{\"worker\": 5, \"big\": 0}"}},
                {"podSets": [{"name": "big"}], "name": "w-replica-1"}])"),
            R"([{"uid":"u-2"},{"annotations":{)"
            R"("kueue.x-k8s.io/folded-workload-slices":"u-2,a00000002",)"
            R"("kueue.x-k8s.io/scale-request":"{\"a00000001\":0,\"worker\":5}"}},)"
            R"({"podSets":[{"name":"a00000001"}],"name":"a00000002"}])");
  EXPECT_EQ(Redacted(R"({"annotations": {"kueue.x-k8s.io/folded-workload-slices": "",
                         "kueue.x-k8s.io/scale-request": "5 pods"}})"),
            R"({"annotations":{"kueue.x-k8s.io/folded-workload-slices":"",)"
            R"("kueue.x-k8s.io/scale-request":"a00000001"}})");
}

TEST(Redaction, RefusesWhatIsNotJson) {
  EXPECT_THAT(Redacted("{\"a\": x}"),
              HasSubstr("it is not valid JSON: line 1, column 7: x is not"));
}

}  // namespace
}  // namespace espalier::redaction_test
