// An engine behind a connection, with the requests and answers of host/engine/engine.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/kueue/cycle/scheduling_cycle.hpp"
#include "host/kueue/objects/ungater.hpp"
#include "host/live/admitted_usage.hpp"
#include "host/model/result.hpp"
#include "host/what_if/dispatch.hpp"
#include "service/client/client_options.hpp"

namespace espalier {

// A summary of the state that a server holds.
struct StateSummary {
  struct Flavor {
    std::string name;
    std::vector<std::string> levels;  // label keys, coarsest first
    std::int64_t nodes = 0;           // nodes that it places on
  };
  std::uint64_t generation = 0;  // 0: nothing is loaded
  std::int64_t nodes = 0;
  std::vector<Flavor> flavors;           // flavors with a topology
  std::string kueue_configuration = {};  // as JSON; empty: none
};

class RemoteEngine {
 public:
  // Connects to a server. Errors: kBadInput for an invalid address, kUnavailable when no server
  // answers there within `timeout`, kNotFound when the peer does not speak espalier.v1. `timeout`
  // also bounds each later call.
  static Result<RemoteEngine> Connect(const std::string& address,
                                      std::chrono::milliseconds timeout = kCallTimeout,
                                      const ClientTls& tls = {});

  RemoteEngine(RemoteEngine&&) noexcept;
  RemoteEngine& operator=(RemoteEngine&&) noexcept;
  ~RemoteEngine();

  // Selects the server's state of that name for later calls; empty: the one without a name.
  void UseState(std::string name);

  // Replaces the state of the server by `input`, the workloads admitted beside it and the text of
  // Kueue's Configuration, which may be empty. Later Place calls are answered on it.
  Result<void> Load(const ClusterStateInput& input,
                    const std::vector<AdmittedUsage>& workloads = {},
                    const std::string& kueue_configuration = "");

  // Returns a summary of the state that the server holds, and lets later Place calls use whichever
  // state it holds when they are made.
  Result<StateSummary> UseStateOfServer();

  // Returns the level values of every leaf of a flavor in one state of the server, the current one.
  // Errors: kNotFound when it holds no such flavor with a topology; kStale when it changes over and
  // over while it is asked.
  Result<std::vector<std::vector<std::string>>> Leaves(const std::string& flavor);

  // Returns one answer per request, in order, as Engine::Place does with these gates on the loaded
  // state. The server's state does not change, not even in sequential mode. Errors: kStale when
  // someone else has changed it since Load.
  Result<std::vector<WorkloadAnswer>> Place(std::span<const WorkloadRequest> requests,
                                            PlacementMode mode, const FeatureGates& gates);

  // Answers like espalier::Dispatch on the server's states of these names, whatever they are by
  // now; `cluster` of a fit is a position in `states`, and one that is not loaded is unknown. Pod
  // sets of the fits have neither names nor heights.
  Result<std::vector<std::vector<ClusterFit>>> Dispatch(std::span<const std::string> states,
                                                        std::span<const WorkloadRequest> requests,
                                                        const FeatureGates& gates);

  // Answers like espalier::RunSchedulingCycles with the cluster's queues, admission checks and
  // workloads on the nodes, topologies, flavors and non-TAS usage of the loaded state, which has to
  // hold the flavors without a topology too. The result leaves the cluster empty. Errors: kStale as
  // for Place.
  Result<SchedulingCyclesResult> RunSchedulingCycles(const Cluster& cluster,
                                                     const FeatureGates& gates,
                                                     const SchedulingCyclesOptions& options);

  // Answers like espalier::UngateWorkload; needs no state. Errors: kBadInput also for two pods of
  // one name.
  Result<std::vector<UngatedPod>> UngateWorkload(const Workload& workload,
                                                 std::span<const Pod> pods);

 private:
  class Impl;
  explicit RemoteEngine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace espalier
