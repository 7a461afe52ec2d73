// A snapshot has what quota needs to count the devices that pods claim (R30.7); see also
// transcripts/device-quota.txt.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"

namespace espalier::device_quota_process_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// With and without names.
TEST(DeviceQuota, IsTheSameOfASnapshot) {
  const ProcessResult snapshot = RunShell(
      "i=" ESPALIER_SOURCE_DIR
      "/tests/cli/transcripts/device-quota; "
      "d=$(mktemp -d); mkdir $d/bin; "
      "sed 's/parallelism: 2/parallelism: 3/' $i/two-pods.yaml > $d/three-pods.yaml; "
      "printf '%s\\n' '#!/bin/sh' "
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
      "PATH=$d/bin:$PATH \"$E\" snapshot -o $d/s.json && "
      "\"$E\" cycle $d/s.json $i/four-devices.yaml $d/three-pods.yaml; "
      "PATH=$d/bin:$PATH \"$E\" snapshot --redact; rm -r $d");
  EXPECT_THAT(
      snapshot.output,
      AllOf(HasSubstr("insufficient quota for example.com/gpu"), HasSubstr("deviceClassMappings"),
            HasSubstr("example.com/gpu\\\""), Not(HasSubstr("gpu.example.com"))))
      << snapshot.errors;
}

}  // namespace
}  // namespace espalier::device_quota_process_test
