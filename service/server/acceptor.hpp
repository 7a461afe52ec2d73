// Accepts connections for a gRPC server, a bounded number of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <sys/types.h>

#include "host/model/result.hpp"
#include "service/wire/address.hpp"

namespace espalier {

// Lets this process open as many files as it may. Returns from which descriptor on a connection is
// one too many, so that some are left for all else.
int RaiseDescriptorLimit();

// Sockets that listen for a gRPC server. gRPC's own listeners stop for good where descriptors run
// out, and give all connections of a unix socket the same name. Here a connection beyond the bound
// is closed at once, the next one is accepted when there is room again, and every connection has a
// name of its own (`peer()` of a call's context) as long as it has calls. Thread-safe but for
// BindTcp, AddUnix, Start and Stop.
class Acceptor {
 public:
  // Connections whose descriptor would be `most` or more are closed; of TCP, those from seven
  // eighths of that on, so that no network keeps those out who are on the machine.
  explicit Acceptor(int most);
  ~Acceptor();  // calls Stop
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // Binds a TCP address, all addresses that its host has, and returns its port. Connections wait to
  // be accepted from then on. Errors: kUnavailable, with why.
  Result<int> BindTcp(const Address& address);
  // Takes over a unix socket that listens.
  void AddUnix(int socket);

  // Passes connections to `server`, which must be started and must outlive Stop: those of TCP
  // through `tcp`, which has the server's credentials for them.
  void Start(grpc::Server& server,
             std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> tcp);
  // Stops listening. Open connections stay. Must be called before the server is shut down.
  void Stop();

  // Returns whether the connection of that name is one of a unix socket.
  static bool IsUnix(std::string_view peer) { return peer.starts_with("fd:"); }

  // Returns the user at the other end of a unix socket, by the name of the connection; nullopt for
  // a connection of another kind. The connection must have a call that is not over.
  std::optional<uid_t> UserOf(std::string_view peer) const;

  // Ends the connection of that name, so that its calls are cancelled. It must have a call that is
  // not over.
  void Close(std::string_view peer);

  // Returns how many connections were accepted and not closed at once.
  std::int64_t accepted() const { return accepted_; }
  // Returns how many connections were closed because there were too many.
  std::int64_t refused() const { return refused_; }

 private:
  struct Listener {
    int socket = -1;
    bool is_unix = false;
  };
  struct Connection {
    int descriptor = -1;
    std::optional<uid_t> user;
  };

  void Run(grpc::Server& server);
  // Accepts one connection of many, so that every listener has its turn. Returns false where the
  // system has no descriptor for it.
  bool Accept(const Listener& listener, grpc::Server& server);
  void Remember(std::string name, const Connection& connection);

  const int most_;
  int stop_ = -1;  // eventfd
  std::vector<Listener> listeners_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> tcp_;
  std::thread thread_;
  std::atomic<std::int64_t> accepted_ = 0;
  std::atomic<std::int64_t> refused_ = 0;
  bool refuses_ = false;  // the latest one

  mutable std::mutex mutex_;  // guards both below
  // A name is of the connection that had it last. gRPC closes a descriptor behind the last call of
  // its connection, so that the name of a call's connection is not another's.
  std::unordered_map<std::string, Connection> connections_;
  std::unordered_map<int, std::string> names_;  // by descriptor
};

}  // namespace espalier
