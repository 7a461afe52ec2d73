// Addresses a server listens on.
#include "service/server/listen.hpp"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <filesystem>
#include <fstream>
#include <future>
#include <semaphore>
#include <vector>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "service/client/remote_engine.hpp"
#include "tests/server/test_server.hpp"

namespace espalier::listen_test {
namespace {

ServerOptions ListenOn(std::vector<std::string> addresses) {
  ServerOptions options;
  options.listen = std::move(addresses);
  return options;
}

std::string StartError(const ServerOptions& options) {
  const auto started = Server::Start(options, MakeCpuBackend(1));
  return started ? "no error" : started.error().message;
}

sockaddr_un SocketName(const std::string& address) {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  address.copy(name.sun_path, sizeof(name.sun_path) - 1, 5);  // behind "unix:"
  return name;
}

// A socket that nobody accepts connections on; its descriptor.
int ListenByHand(const std::string& address) {
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  const sockaddr_un name = SocketName(address);
  EXPECT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
  EXPECT_EQ(::listen(listener, 0), 0);
  return listener;
}

TEST(Listen, ServesUnixAndTcpAtOnceAndReportsThePort) {
  const std::string socket = SocketAddress("both");
  TestServer server(ListenOn({socket, "127.0.0.1:0"}));
  ASSERT_EQ(server.server->addresses().size(), 2u);
  EXPECT_EQ(server.server->addresses()[0], socket);
  EXPECT_NE(server.server->addresses()[1], "127.0.0.1:0");
  for (const std::size_t address : {0, 1}) {
    server.Connect(address);
    EXPECT_EQ(server.Summary().state().generation(), 0u);
  }
}

// One of them may have three quarters of the queue; with the rest another gets in.
TEST(Listen, ConnectionsOfOneUnixSocketAreClientsOfTheirOwn) {
  ServerOptions options = ListenOn({SocketAddress("two")});
  options.workers = 1;
  options.max_queued_calls = 15;
  TestServer server(options);
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const auto request = MakePlaceRequest({MakeGang("a", 1)});
  const auto connect = [&] {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
    return v1::Placement::NewStub(grpc::CreateCustomChannel(
        server.server->addresses()[0], grpc::InsecureChannelCredentials(), arguments));
  };
  struct Call {
    grpc::ClientContext context;
    v1::PlaceResponse response;
    std::promise<grpc::Status> status;
  };
  std::deque<Call> calls;
  std::counting_semaphore<> over(0);
  const auto ask = [&](v1::Placement::Stub& stub) {
    Call& call = calls.emplace_back();
    stub.async()->Place(&call.context, &request, &call.response, [&](grpc::Status status) {
      over.release();
      call.status.set_value(std::move(status));
    });
    return call.status.get_future();
  };
  // Returns the calls of one client once one of them has been refused, whichever came last.
  const auto ask_until_refused = [&](v1::Placement::Stub& stub, int most) {
    std::vector<std::future<grpc::Status>> asked;
    for (int i = 0; i <= most; ++i) asked.push_back(ask(stub));
    over.acquire();
    return asked;
  };
  const auto first = connect();
  const auto second = connect();

  server.backend->Close();
  auto asked_first = ask_until_refused(*first, 12);
  auto asked_second = ask_until_refused(*second, 4);
  server.backend->Open();
  for (auto* asked : {&asked_first, &asked_second}) {
    int placed = 0;
    for (auto& status : *asked) placed += status.get().ok() ? 1 : 0;
    EXPECT_EQ(placed, asked == &asked_first ? 12 : 4);
  }
}

TEST(Listen, ASecondServerOnTheSameAddressFails) {
  TestServer first(ListenOn({SocketAddress("taken"), "127.0.0.1:0"}));
  const std::string& tcp = first.server->addresses()[1];
  EXPECT_EQ(StartError(ListenOn({tcp})), "cannot listen on " + tcp + ": Address already in use");
  EXPECT_EQ(StartError(ListenOn({SocketAddress("taken")})),
            "cannot listen on " + SocketAddress("taken") +
                ": another server is listening there; stop it or choose another path");
  first.Connect(0);
  EXPECT_EQ(first.Summary().nodes(), 0);  // the first one is still reachable
}

TEST(Listen, AStaleSocketIsReplaced) {
  const std::string address = SocketAddress("stale");
  ::close(ListenByHand(address));  // as after kill -9: the file is there, nobody listens
  TestServer server(ListenOn({address}));
  EXPECT_EQ(server.Summary().nodes(), 0);
}

// A start beside a server that hangs must not hang too.
TEST(Listen, AServerThatAcceptsNoConnectionsIsReported) {
  const std::string address = SocketAddress("hung");
  std::vector<int> descriptors = {ListenByHand(address)};
  int error = 0;
  while (error == 0) {  // until its queue is full
    descriptors.push_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
    const sockaddr_un name = SocketName(address);
    const auto* generic = reinterpret_cast<const sockaddr*>(&name);
    error = ::connect(descriptors.back(), generic, sizeof(name)) == 0 ? 0 : errno;
  }
  EXPECT_EQ(error, EAGAIN);
  EXPECT_EQ(StartError(ListenOn({address})),
            "cannot listen on " + address +
                ": another server is there and accepts no connections; "
                "stop it or choose another path");
  for (const int descriptor : descriptors) ::close(descriptor);
  ::unlink(address.substr(5).c_str());
}

TEST(Listen, AFileThatIsNoSocketIsLeftAlone) {
  const std::string address = SocketAddress("file");
  std::ofstream(address.substr(5)) << "precious";
  EXPECT_EQ(
      StartError(ListenOn({address})),
      "cannot listen on " + address + ": the path exists and is not a socket; choose another");
  EXPECT_EQ(::access(address.substr(5).c_str(), F_OK), 0);
  ::unlink(address.substr(5).c_str());
}

TEST(Listen, TheSocketIsGoneAfterTheServer) {
  const std::string address = SocketAddress("gone");
  { const TestServer server(ListenOn({address})); }
  EXPECT_NE(::access(address.substr(5).c_str(), F_OK), 0);
  EXPECT_NE(::access((address.substr(5) + ".lock").c_str(), F_OK), 0);
}

// gRPC by itself would take "a%62" for "ab" and take the socket of a live server over.
TEST(Listen, APercentSignIsPartOfThePath) {
  const std::string live = SocketAddress("ab");
  const std::string other = SocketAddress("a%62");
  TestServer first(ListenOn({live}));
  {
    const TestServer second(ListenOn({other}));
    EXPECT_EQ(second.server->addresses()[0], other);
    EXPECT_EQ(::access(other.substr(5).c_str(), F_OK), 0);
  }
  ASSERT_EQ(::access(live.substr(5).c_str(), F_OK), 0);  // the second removed its own
  first.Connect(0);
  EXPECT_EQ(first.Summary().nodes(), 0);
}

TEST(Listen, AnyPathCanBeConnectedTo) {
  for (const char* name : {"a b", "%41", "a?b#c", "gr\xc3\xbc\xc3\x9f", "a:b@c", "[x]"}) {
    const std::string address = SocketAddress(name);
    TestServer server(ListenOn({address}));
    const auto connected = RemoteEngine::Connect(address);
    EXPECT_TRUE(connected) << connected.error().message;
  }
}

// Two servers that start at once on one path find no socket yet: only the lock tells them apart.
TEST(Listen, AClaimHoldsWhateverThePathIsSpelled) {
  const std::string folder = SocketAddress("folder").substr(5);
  const std::string link = folder + "-link";
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  ASSERT_EQ(::symlink(folder.c_str(), link.c_str()), 0);
  const std::string relative = std::filesystem::relative(folder).string();
  {
    const auto claim = UnixSocketClaim::Make(folder + "/socket");
    ASSERT_TRUE(claim) << claim.error().message;
    for (const std::string& path :
         {folder + "/socket", folder + "//./socket", link + "/socket", relative + "/socket"}) {
      const auto second = UnixSocketClaim::Make(path);
      ASSERT_FALSE(second) << path;
      EXPECT_EQ(second.error(),
                (Error{ErrorClass::kUnavailable,
                       "cannot listen on unix:" + path +
                           ": another server is listening there; stop it or choose another path"}));
    }
    EXPECT_TRUE(UnixSocketClaim::Make(folder + "/other"));
  }
  EXPECT_TRUE(UnixSocketClaim::Make(link + "/socket"));  // nobody holds it any more
  ::unlink(link.c_str());
  EXPECT_EQ(::rmdir(folder.c_str()), 0);  // nothing is left behind
}

TEST(Listen, ALockFileThatIsALinkIsNotFollowed) {
  const std::string address = SocketAddress("linked");
  const std::string lock = address.substr(5) + ".lock";
  ASSERT_EQ(::symlink("/dev/null", lock.c_str()), 0);
  EXPECT_EQ(StartError(ListenOn({address})),
            "cannot listen on " + address + ": its lock file " + lock +
                " cannot be made: Too many levels of symbolic links");
  ::unlink(lock.c_str());
}

TEST(Listen, AMissingFolderIsNamed) {
  EXPECT_EQ(StartError(ListenOn({"unix:/no/such/folder/socket"})),
            "cannot listen on unix:/no/such/folder/socket: its lock file "
            "/no/such/folder/socket.lock cannot be made: No such file or directory");
}

TEST(Listen, PlaintextToTheNetworkIsAskedFor) {
  for (const std::string host : {"0.0.0.0", "[::]", "0", "[::ffff:10.0.0.1]", "10.1.2.3",
                                 "128.0.0.1", "[fe80::1]", "[2001:db8::1]"}) {
    const std::string error = StartError(ListenOn({"127.0.0.1:0", host + ":50051"}));
    EXPECT_EQ(error.rfind(host + ":50051 can be reached from the network", 0), 0u) << error;
    EXPECT_NE(error.find("or allow it with --insecure"), std::string::npos) << error;
  }
  ServerOptions options = ListenOn({"0.0.0.0:0"});
  options.insecure = true;
  EXPECT_EQ(TestServer(options).Summary().nodes(), 0);
}

TEST(Listen, MetricsToTheNetworkAreAskedFor) {
  ServerOptions options = ListenOn({"127.0.0.1:0"});
  options.metrics = "0.0.0.0:0";
  options.insecure = true;  // says nothing of metrics
  const std::string error = StartError(options);
  EXPECT_EQ(error.rfind("0.0.0.0:0 can be reached from the network, and metrics have no ", 0), 0u)
      << error;
  EXPECT_NE(error.find("or allow it with --insecure-metrics"), std::string::npos) << error;
  options.insecure_metrics = true;
  EXPECT_EQ(StartError(options), "no error");
}

TEST(Listen, LoopbackNeedsNoPermission) {
  for (const char* address : {"127.0.0.1:0", "127.8.9.10:0", "[::ffff:127.0.0.1]:0"}) {
    EXPECT_EQ(StartError(ListenOn({address})), "no error") << address;
  }
  for (const char* host : {"::1", "::ffff:127.0.0.1", "localhost"}) {
    Address address;
    address.host = host;
    EXPECT_TRUE(CheckIsLocal(address)) << host;
  }
}

TEST(Listen, AnUnknownHostIsNamed) {
  EXPECT_EQ(StartError(ListenOn({"no.such.host.invalid:1"}))
                .rfind("cannot listen on no.such.host.invalid:1: ", 0),
            0u);
}

TEST(Listen, OptionsAreChecked) {
  EXPECT_EQ(StartError(ListenOn({})), "no address to listen on; name at least one");
  for (const char* address :
       {"here", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", ":80", "1:2:3", "127.0.0.1:8x", ""}) {
    EXPECT_NE(StartError(ListenOn({address})).find("is not an address; write unix:/path"),
              std::string::npos)
        << address;
  }
  EXPECT_NE(StartError(ListenOn({"unix:"})).find("a path of 0 bytes"), std::string::npos);
  EXPECT_NE(StartError(ListenOn({"unix:/" + std::string(107, 'x')})).find("a path of 108 bytes"),
            std::string::npos);
  ServerOptions options = ListenOn({"127.0.0.1:0"});
  options.max_message_bytes = -1;
  EXPECT_NE(StartError(options).find("message limit is -1"), std::string::npos);
  options = ListenOn({"127.0.0.1:0"});
  options.max_queued_calls = -1;
  EXPECT_NE(StartError(options).find("queue limit is -1"), std::string::npos);
  options = ListenOn({"127.0.0.1:0"});
  options.workers = 5000;
  EXPECT_NE(StartError(options).find("workers is 5000"), std::string::npos);
}

}  // namespace
}  // namespace espalier::listen_test
