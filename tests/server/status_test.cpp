// Tests what a server tells of itself: espalier.v1.Server.
#include <map>

#include "espalier/v1/server.grpc.pb.h"
#include "tests/server/faulty_backend.hpp"
#include "tests/server/test_server.hpp"

namespace espalier::status_test {
namespace {

using testing::HasSubstr;

v1::ServerStatusResponse StatusOf(TestServer& server, bool with_use = false) {
  grpc::ClientContext context;
  v1::ServerStatusRequest request;
  request.set_with_use(with_use);
  v1::ServerStatusResponse response;
  const grpc::Status status =
      v1::Server::NewStub(server.channel)->Status(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response;
}

std::map<std::string, std::int64_t> Refused(const v1::ServerStatusResponse& status) {
  std::map<std::string, std::int64_t> calls;
  for (const v1::Refusals& refused : status.refusals()) calls[refused.cause()] = refused.calls();
  return calls;
}

TEST(ServerStatus, InfoTellsWhatRunsWithinWhichLimits) {
  ServerOptions options;
  options.listen = {"127.0.0.1:0", SocketAddress("info")};
  options.version = "1.2.3";
  options.commit = "abc";
  options.memory = std::int64_t{800} << 20;
  options.call_memory = std::int64_t{100} << 20;
  options.max_message_bytes = 12345;
  options.workers = 3;
  options.max_queued_calls = 7;
  options.max_states = 5;
  options.patience = std::chrono::milliseconds(1500);
  TestServer server(options);
  grpc::ClientContext context;
  v1::ServerInfoResponse info;
  ASSERT_TRUE(v1::Server::NewStub(server.channel)->Info(&context, {}, &info).ok());
  EXPECT_EQ(info.version(), "1.2.3");
  EXPECT_EQ(info.commit(), "abc");
  EXPECT_EQ(info.backend(), "gated");
  EXPECT_EQ(std::vector<std::string>(info.addresses().begin(), info.addresses().end()),
            server.server->addresses());
  EXPECT_EQ(info.metrics_address(), "");
  EXPECT_GT(info.started_ms(), 1'700'000'000'000);
  EXPECT_EQ(info.limits().memory_bytes(), std::int64_t{700} << 20);
  EXPECT_EQ(info.limits().connection_memory_bytes(), std::int64_t{100} << 20);
  EXPECT_EQ(info.limits().call_memory_bytes(), std::int64_t{100} << 20);
  EXPECT_EQ(info.limits().message_bytes(), 12345);
  EXPECT_EQ(info.limits().calls(), 3);
  EXPECT_EQ(info.limits().queued_calls(), 7);
  EXPECT_EQ(info.limits().named_states(), 5);
  EXPECT_EQ(info.limits().idle_ms(), 1500);
}

TEST(ServerStatus, ListsAllStatesWithTheirPositions) {
  TestServer server;
  const v1::ServerStatusResponse empty = StatusOf(server);
  ASSERT_EQ(empty.states_size(), 1);
  EXPECT_EQ(empty.states(0).state().generation(), 0u);
  EXPECT_EQ(empty.states(0).checksum(), 0u);
  EXPECT_EQ(empty.states(0).changed_ms(), 0);

  ASSERT_TRUE(server.Load(SmallCluster(2), nullptr, "west").ok());
  const std::vector<AdmittedUsage> workloads = {
      {.key = {"ns", "a"}, .usage = {{"main", "host-0", {{"cpu", 1000}}}}}};
  v1::StatePosition position;
  ASSERT_TRUE(server.Load(SmallCluster(1), &position, "", workloads).ok());
  ASSERT_TRUE(server.Place(MakePlaceRequest({MakeGang("a", 1)})).ok());
  const v1::ServerStatusResponse status = StatusOf(server);
  ASSERT_EQ(status.states_size(), 2);
  const v1::StateStatus& unnamed = status.states(0);
  EXPECT_EQ(unnamed.state_name(), "");
  EXPECT_EQ(unnamed.state().epoch(), position.epoch());
  EXPECT_EQ(unnamed.state().generation(), position.generation());
  ASSERT_TRUE(unnamed.has_checksum());
  EXPECT_EQ(unnamed.checksum(), server.Summary().checksum());
  EXPECT_NE(unnamed.checksum(), 0u);
  EXPECT_EQ(unnamed.nodes(), 4);
  EXPECT_EQ(unnamed.workloads(), 1);
  EXPECT_LE(unnamed.changed_ms(), status.now_ms());
  EXPECT_GT(unnamed.changed_ms(), 1'700'000'000'000);
  EXPECT_EQ(unnamed.flavors_size(), 0);  // not asked for
  EXPECT_EQ(status.states(1).state_name(), "west");
  EXPECT_EQ(status.states(1).nodes(), 8);
}

TEST(ServerStatus, AddsUpUseByLevel) {
  TestServer server;
  ClusterStateInput input = SmallCluster(3);  // two blocks, of two racks and of one
  input.nodes[11].ready = false;
  input.non_tas_usage = {{"host-0", {{"cpu", 500}}}, {"host-11", {{"cpu", 500}}}};
  input.tas_usage = {{"main", "host-0", {{"cpu", 9000}}},  // more than it has
                     {"main", "host-1", {{"cpu", 3000}}}};
  ASSERT_TRUE(server.Load(input).ok());
  const v1::ServerStatusResponse status = StatusOf(server, true);
  ASSERT_EQ(status.states(0).flavors_size(), 1);
  const v1::FlavorUse& flavor = status.states(0).flavors(0);
  EXPECT_EQ(flavor.name(), "main");
  EXPECT_EQ(flavor.nodes(), 11);
  ASSERT_EQ(flavor.resources_size(), 2);
  EXPECT_EQ(flavor.resources(0).resource(), "cpu");
  EXPECT_EQ(flavor.resources(0).capacity(), 11 * 8000 - 500);
  EXPECT_EQ(flavor.resources(0).used(), 12'000);
  EXPECT_EQ(flavor.resources(1).resource(), "pods");
  EXPECT_EQ(flavor.resources(1).capacity(), 11 * 110);
  EXPECT_EQ(flavor.resources(1).used(), 0);
  ASSERT_EQ(flavor.levels_size(), 3);
  const auto level = [&](int i) {
    const v1::LevelUse& use = flavor.levels(i);
    return std::tuple(use.level(), use.domains(), use.unused_domains(), use.most_free(0),
                      use.most_free(1));
  };
  EXPECT_EQ(level(0), std::tuple("block", 2, 1, 6 * 8000 + 5000, 8 * 110));
  EXPECT_EQ(level(1), std::tuple("rack", 3, 2, 4 * 8000, 4 * 110));
  EXPECT_EQ(level(2), std::tuple("kubernetes.io/hostname", 11, 9, 8000, 110));
}

// However many calls compute and wait.
TEST(ServerStatus, IsAnsweredWhileAllOthersWait) {
  ServerOptions options;
  options.workers = 1;
  options.max_queued_calls = 0;
  TestServer server(options);
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  server.backend->Close();
  std::thread placing(
      [&] { EXPECT_TRUE(server.Place(MakePlaceRequest({MakeGang("a", 1)})).ok()); });
  server.backend->WaitEntered(1);
  EXPECT_EQ(server.Place(MakePlaceRequest({MakeGang("b", 1)})).error_code(),
            grpc::RESOURCE_EXHAUSTED);
  v1::ServerStatusResponse status;
  do {
    status = StatusOf(server);  // a call is over a moment after its answer has arrived
  } while (status.calls_under_way() != 1);
  EXPECT_EQ(status.calls_waiting(), 0);
  EXPECT_GT(status.memory_held_bytes(), 0);
  EXPECT_EQ(Refused(status), (std::map<std::string, std::int64_t>{{"queue_full", 1}}));
  server.backend->Open();
  placing.join();
}

TEST(ServerStatus, CountsRefusalsByCauseWithTheLastOfEach) {
  TestServer server;
  const v1::PlaceRequest request = MakePlaceRequest({MakeGang("a", 1)});
  v1::PlaceRequest stale = request;
  stale.mutable_state()->set_epoch(1);
  stale.mutable_state()->set_generation(1);
  EXPECT_EQ(server.Place(stale).error_code(), grpc::FAILED_PRECONDITION);
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  EXPECT_TRUE(server.Place(request).ok());
  for (int i = 0; i < 3; ++i) {
    v1::PlaceRequest bad = request;
    bad.set_mode(static_cast<v1::PlacementMode>(99 + i));
    EXPECT_EQ(server.Place(bad).error_code(), grpc::INVALID_ARGUMENT);
  }
  v1::PlaceRequest nowhere = request;
  nowhere.set_state_name("nowhere");
  EXPECT_EQ(server.Place(nowhere).error_code(), grpc::NOT_FOUND);
  const v1::ServerStatusResponse status = StatusOf(server);
  EXPECT_EQ(Refused(status), (std::map<std::string, std::int64_t>{
                                 {"bad_request", 3}, {"not_found", 1}, {"stale", 1}}));
  const v1::RefusedCall& last = status.refusals(0).last();
  EXPECT_EQ(last.call(), 6);  // of the server: stale, load, place, three bad ones
  EXPECT_EQ(last.method(), "espalier.v1.Placement/Place");
  EXPECT_THAT(last.message(), HasSubstr("mode"));
  EXPECT_LE(last.time_ms(), status.now_ms());
}

TEST(ServerStatus, TellsOfTheDevice) {
  const auto plan = std::make_shared<FaultPlan>();
  TestServer server({}, MakeFaultyBackend(plan));
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  EXPECT_TRUE(StatusOf(server).device().ready());
  EXPECT_EQ(StatusOf(server).device().faults(), 0);
  plan->fail_at = 1;
  EXPECT_TRUE(server.Place(MakePlaceRequest({MakeGang("a", 1)})).ok());
  const v1::DeviceState device = StatusOf(server).device();
  EXPECT_EQ(device.faults(), 1);
  EXPECT_NE(device.last_fault(), "");
  EXPECT_FALSE(StatusOf(server).device().ready());
}

}  // namespace
}  // namespace espalier::status_test
