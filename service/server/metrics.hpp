// Serves metrics of a server to Prometheus over HTTP.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <grpcpp/support/server_interceptor.h>

#include "host/live/named_states.hpp"
#include "service/server/call_journal.hpp"
#include "service/server/calls.hpp"
#include "service/server/capacity_gauges.hpp"
#include "service/server/state_keeper.hpp"
#include "service/server/work_queue.hpp"
#include "service/wire/address.hpp"

namespace prometheus {
class Collectable;
class Exposer;
}  // namespace prometheus

namespace espalier {

class Acceptor;
class Access;
class Backend;
class ServerTls;

// The metrics of a server, all of which docs/operations.md lists. Calls are counted here; all other
// values are read from where they are kept when someone asks.
class Metrics {
 public:
  // The objects that values are read from; all must outlive the metrics.
  struct Sources {
    const NamedStates& states;
    const Calls& calls;
    const WorkQueue& queue;
    const WorkQueue& state_queue;
    const Backend& backend;
    const CapacityGauges& capacity;
    const CallJournal& journal;
    const Acceptor& acceptor;
    Access& access;                       // looked at with each scrape, as `tls`
    ServerTls* tls = nullptr;             // null: none
    const StateKeeper* keeper = nullptr;  // null: no state is kept on disk
    std::vector<std::string> services;    // full names of services whose calls are counted
    std::string version;
    std::string commit;
  };

  // Serves /metrics on `address`, which is TCP. Errors: kUnavailable when the address is taken or
  // not available.
  static Result<std::unique_ptr<Metrics>> Start(const Address& address, const Sources& sources);
  ~Metrics();  // takes up to two seconds, as civetweb looks no sooner whether it should stop

  // Returns HOST:PORT, with the port in use.
  const std::string& address() const { return address_; }

  // Returns an interceptor that counts every call of the services once it is over, however it
  // ended. It may outlive this object.
  std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeCallCounter() const;

 private:
  class CallCounts;

  Metrics(const Address& address, const Sources& sources);

  std::shared_ptr<CallCounts> call_counts_;
  std::shared_ptr<prometheus::Collectable> read_values_;
  std::unique_ptr<prometheus::Exposer> exposer_;
  std::string address_;
};

}  // namespace espalier
