// Devices that pods claim, as quota counts them (R30.7).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"
#include "tests/cli/queue_of_one.hpp"

namespace espalier {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kMapping =
    "---\napiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nresources: "
    "{deviceClassMappings: [{name: example.com/gpu, deviceClassNames: [gpu.example.com]}]}\n";

const std::string kTemplate =
    "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: two, "
    "namespace: team}\nspec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: "
    "gpu.example.com, count: 2}}]}}}\n";

// A Job whose pods claim two devices each; the queue has quota for 4.
std::string Job(int pods) {
  return "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: job, namespace: team, labels: "
         "{kueue.x-k8s.io/queue-name: lq}}\nspec: {parallelism: " +
         std::to_string(pods) +
         ", template: {spec: {resourceClaims: [{name: g, resourceClaimTemplateName: two}], "
         "containers: [{name: c, resources: {requests: {cpu: 1}, claims: [{name: g}]}}]}}}\n";
}

const std::string kCluster = QueueOfOne("cpu: \"8\"", "cpu: 8, example.com/gpu: 4");

TEST(DeviceQuota, IsThatOfTheMappedResource) {
  const ProcessResult fits =
      RunEspalier({"cycle", "-", "-o", "json"}, kCluster + kMapping + kTemplate + Job(2));
  EXPECT_EQ(fits.exit_code, 0) << fits.output << fits.errors;
  EXPECT_THAT(fits.output, AllOf(HasSubstr(R"("example.com/gpu": "4")"), HasSubstr("n1")));
  const ProcessResult beyond =
      RunEspalier({"cycle", "-"}, kCluster + kMapping + kTemplate + Job(3));
  EXPECT_EQ(beyond.exit_code, 1);
  EXPECT_THAT(beyond.output, AllOf(HasSubstr("insufficient quota for example.com/gpu"),
                                   HasSubstr("0 admitted, 1 not admitted")));
  // Nodes hold any number of devices.
  EXPECT_EQ(RunEspalier({"place", "-"}, kCluster + kMapping + kTemplate + Job(3)).exit_code, 0);
}

TEST(DeviceQuota, NamesTheTemplateThatIsNotThere) {
  for (const std::string command : {"place", "cycle"}) {
    const ProcessResult result = RunEspalier({command, "-"}, kCluster + kMapping + Job(1));
    EXPECT_EQ(result.exit_code, 1) << command;
    EXPECT_THAT(result.output + result.errors,
                HasSubstr("failed to get claim spec for ResourceClaimTemplate two in podset main: "
                          "resourceclaimtemplates.resource.k8s.io \"two\" not found"))
        << command;
  }
}

TEST(DeviceQuota, IsMissedWithoutAConfiguration) {
  const ProcessResult result = RunEspalier({"cycle", "-"}, kCluster + kTemplate + Job(3));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.errors,
              HasSubstr("Workload team/job: its pods claim devices, which quota counts by "
                        "resources.deviceClassMappings of Kueue's Configuration"));
}

// A snapshot has all that this needs, with and without names.
TEST(DeviceQuota, IsTheSameOfASnapshot) {
  const ProcessResult snapshot = RunShell(
      "d=$(mktemp -d); mkdir $d/bin; cat > $d/all.yaml; printf '%s\\n' '#!/bin/sh' "
      "'case $2 in resourceclaimtemplate*) cat '$d'/t;; configmap*) cat '$d'/c;; *) echo "
      "{\\\"apiVersion\\\":\\\"v1\\\",\\\"kind\\\":\\\"List\\\",\\\"items\\\":[]};; esac' > "
      "$d/bin/kubectl; chmod +x $d/bin/kubectl; "
      "echo "
      "'{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceClaimTemplate\",\"metadata\":"
      "{\"name\":\"two\",\"namespace\":\"team\"},\"spec\":{\"spec\":{\"devices\":{\"requests\":"
      "[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu.example.com\",\"count\":2}}]}}}}' "
      "> $d/t; printf '%s\\n' "
      "'{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
      "\"kueue-manager-config\",\"namespace\":\"kueue-system\"},\"data\":"
      "{\"controller_manager_config.yaml\":\"apiVersion: config.kueue.x-k8s.io/v1beta2\\nkind: "
      "Configuration\\nresources: {deviceClassMappings: [{name: example.com/gpu, "
      "deviceClassNames: [gpu.example.com]}]}\\n\"}}' > $d/c; "
      "PATH=$d/bin:$PATH \"$E\" snapshot -o $d/s.json && \"$E\" cycle $d/s.json $d/all.yaml; "
      "PATH=$d/bin:$PATH \"$E\" snapshot --redact; rm -r $d",
      kCluster + Job(3));
  EXPECT_THAT(
      snapshot.output,
      AllOf(HasSubstr("insufficient quota for example.com/gpu"), HasSubstr("deviceClassMappings"),
            HasSubstr("example.com/gpu\\\""), Not(HasSubstr("gpu.example.com"))))
      << snapshot.errors;
}

}  // namespace
}  // namespace espalier
