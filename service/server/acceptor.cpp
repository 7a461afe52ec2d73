#include "service/server/acceptor.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <grpcpp/server_posix.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace espalier {
namespace {

// Descriptors that are left for all else: files, and the connections of those who read metrics.
constexpr int kSpareDescriptors = 256;
constexpr int kMostDescriptors = 1 << 20;
// The time that nothing is accepted where the system itself has no descriptor left.
constexpr int kOutOfDescriptorsMilliseconds = 10;

tl::unexpected<Error> Unavailable(const char* why) {
  return tl::unexpected<Error>(Error{ErrorClass::kUnavailable, why});
}

void SetOption(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof(value));
}

// Returns the port in network order, which both families have at the same place.
std::uint16_t& PortOf(sockaddr& address) {
  return address.sa_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                       : reinterpret_cast<sockaddr_in&>(address).sin_port;
}

int BoundPort(int socket) {
  sockaddr_storage name = {};
  socklen_t size = sizeof(name);
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&name), &size) != 0) return 0;
  return ntohs(PortOf(reinterpret_cast<sockaddr&>(name)));
}

// Returns a socket that listens, or -1 with errno set.
int Listen(const addrinfo& address) {
  const int socket =
      ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol);
  if (socket < 0) return -1;
  SetOption(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.ai_family == AF_INET6) SetOption(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (::bind(socket, address.ai_addr, address.ai_addrlen) == 0 &&
      ::listen(socket, SOMAXCONN) == 0) {
    return socket;
  }
  const int error = errno;
  ::close(socket);
  errno = error;
  return -1;
}

// The name that gRPC gives to a TCP connection.
std::string TcpName(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.ss_family == AF_INET) {
    const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &ipv4.sin_addr, text, sizeof(text));
    return fmt::format("ipv4:{}:{}", text, ntohs(ipv4.sin_port));
  }
  const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(address);
  if (IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr)) {
    ::inet_ntop(AF_INET, &ipv6.sin6_addr.s6_addr[12], text, sizeof(text));
    return fmt::format("ipv4:{}:{}", text, ntohs(ipv6.sin6_port));
  }
  ::inet_ntop(AF_INET6, &ipv6.sin6_addr, text, sizeof(text));
  return fmt::format("ipv6:%5B{}%5D:{}", text, ntohs(ipv6.sin6_port));
}

std::optional<uid_t> UserAt(int connection) {
  ucred user = {};
  socklen_t size = sizeof(user);
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &user, &size) != 0) return std::nullopt;
  return user.uid;
}

}  // namespace

int RaiseDescriptorLimit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMostDescriptors;
  if (limit.rlim_cur < limit.rlim_max) {
    const rlimit raised{std::min<rlim_t>(limit.rlim_max, kMostDescriptors), limit.rlim_max};
    if (raised.rlim_cur > limit.rlim_cur && ::setrlimit(RLIMIT_NOFILE, &raised) == 0) {
      limit = raised;
    }
  }
  const auto all = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, kMostDescriptors));
  return std::max(all - kSpareDescriptors, all / 2);
}

Acceptor::Acceptor(int most) : most_(most), stop_(::eventfd(0, EFD_CLOEXEC)) {}

Acceptor::~Acceptor() {
  Stop();
  ::close(stop_);
}

Result<int> Acceptor::BindTcp(const Address& address) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* resolved = nullptr;
  const int error =
      ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &resolved);
  if (error != 0) return Unavailable(::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(resolved, &::freeaddrinfo);
  int port = address.port;
  bool bound = false;
  int why = 0;
  for (const addrinfo* each = found.get(); each != nullptr; each = each->ai_next) {
    PortOf(*each->ai_addr) = htons(static_cast<std::uint16_t>(port));
    const int socket = Listen(*each);
    if (socket < 0) {
      why = errno;
      if (why == EADDRINUSE) break;  // another server has a part of it
      continue;                      // a family that this machine does not have
    }
    port = BoundPort(socket);
    bound = true;
    listeners_.push_back({socket, false});
  }
  if (!bound || why == EADDRINUSE) return Unavailable(std::strerror(why));
  return port;
}

void Acceptor::AddUnix(int socket) { listeners_.push_back({socket, true}); }

void Acceptor::Start(grpc::Server& server,
                     std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> tcp) {
  tcp_ = std::move(tcp);
  thread_ = std::thread([this, &server] { Run(server); });
}

void Acceptor::Stop() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(stop_, &one, sizeof(one));
    thread_.join();
  }
  for (const Listener& listener : listeners_) ::close(listener.socket);
  listeners_.clear();
}

void Acceptor::Run(grpc::Server& server) {
  std::vector<pollfd> watched = {{stop_, POLLIN, 0}};
  for (const Listener& listener : listeners_) watched.push_back({listener.socket, POLLIN, 0});
  while (true) {
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;  // a signal
    if (watched[0].revents != 0) return;
    bool has_descriptors = true;
    for (std::size_t i = 0; i < listeners_.size(); ++i) {
      if (watched[i + 1].revents != 0) has_descriptors &= Accept(listeners_[i], server);
    }
    if (!has_descriptors) ::poll(watched.data(), 1, kOutOfDescriptorsMilliseconds);
  }
}

bool Acceptor::Accept(const Listener& listener, grpc::Server& server) {
  sockaddr_storage name = {};
  socklen_t size = sizeof(name);
  const int connection = ::accept4(listener.socket, reinterpret_cast<sockaddr*>(&name), &size,
                                   SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (connection < 0) {
    return errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM;
  }
  // The system gives the lowest number that is free: all below this one are in use.
  const bool too_many = connection >= (listener.is_unix ? most_ : most_ - most_ / 8);
  if (too_many) {
    ++refused_;
    ::close(connection);
    if (!std::exchange(refuses_, true)) {
      spdlog::warn("{} descriptors are in use: further connections are closed at once", connection);
    }
    return true;
  }
  refuses_ = false;
  ++accepted_;
  if (listener.is_unix) {
    Remember(fmt::format("fd:{}", connection), {connection, UserAt(connection)});
    grpc::AddInsecureChannelFromFd(&server, connection);
    return true;
  }
  SetOption(connection, IPPROTO_TCP, TCP_NODELAY, 1);
  Remember(TcpName(name), {connection, std::nullopt});
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
  parameters.listener_fd = listener.socket;
  parameters.fd = connection;
  tcp_->HandleNewConnection(&parameters);
  return true;
}

void Acceptor::Remember(std::string name, const Connection& connection) {
  const std::lock_guard lock(mutex_);
  std::string& of_descriptor = names_[connection.descriptor];
  const auto before = connections_.find(of_descriptor);
  if (before != connections_.end() && before->second.descriptor == connection.descriptor) {
    connections_.erase(before);
  }
  connections_[name] = connection;
  of_descriptor = std::move(name);
}

std::optional<uid_t> Acceptor::UserOf(std::string_view peer) const {
  const std::lock_guard lock(mutex_);
  const auto found = connections_.find(std::string(peer));
  return found == connections_.end() ? std::nullopt : found->second.user;
}

void Acceptor::Close(std::string_view peer) {
  const std::lock_guard lock(mutex_);
  const auto found = connections_.find(std::string(peer));
  if (found != connections_.end()) ::shutdown(found->second.descriptor, SHUT_RDWR);
}

}  // namespace espalier
