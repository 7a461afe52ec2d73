#include "service/server/listen.hpp"

#include <cerrno>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace espalier {
namespace {

class Socket {
 public:
  explicit Socket(int domain) : descriptor_(::socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// 0 or errno.
int TryConnect(const std::string& path) {
  const Socket socket(AF_UNIX);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return ::connect(socket.descriptor(), generic, sizeof(address)) == 0 ? 0 : errno;
}

tl::unexpected<Error> Unavailable(std::string message) {
  return tl::unexpected<Error>(Error{ErrorClass::kUnavailable, std::move(message)});
}

}  // namespace

Result<void> ClaimUnixSocket(const std::string& path) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0) return {};  // binding tells what else is wrong
  if (!S_ISSOCK(status.st_mode)) {
    return Unavailable(fmt::format(
        "cannot listen on unix:{}: the path exists and is no socket; choose another", path));
  }
  const int error = TryConnect(path);
  if (error == ECONNREFUSED) {
    ::unlink(path.c_str());
    return {};
  }
  return Unavailable(
      fmt::format("cannot listen on unix:{}: {}", path,
                  error == 0 ? "another server is listening there; stop it or choose another path"
                             : std::strerror(error)));
}

std::string ExplainBindFailure(const Address& address) {
  if (address.is_unix()) {
    const std::size_t slash = address.path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : address.path.substr(0, slash + 1);
    return ::access(folder.c_str(), W_OK | X_OK) == 0 ? "the socket cannot be made"
                                                      : std::strerror(errno);
  }
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
