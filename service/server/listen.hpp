// What gRPC does not tell or do about the addresses it listens on.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include <grpcpp/server.h>

#include "service/wire/address.hpp"

namespace espalier {

// A claim of a unix socket's path: a lock on the file PATH.lock beside it, so that of all servers
// that claim the path, by whatever spelling, one at a time has it. To be held from before the path
// is bound until after the socket is removed.
class UnixSocketClaim {
 public:
  // Locks the path and removes a socket that nobody listens on. Never waits. kUnavailable when
  // another server has or uses the path, when it is no socket, or when the lock file cannot be
  // made.
  static Result<UnixSocketClaim> Make(const std::string& path);

  UnixSocketClaim(UnixSocketClaim&& other) noexcept;
  UnixSocketClaim& operator=(UnixSocketClaim&&) = delete;
  ~UnixSocketClaim();  // removes the lock file

 private:
  UnixSocketClaim(std::string lock_path, int lock);

  std::string lock_path_;
  int lock_;  // descriptor; below 0: moved from
};

// A unix socket that accepts connections for a gRPC server. gRPC's own listeners give all
// connections of a socket one name; each of these has its own (`peer()` of a call's context), as
// those over TCP have, so that clients can be told apart.
class UnixListener {
 public:
  // Claims and binds the path. From then on connections wait to be accepted. kUnavailable.
  static Result<std::unique_ptr<UnixListener>> Bind(const std::string& path);
  ~UnixListener();  // Stop
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

  // Hands all connections to `server`, which has been started and outlives Stop.
  void Start(grpc::Server& server);
  // Accepts no more connections and removes the socket. Those that are open stay.
  void Stop();

 private:
  UnixListener(UnixSocketClaim claim, std::string path, int socket);
  void Accept(grpc::Server& server);

  UnixSocketClaim claim_;
  const std::string path_;
  int socket_;  // below 0: stopped
  std::thread thread_;
};

// Checks that nobody on the network can reach `address`: a unix socket, or a host of which every
// address is a loopback address. kBadInput when somebody may, kUnavailable when the host is
// unknown.
Result<void> CheckIsLocal(const Address& address);

// Why binding the TCP address fails, in words of the operating system; for error messages only.
std::string ExplainBindFailure(const Address& address);

}  // namespace espalier
