// Runs a server in this process, asked through a unix socket, for the benchmark suite's modes over
// the wire.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/scenarios/loaded_scenario.hpp"
#include "bench/scenarios/run_scenario.hpp"
#include "espalier/v1/cluster_state.grpc.pb.h"
#include "espalier/v1/dispatch.grpc.pb.h"
#include "espalier/v1/placement.grpc.pb.h"
#include "espalier/v1/questions.grpc.pb.h"
#include "host/engine/request.hpp"
#include "service/client/remote_engine.hpp"
#include "service/server/server.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/workloads.hpp"

namespace espalier {

// Leaves that an update of a controller changes, where it is not one.
inline constexpr std::size_t kLeavesOfUpdate = 1000;

// A folder for a socket; removed with this object.
class SocketFolder {
 public:
  SocketFolder();
  ~SocketFolder();
  SocketFolder(const SocketFolder&) = delete;
  SocketFolder& operator=(const SocketFolder&) = delete;

  bool made() const { return !path_.empty(); }
  std::string address() const { return "unix:" + path_ + "/socket"; }

 private:
  std::string path_;
};

// A server and clients of it; the server stops with this object.
class BenchServer {
 public:
  // Starts a server on a back end of its own and loads the scenario's cluster and usage into it.
  static Result<std::unique_ptr<BenchServer>> Start(const LoadedScenario& loaded,
                                                    const RunOptions& options);

  const ClusterStateInput& input() const { return input_; }
  const std::shared_ptr<Backend>& backend() const { return backend_; }
  RemoteEngine& remote() { return *remote_; }
  v1::Placement::Stub& placement() { return *placement_; }
  // Returns a client with a connection of its own.
  std::unique_ptr<v1::Placement::Stub> NewPlacement() const;
  v1::ClusterState::Stub& cluster_state() { return *cluster_state_; }
  v1::Dispatching::Stub& dispatching() { return *dispatching_; }
  v1::Questions::Stub& questions() { return *questions_; }

 private:
  BenchServer() = default;

  SocketFolder folder_;
  std::shared_ptr<Backend> backend_;
  std::unique_ptr<Server> server_;
  std::optional<RemoteEngine> remote_;
  std::unique_ptr<v1::Placement::Stub> placement_;
  std::unique_ptr<v1::ClusterState::Stub> cluster_state_;
  std::unique_ptr<v1::Dispatching::Stub> dispatching_;
  std::unique_ptr<v1::Questions::Stub> questions_;
  ClusterStateInput input_;
};

// Returns a request that nominates these gangs, whose answers name leaves by number.
Result<v1::PlaceRequest> NominateByNumber(std::vector<WorkloadRequest> requests,
                                          const FeatureGates& gates);

// Returns a function that finds leaves of one flavor by their values; `snapshot` must outlive it.
LeafIndex LeavesOf(const FlavorSnapshot& snapshot);

}  // namespace espalier
