// An engine behind a connection: the same requests, the same answers as host/engine/engine.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/kueue/scheduling_cycle.hpp"
#include "host/kueue/ungater.hpp"
#include "host/model/result.hpp"

namespace espalier {

// What a server holds, in outline.
struct RemoteState {
  struct Flavor {
    std::string name;
    std::vector<std::string> levels;  // label keys, coarsest first
    std::int64_t nodes = 0;           // those it places on
  };
  std::uint64_t generation = 0;  // 0: nothing is loaded
  std::int64_t nodes = 0;
  std::vector<Flavor> flavors;  // those with a topology
};

class RemoteEngine {
 public:
  // Errors: kBadInput for an address that is none, kUnavailable when no server answers there
  // within `timeout`, kNotFound when what answers does not speak espalier.v1. `timeout` also
  // bounds each later call.
  static Result<RemoteEngine> Connect(const std::string& address,
                                      std::chrono::milliseconds timeout = std::chrono::minutes(5));

  RemoteEngine(RemoteEngine&&) noexcept;
  RemoteEngine& operator=(RemoteEngine&&) noexcept;
  ~RemoteEngine();

  // Makes `input` the state of the server, in place of what it held, and of the later Place calls.
  Result<void> Load(const ClusterStateInput& input);

  // Returns what the server holds, and makes later Place calls ask it, whatever it is by then.
  Result<RemoteState> UseStateOfServer();

  // The level values of every leaf of a flavor, as the server holds it now. kNotFound when it holds
  // no such flavor with a topology.
  Result<std::vector<std::vector<std::string>>> Leaves(const std::string& flavor);

  // One answer per request, in order, as Engine::Place with these gates on the loaded state. The
  // server's state stays as it was, in sequential mode too. kStale when someone else has changed
  // it since Load.
  Result<std::vector<WorkloadAnswer>> Place(std::span<const WorkloadRequest> requests,
                                            PlacementMode mode, const FeatureGates& gates);

  // As espalier::RunSchedulingCycles with the cluster's queues, admission checks and workloads on
  // the nodes, topologies, flavors and non-TAS usage of the loaded state, which has to hold the
  // flavors without a topology too. The result leaves the cluster empty. kStale as Place.
  Result<SchedulingCyclesResult> RunSchedulingCycles(const Cluster& cluster,
                                                     const FeatureGates& gates,
                                                     const SchedulingCyclesOptions& options);

  // As espalier::UngateWorkload; needs no state. kBadInput also for two pods of one name.
  Result<std::vector<UngatedPod>> UngateWorkload(const Workload& workload,
                                                 std::span<const Pod> pods);

 private:
  class Impl;
  explicit RemoteEngine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace espalier
