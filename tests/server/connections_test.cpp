// Connections of a server: how many there are, what they are called, and what they may do at once.
#include <condition_variable>
#include <cstdint>
#include <fstream>
#include <map>
#include <mutex>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <grpcpp/generic/async_generic_service.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "service/server/acceptor.hpp"
#include "service/server/access.hpp"
#include "service/server/arrivals.hpp"
#include "service/server/listen.hpp"
#include "tests/attack/http2.hpp"
#include "tests/server/health_client.hpp"
#include "tests/server/test_server.hpp"

namespace espalier::connections_test {
namespace {

using attack::DeafConnection;

int ConnectTcp(int port, int family = AF_INET) {
  const int connection = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in ipv4 = {};
  ipv4.sin_family = AF_INET;
  ipv4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ipv4.sin_port = htons(static_cast<std::uint16_t>(port));
  sockaddr_in6 ipv6 = {};
  ipv6.sin6_family = AF_INET6;
  ipv6.sin6_addr = IN6ADDR_LOOPBACK_INIT;
  ipv6.sin6_port = ipv4.sin_port;
  const bool is_ipv4 = family == AF_INET;
  const auto* name =
      is_ipv4 ? reinterpret_cast<const sockaddr*>(&ipv4) : reinterpret_cast<const sockaddr*>(&ipv6);
  if (::connect(connection, name, is_ipv4 ? sizeof(ipv4) : sizeof(ipv6)) == 0) return connection;
  ::close(connection);
  return -1;
}

int ConnectUnix(const std::string& path) {
  const int connection = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof(name.sun_path) - 1);
  EXPECT_EQ(::connect(connection, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
  return connection;
}

int PortOf(const std::string& address) { return std::stoi(address.substr(address.rfind(':') + 1)); }

// Waits until the other side has closed the connection; whatever it says before is passed over.
void WaitUntilClosed(int connection) {
  char bytes[256];
  while (::recv(connection, bytes, sizeof(bytes), 0) > 0) {
  }
}

// Takes every call and answers none until Finish.
class HeldCalls : public grpc::CallbackGenericService {
 public:
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    const std::lock_guard lock(mutex_);
    peers_.push_back(context->peer());
    calls_.push_back(new Call(*this));
    changed_.notify_all();
    return calls_.back();
  }

  // Waits for that many calls and returns the names of their connections.
  std::vector<std::string> WaitForCalls(std::size_t calls) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return peers_.size() >= calls; });
    return peers_;
  }
  void WaitForCancelled(int calls) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return cancelled_ >= calls; });
  }
  void Finish() {
    std::vector<Call*> calls;
    {
      const std::lock_guard lock(mutex_);
      calls.swap(calls_);
    }
    for (Call* call : calls) call->Finish(grpc::Status::OK);
  }

 private:
  class Call final : public grpc::ServerGenericBidiReactor {
   public:
    explicit Call(HeldCalls& held) : held_(held) {}
    void OnCancel() override {
      const std::lock_guard lock(held_.mutex_);
      ++held_.cancelled_;
      held_.changed_.notify_all();
    }
    void OnDone() override { delete this; }

   private:
    HeldCalls& held_;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> peers_;
  std::vector<Call*> calls_;
  int cancelled_ = 0;
};

// A gRPC server that an acceptor passes connections to.
class Accepting {
 public:
  explicit Accepting(int most, int most_calls = 1 << 20) : acceptor(most) {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    builder.RegisterCallbackGenericService(&held);
    auto tcp = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        grpc::InsecureServerCredentials());
    std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> watchers;
    watchers.push_back(MakeArrivals(acceptor, most_calls, *Access::Open("")));
    builder.experimental().SetInterceptorCreators(std::move(watchers));
    server_ = builder.BuildAndStart();
    Address address;
    address.host = "127.0.0.1";
    port = acceptor.BindTcp(address).value();
    listener_ = UnixListener::Bind(path).value();
    acceptor.AddUnix(listener_->Release());
    acceptor.Start(*server_, std::move(tcp));
  }
  ~Accepting() {
    held.Finish();
    acceptor.Stop();
    server_->Shutdown();
  }

  HeldCalls held;
  Acceptor acceptor;
  int port = 0;
  const std::string path = SocketAddress("accepting").substr(5);

 private:
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<UnixListener> listener_;
};

int OutOfTheWay(int descriptor) {
  const int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 500);
  ::close(descriptor);
  return moved;
}

int NextDescriptor() {
  const int next = ::dup(0);
  ::close(next);
  return next;
}

// With as many connections as there may be the next one is closed at once; once some are gone,
// everybody gets in again. The unix socket has room where TCP has none.
TEST(Connections, AreBoundedAndAcceptedAgain) {
  const int before = NextDescriptor();
  Accepting server(before + 80);
  std::vector<int> silent;
  // The other ends are of this process too, out of the way of those that are bounded.
  for (int i = 0; i < 80; ++i) silent.push_back(OutOfTheWay(ConnectTcp(server.port)));
  WaitUntilClosed(silent.back());
  const int further = OutOfTheWay(ConnectTcp(server.port));
  WaitUntilClosed(further);
  EXPECT_GE(server.acceptor.refused(), 2);
  ::close(further);
  DeafConnection local(OutOfTheWay(ConnectUnix(server.path)));
  local.Ask("/any/Method", "");
  EXPECT_EQ(server.held.WaitForCalls(1).size(), 1u);
  for (const int connection : silent) ::close(connection);

  const auto channel = grpc::CreateChannel("127.0.0.1:" + std::to_string(server.port),
                                           grpc::InsecureChannelCredentials());
  EXPECT_TRUE(
      channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::minutes(5)));
  EXPECT_EQ(HealthClient(channel).Check(""), "SERVING");
}

// The name says who is at the other end (UserOf), so that it must not be another's while a call
// may still be asked about.
TEST(Connections, KeepTheirNamesWhileTheyHaveCalls) {
  Accepting server(1 << 20);
  {
    DeafConnection gone(server.path);
    gone.Ask("/any/Method", "");
    server.held.WaitForCalls(1);
  }
  server.held.WaitForCancelled(1);
  std::vector<std::unique_ptr<DeafConnection>> others;
  for (int i = 0; i < 10; ++i) {
    others.push_back(std::make_unique<DeafConnection>(server.path));
    others.back()->Ask("/any/Method", "");
  }
  const std::vector<std::string> names = server.held.WaitForCalls(11);
  for (std::size_t i = 1; i < names.size(); ++i) EXPECT_NE(names[i], names[0]);
  EXPECT_EQ(server.acceptor.UserOf(names[1]), ::geteuid());
}

TEST(Connections, OfEveryKindCanBeClosedByName) {
  Accepting server(1 << 20);
  std::size_t calls = 0;
  for (const int socket : {ConnectUnix(server.path), ConnectTcp(server.port)}) {
    DeafConnection connection(socket);
    connection.Ask("/any/Method", "");
    const std::string name = server.held.WaitForCalls(++calls).back();
    server.acceptor.Close(name);
    connection.WaitUntilClosed();
  }
  server.acceptor.Close("fd:nobody");
  server.acceptor.Close("");
}

TEST(Connections, OfIpv6CanBeClosedByName) {
  Acceptor probe(1 << 20);
  Address address;
  address.host = "::1";
  const auto port = probe.BindTcp(address);
  if (!port) GTEST_SKIP() << "no IPv6 here: " << port.error().message;
  HeldCalls held;
  grpc::ServerBuilder builder;
  builder.RegisterCallbackGenericService(&held);
  auto tcp = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc::InsecureServerCredentials());
  const auto server = builder.BuildAndStart();
  probe.Start(*server, std::move(tcp));
  DeafConnection connection(ConnectTcp(*port, AF_INET6));
  connection.Ask("/any/Method", "");
  probe.Close(held.WaitForCalls(1).back());
  connection.WaitUntilClosed();
  held.Finish();
  probe.Stop();
  server->Shutdown();
}

// Returns the settings that the other side of a connection begins with, by their numbers.
std::map<std::uint64_t, std::uint64_t> ReadSettings(int connection) {
  const auto read = [&](std::size_t size) {
    std::string bytes(size, '\0');
    EXPECT_EQ(::recv(connection, bytes.data(), size, MSG_WAITALL), static_cast<ssize_t>(size));
    return bytes;
  };
  const auto number = [](const std::string& bytes, std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = at; i < at + size; ++i) {
      value = value << 8 | static_cast<unsigned char>(bytes.at(i));
    }
    return value;
  };
  const std::string header = read(9);
  EXPECT_EQ(number(header, 3, 1), 4U) << "no frame of settings";
  const std::string payload = read(number(header, 0, 3));
  std::map<std::uint64_t, std::uint64_t> settings;
  for (std::size_t at = 0; at + 6 <= payload.size(); at += 6) {
    settings[number(payload, at, 2)] = number(payload, at + 2, 4);
  }
  return settings;
}

// Clients keep to what the server announces; it is what the docs say.
TEST(Connections, HaveAsManyCallsAtATimeAsTheDocsSay) {
  std::ostringstream docs;
  docs << std::ifstream(ESPALIER_SOURCE_DIR "/docs/operations.md").rdbuf();
  const std::string text = docs.str();
  std::smatch row;
  ASSERT_TRUE(std::regex_search(
      text, row, std::regex("\\| calls of one connection at a time \\| ([0-9]+),([0-9]{3});")));
  const std::uint64_t most = std::stoull(row[1].str() + row[2].str());
  constexpr std::uint64_t kMaxConcurrentStreams = 3;
  ServerOptions options;
  options.listen = {"127.0.0.1:0", SocketAddress("streams")};
  TestServer server(options);
  for (const int socket : {ConnectTcp(PortOf(server.server->addresses()[0])),
                           ConnectUnix(server.server->addresses()[1].substr(5))}) {
    const DeafConnection connection(socket);
    EXPECT_EQ(ReadSettings(socket).at(kMaxConcurrentStreams), most);
  }
}

TEST(Connections, ThatSayNothingDoNotHoldUpTheEnd) {
  TestServer server;
  const int silent = ConnectTcp(PortOf(server.server->addresses()[0]));
  EXPECT_EQ(server.Summary().nodes(), 0);  // it has been accepted
  server.server.reset();
  WaitUntilClosed(silent);
  ::close(silent);
}

// A call that is taken back is under way until the server has seen that; a client that makes more
// of them than the server ends is sent away, and others are answered.
TEST(Connections, ThatTakeBackMoreCallsThanEndAreClosed) {
  constexpr std::size_t kMostCalls = 20;
  Accepting server(1 << 20, kMostCalls);
  std::size_t calls = 0;
  for (const bool is_tcp : {true, false}) {
    DeafConnection connection(is_tcp ? ConnectTcp(server.port) : ConnectUnix(server.path));
    for (std::size_t i = 0; i <= kMostCalls; ++i) {
      connection.Ask("/any/Method", "");
      server.held.WaitForCalls(++calls);
      connection.Reset();
    }
    connection.WaitUntilClosed();
  }
  DeafConnection other(server.path);
  other.Ask("/any/Method", "");
  server.held.WaitForCalls(++calls);
}

}  // namespace
}  // namespace espalier::connections_test
