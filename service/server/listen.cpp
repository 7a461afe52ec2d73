#include "service/server/listen.hpp"

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace espalier {
namespace {

class Socket {
 public:
  explicit Socket(int domain, int flags = 0)
      : descriptor_(::socket(domain, SOCK_STREAM | SOCK_CLOEXEC | flags, 0)) {}
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// Returns 0 or errno. Never waits: EAGAIN when the queue of connections to accept is full.
int TryConnect(const std::string& path) {
  const Socket socket(AF_UNIX, SOCK_NONBLOCK);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return ::connect(socket.descriptor(), generic, sizeof(address)) == 0 ? 0 : errno;
}

tl::unexpected<Error> CannotListen(const std::string& path, std::string_view why) {
  return tl::unexpected<Error>(
      Error{ErrorClass::kUnavailable, fmt::format("cannot listen on unix:{}: {}", path, why)});
}

constexpr const char* kTaken = "another server is listening there; stop it or choose another path";
constexpr const char* kHung =
    "another server is there and accepts no connections; stop it or choose another path";

// Whether the locked file is the one that is at its path: the server that had the lock before may
// have removed it since it was opened.
bool IsAt(const std::string& path, int descriptor) {
  struct stat locked = {};
  struct stat present = {};
  return ::fstat(descriptor, &locked) == 0 && ::lstat(path.c_str(), &present) == 0 &&
         locked.st_dev == present.st_dev && locked.st_ino == present.st_ino;
}

// Returns the descriptor of the locked file, or -1 with errno set: EWOULDBLOCK when it is locked by
// someone else.
int Lock(const std::string& path) {
  while (true) {
    // A fifo or a link that someone put there is neither waited for nor followed.
    const int lock =
        ::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (lock < 0) return -1;
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0) {
      if (IsAt(path, lock)) return lock;
      ::close(lock);
      continue;
    }
    const int error = errno;
    ::close(lock);
    errno = error;
    return -1;
  }
}

}  // namespace

Result<UnixSocketClaim> UnixSocketClaim::Make(const std::string& path) {
  std::string lock_path = path + ".lock";
  const int lock = Lock(lock_path);
  if (lock < 0) {
    if (errno == EWOULDBLOCK) return CannotListen(path, kTaken);
    return CannotListen(
        path, fmt::format("its lock file {} cannot be made: {}", lock_path, std::strerror(errno)));
  }
  UnixSocketClaim claim(std::move(lock_path), lock);
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0) return claim;  // binding tells what else is wrong
  if (!S_ISSOCK(status.st_mode)) {
    return CannotListen(path, "the path exists and is no socket; choose another");
  }
  // A server that makes no claims may be there.
  const int error = TryConnect(path);
  if (error == 0) return CannotListen(path, kTaken);
  if (error == EAGAIN) return CannotListen(path, kHung);
  if (error != ECONNREFUSED) return CannotListen(path, std::strerror(error));
  ::unlink(path.c_str());
  return claim;
}

UnixSocketClaim::UnixSocketClaim(std::string lock_path, int lock)
    : lock_path_(std::move(lock_path)), lock_(lock) {}

UnixSocketClaim::UnixSocketClaim(UnixSocketClaim&& other) noexcept
    : lock_path_(std::move(other.lock_path_)), lock_(std::exchange(other.lock_, -1)) {}

UnixSocketClaim::~UnixSocketClaim() {
  if (lock_ < 0) return;
  ::unlink(lock_path_.c_str());  // while it is locked: behind that it may be another server's
  ::close(lock_);
}

std::string ExplainBindFailure(const Address& address) {
  if (address.is_unix()) return "the socket cannot be made";
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int resolved =
      ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (resolved != 0) return ::gai_strerror(resolved);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  const Socket socket(found->ai_family);
  const int yes = 1;
  ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (::bind(socket.descriptor(), found->ai_addr, found->ai_addrlen) == 0) {
    return "the address cannot be bound";
  }
  return std::strerror(errno);
}

}  // namespace espalier
