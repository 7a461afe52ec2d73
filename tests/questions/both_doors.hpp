// Asks the same of a cluster of files and of a server that holds it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/live/usage_by_key.hpp"
#include "host/questions/local_questions.hpp"
#include "service/client/remote_questions.hpp"
#include "tests/kueue/running_cluster.hpp"
#include "tests/server/test_server.hpp"

namespace espalier {

enum class Door { kFiles, kServer };

inline std::string NameOf(const testing::TestParamInfo<Door>& door) {
  return door.param == Door::kFiles ? "Files" : "Server";
}

// Three racks of a host each with four accelerators; `one` holds a and b, `two` holds c.
class BothDoors : public testing::TestWithParam<Door> {
 protected:
  BothDoors() {
    cluster_.workloads = {RunningOn("one", 1, {{"a", 2}, {"b", 1}}),
                          RunningOn("two", 2, {{"c", 2}})};
  }

  // Returns who is asked about a cluster as it is now.
  std::shared_ptr<Questions> Open(const Cluster& cluster) {
    if (GetParam() == Door::kFiles) {
      auto local = LocalQuestions::Open(cluster, Engine(backend_, gates_));
      EXPECT_TRUE(local) << local.error().message;
      return *std::move(local);
    }
    ClusterStateInput input = BuildClusterStateInput(cluster, gates_);
    const std::vector<AdmittedUsage> workloads = TakeUsageByKey(cluster, input);
    server_ = std::make_unique<TestServer>(ServerOptions(), backend_);
    const grpc::Status loaded = server_->Load(input, nullptr, "", workloads);
    EXPECT_TRUE(loaded.ok()) << loaded.error_message();
    auto remote = RemoteQuestions::Connect(server_->server->addresses()[0], "", gates_);
    EXPECT_TRUE(remote) << remote.error().message;
    return *std::move(remote);
  }

  // Returns who is asked about cluster_ as it was when first asked.
  Questions& Asked() {
    if (asked_ == nullptr) asked_ = Open(cluster_);
    return *asked_;
  }

  static WorkloadRequest Gang(const std::string& name, std::int32_t pods,
                              const TopologyRequest& topology) {
    WorkloadRequest request;
    request.key = {"team", name};
    request.pod_sets = {{.name = "main",
                         .flavor = "tas",
                         .count = pods,
                         .requests = {{"gpu", 1}},
                         .topology_request = topology}};
    return request;
  }

  // The usage of an admitted workload, as one that may go.
  RunningWorkload Victim(const std::string& name) const {
    for (const RunningWorkload& running : RunningWorkloads(cluster_, {})) {
      if (running.key.name == name) return running;
    }
    ADD_FAILURE() << "no workload " << name;
    return {};
  }

  FeatureGates gates_;
  std::shared_ptr<Backend> backend_ = MakeCpuBackend(1);
  Cluster cluster_ = ThreeRacks();

 private:
  std::unique_ptr<TestServer> server_;
  std::shared_ptr<Questions> asked_;
};

}  // namespace espalier
