// The gRPC server: espalier.v1 over an engine, on unix sockets and TCP at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/live/hold.hpp"
#include "host/live/state_position.hpp"
#include "host/model/result.hpp"
#include "service/server/call_journal.hpp"
#include "service/server/capacity_shape.hpp"
#include "service/server/request_log.hpp"
#include "service/server/server_tls.hpp"
#include "service/server/state_folder.hpp"

namespace espalier {

class Backend;
class HoldClock;

struct ServerOptions {
  // Addresses, at least one: "unix:/path/to/socket" or "HOST:PORT" ("[::1]:PORT"); port 0 takes a
  // free one.
  std::vector<std::string> listen;
  bool insecure = false;              // allows addresses that are not loopback without mutual TLS
  TlsPaths tls;                       // of all TCP addresses
  bool insecure_metrics = false;      // allows metrics on addresses that are not loopback
  std::string access;                 // file that says who may do what; empty: see class Access
  std::optional<mode_t> socket_mode;  // of the files of unix sockets; nullopt: by the umask
  std::string socket_group;           // name or number; empty: that of the process
  bool reflection = false;
  std::int64_t max_message_bytes = std::int64_t{64} << 20;  // 1 KiB to 2 GiB - 1, either way
  int workers = 0;             // calls computed at once, 1 to 1024; 0: one per core, at least 2
  int max_queued_calls = 256;  // calls waiting for a worker, 0 or more; one more is refused
  int max_states = 64;         // named states, beside the one without a name, 0 to 1024
  // Maximum bytes of all calls, connections and states together, and of one call; 0: three quarters
  // of what this process may use, and half of `memory`.
  std::int64_t memory = 0;
  std::int64_t call_memory = 0;
  // Time that a call may wait for its client, to send the next chunk or to read an answer.
  std::chrono::milliseconds patience = std::chrono::seconds(30);
  FeatureGates gates;  // defaults of requests
  // Gates as in "Name=true,Other=false" that win over those of a state's Configuration; `gates` has
  // them too.
  std::string named_gates;
  // HOST:PORT of Prometheus metrics, at /metrics; port 0 takes a free one. Empty: none.
  std::string metrics;
  std::vector<CapacityShape> capacity_shapes;  // whose capacity is among the metrics
  std::shared_ptr<HoldClock> hold_clock;       // by which holds expire; null: the machine's
  RequestLogOptions requests;                  // where requests are logged, if they are
  StateDirOptions state_dir;                   // where states are kept, if they are
  LoggedCalls logged_calls = LoggedCalls::kNone;
  std::string version;  // of the program, for the metrics and Info
  std::string commit;
};

// A running server. The standard health service knows the server, its services and, when the back
// end has a device, "device": not serving while there is no device and the CPU answers in its
// place.
class Server {
 public:
  // Starts a server that listens on every address, or on none. Errors: kBadInput for options out of
  // range, kUnavailable for an address that is taken or not available, and for certificates and
  // access rules that cannot be used. `backend` is never null.
  static Result<std::unique_ptr<Server>> Start(const ServerOptions& options,
                                               std::shared_ptr<Backend> backend);

  // Drains without patience: cancels running calls, then waits for them.
  ~Server();

  // Returns the limits in force, in a sentence.
  std::string DescribeLimits() const;

  // Returns the addresses of the options, with the ports in use instead of 0.
  const std::vector<std::string>& addresses() const;

  // Returns HOST:PORT of the metrics in the same way; empty when there are none. They are served
  // until the server is destroyed.
  std::string metrics_address() const;

  // Adds holds that a log says a state had; they last as long as a hold may. Returns the position
  // that they lead to. Errors: kNotFound, kStale, kBadInput as of StateStore::PlaceHolds.
  Result<StatePosition> AddHolds(const std::string& state_name, std::vector<Hold> holds);

  // Lets holds expire now. Returns the position that their end leads to. Errors: kNotFound, kStale,
  // kBadInput as of StateStore::ExtendHolds.
  Result<StatePosition> ExpireHolds(const std::string& state_name,
                                    const std::vector<std::string>& ids);

  // Reports "not serving", takes no more calls, lets those in flight finish for `patience` and
  // cancels the rest, whose computations stop at their next poll and are waited for a second more.
  // Returns true when no call was cut off. Later calls return the first one's result.
  bool Drain(std::chrono::milliseconds patience);

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace espalier
