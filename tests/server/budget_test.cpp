// Memory of calls: what is too much is refused, and others go on.
#include <future>

#include "espalier/v1/dispatch.grpc.pb.h"
#include "host/live/indexed_input.hpp"
#include "service/wire/message_bytes.hpp"
#include "tests/server/raw_stream.hpp"
#include "tests/server/test_server.hpp"

namespace espalier::budget_test {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

ServerOptions WithMemory(std::int64_t memory, std::int64_t call_memory) {
  ServerOptions options;
  options.memory = memory;
  options.call_memory = call_memory;
  return options;
}

TEST(Budget, AnAnswerThatGrowsTooLargeIsRefused) {
  TestServer server(WithMemory(64 * kMiB, 16 * kMiB));
  ASSERT_TRUE(server.Load(SmallCluster(500)).ok());
  std::vector<WorkloadRequest> gangs(3000, MakeGang("giant", 2000));
  for (WorkloadRequest& gang : gangs) {
    gang.pod_sets[0].topology_request = std::nullopt;
    gang.pod_sets[0].implied = true;
  }
  for (const auto naming : {v1::DOMAIN_NAMING_INDEX, v1::DOMAIN_NAMING_NAME}) {
    v1::PlaceRequest request = MakePlaceRequest(gangs);
    request.set_domain_naming(naming);
    const grpc::Status status = server.Place(request);
    EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
    EXPECT_EQ(status.error_message(),
              "needs more memory than the 16 MiB it may hold; ask for less at once");
  }
  EXPECT_TRUE(server.Place(MakePlaceRequest({MakeGang("small", 2)})).ok());
}

TEST(Budget, ALoadThatIsTooLargeIsRefused) {
  TestServer server(WithMemory(64 * kMiB, 16 * kMiB));
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  EXPECT_EQ(server.Load(SmallCluster(20'000)).error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(server.Summary().nodes(), 16);
  EXPECT_TRUE(server.Load(SmallCluster(100)).ok());
}

TEST(Budget, EmptyMessagesOfAManyAreNotParsed) {
  TestServer server(WithMemory(64 * kMiB, 16 * kMiB));
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const auto repeat = [](const char* two_bytes) {
    std::string bytes;
    for (int i = 0; i < 1'000'000; ++i) bytes.append(two_bytes, 2);
    return bytes;
  };
  // Fields 12 (workloads) and 7 (pods), of no bytes each.
  EXPECT_EQ(
      SendRaw(server.channel, "/espalier.v1.Scheduling/Cycle", repeat("\x62\x00")).error_code(),
      grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(
      SendRaw(server.channel, "/espalier.v1.Ungating/Ungate", repeat("\x3a\x00")).error_code(),
      grpc::RESOURCE_EXHAUSTED);
}

// One workload in many states, each of which has an answer for each of its pod sets.
TEST(Budget, AWorkloadOfManyPodSetsInManyStatesIsRefused) {
  TestServer server(WithMemory(64 * kMiB, 16 * kMiB));
  constexpr int kStates = 40;
  for (int i = 0; i < kStates; ++i) {
    ASSERT_TRUE(server.Load(SmallCluster(1), nullptr, "c" + std::to_string(i)).ok());
  }
  WorkloadRequest workload = MakeGang("a", 0);
  const PodSetRequest pod_set = workload.pod_sets[0];
  workload.pod_sets.clear();
  for (int i = 0; i < 2000; ++i) {
    workload.pod_sets.push_back(pod_set);
    workload.pod_sets.back().name = "p" + std::to_string(i);
  }
  v1::DispatchRequest request;
  *request.mutable_workloads() = *ToProto(std::vector{workload});
  const auto dispatch = [&] {
    grpc::ClientContext context;
    v1::DispatchResponse response;
    return v1::Dispatching::NewStub(server.channel)->Dispatch(&context, request, &response);
  };
  const grpc::Status status = dispatch();
  EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED) << status.error_message();
  request.add_states()->set_state_name("c1");
  EXPECT_TRUE(dispatch().ok());
}

TEST(Budget, MemoryIsFreeAgainAfterEachCall) {
  TestServer server(WithMemory(64 * kMiB, 16 * kMiB));
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(server.Load(SmallCluster(500)).ok()) << i;
    v1::PlaceRequest request = MakePlaceRequest({MakeGang("a", 4)}, v1::PLACEMENT_MODE_SEQUENTIAL);
    request.set_commit(true);
    ASSERT_TRUE(server.Place(request).ok()) << i;
  }
}

TEST(ParsedBytes, BoundWhatAMessageTakes) {
  v1::PlaceRequest request = MakePlaceRequest({MakeGang("a", 3), MakeGang("b", 300'000)});
  for (int i = 0; i < 1000; ++i) {
    request.mutable_workloads()->add_pod_set_counts(i * 1000);
    request.mutable_workloads()->add_strings("text " + std::string(i, 'x'));
    request.mutable_workloads()->add_resources()->add_amounts(-1);
    request.mutable_workloads()->add_node_constraints();
    (*request.mutable_feature_gates())["gate " + std::to_string(i)] = true;
  }
  const std::string bytes = request.SerializeAsString();
  v1::PlaceRequest parsed;
  WorkBudget budget(64 * kMiB);
  ASSERT_TRUE(Parse(BytesOf(bytes), budget, parsed));
  EXPECT_EQ(parsed.SpaceUsedLong(), [&] {
    v1::PlaceRequest direct;
    direct.ParseFromString(bytes);
    return direct.SpaceUsedLong();
  }());
  EXPECT_GE(budget.charged(), static_cast<std::int64_t>(parsed.SpaceUsedLong()));
  EXPECT_LE(budget.charged(), 4 * static_cast<std::int64_t>(parsed.SpaceUsedLong()));
}

TEST(ParsedBytes, OfNoMessage) {
  const auto& type = *v1::PlaceRequest::descriptor();
  for (const char* bytes : {"\xff", "\x0a", "\x0a\x05x", "\x07", "\x0b"}) {
    EXPECT_FALSE(ParsedBytes(type, BytesOf(bytes))) << bytes;
  }
}

// A change that is taken back leaves what was there.
TEST(IndexedInput, ChangesAreTakenBack) {
  ClusterStateInput input = SmallCluster();
  input.non_tas_usage = {{"host-1", {{"cpu", 1}}}, {"host-2", {{"cpu", 2}}}};
  input.tas_usage = {{"main", "host-3", {{"cpu", 3}}}};
  IndexedInput indexed(input);
  const std::int64_t bytes = indexed.bytes();
  StateDelta delta;
  delta.remove_nodes = {"host-0", "host-5"};
  for (const char* name : {"host-0", "host-7", "new", "new", "host-7"}) {
    Node& node = delta.upsert_nodes.emplace_back();
    node.name = name;
    node.labels = {{"a", "b"}};
  }
  delta.set_non_tas_usage = {{"host-1", {}},
                             {"host-2", {{"cpu", 7}}},
                             {"host-9", {{"cpu", 9}}},
                             {"host-9", {{"cpu", 10}}}};
  delta.set_tas_usage = {{"main", "host-3", {}}, {"main", "host-4", {{"gpu", 1}}}};
  delta.remove_topologies = {input.topologies[0].name};
  delta.upsert_topologies = {{"other", {"rack"}}};
  delta.upsert_flavors = {{"main", {}, {}, {}, "other"}, {"new", {}, {}, {}, "other"}};
  const std::uint64_t checksum = indexed.checksum();
  const auto undo = indexed.Apply(delta);
  ASSERT_TRUE(undo);
  EXPECT_NE(indexed.checksum(), checksum);
  EXPECT_EQ(indexed.input().nodes.size(), 16u);
  EXPECT_EQ(indexed.input().non_tas_usage.size(), 2u);
  ASSERT_TRUE(indexed.Apply(*undo));
  EXPECT_EQ(indexed.bytes(), bytes);
  EXPECT_EQ(indexed.checksum(), checksum);
  const auto by_name = [](ClusterStateInput cluster) {
    std::ranges::sort(cluster.nodes, {}, &Node::name);
    std::ranges::sort(cluster.non_tas_usage, {}, &NodeUsage::node);
    return std::tuple(cluster.nodes, cluster.non_tas_usage, cluster.tas_usage, cluster.topologies,
                      cluster.flavors);
  };
  EXPECT_EQ(by_name(indexed.input()), by_name(input));
}

}  // namespace
}  // namespace espalier::budget_test
