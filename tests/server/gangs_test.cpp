// Batches of gangs, which the server answers as integers: the same bytes as in words.
#include <thread>

#include "tests/server/test_server.hpp"

namespace espalier::gangs_test {
namespace {

// Gangs of few shapes, some with a leader that stands first or last.
std::vector<WorkloadRequest> RandomGangs(Random& random, int count) {
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
    WorkloadRequest& gang = gangs.emplace_back(shapes[random.Below(shapes.size())]);
    gang.key = {"default", "gang-" + std::to_string(g)};
    for (PodSetRequest& pod_set : gang.pod_sets) {
      pod_set.count = static_cast<std::int32_t>(random.Below(9));
    }
  }
  return gangs;
}

// Hosts are leaves, or racks where the topology ends with them.
ClusterStateInput ClusterOf(Random& random, bool hosts) {
  ClusterStateInput input = RandomCluster(random);
  if (!hosts) input.topologies.front().levels.pop_back();
  return input;
}

class Gangs : public testing::TestWithParam<bool> {
 protected:
  v1::PlaceResponse Place(TestServer& server, v1::PlaceRequest request, bool as_gangs) {
    // No workload has preferred affinity, so that this changes no answer.
    if (!as_gangs) {
      v1::WorkloadBatch& workloads = *request.mutable_workloads();
      workloads.mutable_affinity_scores_consumed()->Resize(workloads.pod_set_offsets_size() - 1,
                                                           true);
    }
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
    Random random(seed);
    const ClusterStateInput input = ClusterOf(random, GetParam());
    ASSERT_TRUE(as_gangs_.Load(input).ok());
    ASSERT_TRUE(in_words_.Load(input).ok());
    const std::vector<WorkloadRequest> gangs = RandomGangs(random, 30);
    auto request = MakePlaceRequest(gangs);
    (*request.mutable_feature_gates())["TASProfileMixed"] = random.Below(2) == 0;
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
    bool& mixed = (*request.mutable_feature_gates())["TASProfileMixed"];
    mixed = !mixed;
    expect_same();
  }
}

// Clients that ask about the same shapes at once, while the nodes change and stay the same.
TEST_P(Gangs, OfSeveralClientsGetTheirOwnAnswers) {
  Random random(7);
  const std::vector<ClusterStateInput> clusters = {ClusterOf(random, GetParam()),
                                                   ClusterOf(random, GetParam())};
  std::vector<v1::PlaceRequest> requests;
  for (int client = 0; client < 3; ++client) {
    requests.push_back(MakePlaceRequest(RandomGangs(random, 20)));
  }
  *requests[2].mutable_workloads() = requests[1].workloads();
  (*requests[2].mutable_feature_gates())["TASProfileMixed"] = false;
  std::vector<std::vector<std::string>> expected(2);
  for (const std::size_t cluster : {0, 1}) {
    ASSERT_TRUE(in_words_.Load(clusters[cluster]).ok());
    for (const v1::PlaceRequest& request : requests) {
      expected[cluster].push_back(Place(in_words_, request, false).answers().SerializeAsString());
    }
  }
  ASSERT_TRUE(as_gangs_.Load(clusters[1]).ok());  // generation 1
  std::vector<std::thread> clients;
  for (std::size_t client = 0; client < requests.size(); ++client) {
    clients.emplace_back([&, client] {
      for (int i = 0; i < 200; ++i) {
        const v1::PlaceResponse response = Place(as_gangs_, requests[client], true);
        EXPECT_EQ(response.answers().SerializeAsString(),
                  expected[response.state().generation() % 2][client]);
      }
    });
  }
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(as_gangs_.Load(clusters[i % 2]).ok());
  for (std::thread& client : clients) client.join();
}

INSTANTIATE_TEST_SUITE_P(, Gangs, testing::Bool(), [](const auto& param_info) {
  return std::string(param_info.param ? "OnHosts" : "OnRacks");
});

}  // namespace
}  // namespace espalier::gangs_test
