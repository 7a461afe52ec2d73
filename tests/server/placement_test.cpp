// espalier.v1.Placement over a connection.
#include <thread>

#include "host/engine/booked_usage.hpp"
#include "host/engine/engine.hpp"
#include "service/wire/answers.hpp"
#include "tests/server/test_server.hpp"

namespace espalier::placement_test {
namespace {

class PlacementService : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(server_.Load(SmallCluster(), &position_).ok()); }

  std::vector<v1::PodSetOutcome> Outcomes(const v1::PlaceRequest& request) {
    const grpc::Status status = server_.Place(request, &response_);
    EXPECT_TRUE(status.ok()) << status.error_message();
    std::vector<v1::PodSetOutcome> outcomes;
    for (const int outcome : response_.answers().outcomes()) {
      outcomes.push_back(static_cast<v1::PodSetOutcome>(outcome));
    }
    return outcomes;
  }

  // A rack holds 8 pods of the gang, the cluster 4 racks.
  static std::vector<WorkloadRequest> Racks(int count) {
    std::vector<WorkloadRequest> gangs;
    for (int i = 0; i < count; ++i) gangs.push_back(MakeGang("gang-" + std::to_string(i), 8));
    return gangs;
  }

  TestServer server_;
  v1::StatePosition position_;
  v1::PlaceResponse response_;
};

constexpr auto kPlaced = v1::POD_SET_OUTCOME_PLACED;
constexpr auto kFailed = v1::POD_SET_OUTCOME_FAILED;

TEST_F(PlacementService, NominateAnswersEachOnTheSameState) {
  EXPECT_THAT(Outcomes(MakePlaceRequest(Racks(6))), testing::Each(kPlaced));
  EXPECT_EQ(response_.state().generation(), 1u);
  EXPECT_FALSE(response_.has_committed());
}

TEST_F(PlacementService, SequentialConsumesAndLeavesTheStateAlone) {
  const auto request = MakePlaceRequest(Racks(5), v1::PLACEMENT_MODE_SEQUENTIAL);
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(Outcomes(request),
                testing::ElementsAre(kPlaced, kPlaced, kPlaced, kPlaced, kFailed));
  }
  EXPECT_EQ(server_.Summary().state().generation(), 1u);
}

TEST_F(PlacementService, CommitBooksWhatWasPlaced) {
  auto request = MakePlaceRequest(Racks(3), v1::PLACEMENT_MODE_SEQUENTIAL);
  request.set_commit(true);
  EXPECT_THAT(Outcomes(request), testing::Each(kPlaced));
  EXPECT_EQ(response_.state().generation(), 1u);
  EXPECT_EQ(response_.committed().generation(), 2u);
  EXPECT_THAT(Outcomes(request), testing::ElementsAre(kPlaced, kFailed, kFailed));
  EXPECT_EQ(response_.state().generation(), 2u);
}

// Clusters of one rack and of four take turns; a gang of two racks fits into the latter.
TEST_F(PlacementService, EachAnswerIsOfOneStateWhileTheStateChanges) {
  ServerOptions options;
  options.workers = 4;
  TestServer server(options, MakeCpuBackend(2));
  ASSERT_TRUE(server.Load(SmallCluster(1)).ok());
  const auto ask = [&] {
    const auto request = MakePlaceRequest({MakeGang("gang", 16, "block")});
    std::uint64_t last = 0;
    for (int i = 0; i < 400; ++i) {
      v1::PlaceResponse response;
      ASSERT_TRUE(server.Place(request, &response).ok());
      const std::uint64_t generation = response.state().generation();
      EXPECT_GE(generation, last);
      EXPECT_THAT(response.answers().outcomes(),
                  testing::ElementsAre(generation % 2 == 0 ? kPlaced : kFailed))
          << generation;
      last = generation;
    }
  };
  std::thread one(ask), other(ask);
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(server.Load(SmallCluster(i % 2 == 0 ? 4 : 1)).ok());
  one.join();
  other.join();
}

TEST_F(PlacementService, ACommitThatLostARaceBooksNothing) {
  auto request = MakePlaceRequest(Racks(1), v1::PLACEMENT_MODE_SEQUENTIAL);
  request.set_commit(true);
  server_.backend->Close();
  grpc::Status status;
  std::thread call([&] { status = server_.Place(request); });
  server_.backend->WaitEntered(1);
  EXPECT_TRUE(server_.Load(SmallCluster()).ok());
  server_.backend->Open();
  call.join();
  EXPECT_EQ(status.error_code(), grpc::FAILED_PRECONDITION);
  EXPECT_EQ(server_.Summary().state().generation(), 2u);
}

TEST_F(PlacementService, ReadersKeepTheStateTheyStartedOn) {
  server_.backend->Close();
  std::thread call(
      [&] { EXPECT_THAT(Outcomes(MakePlaceRequest(Racks(1))), testing::ElementsAre(kPlaced)); });
  server_.backend->WaitEntered(1);
  EXPECT_TRUE(server_.Load(SmallCluster(0)).ok());
  server_.backend->Open();
  call.join();
  EXPECT_EQ(response_.state().generation(), 1u);
  EXPECT_THAT(Outcomes(MakePlaceRequest(Racks(1))), testing::ElementsAre(kFailed));
}

TEST_F(PlacementService, TheNamedStateMustBeTheCurrentOne) {
  auto request = MakePlaceRequest(Racks(1));
  *request.mutable_state() = position_;
  EXPECT_THAT(Outcomes(request), testing::ElementsAre(kPlaced));
  request.mutable_state()->set_generation(7);
  EXPECT_EQ(server_.Place(request).error_code(), grpc::FAILED_PRECONDITION);
  *request.mutable_state() = position_;
  request.mutable_state()->set_epoch(position_.epoch() + 1);
  EXPECT_EQ(server_.Place(request).error_code(), grpc::FAILED_PRECONDITION);
}

TEST_F(PlacementService, DomainsGoByIndexUnlessNamesAreAsked) {
  auto request = MakePlaceRequest(Racks(1));
  EXPECT_THAT(Outcomes(request), testing::ElementsAre(kPlaced));
  EXPECT_EQ(response_.answers().named_domains_size(), 0);
  ASSERT_EQ(response_.answers().domains_size(), 4);
  const int first = response_.answers().domains(0);

  v1::ListLeavesRequest names;
  names.set_flavor("main");
  names.set_first(static_cast<std::uint32_t>(first));
  v1::ListLeavesResponse leaves;
  grpc::ClientContext context;
  ASSERT_TRUE(server_.cluster_state->ListLeaves(&context, names, &leaves).ok());

  request.set_domain_naming(v1::DOMAIN_NAMING_NAME);
  EXPECT_THAT(Outcomes(request), testing::ElementsAre(kPlaced));
  WorkBudget budget(1 << 20);
  const auto answers = FromProto(Racks(1), response_.answers(), budget);
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ(answers->at(0).pod_sets.at(0).assignment->domains.at(0).values.back(),
            leaves.values(2));
}

TEST_F(PlacementService, FeatureGatesComeWithTheRequest) {
  auto request = MakePlaceRequest(Racks(1));
  (*request.mutable_feature_gates())["TASProfileMixed"] = false;
  EXPECT_THAT(Outcomes(request), testing::ElementsAre(kPlaced));
  (*request.mutable_feature_gates())["NoSuchGate"] = true;
  const grpc::Status status = server_.Place(request);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_NE(status.error_message().find("NoSuchGate"), std::string::npos);
}

// Two pods on host-0 and two on host-1, which failed.
WorkloadRequest GangWithAFailedNode() {
  WorkloadRequest request = MakeGang("gang", 4);
  ReplacementContext& replacement = request.replacement.emplace();
  replacement.unhealthy_nodes = {"host-1"};
  replacement.admitted = {
      {"main",
       {{"cpu", "main"}},
       {{"cpu", 16000}},
       4,
       TopologyAssignment{{std::string(kHostnameLabel)}, {{{"host-0"}, 2}, {{"host-1"}, 2}}},
       std::nullopt}};
  return request;
}

ClusterStateInput ClusterWithAFailedNode() {
  ClusterStateInput input = SmallCluster();
  input.nodes[1].ready = false;
  for (const char* host : {"host-0", "host-1"}) {
    input.tas_usage.push_back({"main", host, {{"cpu", 8000}, {"pods", 2}}});
  }
  return input;
}

// R17, R21.8: what Replace says and books is what the engine in this process says.
TEST_F(PlacementService, ReplaceAnswersAsTheEngineAndBooksThePodsThatMoved) {
  const std::vector<WorkloadRequest> workloads = {GangWithAFailedNode()};
  const ClusterStateInput input = ClusterWithAFailedNode();
  auto state = ClusterState::Build(input);
  ASSERT_TRUE(state);
  const Engine engine(MakeCpuBackend(1), FeatureGates());
  const auto expected = engine.PlaceInOrder(*state, workloads);
  const auto moved = PodsAdded(workloads[0], expected[0]);
  ASSERT_EQ(moved.size(), 1u);

  ASSERT_TRUE(server_.Load(input).ok());
  auto request = MakePlaceRequest(workloads, v1::PLACEMENT_MODE_SEQUENTIAL);
  request.set_domain_naming(v1::DOMAIN_NAMING_NAME);
  request.set_commit(true);
  const grpc::Status status = server_.Replace(request, &response_);
  ASSERT_TRUE(status.ok()) << status.error_message();
  WorkBudget budget(1 << 20);
  const auto answers = FromProto(workloads, response_.answers(), budget);
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ(*answers, expected);
  EXPECT_THAT(response_.answers().counts(), testing::ElementsAre(2, 2));
  EXPECT_THAT(response_.answers().added_counts(), testing::ElementsAre(0, moved[0].count));

  // The first block has lost 2 of its 16 places on each of the old, failed and new host.
  const auto fill = [](int rest) {
    return MakePlaceRequest({MakeGang("second", 16, "block"), MakeGang("first", rest, "block")},
                            v1::PLACEMENT_MODE_SEQUENTIAL);
  };
  EXPECT_THAT(Outcomes(fill(10)), testing::ElementsAre(kPlaced, kPlaced));
  EXPECT_THAT(Outcomes(fill(11)), testing::ElementsAre(kPlaced, kFailed));
  EXPECT_EQ(response_.state().generation(), 3u);
}

TEST_F(PlacementService, ReplaceTakesNoNewWorkloads) {
  const auto request = MakePlaceRequest({GangWithAFailedNode(), MakeGang("new", 1)});
  const grpc::Status status = server_.Replace(request, &response_);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(),
            "workloads: default/new (position 1) has neither a replacement nor a previous "
            "assignment, so nothing can be replaced; use Place");
}

struct BadRequest {
  const char* name;
  void (*spoil)(v1::PlaceRequest&);
  const char* message;
};

class BadPlaceRequest : public PlacementService, public testing::WithParamInterface<BadRequest> {};

TEST_P(BadPlaceRequest, IsRefusedWithTheField) {
  auto request = MakePlaceRequest(Racks(1));
  GetParam().spoil(request);
  const grpc::Status status = server_.Place(request);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    , BadPlaceRequest,
    testing::Values(
        BadRequest{"NoMode", [](auto& r) { r.clear_mode(); },
                   "mode: is 0; NOMINATE (1) or SEQUENTIAL (2) expected"},
        BadRequest{"UnknownMode", [](auto& r) { r.set_mode(static_cast<v1::PlacementMode>(9)); },
                   "mode: is 9; NOMINATE (1) or SEQUENTIAL (2) expected"},
        BadRequest{"UnknownNaming",
                   [](auto& r) { r.set_domain_naming(static_cast<v1::DomainNaming>(9)); },
                   "domain_naming: is 9; INDEX (0) or NAME (1) expected"},
        BadRequest{"CommitOfANomination", [](auto& r) { r.set_commit(true); },
                   "commit: nothing can be booked in mode NOMINATE; use SEQUENTIAL"},
        BadRequest{"HostileBatch",
                   [](auto& r) { r.mutable_workloads()->set_pod_set_counts(0, -1); },
                   "workloads.pod_set_counts[0]: is -1; pods are 0 or more"}),
    [](const auto& param_info) { return param_info.param.name; });

TEST_F(PlacementService, AnUnknownFlavorIsNotFound) {
  auto gangs = Racks(2);
  gangs[1].pod_sets[0].flavor = "unknown";
  for (const auto naming : {v1::DOMAIN_NAMING_INDEX, v1::DOMAIN_NAMING_NAME}) {
    auto request = MakePlaceRequest(gangs);
    request.set_domain_naming(naming);
    const grpc::Status status = server_.Place(request, &response_);
    EXPECT_EQ(status.error_code(), grpc::NOT_FOUND);
    EXPECT_EQ(status.error_message(),
              "workloads.pod_set_flavors[1]: the state has no flavor \"unknown\" with a topology; "
              "it has main");
  }
}

TEST_F(PlacementService, AnEmptyBatchHasAnEmptyAnswer) {
  EXPECT_THAT(Outcomes(MakePlaceRequest({})), testing::IsEmpty());
}

}  // namespace
}  // namespace espalier::placement_test
