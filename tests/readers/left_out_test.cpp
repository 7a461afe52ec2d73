// Objects that are wrong are left out of the input, where that was asked for.
#include <string>

#include <gtest/gtest.h>

#include "tests/readers/cluster_text.hpp"

namespace espalier::left_out_test {
namespace {

// A Job that Kueue's webhook refuses (R23.7) is left out, and the Job beside it is read.
TEST(LeftOut, IsAWrongObjectAlone_R23_7) {
  const std::string text = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: half, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  template:
    metadata: {annotations: {kueue.x-k8s.io/podset-slice-required-topology: rack}}
    spec: {containers: [{name: c}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: sound, labels: {kueue.x-k8s.io/queue-name: q}}
spec: {template: {spec: {containers: [{name: c}]}}}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: many}}
)";
  const auto read = ReadClusterText("in.yaml", text, {.leave_out = true});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->diagnostics.left_out_count(), 2U);
  EXPECT_TRUE(read->cluster.nodes.empty());
  ASSERT_EQ(read->cluster.workloads.size(), 2U);
  EXPECT_NE(read->cluster.workloads[0].refusal.find("podset-slice-size"), std::string::npos);
  EXPECT_EQ(read->cluster.workloads[1].refusal, "");
  EXPECT_FALSE(ReadClusterText("in.yaml", text, {.strict = true, .leave_out = true}));
  EXPECT_FALSE(ReadClusterText("in.yaml", text));
}

// Usage of a pod that cannot be read is not nothing: its node counts as full.
TEST(LeftOut, IsABoundPodOnAFullNode) {
  const auto read = ReadClusterText("in.yaml", R"(
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4"}}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: a}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: many}}}]}
)",
                                    {.leave_out = true});
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->cluster.pods.size(), 1U);
  EXPECT_EQ(read->cluster.pods[0].requests, read->cluster.nodes[0].allocatable);
}

TEST(LeftOut, IsNotATwinWithTheSameContent) {
  const std::string node = "kind: Node\napiVersion: v1\nmetadata: {name: n1}\n";
  const auto read = ReadClusterText("in.yaml", node + "---\n" + node, {.leave_out = true});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->cluster.nodes.size(), 1U);
  EXPECT_EQ(read->diagnostics.left_out_count(), 0U);
  EXPECT_EQ(read->diagnostics.warning_count(), 1U);
}

}  // namespace
}  // namespace espalier::left_out_test
