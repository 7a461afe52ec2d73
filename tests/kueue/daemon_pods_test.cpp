// W8.8: pods of a DaemonSet that are not bound yet take room.
#include "host/kueue/objects/daemon_pods.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/kueue/objects/cluster_input.hpp"

namespace espalier::daemon_pods_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Cluster TwoNodes() {
  Cluster cluster;
  for (const char* name : {"a", "b"}) {
    Node& node = cluster.nodes.emplace_back();
    node.name = name;
    node.labels = {{"name", name}};
    node.ready = true;
  }
  return cluster;
}

DaemonSet Agent() {
  DaemonSet agent;
  agent.key = {"kube-system", "agent"};
  agent.pod_template.requests = {{"cpu", 500}};
  return agent;
}

// "node: cpu" of each node with usage.
std::vector<std::string> Usage(const Cluster& cluster) {
  std::vector<std::string> lines;
  for (const NodeUsage& usage : NonTasUsage(cluster.pods)) {
    lines.push_back(usage.node + ": " + std::to_string(*usage.usage.Find("cpu")));
  }
  return lines;
}

std::vector<std::string> UsageWith(const DaemonSet& daemon_set, Cluster cluster = TwoNodes()) {
  AddDaemonPods({&daemon_set, 1}, cluster);
  return Usage(cluster);
}

TEST(DaemonPods, TakeRoomOnEveryNodeThatHasNone) {
  EXPECT_THAT(UsageWith(Agent()), ElementsAre("a: 500", "b: 500"));
  Cluster cluster = TwoNodes();
  Pod& pod = cluster.pods.emplace_back();
  pod.key = {"kube-system", "agent-x"};
  pod.owners = {{"apps/v1", "DaemonSet", "agent", "", true}};
  pod.node_name = "a";
  pod.requests = {{"cpu", 700}};
  EXPECT_THAT(UsageWith(Agent(), cluster), ElementsAre("a: 700", "b: 500")) << "as it runs";
  cluster.pods[0].key.namespace_ = "elsewhere";
  EXPECT_THAT(UsageWith(Agent(), cluster), ElementsAre("a: 1200", "b: 500"));
}

TEST(DaemonPods, GoOnlyWhereTheirTemplateLetsThem) {
  DaemonSet agent = Agent();
  agent.pod_template.node_selector = {{"name", "b"}};
  EXPECT_THAT(UsageWith(agent), ElementsAre("b: 500"));
  agent = Agent();
  agent.pod_template.affinity.required = {{{{{"name", "In", {"a"}}}, {}}}};
  EXPECT_THAT(UsageWith(agent), ElementsAre("a: 500"));
  agent.pod_template.affinity.required = std::vector<NodeSelectorTerm>{};
  EXPECT_THAT(UsageWith(agent), IsEmpty());
}

TEST(DaemonPods, TolerateWhatTheControllerLetsThem) {
  Cluster cluster = TwoNodes();
  cluster.nodes[0].taints = {{"node.kubernetes.io/not-ready", "", "NoExecute"}};
  cluster.nodes[1].taints = {{"example.com/gpu", "", "NoSchedule"}};
  EXPECT_THAT(UsageWith(Agent(), cluster), ElementsAre("a: 500"));
  DaemonSet agent = Agent();
  agent.pod_template.tolerations = {{"", "Exists", "", ""}};
  EXPECT_THAT(UsageWith(agent, cluster), ElementsAre("a: 500", "b: 500"));
}

}  // namespace
}  // namespace espalier::daemon_pods_test
