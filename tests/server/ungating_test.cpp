// espalier.v1.Ungating over a connection: the same pods as in this process, without any state.
#include "service/client/remote_engine.hpp"
#include "tests/server/test_server.hpp"

namespace espalier::ungating_test {
namespace {

// A leader and `workers` pods behind it, two to a node, placed by index where `indexed`.
Workload AdmittedWorkload(std::int32_t workers, bool indexed) {
  Workload workload;
  workload.key = {"team", "train"};
  workload.conditions = {{"Admitted", "True", "", ""}};
  Admission& admission = workload.admission.emplace();
  for (const auto& [name, count] : {std::pair{"leader", 1}, std::pair{"workers", workers}}) {
    PodSet& pod_set = workload.pod_sets.emplace_back();
    pod_set.name = name;
    pod_set.count = count;
    TopologyRequest& request = pod_set.topology_request.emplace();
    request.pod_set_group_name = "group";
    if (indexed) request.pod_index_label = "index";
    PodSetAssignment& assignment = admission.pod_set_assignments.emplace_back();
    assignment.name = name;
    TopologyAssignment& topology = assignment.topology_assignment.Mutable();
    topology.levels = {std::string(kHostnameLabel)};
    for (std::int32_t left = count; left > 0; left -= 2) {
      topology.domains.push_back({{"node-" + std::to_string(left)}, std::min(left, 2)});
    }
  }
  return workload;
}

Pod PodOf(const std::string& pod_set, const std::string& name, int index) {
  Pod pod;
  pod.key = {"team", name};
  pod.labels = {{std::string(kPodSetLabel), pod_set}, {"index", std::to_string(index)}};
  pod.annotations = {{std::string(kWorkloadAnnotation), "train"}};
  pod.phase = "Pending";
  pod.scheduling_gates = {std::string(kTopologyGate)};
  return pod;
}

class RemoteUngating : public testing::Test {
 protected:
  void SetUp() override {
    auto connected = RemoteEngine::Connect(server_.server->addresses()[0]);
    ASSERT_TRUE(connected) << connected.error().message;
    remote_.emplace(*std::move(connected));
  }

  TestServer server_;
  std::optional<RemoteEngine> remote_;
};

TEST_F(RemoteUngating, SendsPodsWhereThisProcessDoes) {
  std::size_t ungated = 0;
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const auto workers = static_cast<std::int32_t>(1 + random.Below(9));
    Workload workload = AdmittedWorkload(workers, random.Below(2));
    if (random.Below(4) == 0) workload.unhealthy_nodes = {"node-1"};
    if (random.Below(16) == 0) workload.conditions.clear();
    std::vector<Pod> pods = {PodOf("leader", "leader", 0)};
    for (std::int32_t i = 0; i < workers; ++i) {
      pods.push_back(PodOf("workers", "worker-" + std::to_string(i), i + 1));
      if (random.Below(8) == 0) pods.back().phase = "Failed";
      if (random.Below(8) == 0)
        pods.back().annotations = {{std::string(kWorkloadAnnotation), "other"}};
      if (random.Below(4) == 0) {
        pods.back().scheduling_gates.clear();
        pods.back().node_selector = {{std::string(kHostnameLabel), "node-1"}};
      }
    }
    random.Shuffle(pods);
    const auto here = UngateWorkload(workload, pods);
    const auto there = remote_->UngateWorkload(workload, pods);
    ASSERT_TRUE(here && there) << there.error().message;
    EXPECT_EQ(*there, *here) << "seed " << seed;
    ungated += here->size();
  }
  EXPECT_GT(ungated, 100u);
}

TEST_F(RemoteUngating, SaysWhichAnnotationIsNoNumber) {
  std::vector<Pod> pods = {PodOf("leader", "leader", 0)};
  pods[0].annotations.Set(kPodIndexOffsetAnnotation, "one");
  const auto ungated = remote_->UngateWorkload(AdmittedWorkload(1, true), pods);
  ASSERT_FALSE(ungated);
  EXPECT_EQ(ungated.error().error_class, ErrorClass::kBadInput);
  EXPECT_THAT(ungated.error().message, testing::HasSubstr("Pod team/leader: metadata.annotations"));
}

TEST_F(RemoteUngating, RefusesTwoPodsOfOneName) {
  const std::vector<Pod> pods(2, PodOf("leader", "leader", 0));
  const auto ungated = remote_->UngateWorkload(AdmittedWorkload(1, true), pods);
  ASSERT_FALSE(ungated);
  EXPECT_EQ(ungated.error().error_class, ErrorClass::kBadInput);
}

}  // namespace
}  // namespace espalier::ungating_test
