// Tests what quota counts of devices that pods claim (R30.7).
#include "host/readers/device_charges.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/readers/cluster_text.hpp"

namespace espalier::device_charges_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kMappings =
    "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
    "resources: {deviceClassMappings: [{name: acme.com/gpu, deviceClassNames: [gpu, big-gpu]}, "
    "{name: acme.com/nic, deviceClassNames: [nic]}, {name: acme.com/memory, deviceClassNames: "
    "[mig], sources: [{counter: {name: memory}}]}]}\n";

std::string Template(const std::string& name, const std::string& requests,
                     const std::string& name_space = "team") {
  return fmt::format(
      "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\n"
      "metadata: {{name: {}, namespace: {}}}\nspec: {{spec: {{devices: {{requests: [{}]}}}}}}\n",
      name, name_space, requests);
}

std::string Exactly(const std::string& device_class, const std::string& more = "") {
  return fmt::format("{{name: r, exactly: {{deviceClassName: {}{}}}}}", device_class, more);
}

std::string JobClaiming(const std::string& claims, const std::string& requests = "cpu: 1") {
  return fmt::format(
      "---\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: job, namespace: team, labels: "
      "{{kueue.x-k8s.io/queue-name: lq}}}}\nspec: {{parallelism: 2, template: {{spec: "
      "{{resourceClaims: [{}], containers: [{{name: c, resources: {{requests: {{{}}}}}}}]}}}}}}\n",
      claims, requests);
}

constexpr const char* kOfTemplate = "{name: d, resourceClaimTemplateName: t}";

Workload OnlyWorkload(const std::string& text, Trees trees = Trees::kNone) {
  const auto read = ReadClusterText("f", text, {.trees = trees});
  if (!read || read->cluster.workloads.size() != 1) {
    ADD_FAILURE() << ErrorOf(read);
    return {};
  }
  return read->cluster.workloads.front();
}

Resources DevicesOf(const std::string& text) {
  const Workload workload = OnlyWorkload(text);
  EXPECT_EQ(workload.refusal, "");
  return workload.pod_sets.empty() ? Resources() : workload.pod_sets.front().pod_template.devices;
}

std::string RefusalOf(const std::string& text) { return OnlyWorkload(text).refusal; }

TEST(DeviceCharges, AddUpByTheResourceOfTheirClass) {
  const std::string claims =
      Template("t", Exactly("gpu", ", count: 2") + ", " + Exactly("big-gpu") + ", " +
                        Exactly("nic", ", allocationMode: ExactCount, count: 3")) +
      Template("t", Exactly("gpu", ", count: 50"), "other");
  EXPECT_EQ(DevicesOf(kMappings + claims + JobClaiming(kOfTemplate)),
            (Resources{{"acme.com/gpu", 3}, {"acme.com/nic", 3}}));
  EXPECT_EQ(DevicesOf(kMappings + claims +
                      JobClaiming(std::string(kOfTemplate) +
                                  ", {name: e, resourceClaimTemplateName: t}, {name: f}")),
            (Resources{{"acme.com/gpu", 6}, {"acme.com/nic", 6}}));
  EXPECT_EQ(DevicesOf(kMappings + JobClaiming("")), Resources());
}

// v1beta1 has the fields of `exactly` in the request itself.
TEST(DeviceCharges, AreReadInEveryVersion) {
  EXPECT_EQ(DevicesOf(kMappings + Template("t", "{name: r, deviceClassName: gpu, count: 4}") +
                      JobClaiming(kOfTemplate)),
            (Resources{{"acme.com/gpu", 4}}));
}

TEST(DeviceCharges, StayAtTheLimitOfAmounts) {
  EXPECT_EQ(DevicesOf(kMappings +
                      Template("t", Exactly("gpu", ", count: 9223372036854775807") + ", " +
                                        Exactly("gpu", ", count: 9223372036854775807")) +
                      JobClaiming(kOfTemplate)),
            (Resources{{"acme.com/gpu", std::numeric_limits<Amount>::max()}}));
}

TEST(DeviceCharges, LeaveOutWhatTakesNoDeviceAway) {
  EXPECT_EQ(DevicesOf(kMappings +
                      Template("t", Exactly("gpu", ", adminAccess: true, allocationMode: All")) +
                      JobClaiming(kOfTemplate)),
            Resources());
}

TEST(DeviceCharges, RefuseWhatKueueDoesNotCount) {
  const std::string path = "spec.podSets[0].template.spec.resourceClaims[0]";
  const auto refusal = [](const std::string& requests) {
    return RefusalOf(kMappings + Template("t", requests) + JobClaiming(kOfTemplate));
  };
  EXPECT_EQ(refusal(Exactly("gpu") + ", {name: s, firstAvailable: [{name: a, deviceClassName: "
                                     "gpu}]}"),
            path +
                ".devices.requests[1]: Invalid value: \"null\": ResourceClaimTemplate t: "
                "FirstAvailable device selection is not supported");
  EXPECT_EQ(refusal("{name: r}"),
            path +
                ".devices.requests[0]: Invalid value: \"null\": ResourceClaimTemplate t: "
                "Exactly must be set if FirstAvailable is nil");
  EXPECT_EQ(refusal(Exactly("gpu", ", allocationMode: All")),
            path +
                ".devices.requests[0].exactly.allocationMode: Invalid value: \"All\": "
                "ResourceClaimTemplate t: AllocationMode 'All' is not supported");
  EXPECT_EQ(refusal(Exactly("gpu", ", allocationMode: Some")),
            path +
                ".devices.requests[0].exactly.allocationMode: Invalid value: \"Some\": "
                "ResourceClaimTemplate t: unsupported allocation mode: Some");
  EXPECT_EQ(refusal(Exactly("gpu", ", count: -1")),
            path +
                ".devices.requests[0].exactly.count: Invalid value: -1: "
                "ResourceClaimTemplate t: must be greater than zero");
  EXPECT_EQ(refusal(Exactly("tpu")),
            path +
                ".resourceClaimTemplateName: Not found: \"DeviceClass tpu is not mapped in DRA "
                "configuration for podset main\"");
  EXPECT_THAT(refusal(Exactly("mig")),
              HasSubstr("what quota counts of DeviceClass mig as acme.com/memory is said by "
                        "ResourceSlices"));
}

TEST(DeviceCharges, NameATemplateThatIsNotInTheInput) {
  EXPECT_EQ(
      RefusalOf(kMappings + Template("t", Exactly("gpu"), "other") + JobClaiming(kOfTemplate)),
      "spec.podSets[0].template.spec.resourceClaims[0]: Internal error: failed to get claim "
      "spec for ResourceClaimTemplate t in podset main: "
      "resourceclaimtemplates.resource.k8s.io \"t\" not found");
}

TEST(DeviceCharges, AreNotOfClaimsThatPodsShare) {
  EXPECT_EQ(RefusalOf(kMappings + JobClaiming("{name: d, resourceClaimName: mine}")),
            "KueueDRAIntegration feature does not support use of resource claims");
}

TEST(DeviceCharges, GoByTheGatesOfTheConfiguration) {
  const std::string off = std::string(kMappings) + "featureGates: {KueueDRAIntegration: false";
  const std::string rest = Template("t", Exactly("gpu")) + JobClaiming(kOfTemplate);
  EXPECT_EQ(RefusalOf(off + "}\n" + rest),
            "Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled");
  EXPECT_EQ(DevicesOf(off + ", KueueDRARejectWorkloadsWhenDRADisabled: false}\n" + rest),
            Resources());
}

// A workload that runs has its usage in its admission already; this is about slices to replace it.
TEST(DeviceCharges, AreOfSlicesOfWorkloadsThatRun) {
  const std::string admitted = R"(---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: runs, namespace: team}
spec:
  queueName: lq
  podSets:
  - {name: main, count: 1, template: {spec: {resourceClaims: [{name: d, resourceClaimName: mine}], containers: [{name: c}]}}}
status:
  admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 1}]}
  conditions: [{type: QuotaReserved, status: "True"}]
)";
  EXPECT_EQ(RefusalOf(kMappings + admitted),
            "KueueDRAIntegration feature does not support use of resource claims");
}

// A container may ask for devices by the resource that a DeviceClass stands for.
TEST(DeviceCharges, CountExtendedResourcesAsTheirClass) {
  const auto device_class = [](const std::string& name, const std::string& time) {
    return fmt::format(
        "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {{name: {}, "
        "creationTimestamp: \"{}\"}}\nspec: {{extendedResourceName: vendor.com/gpu}}\n",
        name, time);
  };
  const std::string job = JobClaiming("", "cpu: 1, vendor.com/gpu: 2");
  const std::string newest = device_class("nic", "2026-01-01T00:00:00Z") +
                             device_class("gpu", "2026-02-01T00:00:00Z") +
                             device_class("zzz", "2026-02-01T00:00:00Z");
  const Workload mapped = OnlyWorkload(kMappings + newest + job);
  const PodTemplate& pods = mapped.pod_sets.front().pod_template;
  EXPECT_EQ(pods.devices, (Resources{{"acme.com/gpu", 2}}));
  EXPECT_EQ(pods.device_backed, (Resources{{"vendor.com/gpu", 2}}));
  EXPECT_EQ(pods.requests, (Resources{{"cpu", 1000}, {"vendor.com/gpu", 2}}));
  EXPECT_EQ(DevicesOf(kMappings + device_class("unmapped", "2026-01-01T00:00:00Z") + job),
            (Resources{{"vendor.com/gpu", 2}}));
  const Workload off =
      OnlyWorkload(std::string(kMappings) +
                   "featureGates: {KueueDRAIntegrationExtendedResource: false}\n" + newest + job);
  EXPECT_EQ(off.pod_sets.front().pod_template.devices, Resources());
  EXPECT_EQ(off.pod_sets.front().pod_template.device_backed, Resources());
}

TEST(DeviceCharges, AreMissedWhereTheConfigurationIs) {
  const std::string rest = Template("t", Exactly("gpu", ", selectors: [{cel: {expression: x}}]")) +
                           JobClaiming(kOfTemplate);
  const auto without = TryRead(rest);
  ASSERT_TRUE(without) << ErrorOf(without);
  EXPECT_THAT(without->diagnostics.RenderWarnings(),
              HasSubstr("Workload team/job: its pods claim devices, which quota counts by "
                        "resources.deviceClassMappings of Kueue's Configuration; that is not in "
                        "the input"));
  EXPECT_EQ(without->cluster.workloads.front().refusal, "");
  const auto with = TryRead(kMappings + rest);
  ASSERT_TRUE(with) << ErrorOf(with);
  EXPECT_THAT(with->diagnostics.RenderWarnings(),
              testing::AllOf(HasSubstr("selectors of its requests are not evaluated"),
                             Not(HasSubstr("is not in the input"))));
}

// In profile espalier a claim that names a level says where pods go (W8.2).
TEST(DeviceCharges, AreNotOfClaimsForAPlace) {
  const std::string text =
      std::string(kMappings) +
      "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Topology\nmetadata: {name: t}\nspec: "
      "{levels: [{nodeLabel: acme.com/rack}, {nodeLabel: kubernetes.io/hostname}]}\n"
      "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: mine, namespace: "
      "team}\nspec: {devices: {requests: [{name: r, exactly: {deviceClassName: rack}}]}}\n" +
      JobClaiming("{name: d, resourceClaimName: mine}");
  EXPECT_THAT(OnlyWorkload(text).refusal, HasSubstr("does not support use of resource claims"));
  EXPECT_THAT(OnlyWorkload(text, Trees::kNested).refusal, IsEmpty());
}

}  // namespace
}  // namespace espalier::device_charges_test
