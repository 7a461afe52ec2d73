#include "service/wire/cluster_state.hpp"

#include <gtest/gtest.h>

#include "tests/wire/wire_samples.hpp"

namespace espalier::cluster_state_test {
namespace {

void ExpectEqual(const ClusterStateInput& a, const ClusterStateInput& b) {
  EXPECT_EQ(a.nodes, b.nodes);
  EXPECT_EQ(a.topologies, b.topologies);
  EXPECT_EQ(a.flavors, b.flavors);
  EXPECT_EQ(a.non_tas_usage, b.non_tas_usage);
  EXPECT_EQ(a.tas_usage, b.tas_usage);
  EXPECT_EQ(a.share_usage_between_flavors, b.share_usage_between_flavors);
}

TEST(LoadState, RoundTripOverManyChunksKeepsEverything) {
  for (const int nodes : {0, 1, 1999, 2000, 5001}) {
    const ClusterStateInput input = SampleInput(static_cast<std::uint32_t>(nodes), nodes);
    ClusterStateInput received;
    std::vector<AdmittedUsage> workloads;
    WorkBudget budget(kPlenty);
    std::int64_t chunks = 0;
    ToChunks(input, [&](const v1::LoadStateRequest& chunk) {
      v1::LoadStateRequest parsed;
      EXPECT_TRUE(parsed.ParseFromString(chunk.SerializeAsString()));
      const auto appended = AppendChunk(parsed, chunks++, budget, received, workloads);
      EXPECT_TRUE(appended) << appended.error().message;
      return true;
    });
    ExpectEqual(received, input);
    EXPECT_GE(chunks, nodes / 2000);
  }
}

TEST(LoadState, KeepsWhatIsSaidOfWorkloads) {
  const std::vector<AdmittedUsage> workloads = {
      {{"team", "train"}, -1, 3, {{"main", "host-0", {{"cpu", 1}}}}},
      {{"", "train-2"}, 2, 0, {{"main", "host-1", {{"cpu", 0}}}}, "train"}};
  std::vector<AdmittedUsage> received;
  const auto read = [&](const v1::LoadStateRequest& chunk) {
    WorkBudget budget(kPlenty);
    ClusterStateInput input;
    EXPECT_TRUE(AppendChunk(chunk, 0, budget, input, received));
    return true;
  };
  ToChunks({}, read, "", workloads);
  EXPECT_EQ(received, workloads);
  WorkBudget budget(kPlenty);
  const auto delta = FromProto(ToProto(StateDelta{.set_workloads = workloads}), budget);
  ASSERT_TRUE(delta) << delta.error().message;
  EXPECT_EQ(delta->set_workloads, workloads);
}

TEST(LoadState, StopsWhenTheReceiverIsGone) {
  int chunks = 0;
  ToChunks(SampleInput(1, 9000), [&](const v1::LoadStateRequest&) { return ++chunks < 2; });
  EXPECT_EQ(chunks, 2);
}

TEST(LoadState, ErrorsNameChunkAndField) {
  WorkBudget budget(kPlenty);
  ClusterStateInput input;
  std::vector<AdmittedUsage> workloads;
  v1::LoadStateRequest chunk;
  chunk.add_strings("n");
  v1::Node& node = *chunk.add_nodes();
  node.set_name(1);
  node.set_ready(true);
  chunk.mutable_nodes(0)->mutable_labels()->add_keys(3);
  chunk.mutable_nodes(0)->mutable_labels()->add_values(1);
  const auto appended = AppendChunk(chunk, 4, budget, input, workloads);
  ASSERT_FALSE(appended);
  EXPECT_EQ(appended.error().message,
            "chunk[4].nodes[0].labels: refers to row 3 of a table of 1; references are 0 to 1");
  EXPECT_EQ(appended.error().error_class, ErrorClass::kBadInput);
}

TEST(LoadState, ANodeHasAName) {
  WorkBudget budget(kPlenty);
  ClusterStateInput input;
  std::vector<AdmittedUsage> workloads;
  v1::LoadStateRequest chunk;
  chunk.add_nodes();
  const auto appended = AppendChunk(chunk, 0, budget, input, workloads);
  ASSERT_FALSE(appended);
  EXPECT_EQ(appended.error().message, "chunk[0].nodes[0].name: is empty; nodes have names");
}

TEST(LoadState, ANodeHasAtMostAsManyLabelsAsAClusterCanStore) {
  WorkBudget budget(kPlenty);
  v1::LoadStateRequest chunk;
  chunk.add_strings("n");
  chunk.add_nodes()->set_name(1);
  chunk.mutable_nodes(0)->set_ready(true);
  v1::StringMap& labels = *chunk.mutable_nodes(0)->mutable_labels();
  const auto error = [&] {
    ClusterStateInput input;
    std::vector<AdmittedUsage> workloads;
    const auto appended = AppendChunk(chunk, 0, budget, input, workloads);
    return appended ? "no error" : appended.error().message;
  };
  for (std::uint32_t i = 0; i < 250'000; ++i) {
    chunk.add_strings(std::to_string(i));
    labels.add_keys(i + 2);
    labels.add_values(1);
  }
  EXPECT_EQ(error(), "no error");
  labels.add_keys(1);
  labels.add_values(1);
  EXPECT_EQ(
      error(),
      "chunk[0].nodes[0].labels: has 250001 entries; at most 250000 expected, which no object "
      "in a cluster exceeds");
}

TEST(LoadState, ChunksShareOneBudget) {
  WorkBudget budget(10'000);
  ClusterStateInput input;
  std::vector<AdmittedUsage> workloads;
  v1::LoadStateRequest chunk;
  chunk.add_strings(std::string(1000, 'n'));
  v1::Node& node = *chunk.add_nodes();
  node.set_name(1);
  node.set_ready(true);
  int accepted = 0;
  while (accepted < 100 && AppendChunk(chunk, accepted, budget, input, workloads)) ++accepted;
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 10);
}

TEST(UpdateState, CarriesWhatLastsOnANode) {
  StateDelta delta;
  delta.set_non_tas_usage = {{"n1", {{"cpu", 5}, {"pods", 2}}, {{"cpu", 2}, {"pods", 1}}}};
  WorkBudget budget(kPlenty);
  v1::UpdateStateRequest message = ToProto(delta);
  const auto again = FromProto(message, budget);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->set_non_tas_usage, delta.set_non_tas_usage);
  message.mutable_set_non_tas_usage(0)->mutable_lasting()->set_amounts(0, 6);
  const auto more = FromProto(message, budget);
  ASSERT_FALSE(more);
  EXPECT_EQ(
      more.error().message,
      "update.set_non_tas_usage[0].lasting: has 6 cpu of node n1, of which 5 are in use; want "
      "no more than that");
}

TEST(UpdateState, CarriesEveryChange) {
  v1::UpdateStateRequest message;
  message.add_strings("node-1");
  message.add_strings("pods");
  message.add_remove_nodes(1);
  v1::Node& node = *message.add_upsert_nodes();
  node.set_name(1);
  node.set_ready(true);
  message.add_set_non_tas_usage()->set_node(1);
  v1::FlavorLeafUsage& usage = *message.add_set_tas_usage();
  usage.set_leaf(1);
  usage.mutable_usage()->add_names(2);
  usage.mutable_usage()->add_amounts(7);
  message.add_remove_topologies(1);
  message.add_upsert_topologies()->set_name(2);
  message.mutable_upsert_topologies(0)->add_levels(1);
  message.add_remove_flavors(2);
  message.add_upsert_flavors()->set_name(1);
  message.mutable_upsert_flavors(0)->set_topology_name(2);
  WorkBudget budget(kPlenty);
  const auto delta = FromProto(message, budget);
  ASSERT_TRUE(delta) << delta.error().message;
  EXPECT_EQ(delta->remove_nodes, std::vector<std::string>{"node-1"});
  ASSERT_EQ(delta->upsert_nodes.size(), 1u);
  EXPECT_EQ(delta->upsert_nodes[0].name, "node-1");
  EXPECT_EQ(delta->set_non_tas_usage, (std::vector<NodeUsage>{{"node-1", {}}}));
  EXPECT_EQ(delta->set_tas_usage, (std::vector<FlavorLeafUsage>{{"", "node-1", {{"pods", 7}}}}));
  const auto again = FromProto(ToProto(*delta), budget);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->remove_nodes, delta->remove_nodes);
  EXPECT_EQ(again->upsert_nodes, delta->upsert_nodes);
  EXPECT_EQ(again->set_non_tas_usage, delta->set_non_tas_usage);
  EXPECT_EQ(again->set_tas_usage, delta->set_tas_usage);
  EXPECT_EQ(delta->remove_topologies, std::vector<std::string>{"node-1"});
  EXPECT_EQ(delta->upsert_topologies, (std::vector<Topology>{{"pods", {"node-1"}}}));
  EXPECT_EQ(delta->remove_flavors, std::vector<std::string>{"pods"});
  EXPECT_EQ(delta->upsert_flavors, (std::vector<ResourceFlavor>{{"node-1", {}, {}, {}, "pods"}}));
  EXPECT_EQ(again->remove_topologies, delta->remove_topologies);
  EXPECT_EQ(again->upsert_topologies, delta->upsert_topologies);
  EXPECT_EQ(again->remove_flavors, delta->remove_flavors);
  EXPECT_EQ(again->upsert_flavors, delta->upsert_flavors);
}

// Neither ready nor not: whoever left it out means neither.
TEST(UpdateState, ANodeSaysWhetherItIsReady) {
  v1::UpdateStateRequest message;
  message.add_strings("node-1");
  v1::Node& node = *message.add_upsert_nodes();
  node.set_name(1);
  WorkBudget budget(kPlenty);
  EXPECT_EQ(FromProto(message, budget).error().message,
            "update.upsert_nodes[0].ready: is not set; true or false expected");
  node.set_ready(false);
  v1::UpdateStateRequest received;
  ASSERT_TRUE(received.ParseFromString(message.SerializeAsString()));
  ASSERT_TRUE(FromProto(received, budget));
  EXPECT_FALSE(FromProto(received, budget)->upsert_nodes[0].ready);
}

TEST(UpdateState, ErrorsNameTheField) {
  v1::UpdateStateRequest message;
  message.add_remove_nodes(1);
  WorkBudget budget(kPlenty);
  const auto delta = FromProto(message, budget);
  ASSERT_FALSE(delta);
  EXPECT_EQ(delta.error().message,
            "update.remove_nodes[0]: refers to row 1 of a table of 0; references are 0 to 0");
}

}  // namespace
}  // namespace espalier::cluster_state_test
