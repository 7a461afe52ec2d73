// What operators watch of a server: figures for Prometheus, over HTTP.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <grpcpp/support/server_interceptor.h>

#include "service/server/calls.hpp"
#include "service/server/state_store.hpp"
#include "service/server/work_queue.hpp"
#include "service/wire/address.hpp"

namespace prometheus {
class Collectable;
class Exposer;
}  // namespace prometheus

namespace espalier {

class Backend;

// docs/operations.md lists every metric. Calls are counted here; all other values stay where they
// are and are read when someone asks.
class Metrics {
 public:
  // All outlive the metrics.
  struct Sources {
    const StateStore& store;
    const Calls& calls;
    const WorkQueue& queue;
    const Backend& backend;
    std::vector<std::string> services;  // full names of those whose calls are counted
    std::string version;
    std::string commit;
  };

  // Serves /metrics on `address`, which is TCP. kUnavailable when it is taken or not to be had.
  static Result<std::unique_ptr<Metrics>> Start(const Address& address, const Sources& sources);
  ~Metrics();  // takes up to two seconds, as civetweb looks no sooner whether it should stop

  // HOST:PORT, with the port in use.
  const std::string& address() const { return address_; }

  // Counts every call of the services once it is over, however it ended. May outlive this.
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
