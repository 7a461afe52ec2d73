// Batches of gangs, which the server answers as integers: the same bytes as in words.
#include "tests/server/test_server.hpp"

namespace espalier {
namespace {

// Gangs of few shapes, some with a leader that stands first or last.
std::vector<WorkloadRequest> RandomGangs(std::mt19937& random, int count) {
  std::vector<WorkloadRequest> shapes;
  for (int s = 0; s < 6; ++s) {
    WorkloadRequest& shape = shapes.emplace_back();
    shape.pod_sets.push_back(RandomPodSet(random, "one"));
    if (s % 2 == 0) {
      shape.pod_sets.push_back(RandomPodSet(random, "two"));
      for (PodSetRequest& pod_set : shape.pod_sets) pod_set.group = "together";
    }
    for (PodSetRequest& pod_set : shape.pod_sets) pod_set.updates.clear();
  }
  std::vector<WorkloadRequest> gangs;
  for (int g = 0; g < count; ++g) {
    WorkloadRequest& gang = gangs.emplace_back(shapes[random() % shapes.size()]);
    gang.key = {"default", "gang-" + std::to_string(g)};
    for (PodSetRequest& pod_set : gang.pod_sets) {
      pod_set.count = static_cast<std::int32_t>(random() % 9);
    }
  }
  return gangs;
}

// Hosts are leaves, or racks where the topology ends with them.
ClusterStateInput ClusterOf(std::mt19937& random, bool hosts) {
  ClusterStateInput input = RandomCluster(random);
  if (!hosts) input.topologies.front().levels.pop_back();
  return input;
}

class Gangs : public testing::TestWithParam<bool> {
 protected:
  v1::PlaceResponse Place(TestServer& server, v1::PlaceRequest request, bool as_gangs) {
    // No workload has preferred affinity, so that this changes no answer.
    if (!as_gangs) request.mutable_workloads()->set_affinity_scores_consumed(0, true);
    v1::PlaceResponse response;
    const grpc::Status status = server.Place(request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  TestServer as_gangs_;
  TestServer in_words_;
};

// R15.5, section 18.
TEST_P(Gangs, AreAnsweredAndBookedAsInWords) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const ClusterStateInput input = ClusterOf(random, GetParam());
    ASSERT_TRUE(as_gangs_.Load(input).ok());
    ASSERT_TRUE(in_words_.Load(input).ok());
    const std::vector<WorkloadRequest> gangs = RandomGangs(random, 30);
    auto request = MakePlaceRequest(gangs);
    (*request.mutable_feature_gates())["TASProfileMixed"] = random() % 2 == 0;
    const auto expect_same = [&] {
      const v1::AnswerBatch words = Place(in_words_, request, false).answers();
      const v1::AnswerBatch integers = Place(as_gangs_, request, true).answers();
      EXPECT_EQ(integers.SerializeAsString(), words.SerializeAsString());
    };
    expect_same();
    request.set_mode(v1::PLACEMENT_MODE_SEQUENTIAL);
    expect_same();
    request.set_commit(true);
    expect_same();
    request.set_commit(false);
    expect_same();  // on what the commit left
  }
}

INSTANTIATE_TEST_SUITE_P(, Gangs, testing::Bool(), [](const auto& param_info) {
  return std::string(param_info.param ? "OnHosts" : "OnRacks");
});

}  // namespace
}  // namespace espalier
