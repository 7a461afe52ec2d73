#include "service/server/listen.hpp"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/model/excerpt.hpp"

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
  int Release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

// Calls connect or bind with a unix path. Returns 0 or errno.
int WithPath(int (*call)(int, const sockaddr*, socklen_t), int socket, const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return call(socket, generic, sizeof(address)) == 0 ? 0 : errno;
}

// Returns 0 or errno. Never waits: EAGAIN when the queue of connections to accept is full.
int TryConnect(const std::string& path) {
  const Socket socket(AF_UNIX, SOCK_NONBLOCK);
  return WithPath(&::connect, socket.descriptor(), path);
}

tl::unexpected<Error> CannotListen(const std::string& path, std::string_view why) {
  return tl::unexpected<Error>(
      Error{ErrorClass::kUnavailable, fmt::format("cannot listen on unix:{}: {}", path, why)});
}

constexpr const char* kTaken = "another server is listening there; stop it or choose another path";
constexpr const char* kHung =
    "another server is there and accepts no connections; stop it or choose another path";

// Returns whether the locked file is the one that is at its path: the server that had the lock
// before may have removed it since it was opened.
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

using Resolved = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// Returns the addresses of a host, at least one. kUnavailable.
Result<Resolved> Resolve(const Address& address) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error =
      ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (error == 0) return Resolved(found, &::freeaddrinfo);
  return tl::unexpected<Error>(Error{ErrorClass::kUnavailable, ::gai_strerror(error)});
}

bool IsLoopback(const sockaddr& address) {
  const auto in_loopback_net = [](std::uint32_t ipv4) { return ipv4 >> 24 == 127; };
  if (address.sa_family == AF_INET) {
    return in_loopback_net(ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr));
  }
  if (address.sa_family != AF_INET6) return false;
  const in6_addr& ipv6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  if (!IN6_IS_ADDR_V4MAPPED(&ipv6)) return IN6_IS_ADDR_LOOPBACK(&ipv6);
  return in_loopback_net(static_cast<std::uint32_t>(ipv6.s6_addr[12]) << 24);
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
    return CannotListen(path, "the path exists and is not a socket; choose another");
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

Result<gid_t> FindGroup(const std::string& group) {
  gid_t number = 0;
  const auto [end, error] = std::from_chars(group.data(), group.data() + group.size(), number);
  if (error == std::errc() && end == group.data() + group.size()) return number;
  if (const struct group* found = ::getgrnam(group.c_str())) return found->gr_gid;
  return BadInput(
      fmt::format("there is no group \"{}\"; want the name or number of one", Excerpt(group)));
}

Result<std::unique_ptr<UnixListener>> UnixListener::Bind(const std::string& path,
                                                         const SocketAccess& access) {
  auto claim = UnixSocketClaim::Make(path);
  if (!claim) return tl::unexpected(claim.error());
  Socket socket(AF_UNIX, SOCK_NONBLOCK);
  if (const int error = WithPath(&::bind, socket.descriptor(), path); error != 0) {
    return CannotListen(path, std::strerror(error));
  }
  // Nobody can connect before it listens.
  if (access.group && ::chown(path.c_str(), static_cast<uid_t>(-1), *access.group) != 0) {
    const std::string why = std::strerror(errno);
    ::unlink(path.c_str());
    return CannotListen(path,
                        fmt::format("it cannot be given to group {}: {}", *access.group, why));
  }
  if (access.mode && ::chmod(path.c_str(), *access.mode) != 0) {
    const std::string why = std::strerror(errno);
    ::unlink(path.c_str());
    return CannotListen(path, fmt::format("its mode cannot be set: {}", why));
  }
  if (::listen(socket.descriptor(), SOMAXCONN) != 0) {
    return CannotListen(path, std::strerror(errno));
  }
  return std::unique_ptr<UnixListener>(new UnixListener(*std::move(claim), path, socket.Release()));
}

UnixListener::UnixListener(UnixSocketClaim claim, std::string path, int socket)
    : claim_(std::move(claim)), path_(std::move(path)), socket_(socket) {}

UnixListener::~UnixListener() {
  Stop();
  if (socket_ >= 0) ::close(socket_);
}

void UnixListener::Stop() {
  if (!path_.empty()) ::unlink(std::exchange(path_, {}).c_str());
}

Result<void> CheckIsLocal(const Address& address, Reached what) {
  if (address.is_unix()) return {};
  const auto found = Resolve(address);
  if (!found) {
    return tl::unexpected<Error>(
        Error{ErrorClass::kUnavailable,
              fmt::format("cannot listen on {}: {}", address.ToString(), found.error().message)});
  }
  for (const addrinfo* each = found->get(); each != nullptr; each = each->ai_next) {
    if (IsLoopback(*each->ai_addr)) continue;
    return BadInput(
        what == Reached::kMetrics
            ? fmt::format("{} can be reached from the network, and metrics have no encryption; "
                          "serve them on a loopback address such as 127.0.0.1:{}, or allow it with "
                          "--insecure-metrics",
                          address.ToString(), address.port)
            : fmt::format(
                  "{} can be reached from the network, where everyone could read and change "
                  "what is sent without encryption; give --tls-cert, --tls-key and "
                  "--tls-client-ca, listen on a unix socket or a loopback address such as "
                  "127.0.0.1:{}, or allow it with --insecure",
                  address.ToString(), address.port));
  }
  return {};
}

std::string ExplainBindFailure(const Address& address) {
  const auto found = Resolve(address);
  if (!found) return found.error().message;
  const addrinfo& first = **found;
  const Socket socket(first.ai_family);
  const int yes = 1;
  ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (::bind(socket.descriptor(), first.ai_addr, first.ai_addrlen) == 0) {
    return "the address cannot be bound";
  }
  return std::strerror(errno);
}

}  // namespace espalier
