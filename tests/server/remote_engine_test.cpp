// A RemoteEngine answers as the engine in this process does.
#include "service/client/remote_engine.hpp"

#include <chrono>
#include <optional>

#include "tests/server/test_server.hpp"

namespace espalier::remote_engine_test {
namespace {

std::vector<WorkloadAnswer> PlaceHere(const ClusterStateInput& input,
                                      const std::vector<WorkloadRequest>& requests,
                                      PlacementMode mode, const FeatureGates& gates) {
  auto state = ClusterState::Build(input);
  EXPECT_TRUE(state) << state.error().message;
  return Engine(MakeCpuBackend(1), gates).Place(*state, requests, mode);
}

// Compares both modes; leaves out nothing.
void ExpectSameAnswers(RemoteEngine& remote, const ClusterStateInput& input,
                       const std::vector<WorkloadRequest>& requests, const FeatureGates& gates) {
  const auto loaded = remote.Load(input);
  ASSERT_TRUE(loaded) << loaded.error().message;
  for (const PlacementMode mode : {PlacementMode::kNominate, PlacementMode::kSequential}) {
    const auto answers = remote.Place(requests, mode, gates);
    ASSERT_TRUE(answers) << answers.error().message;
    EXPECT_EQ(*answers, PlaceHere(input, requests, mode, gates));
  }
}

class RemoteEngineOn : public testing::TestWithParam<const char*> {
 protected:
  static ServerOptions Options() {
    ServerOptions options;
    const std::string kind = GetParam();
    options.listen = {kind == "unix" ? SocketAddress("remote") : "127.0.0.1:0"};
    return options;
  }

  TestServer server_{Options()};
};

TEST_P(RemoteEngineOn, AnswersAsTheLocalEngine) {
  auto remote = RemoteEngine::Connect(server_.server->addresses()[0]);
  ASSERT_TRUE(remote) << remote.error().message;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const ClusterStateInput input = RandomCluster(random);
    FeatureGates gates;
    gates.profile_mixed = random.Below(2);
    gates.handle_overlapping_flavors = random.Below(2);
    ExpectSameAnswers(*remote, input, RandomWorkloads(random, 30), gates);
  }
}

INSTANTIATE_TEST_SUITE_P(, RemoteEngineOn, testing::Values("unix", "tcp"),
                         [](const auto& param_info) { return std::string(param_info.param); });

class RemoteEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    auto connected = RemoteEngine::Connect(server_.server->addresses()[0]);
    ASSERT_TRUE(connected) << connected.error().message;
    remote_.emplace(*std::move(connected));
  }

  TestServer server_;
  std::optional<RemoteEngine> remote_;
};

// Rule R17: a replacement carries what the workload holds.
TEST_F(RemoteEngineTest, ReplacesAFailedNode) {
  WorkloadRequest request = MakeGang("a", 4);
  ReplacementContext& replacement = request.replacement.emplace();
  replacement.unhealthy_nodes = {"host-1"};
  replacement.admitted = {
      {"main",
       {{"cpu", "main"}},
       {{"cpu", 16000}},
       4,
       TopologyAssignment{{std::string(kHostnameLabel)}, {{{"host-0"}, 2}, {{"host-1"}, 2}}},
       std::nullopt}};
  ExpectSameAnswers(*remote_, SmallCluster(), {request}, FeatureGates());
}

// Rule R16: a resize carries the previous assignment, which may name nodes that are gone.
TEST_F(RemoteEngineTest, ResizesFromAPreviousAssignment) {
  FeatureGates gates;
  gates.elastic_jobs_via_workload_slices_with_tas = true;
  std::vector<WorkloadRequest> requests;
  for (const char* host : {"host-3", "gone"}) {
    for (const std::int32_t count : {1, 3, 6}) {
      WorkloadRequest& request = requests.emplace_back(MakeGang("a", count));
      request.pod_sets[0].previous_assignment =
          TopologyAssignment{{std::string(kHostnameLabel)}, {{{host}, 2}, {{"host-2"}, 1}}};
    }
  }
  ExpectSameAnswers(*remote_, SmallCluster(), requests, gates);
}

TEST_F(RemoteEngineTest, LeavesTheServersStateAlone) {
  ASSERT_TRUE(remote_->Load(SmallCluster()));
  ASSERT_TRUE(remote_->Place(std::vector{MakeGang("a", 8)}, PlacementMode::kSequential, {}));
  EXPECT_EQ(server_.Summary().state().generation(), 1u);
}

TEST_F(RemoteEngineTest, IsToldWhenSomeoneElseChangedTheState) {
  ASSERT_TRUE(remote_->Load(SmallCluster()));
  ASSERT_TRUE(server_.Load(SmallCluster()).ok());
  const auto answers = remote_->Place(std::vector{MakeGang("a", 1)}, PlacementMode::kNominate, {});
  ASSERT_FALSE(answers);
  EXPECT_EQ(answers.error().error_class, ErrorClass::kStale);
  EXPECT_NE(answers.error().message.find("generation 2, not 1"), std::string::npos)
      << answers.error().message;
}

TEST_F(RemoteEngineTest, PassesOnWhatIsWrongWithTheInput) {
  ClusterStateInput input = SmallCluster();
  input.topologies.clear();
  const auto loaded = remote_->Load(input);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().error_class, ErrorClass::kBadInput);
}

// Lists two leaves a call, in a state that changes after the first call of a few tries.
class ChangingLeaves final : public v1::ClusterState::Service {
 public:
  explicit ChangingLeaves(int changes) : changes_(changes) {}

  grpc::Status GetStateSummary(grpc::ServerContext*, const v1::GetStateSummaryRequest*,
                               v1::GetStateSummaryResponse*) override {
    return grpc::Status::OK;
  }
  grpc::Status ListLeaves(grpc::ServerContext*, const v1::ListLeavesRequest* request,
                          v1::ListLeavesResponse* response) override {
    if (request->has_state() && request->state().generation() != generation_) {
      return {grpc::FAILED_PRECONDITION, "someone else changed it"};
    }
    response->mutable_state()->set_generation(generation_);
    response->add_levels("host");
    response->set_total(3);
    for (std::uint32_t i = request->first(); i < 3 && i < request->first() + 2; ++i) {
      response->add_values(std::to_string(generation_) + "-" + std::to_string(i));
    }
    if (changes_-- > 0) ++generation_;
    return grpc::Status::OK;
  }

 private:
  int changes_;
  std::uint64_t generation_ = 1;
};

Result<std::vector<std::vector<std::string>>> LeavesWhileItChanges(int changes) {
  ChangingLeaves service(changes);
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  auto remote = RemoteEngine::Connect("127.0.0.1:" + std::to_string(port));
  if (!remote) return tl::unexpected(remote.error());
  return remote->Leaves("main");
}

TEST(LeavesOfAServer, AreThoseOfOneState) {
  using Leaves = std::vector<std::vector<std::string>>;
  EXPECT_EQ(LeavesWhileItChanges(0).value(), (Leaves{{"1-0"}, {"1-1"}, {"1-2"}}));
  EXPECT_EQ(LeavesWhileItChanges(2).value(), (Leaves{{"3-0"}, {"3-1"}, {"3-2"}}));
  const auto never = LeavesWhileItChanges(1000);
  ASSERT_FALSE(never);
  EXPECT_EQ(never.error().error_class, ErrorClass::kStale);
}

TEST(RemoteEngineErrors, NoServer) {
  const auto remote = RemoteEngine::Connect(SocketAddress("nobody"));
  ASSERT_FALSE(remote);
  EXPECT_EQ(remote.error().error_class, ErrorClass::kUnavailable);
  EXPECT_EQ(remote.error().message.find("no server answers at unix:"), 0u)
      << remote.error().message;
}

TEST(RemoteEngineErrors, NoAddress) {
  const auto remote = RemoteEngine::Connect("somewhere");
  ASSERT_FALSE(remote);
  EXPECT_EQ(remote.error().error_class, ErrorClass::kBadInput);
}

TEST(RemoteEngineErrors, AServerThatSpeaksSomethingElse) {
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  grpc::EnableDefaultHealthCheckService(true);
  const auto other = builder.BuildAndStart();
  const auto remote = RemoteEngine::Connect("127.0.0.1:" + std::to_string(port));
  ASSERT_FALSE(remote);
  EXPECT_EQ(remote.error().error_class, ErrorClass::kNotFound);
}

TEST(RemoteEngineErrors, Deadline) {
  TestServer server;
  server.backend->Close();
  // More time each time, until it is enough for connecting and loading.
  std::chrono::milliseconds timeout(50);
  std::optional<RemoteEngine> remote;
  while (!remote) {
    auto connected = RemoteEngine::Connect(server.server->addresses()[0], timeout *= 2);
    if (connected && connected->Load(SmallCluster())) remote.emplace(*std::move(connected));
  }
  const auto answers = remote->Place(std::vector{MakeGang("a", 1)}, PlacementMode::kNominate, {});
  server.backend->Open();
  ASSERT_FALSE(answers);
  EXPECT_EQ(answers.error().error_class, ErrorClass::kCancelled);
  EXPECT_NE(answers.error().message.find("did not answer in time"), std::string::npos);
}

}  // namespace
}  // namespace espalier::remote_engine_test
