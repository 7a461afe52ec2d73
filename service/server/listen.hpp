// Does what gRPC does not do for the addresses it listens on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <sys/types.h>

#include "service/wire/address.hpp"

namespace espalier {

// A claim of a unix socket's path: a lock on the file PATH.lock beside it, so that only one server
// at a time has the path, however it is spelled. Must be held from before the path is bound until
// after the socket is removed.
class UnixSocketClaim {
 public:
  // Locks the path and removes a socket that nobody listens on. Never waits. Errors: kUnavailable
  // when another server has or uses the path, when it is not a socket, or when the lock file cannot
  // be made.
  static Result<UnixSocketClaim> Make(const std::string& path);

  UnixSocketClaim(UnixSocketClaim&& other) noexcept;
  UnixSocketClaim& operator=(UnixSocketClaim&&) = delete;
  ~UnixSocketClaim();  // removes the lock file

 private:
  UnixSocketClaim(std::string lock_path, int lock);

  std::string lock_path_;
  int lock_;  // descriptor; negative: moved from
};

// The access to a unix socket, as its file says who may connect.
struct SocketAccess {
  std::optional<mode_t> mode;  // nullopt: what the umask leaves
  std::optional<gid_t> group;  // nullopt: that of the process
};

// Returns the group of that name or number. kBadInput when there is none.
Result<gid_t> FindGroup(const std::string& group);

// A unix socket that listens, under a path of its own.
class UnixListener {
 public:
  // Claims and binds the path. Connections wait to be accepted from then on, of those whom `access`
  // lets in. Errors: kUnavailable.
  static Result<std::unique_ptr<UnixListener>> Bind(const std::string& path,
                                                    const SocketAccess& access = {});
  ~UnixListener();  // calls Stop
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

  // Hands the descriptor over to the caller, who closes it.
  int Release() { return std::exchange(socket_, -1); }
  // Removes the socket from its path.
  void Stop();

 private:
  UnixListener(UnixSocketClaim claim, std::string path, int socket);

  UnixSocketClaim claim_;
  std::string path_;  // empty: removed
  int socket_;        // negative: released
};

// The service at an address; for error messages only.
enum class Reached { kCalls, kMetrics };

// Checks that nobody on the network can reach `address`: a unix socket, or a host of which every
// address is a loopback address. Errors: kBadInput when somebody may, kUnavailable when the host is
// unknown.
Result<void> CheckIsLocal(const Address& address, Reached what = Reached::kCalls);

// Returns why binding the TCP address fails, in words of the operating system; for error messages
// only.
std::string ExplainBindFailure(const Address& address);

}  // namespace espalier
