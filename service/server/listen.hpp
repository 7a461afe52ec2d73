// What gRPC does not tell or do about the addresses it listens on.
#pragma once

#include <string>

#include "service/wire/address.hpp"

namespace espalier {

// A claim of a unix socket's path: a lock on the file PATH.lock beside it, so that of all servers
// that claim the path, by whatever spelling, one at a time has it. To be held from before the path
// is bound until after the socket is removed, as gRPC takes a socket over from a server that still
// uses it and removes at its end whatever is at the path.
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

// Checks that nobody on the network can reach `address`: a unix socket, or a host of which every
// address is a loopback address. kBadInput when somebody may, kUnavailable when the host is
// unknown.
Result<void> CheckIsLocal(const Address& address);

// Why binding the address fails, in words of the operating system; for error messages only.
std::string ExplainBindFailure(const Address& address);

}  // namespace espalier
