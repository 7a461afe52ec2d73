// Tests what a server tells Prometheus, scraped over loopback.
#include "service/server/metrics.hpp"

#include <cerrno>
#include <chrono>
#include <fstream>
#include <future>
#include <map>
#include <regex>
#include <sstream>
#include <thread>

#include <grpcpp/generic/generic_stub.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "service/client/remote_holds.hpp"
#include "service/server/acceptor.hpp"
#include "service/server/access.hpp"
#include "service/wire/address.hpp"
#include "tests/server/faulty_backend.hpp"
#include "tests/server/health_client.hpp"
#include "tests/server/manual_hold_clock.hpp"
#include "tests/server/test_server.hpp"
#include "tests/server/tls_files.hpp"

namespace espalier::metrics_test {
namespace {

using Series = std::map<std::string, double>;  // name and labels -> value

// A connection to 127.0.0.1:PORT; with SOCK_NONBLOCK perhaps not established yet. Waits at most as
// long as a scraper by default does, 10 seconds, for the connection and for each part of an answer.
int Connect(const std::string& address, int flags = 0) {
  const int connection = ::socket(AF_INET, SOCK_STREAM | flags, 0);
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  name.sin_port = htons(static_cast<std::uint16_t>(ParseTcpAddress(address)->port));
  const timeval limit = {.tv_sec = 10};
  ::setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  const int connected =
      ::connect(connection, reinterpret_cast<const sockaddr*>(&name), sizeof(name));
  EXPECT_TRUE(connected == 0 || errno == EINPROGRESS);
  return connection;
}

// The answer to GET `path`, headers included; `address` is 127.0.0.1:PORT.
std::string Get(const std::string& address, const std::string& path) {
  const int connection = Connect(address);
  const std::string request = "GET " + path + " HTTP/1.0\r\n\r\n";
  EXPECT_EQ(::send(connection, request.data(), request.size(), 0), std::ssize(request));
  std::string answer;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::recv(connection, buffer, sizeof(buffer), 0)) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(connection);
  return answer;
}

Series Scrape(const Server& server) {
  const std::string answer = Get(server.metrics_address(), "/metrics");
  EXPECT_NE(answer.find(" 200 OK\r\n"), std::string::npos) << answer;
  std::istringstream lines(answer.substr(answer.find("\r\n\r\n") + 4));
  Series series;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t space = line.rfind(' ');
    EXPECT_TRUE(series.emplace(line.substr(0, space), std::stod(line.substr(space + 1))).second)
        << line;
  }
  return series;
}

// Returns the value of a series once it is `wanted`, or above it and never falls: a call is counted
// a moment after its answer has arrived.
double Eventually(const Server& server, const std::string& name, double wanted) {
  const bool never_falls =
      name.find("_total{") != std::string::npos || name.find("_count{") != std::string::npos;
  while (true) {
    const Series series = Scrape(server);
    const auto found = series.find(name);
    if (found != series.end()) {
      const double value = found->second;
      if (value == wanted || (never_falls && value > wanted)) return value;
    }
    std::this_thread::yield();
  }
}

std::string CallsTotal(const std::string& method, const std::string& code) {
  return "espalier_calls_total{code=\"" + code + "\",method=\"espalier.v1." + method + "\"}";
}

std::string Durations(const std::string& method) {
  return "espalier_call_duration_seconds_count{method=\"espalier.v1." + method + "\"}";
}

ServerOptions WithMetrics() {
  ServerOptions options;
  options.listen = {"127.0.0.1:0"};
  options.metrics = "127.0.0.1:0";
  return options;
}

TEST(Metrics, CountCallsByMethodAndCode) {
  TestServer server(WithMetrics());
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const auto request = MakePlaceRequest({MakeGang("a", 1)});
  EXPECT_TRUE(server.Place(request).ok());
  EXPECT_TRUE(server.Place(request).ok());
  v1::PlaceRequest bad = request;
  bad.set_mode(static_cast<v1::PlacementMode>(99));
  EXPECT_EQ(server.Place(bad).error_code(), grpc::INVALID_ARGUMENT);

  EXPECT_EQ(Eventually(*server.server, Durations("Placement/Place"), 3), 3);
  const Series series = Scrape(*server.server);
  EXPECT_EQ(series.at(CallsTotal("ClusterState/LoadState", "OK")), 1);
  EXPECT_EQ(series.at(CallsTotal("Placement/Place", "OK")), 2);
  EXPECT_EQ(series.at(CallsTotal("Placement/Place", "INVALID_ARGUMENT")), 1);
  EXPECT_EQ(series.at(CallsTotal("Placement/Place", "INTERNAL")), 0);  // there before the first one
  EXPECT_EQ(series.at(CallsTotal("Scheduling/Cycle", "OK")), 0);
  EXPECT_EQ(series.at(CallsTotal("Ungating/Ungate", "OK")), 0);
}

TEST(Metrics, CountRefusalsByCause) {
  TestServer server(WithMetrics());
  EXPECT_EQ(server.Place(MakePlaceRequest({MakeGang("a", 1)})).error_code(),
            grpc::FAILED_PRECONDITION);
  const Series series = Scrape(*server.server);
  EXPECT_EQ(series.at("espalier_refusals_total{cause=\"stale\"}"), 1);
  EXPECT_EQ(series.at("espalier_refusals_total{cause=\"internal\"}"), 0);
}

TEST(Metrics, CountNeitherHealthNorWhatDoesNotExist) {
  TestServer server(WithMetrics());
  EXPECT_EQ(HealthClient(server.channel).Check(""), "SERVING");
  grpc::TemplatedGenericStub<v1::PlaceRequest, v1::PlaceResponse> stub(server.channel);
  grpc::ClientContext context;
  const v1::PlaceRequest request;
  v1::PlaceResponse response;
  std::promise<grpc::Status> status;
  stub.UnaryCall(&context, "/espalier.v1.Placement/Nonsense", {}, &request, &response,
                 [&](const grpc::Status& answer) { status.set_value(answer); });
  EXPECT_EQ(status.get_future().get().error_code(), grpc::UNIMPLEMENTED);
  server.Summary();
  EXPECT_EQ(Eventually(*server.server, Durations("ClusterState/GetStateSummary"), 1), 1);
  double calls = 0;
  for (const auto& [name, value] : Scrape(*server.server)) {
    if (name.starts_with("espalier_calls_total")) calls += value;
  }
  EXPECT_EQ(calls, 1);
}

TEST(Metrics, CountAStreamThatItsClientGaveUp) {
  TestServer server(WithMetrics());
  grpc::ClientContext context;
  v1::LoadStateResponse response;
  const auto writer = server.cluster_state->LoadState(&context, &response);
  EXPECT_TRUE(writer->Write({}));
  EXPECT_EQ(Eventually(*server.server, "espalier_calls_under_way", 1), 1);
  context.TryCancel();
  EXPECT_EQ(writer->Finish().error_code(), grpc::CANCELLED);
  EXPECT_EQ(Eventually(*server.server, CallsTotal("ClusterState/LoadState", "CANCELLED"), 1), 1);
  EXPECT_EQ(Eventually(*server.server, "espalier_calls_under_way", 0), 0);
}

TEST(Metrics, TellHowManyMoreGangsFit) {
  ServerOptions options = WithMetrics();
  options.capacity_shapes = {{"3x{cpu=4}", MakeGang("three", 3).pod_sets[0]}};
  TestServer server(options);
  const auto of_level = [](const std::string& level) {
    return R"(espalier_capacity_gangs{shape="3x{cpu=4}",flavor="main",level=")" + level + "\"}";
  };
  EXPECT_FALSE(Scrape(*server.server).contains(of_level("rack")));
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const Series series = Scrape(*server.server);
  EXPECT_EQ(series.at(of_level("")), 10);  // of 32 pods
  EXPECT_EQ(series.at(of_level("block")), 10);
  EXPECT_EQ(series.at(of_level("rack")), 8);
  EXPECT_EQ(series.at(of_level("kubernetes.io/hostname")), 0);
  ASSERT_TRUE(server.Load(SmallCluster(1)).ok());
  EXPECT_EQ(Scrape(*server.server).at(of_level("rack")), 2);
}

// It is no error of the server, whatever the server would have answered.
TEST(Metrics, CountACallThatItsClientLeft) {
  TestServer server(WithMetrics());
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  server.backend->Close();
  grpc::ClientContext context;
  const v1::PlaceRequest request = MakePlaceRequest({MakeGang("a", 1)});
  v1::PlaceResponse response;
  std::promise<grpc::Status> status;
  server.placement->async()->Place(&context, &request, &response,
                                   [&](const grpc::Status& answer) { status.set_value(answer); });
  server.backend->WaitEntered(1);
  context.TryCancel();
  EXPECT_EQ(status.get_future().get().error_code(), grpc::CANCELLED);
  server.backend->WaitStopped();  // the server hears of it a little later
  server.backend->Open();
  EXPECT_EQ(Eventually(*server.server, CallsTotal("Placement/Place", "CANCELLED"), 1), 1);
  EXPECT_EQ(Eventually(*server.server, Durations("Placement/Place"), 1), 1);
}

// The call is that of a client that dies while it sends.
TEST(Metrics, CountACallWhoseMessageNeverCame) {
  TestServer server(WithMetrics());
  grpc::GenericStub stub(server.channel);
  const std::vector<std::string> methods = {
      "Placement/Place",          "Placement/Replace",       "ClusterState/GetStateSummary",
      "ClusterState/UpdateState", "ClusterState/ListLeaves", "Scheduling/Cycle",
      "Ungating/Ungate"};
  for (const std::string& method : methods) {
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const auto call = stub.PrepareCall(&context, "/espalier.v1." + method, &queue);
    void* tag = nullptr;
    bool ok = false;
    call->StartCall(nullptr);
    queue.Next(&tag, &ok);
    context.TryCancel();
    grpc::Status status;
    call->Finish(&status, nullptr);
    queue.Next(&tag, &ok);
    EXPECT_EQ(status.error_code(), grpc::CANCELLED);
  }
  for (const std::string& method : methods) {
    EXPECT_EQ(Eventually(*server.server, CallsTotal(method, "CANCELLED"), 1), 1) << method;
  }
  for (const auto& [name, value] : Scrape(*server.server)) {
    if (name.starts_with("espalier_calls_total{") && value > 0) {
      EXPECT_NE(name.find("CANCELLED"), std::string::npos) << name;
    }
  }
}

TEST(Metrics, CountACallWhoseTimeIsOverAsThat) {
  TestServer server(WithMetrics());
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  server.backend->Close();
  const auto timeout = server.PlacePastTheDeadline(MakePlaceRequest({MakeGang("a", 1)}));
  // The server's clock for the call began when it arrived, after the client's: now it runs out too.
  std::this_thread::sleep_until(std::chrono::system_clock::now() + timeout);
  server.backend->Open();
  EXPECT_GE(Eventually(*server.server, CallsTotal("Placement/Place", "DEADLINE_EXCEEDED"), 1), 1);
  EXPECT_EQ(Eventually(*server.server, "espalier_calls_under_way", 0), 0);
  EXPECT_EQ(Scrape(*server.server)[CallsTotal("Placement/Place", "OK")], 0);
}

TEST(Metrics, ShowWhatRunsWaitsAndIsRefusedAndStayUpDuringTheDrain) {
  ServerOptions options = WithMetrics();
  options.workers = 1;
  options.max_queued_calls = 1;
  TestServer server(options);
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const auto request = MakePlaceRequest({MakeGang("a", 1)});
  server.backend->Close();
  const auto place = [&] { EXPECT_TRUE(server.Place(request).ok()); };
  std::thread running(place);
  server.backend->WaitEntered(1);
  std::thread waiting(place);
  EXPECT_EQ(Eventually(*server.server, "espalier_calls_waiting", 1), 1);
  EXPECT_EQ(Eventually(*server.server, "espalier_calls_under_way", 2), 2);
  EXPECT_EQ(server.Place(request).error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Eventually(*server.server, CallsTotal("Placement/Place", "RESOURCE_EXHAUSTED"), 1), 1);

  HealthClient health(server.channel);
  std::thread drain([&] { EXPECT_TRUE(server.server->Drain(std::chrono::minutes(1))); });
  while (health.Check("") == "SERVING") std::this_thread::yield();
  grpc::Status refused;
  do {
    refused = server.Place(request);
  } while (refused.error_code() == grpc::RESOURCE_EXHAUSTED);  // came before the drain
  EXPECT_EQ(refused.error_code(), grpc::UNAVAILABLE);
  EXPECT_EQ(Eventually(*server.server, CallsTotal("Placement/Place", "UNAVAILABLE"), 1), 1);
  EXPECT_EQ(Eventually(*server.server, "espalier_calls_under_way", 2), 2);
  server.backend->Open();
  for (std::thread* thread : {&running, &waiting, &drain}) thread->join();
  EXPECT_EQ(Eventually(*server.server, CallsTotal("Placement/Place", "OK"), 2), 2);
  EXPECT_EQ(Eventually(*server.server, "espalier_calls_waiting", 0), 0);
}

// The calls on the state have a queue of their own.
TEST(Metrics, CountWhatWaitsForTheStateToo) {
  // Objects that the tasks use outlive the queue that runs them, to the last in its destructor.
  WorkBudget budget;
  std::promise<void> begun;
  std::promise<void> end;
  WorkQueue queue(1, 10);
  WorkQueue state_queue(1, 10);
  Calls calls(queue, state_queue, {.memory = 1 << 20, .call_memory = 1 << 20});
  const NamedStates states(1);
  const std::shared_ptr<Backend> backend = MakeCpuBackend(1);
  const CapacityGauges capacity(**states.Find(""), {}, {}, backend);
  const CallJournal journal(LoggedCalls::kNone);
  const Acceptor acceptor(1);
  const auto access = *Access::Open("");
  const auto metrics = Metrics::Start(*ParseTcpAddress("127.0.0.1:0"), {.states = states,
                                                                        .calls = calls,
                                                                        .queue = queue,
                                                                        .state_queue = state_queue,
                                                                        .backend = *backend,
                                                                        .capacity = capacity,
                                                                        .journal = journal,
                                                                        .acceptor = acceptor,
                                                                        .access = *access,
                                                                        .services = {},
                                                                        .version = "",
                                                                        .commit = ""});
  ASSERT_TRUE(metrics) << metrics.error().message;
  ASSERT_TRUE(state_queue.TryPost({"", &budget,
                                   [&] {
                                     begun.set_value();
                                     end.get_future().wait();
                                   },
                                   [] {}}));
  begun.get_future().wait();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(state_queue.TryPost({"", &budget, [] {}, [] {}}));
  }
  EXPECT_NE(Get((*metrics)->address(), "/metrics").find("espalier_calls_waiting 2\n"),
            std::string::npos);
  end.set_value();
}

// A connection that sends nothing, or never the end of its request, occupies a thread for a moment.
TEST(Metrics, AreServedBesideSilentConnections) {
  TestServer server(WithMetrics());
  const std::string address = server.server->metrics_address();
  std::vector<int> connections;
  for (int i = 0; i < 300; ++i) {
    connections.push_back(Connect(address, SOCK_NONBLOCK));
    if (i % 2 == 0) ::send(connections.back(), "GET", 3, MSG_NOSIGNAL);
  }
  EXPECT_EQ(Scrape(*server.server).count("espalier_calls_waiting"), 1u);
  for (const int connection : connections) ::close(connection);
}

TEST(Metrics, FollowTheState) {
  TestServer server(WithMetrics());
  Series series = Scrape(*server.server);
  EXPECT_EQ(series.at("espalier_state_generation"), 0);
  EXPECT_EQ(series.at("espalier_state_nodes"), 0);
  EXPECT_EQ(series.at("espalier_state_changed_timestamp_seconds"), 0);

  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  series = Scrape(*server.server);
  EXPECT_EQ(series.at("espalier_state_generation"), 1);
  EXPECT_EQ(series.at("espalier_state_nodes"), 16);
  EXPECT_GE(series.at("espalier_state_changed_timestamp_seconds"),
            series.at("process_start_time_seconds"));

  v1::PlaceRequest commit = MakePlaceRequest({MakeGang("a", 1)}, v1::PLACEMENT_MODE_SEQUENTIAL);
  commit.set_commit(true);
  EXPECT_TRUE(server.Place(commit).ok());
  EXPECT_EQ(Scrape(*server.server).at("espalier_state_generation"), 2);
}

TEST(Metrics, TellNamedStatesByALabel) {
  TestServer server(WithMetrics());
  EXPECT_EQ(Scrape(*server.server).at("espalier_named_states"), 0);
  ASSERT_TRUE(server.Load(SmallCluster(1), nullptr, "east").ok());
  const Series series = Scrape(*server.server);
  EXPECT_EQ(series.at("espalier_named_states"), 1);
  EXPECT_EQ(series.at("espalier_state_nodes{state=\"east\"}"), 4);
  EXPECT_EQ(series.at("espalier_state_generation{state=\"east\"}"), 1);
  EXPECT_EQ(series.at("espalier_state_generation"), 0);
}

TEST(Metrics, CountHoldsByHowTheyEnd) {
  const auto clock = std::make_shared<ManualHoldClock>();
  ServerOptions options = WithMetrics();
  options.hold_clock = clock;
  TestServer server(options);
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  auto holds = *RemoteHolds::Connect(server.server->addresses()[0], "");
  int made = 0;
  std::map<std::string, int> ended = {
      {"confirmed", 0}, {"released", 0}, {"expired", 0}, {"broken", 0}, {"dropped", 0}};
  const auto hold = [&](const std::string& name, std::int64_t seconds) {
    const auto placed =
        holds.Place(std::vector{MakeGang(name, 8)}, seconds, "tester", FeatureGates());
    EXPECT_TRUE(placed) << placed.error().message;
    ++made;
    return placed->ids[0];
  };
  const auto expect_held = [&](int held) {
    const Series series = Scrape(*server.server);
    EXPECT_EQ(series.at("espalier_holds"), held);
    EXPECT_EQ(series.at("espalier_holds_made_total"), made);
    for (const auto& [how, count] : ended) {
      EXPECT_EQ(series.at("espalier_holds_ended_total{how=\"" + how + "\"}"), count) << how;
    }
  };
  expect_held(0);
  const std::string confirmed = hold("confirmed", 60);
  const std::string released = hold("released", 60);
  hold("brief", 10);
  hold("also-brief", 10);
  expect_held(4);
  ASSERT_TRUE(holds.Confirm({confirmed}, {}, /*reported=*/true));
  ended["confirmed"] = 1;
  expect_held(3);
  ASSERT_TRUE(holds.Release({released}));
  ended["released"] = 1;
  expect_held(2);
  clock->Advance(std::chrono::seconds(10));
  ended["expired"] = 2;
  expect_held(0);

  hold("on-the-first-rack", 60);
  hold("on-the-next", 60);
  v1::UpdateStateRequest update = ToProto(StateDelta{.remove_nodes = {"host-0"}});
  *update.mutable_base() = server.Summary().state();
  grpc::ClientContext context;
  v1::UpdateStateResponse updated;
  ASSERT_TRUE(server.cluster_state->UpdateState(&context, update, &updated).ok());
  ended["broken"] = 1;
  expect_held(1);
  ASSERT_TRUE(server.Load(SmallCluster(0)).ok());
  ended["dropped"] = 1;
  expect_held(0);
}

// The health status "device" says the same: the CPU answers in its place, and everyone can see it.
TEST(Metrics, SayThatTheDeviceIsAway) {
  const auto plan = std::make_shared<FaultPlan>();
  TestServer server(WithMetrics(), MakeFaultyBackend(plan));
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const auto request = MakePlaceRequest({MakeGang("a", 1)});
  const auto expect = [&](double ready, double faults, double on_device, double on_cpu) {
    const Series series = Scrape(*server.server);
    EXPECT_EQ(series.at("espalier_device_ready"), ready);
    EXPECT_EQ(series.at("espalier_device_faults_total"), faults);
    EXPECT_EQ(series.at("espalier_device_crossover_jobs"), 1) << "every batch";
    EXPECT_EQ(series.at("espalier_jobs_total{on=\"device\"}"), on_device);
    EXPECT_EQ(series.at("espalier_jobs_total{on=\"cpu\"}"), on_cpu);
  };
  expect(1, 0, 0, 0);
  EXPECT_TRUE(server.Place(request).ok());
  expect(1, 0, 1, 0);
  plan->fail_at = 1;
  EXPECT_TRUE(server.Place(request).ok());
  expect(0, 1, 1, 1);
  plan->fail_at = -1;
  EXPECT_TRUE(server.Place(request).ok());
  expect(1, 1, 2, 1);
}

TEST(Metrics, AreAllDocumented) {
  TestServer server(WithMetrics(), MakeFaultyBackend(std::make_shared<FaultPlan>()));
  std::ostringstream docs;
  docs << std::ifstream(ESPALIER_SOURCE_DIR "/docs/operations.md").rdbuf();
  const std::regex family("((?:espalier|process)_\\w+?)(?:_bucket|_count|_sum)?(?:\\{.*)?");
  int documented = 0;
  for (const auto& [name, value] : Scrape(*server.server)) {
    std::smatch match;
    if (!std::regex_match(name, match, family)) continue;  // of the library
    EXPECT_NE(docs.str().find("`" + match[1].str() + "`"), std::string::npos) << name;
    ++documented;
  }
  EXPECT_GT(documented, 100);
}

using MetricsOfFiles = TlsFiles;

TEST_F(MetricsOfFiles, TellOfCertificatesAndRefusals) {
  WriteAll();
  ServerOptions options = WithMetrics();
  options.listen = {"127.0.0.1:0"};
  options.tls = ServerPaths();
  options.access = Write("access.yaml", "rules: [{who: any-certificate, may: [read]}]");
  const auto started = Server::Start(options, MakeCpuBackend(1));
  ASSERT_TRUE(started) << started.error().message;
  auto engine = *RemoteEngine::Connect((*started)->addresses()[0], kCallTimeout, ClientPaths());
  EXPECT_FALSE(engine.Load(SmallCluster()));
  Series series = Scrape(**started);
  EXPECT_EQ(series.at("espalier_calls_denied_total{method=\"espalier.v1.ClusterState/LoadState\","
                      "permission=\"write-state\"}"),
            1);
  EXPECT_EQ(series.at("espalier_access_rules"), 1);
  EXPECT_EQ(series.at("espalier_access_file_wrong"), 0);
  EXPECT_EQ(series.at("espalier_tls_files_wrong"), 0);
  EXPECT_GE(series.at("espalier_connections_total"), 1);
  const auto now = static_cast<double>(::time(nullptr));
  EXPECT_GT(series.at("espalier_tls_expiry_timestamp_seconds{of=\"server\"}"), now);
  EXPECT_GT(series.at("espalier_tls_expiry_timestamp_seconds{of=\"client-ca\"}"), now);
  // A scrape looks at files that changed.
  Write("access.yaml", "rules: []");
  Write("server.key", "no key");
  series = Scrape(**started);
  EXPECT_EQ(series.at("espalier_access_rules"), 0);
  EXPECT_EQ(series.at("espalier_access_reloads_total{result=\"used\"}"), 1);
  EXPECT_EQ(series.at("espalier_tls_files_wrong"), 1);
  EXPECT_EQ(series.at("espalier_tls_reloads_total{result=\"wrong\"}"), 1);
  Write("access.yaml", "rules: {}");
  series = Scrape(**started);
  EXPECT_EQ(series.at("espalier_access_file_wrong"), 1);
  EXPECT_EQ(series.at("espalier_access_reloads_total{result=\"wrong\"}"), 1);
  std::ostringstream docs;
  docs << std::ifstream(ESPALIER_SOURCE_DIR "/docs/operations.md").rdbuf();
  for (const auto& [name, value] : series) {
    if (!name.starts_with("espalier_")) continue;
    const std::string family =
        std::regex_replace(name, std::regex("(_bucket|_count|_sum)?(\\{.*)?$"), "");
    EXPECT_NE(docs.str().find("`" + family + "`"), std::string::npos) << name;
  }
}

TEST(Metrics, NameTheProgramAndNoDeviceWhereThereIsNone) {
  ServerOptions options = WithMetrics();
  options.version = "1.2.3";
  options.commit = "abc";
  TestServer server(options);
  const Series series = Scrape(*server.server);
  EXPECT_EQ(series.at("espalier_build_info{version=\"1.2.3\",commit=\"abc\",backend=\"gated\"}"),
            1);
  EXPECT_GT(series.at("process_resident_memory_bytes"), 1 << 20);
  EXPECT_GT(series.at("process_cpu_seconds_total"), 0);
  EXPECT_GT(series.at("process_start_time_seconds"), 1.7e9);
  EXPECT_EQ(series.count("espalier_device_ready"), 0u);
  EXPECT_EQ(series.count("espalier_jobs_total{on=\"cpu\"}"), 0u);
}

TEST(Metrics, AreServedOnOnePathOfOneAddress) {
  TestServer server(WithMetrics());
  EXPECT_EQ(server.server->metrics_address().find("127.0.0.1:"), 0u);
  EXPECT_NE(server.server->metrics_address(), "127.0.0.1:0");
  for (const char* path : {"/", "/other", "/../../etc/passwd"}) {
    EXPECT_NE(Get(server.server->metrics_address(), path).find(" 404 "), std::string::npos) << path;
  }
  EXPECT_EQ(TestServer().server->metrics_address(), "");  // unless asked for
}

TEST(Metrics, AnAddressThatCannotBeHadIsAnError) {
  TestServer first(WithMetrics());
  const auto start_error = [](const std::string& metrics) {
    ServerOptions options = WithMetrics();
    options.metrics = metrics;
    const auto started = Server::Start(options, MakeCpuBackend(1));
    return started ? Error{} : started.error();
  };
  for (const std::string& taken : {first.server->metrics_address(), first.server->addresses()[0]}) {
    EXPECT_EQ(start_error(taken),
              (Error{ErrorClass::kUnavailable,
                     "cannot serve metrics on " + taken + ": Address already in use"}));
  }
  for (const std::string bad : {"unix:/tmp/metrics", "9464", "127.0.0.1:65536", ":9464"}) {
    EXPECT_EQ(start_error(bad),
              (Error{ErrorClass::kBadInput, "\"" + bad +
                                                "\" is not an address; write HOST:PORT, as "
                                                "in 127.0.0.1:9464"}));
  }
}

}  // namespace
}  // namespace espalier::metrics_test
