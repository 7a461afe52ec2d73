// espalier.v1.ClusterState over a connection.
#include <limits>

#include "tests/server/test_server.hpp"

namespace espalier::cluster_state_test {
namespace {

TEST(ClusterStateService, StartsEmpty) {
  TestServer server;
  const auto summary = server.Summary();
  EXPECT_NE(summary.state().epoch(), 0u);
  EXPECT_EQ(summary.state().generation(), 0u);
  EXPECT_EQ(summary.flavors_size(), 0);
  const auto current = CurrentOf(server.Place(MakePlaceRequest({MakeGang("a", 1)})));
  EXPECT_EQ(current.generation(), 0u);
}

TEST(ClusterStateService, SummaryDescribesWhatWasLoaded) {
  TestServer server;
  v1::StatePosition position;
  ASSERT_TRUE(server.Load(SmallCluster(), &position).ok());
  EXPECT_EQ(position.generation(), 1u);
  const auto summary = server.Summary();
  EXPECT_EQ(summary.state().generation(), 1u);
  EXPECT_EQ(summary.state().epoch(), position.epoch());
  EXPECT_EQ(summary.nodes(), 16);
  ASSERT_EQ(summary.flavors_size(), 1);
  const v1::FlavorSummary& flavor = summary.flavors(0);
  EXPECT_EQ(flavor.name(), "main");
  EXPECT_EQ(flavor.levels(1), "rack");
  EXPECT_THAT(flavor.domain_counts(), testing::ElementsAre(2, 4, 16));
  EXPECT_EQ(flavor.nodes(), 16);
  EXPECT_THAT(flavor.resources(), testing::ElementsAre("cpu", "pods"));
}

TEST(ClusterStateService, EveryLoadIsTheNextGeneration) {
  TestServer server;
  v1::StatePosition position;
  ASSERT_TRUE(server.Load(SmallCluster(), &position).ok());
  ASSERT_TRUE(server.Load(SmallCluster(1), &position).ok());
  EXPECT_EQ(position.generation(), 2u);
  EXPECT_EQ(server.Summary().nodes(), 4);
}

TEST(ClusterStateService, AnUnsoundLoadChangesNothing) {
  TestServer server;
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  ClusterStateInput unsound = SmallCluster(1);
  unsound.flavors[0].topology_name = "unknown";
  const grpc::Status status = server.Load(unsound);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_NE(status.error_message().find("\"unknown\""), std::string::npos)
      << status.error_message();
  EXPECT_EQ(server.Summary().state().generation(), 1u);
  EXPECT_EQ(server.Summary().nodes(), 16);
}

TEST(ClusterStateService, AHostileChunkIsRefused) {
  TestServer server;
  grpc::ClientContext context;
  v1::LoadStateResponse response;
  const auto writer = server.cluster_state->LoadState(&context, &response);
  v1::LoadStateRequest chunk;
  chunk.add_nodes()->set_name(77);
  writer->Write(chunk);
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message().find("chunk[0].nodes[0].name: "), 0u) << status.error_message();
}

TEST(ClusterStateService, AnAbandonedLoadChangesNothing) {
  TestServer server;
  {
    grpc::ClientContext context;
    v1::LoadStateResponse response;
    const auto writer = server.cluster_state->LoadState(&context, &response);
    v1::LoadStateRequest chunk;
    chunk.add_strings("node");
    chunk.add_nodes()->set_name(1);
    writer->Write(chunk);
    context.TryCancel();
    EXPECT_EQ(writer->Finish().error_code(), grpc::CANCELLED);
  }
  EXPECT_EQ(server.Summary().state().generation(), 0u);
  EXPECT_TRUE(server.server->Drain(std::chrono::minutes(1)));  // and leaves no call behind
}

class Update : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(server_.Load(SmallCluster(), request_.mutable_base()).ok());
    request_.add_strings("host-0");
    request_.add_strings("pods");
    request_.add_strings("cpu");
    request_.add_strings("main");
    request_.add_strings("nowhere");
  }

  grpc::Status Send() {
    grpc::ClientContext context;
    v1::UpdateStateResponse response;
    const grpc::Status status = server_.cluster_state->UpdateState(&context, request_, &response);
    if (status.ok()) *request_.mutable_base() = response.state();
    return status;
  }

  // Pods of the gang of 4 cpu pods that fit on host-0's rack.
  bool Fits(std::int32_t pods) {
    WorkloadRequest gang = MakeGang("probe", pods, "kubernetes.io/hostname");
    gang.pod_sets[0].pod_template.node_selector = {{"kubernetes.io/hostname", "host-0"}};
    v1::PlaceResponse response;
    EXPECT_TRUE(server_.Place(MakePlaceRequest({gang}), &response).ok());
    return response.answers().outcomes(0) == v1::POD_SET_OUTCOME_PLACED;
  }

  TestServer server_;
  v1::UpdateStateRequest request_;
};

TEST_F(Update, SetsAndForgetsUsage) {
  EXPECT_TRUE(Fits(2));
  v1::NodeUsage& usage = *request_.add_set_non_tas_usage();
  usage.set_node(1);
  usage.mutable_usage()->add_names(3);
  usage.mutable_usage()->add_amounts(3000);
  ASSERT_TRUE(Send().ok());
  EXPECT_EQ(request_.base().generation(), 2u);
  EXPECT_FALSE(Fits(2));
  EXPECT_TRUE(Fits(1));
  usage.clear_usage();
  ASSERT_TRUE(Send().ok());
  EXPECT_TRUE(Fits(2));

  v1::FlavorLeafUsage& tas = *request_.add_set_tas_usage();
  tas.set_flavor(4);
  tas.set_leaf(1);
  tas.mutable_usage()->add_names(3);
  tas.mutable_usage()->add_amounts(8000);
  ASSERT_TRUE(Send().ok());
  EXPECT_FALSE(Fits(1));
  ASSERT_TRUE(Send().ok());  // the total, not a difference
  tas.clear_usage();
  ASSERT_TRUE(Send().ok());
  EXPECT_TRUE(Fits(2));
}

TEST_F(Update, KnowsAdmittedWorkloadsByKey) {
  const std::uint64_t without = server_.Summary().checksum();
  v1::FlavorLeafUsage& total = *request_.add_set_tas_usage();
  total.set_flavor(4);
  total.set_leaf(1);
  total.mutable_usage()->add_names(3);
  total.mutable_usage()->add_amounts(4000);
  v1::AdmittedWorkload& workload = *request_.add_set_workloads();
  workload.set_name(5);
  workload.set_priority(3);
  *workload.add_usage() = total;
  ASSERT_TRUE(Send().ok());
  EXPECT_EQ(server_.Summary().workloads(), 1);
  EXPECT_FALSE(Fits(1));
  const std::uint64_t with = server_.Summary().checksum();
  EXPECT_NE(with, without);
  ASSERT_TRUE(Send().ok());  // the same again
  EXPECT_EQ(server_.Summary().checksum(), with);

  // The total is what the workload does not use.
  request_.clear_set_workloads();
  total.clear_usage();
  ASSERT_TRUE(Send().ok());
  EXPECT_TRUE(Fits(1));
  EXPECT_FALSE(Fits(2));
  request_.clear_set_tas_usage();
  request_.add_set_workloads()->set_name(5);
  ASSERT_TRUE(Send().ok());
  EXPECT_TRUE(Fits(2));
  EXPECT_EQ(server_.Summary().workloads(), 0);
  EXPECT_EQ(server_.Summary().checksum(), without);
  ASSERT_TRUE(Send().ok());  // it is gone already
}

TEST_F(Update, RefusesWorkloadsThatAreNotSound) {
  v1::AdmittedWorkload& workload = *request_.add_set_workloads();
  EXPECT_EQ(Send().error_message(), "update.set_workloads[0].name: is empty; workloads have names");
  workload.set_name(5);
  v1::FlavorLeafUsage& usage = *workload.add_usage();
  usage.set_flavor(4);
  usage.set_leaf(1);
  usage.mutable_usage()->add_names(3);
  usage.mutable_usage()->add_amounts(-1);
  EXPECT_EQ(Send().error_message(),
            "update.set_workloads[0].usage[0]: has -1 cpu for workload nowhere; 0 to "
            "9007199254740992 expected");
  usage.mutable_usage()->set_amounts(0, 4000);
  *request_.add_set_workloads() = workload;
  EXPECT_EQ(Send().error_message(), "workload nowhere is named twice; name each once");
  request_.mutable_set_workloads()->RemoveLast();
  v1::FlavorLeafUsage& total = *request_.add_set_tas_usage();
  total = usage;
  total.mutable_usage()->set_amounts(0, std::numeric_limits<std::int64_t>::max());
  EXPECT_NE(Send().error_message().find("more cpu than an int64 holds"), std::string::npos);
  EXPECT_EQ(server_.Summary().workloads(), 0);
  EXPECT_TRUE(Fits(2));
}

TEST_F(Update, RemovesAndUpsertsNodes) {
  request_.add_remove_nodes(1);
  ASSERT_TRUE(Send().ok());
  EXPECT_EQ(server_.Summary().nodes(), 15);
  EXPECT_FALSE(Fits(1));

  request_.clear_remove_nodes();
  v1::Node& node = *request_.add_upsert_nodes();
  node.set_name(5);
  node.set_ready(false);
  ASSERT_TRUE(Send().ok());
  EXPECT_EQ(server_.Summary().nodes(), 16);
  EXPECT_EQ(server_.Summary().flavors(0).nodes(), 15);  // not ready: known, but not available
}

TEST_F(Update, ChangesTopologiesAndFlavors) {
  const std::uint64_t checksum = server_.Summary().checksum();
  EXPECT_NE(checksum, 0U);
  request_.add_strings("hosts");
  const auto hosts = static_cast<std::uint32_t>(request_.strings_size());
  request_.add_strings(std::string(kHostnameLabel));
  v1::Topology& topology = *request_.add_upsert_topologies();
  topology.set_name(hosts);
  topology.add_levels(hosts + 1);
  v1::ResourceFlavor& flavor = *request_.add_upsert_flavors();
  flavor.set_name(hosts);
  flavor.set_topology_name(hosts);
  ASSERT_TRUE(Send().ok());
  ASSERT_EQ(server_.Summary().flavors_size(), 2);
  EXPECT_EQ(server_.Summary().flavors(0).name(), "hosts");
  EXPECT_EQ(server_.Summary().flavors(0).nodes(), 16);
  EXPECT_NE(server_.Summary().checksum(), checksum);

  // A flavor without its topology is as wrong as in a load.
  request_.clear_upsert_topologies();
  request_.clear_upsert_flavors();
  request_.add_remove_topologies(hosts);
  EXPECT_EQ(Send().error_code(), grpc::INVALID_ARGUMENT);
  request_.add_remove_flavors(hosts);
  ASSERT_TRUE(Send().ok());
  EXPECT_EQ(server_.Summary().checksum(), checksum);
  const grpc::Status status = Send();
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(),
            "update.remove_topologies: there is no topology \"hosts\" to remove; name what is "
            "loaded, once each");
}

// Leaves of nodes that went are not there for anybody, wherever they are kept.
TEST_F(Update, IndexesOfLeavesAreAsIfLoaded) {
  request_.add_remove_nodes(1);
  ASSERT_TRUE(Send().ok());
  const v1::FlavorSummary summary = server_.Summary().flavors(0);
  EXPECT_EQ(summary.domain_counts(summary.domain_counts_size() - 1), 15);
  v1::ListLeavesRequest request;
  request.set_flavor("main");
  v1::ListLeavesResponse all;
  grpc::ClientContext context;
  ASSERT_TRUE(server_.cluster_state->ListLeaves(&context, request, &all).ok());
  EXPECT_EQ(all.total(), 15U);
  ASSERT_EQ(all.values_size(), 15 * all.levels_size());
  EXPECT_EQ(std::ranges::count(all.values(), request_.strings(0)), 0);
  request.set_first(14);
  v1::ListLeavesResponse last;
  grpc::ClientContext again;
  ASSERT_TRUE(server_.cluster_state->ListLeaves(&again, request, &last).ok());
  ASSERT_EQ(last.values_size(), last.levels_size());
  EXPECT_EQ(last.values(last.levels_size() - 1), all.values(all.values_size() - 1));
}

TEST_F(Update, RefusesToRemoveAnUnknownNodeAndChangesNothing) {
  request_.add_remove_nodes(1);
  request_.add_remove_nodes(5);
  const grpc::Status status = Send();
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_NE(status.error_message().find("\"nowhere\""), std::string::npos);
  EXPECT_EQ(server_.Summary().nodes(), 16);
  EXPECT_EQ(server_.Summary().state().generation(), 1u);
}

TEST_F(Update, SaysThatItsBaseIsMissing) {
  request_.clear_base();
  const grpc::Status status = Send();
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(),
            "base: is missing; the position of the state that the update extends expected");
}

TEST_F(Update, OfAnOldGenerationIsToldTheCurrentOne) {
  ASSERT_TRUE(Send().ok());
  request_.mutable_base()->set_generation(1);
  const v1::StatePosition current = CurrentOf(Send());
  EXPECT_EQ(current.generation(), 2u);
  EXPECT_EQ(current.epoch(), request_.base().epoch());
}

TEST_F(Update, OfAnotherEpochIsToldTheCurrentOne) {
  TestServer restarted;
  grpc::ClientContext context;
  v1::UpdateStateResponse response;
  const grpc::Status status = restarted.cluster_state->UpdateState(&context, request_, &response);
  const v1::StatePosition current = CurrentOf(status);
  EXPECT_NE(current.epoch(), request_.base().epoch());
  EXPECT_EQ(current.generation(), 0u);
}

// Loads the state without a name as one of that name, by what the server says of it.
std::int64_t CopyTo(TestServer& server, const std::string& name) {
  grpc::ClientContext read_context;
  const auto reader = server.cluster_state->ReadState(&read_context, {});
  grpc::ClientContext load_context;
  v1::LoadStateResponse loaded;
  const auto writer = server.cluster_state->LoadState(&load_context, &loaded);
  std::int64_t chunks = 0;
  for (v1::ReadStateResponse response; reader->Read(&response); ++chunks) {
    EXPECT_EQ(response.state().generation(), server.Summary().state().generation());
    if (chunks == 0) response.mutable_chunk()->set_state_name(name);
    EXPECT_TRUE(writer->Write(response.chunk()));
  }
  EXPECT_TRUE(reader->Finish().ok());
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  return chunks;
}

TEST(ReadState, LoadsTheSameStateAnew) {
  TestServer server;
  ClusterStateInput input = SmallCluster(600);
  input.non_tas_usage = {{"host-1", {{"cpu", 1000}, {"pods", 1}}, {{"cpu", 500}}}};
  input.tas_usage = {{"main", "host-0", {{"cpu", 4000}, {"pods", 1}}}};
  AdmittedUsage workload{{"team", "a"}, 3, 1, {}};
  workload.usage = {{"main", "host-0", {{"cpu", 4000}, {"pods", 1}}},
                    {"main", "host-2", {{"cpu", 4000}, {"pods", 1}}}};
  ASSERT_TRUE(server.Load(input, nullptr, "", {workload}).ok());
  v1::PlaceRequest commit = MakePlaceRequest({MakeGang("b", 2)}, v1::PLACEMENT_MODE_SEQUENTIAL);
  commit.set_commit(true);
  *commit.mutable_state() = server.Summary().state();
  ASSERT_TRUE(server.Place(commit).ok());
  EXPECT_GT(CopyTo(server, "copy"), 1);
  v1::GetStateSummaryRequest of_copy;
  of_copy.set_state_name("copy");
  grpc::ClientContext context;
  v1::GetStateSummaryResponse copied;
  ASSERT_TRUE(server.cluster_state->GetStateSummary(&context, of_copy, &copied).ok());
  EXPECT_EQ(copied.checksum(), server.Summary().checksum());
  EXPECT_EQ(copied.workloads(), 1);
}

TEST(ReadState, OfNothingIsToldSo) {
  TestServer server;
  grpc::ClientContext context;
  const auto reader = server.cluster_state->ReadState(&context, {});
  v1::ReadStateResponse response;
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_EQ(CurrentOf(reader->Finish()).generation(), 0u);
}

TEST(ListLeaves, PagesThroughTheNames) {
  TestServer server;
  ASSERT_TRUE(server.Load(SmallCluster(1)).ok());
  v1::ListLeavesRequest request;
  request.set_flavor("main");
  request.set_first(2);
  request.set_limit(1);
  v1::ListLeavesResponse response;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(server.cluster_state->ListLeaves(&context, request, &response).ok());
  }
  EXPECT_EQ(response.total(), 4u);
  EXPECT_THAT(response.values(), testing::ElementsAre("b0", "r0", "host-2"));

  request.set_first(1000);
  {
    grpc::ClientContext context;
    ASSERT_TRUE(server.cluster_state->ListLeaves(&context, request, &response).ok());
  }
  EXPECT_EQ(response.values_size(), 0);
}

TEST(ListLeaves, RefusesWhatDoesNotExist) {
  TestServer server;
  ASSERT_TRUE(server.Load(SmallCluster(1)).ok());
  v1::ListLeavesRequest request;
  request.set_flavor("unknown");
  v1::ListLeavesResponse response;
  {
    grpc::ClientContext context;
    EXPECT_EQ(server.cluster_state->ListLeaves(&context, request, &response).error_code(),
              grpc::NOT_FOUND);
  }
  request.set_flavor("main");
  request.set_limit(0xffffffff);
  {
    grpc::ClientContext context;
    EXPECT_EQ(server.cluster_state->ListLeaves(&context, request, &response).error_code(),
              grpc::INVALID_ARGUMENT);
  }
}

TEST(ClusterStateErrors, AnUpdateRepeatsLittleOfALongName) {
  TestServer server;
  v1::UpdateStateRequest request;
  ASSERT_TRUE(server.Load(SmallCluster(), request.mutable_base()).ok());
  request.add_strings("\x1b[31m\nnode" + std::string(100'000, 'x'));
  request.add_remove_nodes(1);
  grpc::ClientContext context;
  v1::UpdateStateResponse response;
  const grpc::Status status = server.cluster_state->UpdateState(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_NE(status.error_message().find("\"\\x1b[31m\\nnodexxx"), std::string::npos)
      << status.error_message();
  EXPECT_LT(status.error_message().size(), 400u);
}

}  // namespace
}  // namespace espalier::cluster_state_test
