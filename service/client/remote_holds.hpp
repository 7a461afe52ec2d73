// The holds of a server's state.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/engine/request.hpp"
#include "host/live/lost_holds.hpp"
#include "host/live/state_delta.hpp"
#include "host/model/result.hpp"
#include "host/model/workload.hpp"
#include "service/client/client_options.hpp"

namespace espalier {

// A hold as a server tells of it.
struct RemoteHold {
  std::string id;
  ObjectKey workload;
  std::string owner;
  std::int64_t age_seconds = 0;
  std::int64_t seconds_left = 0;
  std::int64_t pods = 0;
};

// Errors of all calls are also those of a server that does not answer. A call on several holds
// changes all of them or none; the error names those that are none (kNotFound; kBadInput for one
// that was confirmed before).
class RemoteHolds {
 public:
  // Opens a channel to the state of a name; empty: the one without. `timeout` bounds each call.
  // Errors: those of Connection::Open.
  static Result<RemoteHolds> Connect(const std::string& address, std::string state_name,
                                     std::chrono::milliseconds timeout = kCallTimeout,
                                     const ClientTls& tls = {});

  RemoteHolds(RemoteHolds&&) noexcept;
  RemoteHolds& operator=(RemoteHolds&&) noexcept;
  ~RemoteHolds();

  // Answers requests in order on the current state and holds what is placed. Errors: kStale when
  // the state changed meanwhile; kBadInput when a workload that is placed has a hold already.
  struct Placed {
    std::vector<WorkloadAnswer> answers;
    std::vector<std::string> ids;  // of holds, by request; empty: nothing is held
  };
  Result<Placed> Place(std::span<const WorkloadRequest> requests, std::int64_t hold_seconds,
                       const std::string& owner, const FeatureGates& gates);

  // Returns the holds by id. Errors: kStale when nothing is loaded.
  Result<std::vector<RemoteHold>> List();

  // Ends holds in whose place `delta` reports usage or, where it is `reported`, an earlier update
  // did. Returns other holds that `delta` broke.
  Result<std::vector<LostHold>> Confirm(const std::vector<std::string>& ids,
                                        const StateDelta& delta, bool reported = false);
  Result<void> Release(const std::vector<std::string>& ids);
  Result<void> Extend(const std::vector<std::string>& ids, std::int64_t hold_seconds);

 private:
  class Impl;
  explicit RemoteHolds(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace espalier
