// Several cluster states in one server, each under its name.
#include "host/live/named_states.hpp"

#include <future>

#include "espalier/v1/scheduling.grpc.pb.h"
#include "host/kueue/objects/cluster_input.hpp"
#include "service/wire/scheduling.hpp"
#include "tests/kueue/objects.hpp"
#include "tests/server/test_server.hpp"

namespace espalier::named_states_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

v1::PlaceRequest PlaceIn(const std::string& state_name, const WorkloadRequest& workload) {
  v1::PlaceRequest request = MakePlaceRequest({workload});
  request.set_state_name(state_name);
  return request;
}

grpc::Status Unload(TestServer& server, const std::string& name) {
  grpc::ClientContext context;
  v1::UnloadStateRequest request;
  request.set_state_name(name);
  v1::UnloadStateResponse response;
  return server.cluster_state->UnloadState(&context, request, &response);
}

std::vector<std::string> Names(TestServer& server) {
  grpc::ClientContext context;
  v1::ListStatesResponse response;
  EXPECT_TRUE(server.cluster_state->ListStates(&context, {}, &response).ok());
  std::vector<std::string> names;
  for (const v1::NamedState& state : response.states()) {
    names.push_back(state.state_name() + ":" + std::to_string(state.nodes()));
  }
  return names;
}

v1::PodSetOutcome OutcomeIn(TestServer& server, const std::string& state_name, std::int32_t pods) {
  v1::PlaceResponse response;
  const grpc::Status status = server.Place(PlaceIn(state_name, MakeGang("a", pods)), &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response.answers().outcomes_size() == 1 ? response.answers().outcomes(0)
                                                 : v1::POD_SET_OUTCOME_UNSPECIFIED;
}

TEST(NamedStatesOfAServer, EachIsPlacedOnByItsName) {
  TestServer server;
  ClusterStateInput half = SmallCluster(1);
  half.nodes.resize(2);
  ASSERT_TRUE(server.Load(SmallCluster(1)).ok());
  ASSERT_TRUE(server.Load(half, nullptr, "west").ok());
  ASSERT_TRUE(server.Load(SmallCluster(3), nullptr, "east").ok());
  EXPECT_THAT(Names(server), ElementsAre("east:12", "west:2"));
  EXPECT_EQ(server.Summary().nodes(), 4);
  EXPECT_EQ(OutcomeIn(server, "", 8), v1::POD_SET_OUTCOME_PLACED);
  EXPECT_EQ(OutcomeIn(server, "east", 8), v1::POD_SET_OUTCOME_PLACED);
  EXPECT_EQ(OutcomeIn(server, "west", 8), v1::POD_SET_OUTCOME_FAILED);
  const grpc::Status status = server.Place(PlaceIn("north", MakeGang("a", 1)));
  EXPECT_EQ(status.error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(status.error_message(),
            "state_name: no state \"north\" is loaded; there are east, west");
}

TEST(NamedStatesOfAServer, EveryCallTakesAName) {
  TestServer server;
  v1::StatePosition position;
  ASSERT_TRUE(server.Load(SmallCluster(1), &position, "east").ok());
  {
    grpc::ClientContext context;
    v1::UpdateStateRequest request;
    request.set_state_name("east");
    *request.mutable_base() = position;
    request.add_strings("host-3");
    request.add_remove_nodes(1);
    v1::UpdateStateResponse response;
    ASSERT_TRUE(server.cluster_state->UpdateState(&context, request, &response).ok());
    EXPECT_EQ(response.state().generation(), 2u);
  }
  {
    grpc::ClientContext context;
    v1::GetStateSummaryRequest request;
    request.set_state_name("east");
    v1::GetStateSummaryResponse response;
    ASSERT_TRUE(server.cluster_state->GetStateSummary(&context, request, &response).ok());
    EXPECT_EQ(response.nodes(), 3);
  }
  {
    grpc::ClientContext context;
    v1::ListLeavesRequest request;
    request.set_state_name("east");
    request.set_flavor("main");
    v1::ListLeavesResponse response;
    ASSERT_TRUE(server.cluster_state->ListLeaves(&context, request, &response).ok());
    EXPECT_EQ(response.total(), 3u);
  }
  v1::PlaceRequest commit = PlaceIn("east", MakeGang("a", 6));
  commit.set_mode(v1::PLACEMENT_MODE_SEQUENTIAL);
  commit.set_commit(true);
  v1::PlaceResponse placed;
  ASSERT_TRUE(server.Place(commit, &placed).ok());
  EXPECT_EQ(placed.committed().generation(), 3u);
  EXPECT_EQ(OutcomeIn(server, "east", 1), v1::POD_SET_OUTCOME_FAILED);
  EXPECT_EQ(server.Summary().state().generation(), 0u);
}

TEST(NamedStatesOfAServer, CyclesRunOnTheNamedState) {
  TestServer server;
  Cluster cluster = MakeCluster();
  cluster.workloads = {
      MakeWorkload("w", "gpu", {MakePodSet("main", 4, {{"gpu", 1}}, Unconstrained())})};
  ClusterStateInput input = BuildClusterStateInput(cluster, {});
  input.flavors = cluster.flavors;
  ASSERT_TRUE(server.Load(input, nullptr, "east").ok());
  v1::CycleRequest request = *ToProto(cluster);
  const auto stub = v1::Scheduling::NewStub(server.channel);
  v1::CycleResponse response;
  {
    grpc::ClientContext context;
    EXPECT_EQ(stub->Cycle(&context, request, &response).error_code(), grpc::FAILED_PRECONDITION);
  }
  request.set_state_name("east");
  grpc::ClientContext context;
  ASSERT_TRUE(stub->Cycle(&context, request, &response).ok());
  ASSERT_EQ(response.decisions_size(), 1);
  EXPECT_EQ(response.decisions(0).status(), v1::DECISION_STATUS_ASSUMED);
}

TEST(NamedStatesOfAServer, AnUnloadedStateIsForgottenAndItsMemoryFree) {
  TestServer server;
  v1::StatePosition position;
  ASSERT_TRUE(server.Load(SmallCluster(1), &position, "east").ok());
  EXPECT_TRUE(Unload(server, "east").ok());
  EXPECT_THAT(Names(server), ElementsAre());
  EXPECT_EQ(Unload(server, "east").error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(Unload(server, "").error_code(), grpc::INVALID_ARGUMENT);
  // The next of that name is another: what was known of the old one does not hold.
  v1::StatePosition next;
  ASSERT_TRUE(server.Load(SmallCluster(1), &next, "east").ok());
  EXPECT_NE(next.epoch(), position.epoch());
}

// Nobody would find what is booked there.
TEST(NamedStatesOfAServer, ACommitToAStateThatIsUnloadedMeanwhileIsRefused) {
  TestServer server;
  ASSERT_TRUE(server.Load(SmallCluster(1), nullptr, "east").ok());
  v1::PlaceRequest commit = PlaceIn("east", MakeGang("a", 2));
  commit.set_mode(v1::PLACEMENT_MODE_SEQUENTIAL);
  commit.set_commit(true);
  server.backend->Close();
  auto placed = std::async(std::launch::async, [&] { return server.Place(commit); });
  server.backend->WaitEntered(1);
  EXPECT_TRUE(Unload(server, "east").ok());
  server.backend->Open();
  const grpc::Status status = placed.get();
  EXPECT_EQ(status.error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "state_name: the state was unloaded meanwhile; load it anew");
}

TEST(NamedStatesOfAServer, MoreThanTheLimitIsRefused) {
  ServerOptions options;
  options.max_states = 1;
  TestServer server(options);
  ASSERT_TRUE(server.Load(SmallCluster(1), nullptr, "east").ok());
  const grpc::Status refused = server.Load(SmallCluster(1), nullptr, "west");
  EXPECT_EQ(refused.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("\"west\" would be one named state too many"));
  EXPECT_TRUE(server.Load(SmallCluster(2), nullptr, "east").ok());
  EXPECT_THAT(Names(server), ElementsAre("east:8"));
}

TEST(NamedStatesOfAServer, WrongNamesAndUnsoundLoadsLeaveNothing) {
  TestServer server;
  const grpc::Status status = server.Load(SmallCluster(1), nullptr, "No Name");
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("state_name: is \"No Name\"; the name of a"));
  ClusterStateInput unsound = SmallCluster(1);
  unsound.flavors[0].topology_name = "unknown";
  EXPECT_EQ(server.Load(unsound, nullptr, "east").error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(Names(server), ElementsAre());
}

TEST(NamedStatesOfAServer, ALoadIsOfOneState) {
  TestServer server;
  grpc::ClientContext context;
  v1::LoadStateResponse response;
  const auto writer = server.cluster_state->LoadState(&context, &response);
  v1::LoadStateRequest chunk;
  chunk.set_state_name("east");
  writer->Write(chunk);
  chunk.set_state_name("west");
  writer->Write(chunk);
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("chunk[1]: state_name: is \"west\""));
}

TEST(NamedStates, ReturnTheirMemory) {
  MemoryPool pool(std::int64_t{1} << 30);
  NamedStates states(2);
  {
    WorkBudget budget(pool, std::int64_t{1} << 30);
    ASSERT_TRUE(states.Load("east", SmallCluster(4), budget));
  }
  EXPECT_GT(pool.held(), 0);
  const auto reader = states.Find("east");
  ASSERT_TRUE(states.Unload("east"));
  EXPECT_GT(pool.held(), 0);  // somebody reads it
  (*reader)->Current();
}

TEST(NamedStates, AnUnloadedStateCannotBeChanged) {
  NamedStates states(2);
  const StatePosition loaded = *states.Load("east", SmallCluster(1));
  const std::shared_ptr<StateStore> east = *states.Find("east");
  ASSERT_TRUE(states.Unload("east"));
  const auto expect_gone = [](const auto& changed) {
    ASSERT_FALSE(changed);
    EXPECT_EQ(changed.error().error_class, ErrorClass::kNotFound) << changed.error().message;
  };
  expect_gone(east->Book(loaded, east->Current()->state.Branch()));
  expect_gone(east->Update(loaded, {}));
  expect_gone(east->Load(SmallCluster(2)));
  expect_gone(east->At(loaded));
  EXPECT_EQ(east->Current()->position, loaded);
}

TEST(NamedStates, FreeWhatNobodyReads) {
  MemoryPool pool(std::int64_t{1} << 30);
  NamedStates states(2);
  {
    WorkBudget budget(pool, std::int64_t{1} << 30);
    ASSERT_TRUE(states.Load("east", SmallCluster(4), budget));
  }
  EXPECT_TRUE(states.AnyLoaded());
  ASSERT_TRUE(states.Unload("east"));
  EXPECT_FALSE(states.AnyLoaded());
  EXPECT_EQ(pool.held(), 0);
}

}  // namespace
}  // namespace espalier::named_states_test
