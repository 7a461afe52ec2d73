// Calls that take long: they end when nobody waits for them, and others need not wait for them.
#include <gtest/gtest.h>

#include "tests/attack/client.hpp"
#include "tests/attack/messages.hpp"
#include "tests/server/health_client.hpp"

namespace espalier::attack::time_test {
namespace {

// A call of minutes on as many nodes as a state may have.
v1::PlaceRequest Giant() {
  return Gangs({.gangs = 100'000, .pods = 2, .distinct = true, .level = "rack"});
}
constexpr int kNodes = 131'072;

// Calls that would take longer than a test waits for the server to stop computing.
class TimeAttack : public testing::Test {
 protected:
  // Gives a call up while it is computed.
  void ExpectEndsWithItsClient(const std::string& method,
                               const google::protobuf::MessageLite& request) {
    {
      const auto call = client_.Start(method, request);
      server_.WaitUntilComputing();
    }  // cancelled
    ExpectStops();
  }
  void ExpectEndsAtItsDeadline(const std::string& method,
                               const google::protobuf::MessageLite& request) {
    client_.Call(method, request.SerializeAsString(), std::chrono::milliseconds(500));
    ExpectStops();
  }
  void ExpectStops() {
    EXPECT_TRUE(server_.BecomesIdle());
    EXPECT_TRUE(server_.Running());
  }

  ServerProcess server_{{}, {.all = 2048 * kMiB, .call = 1024 * kMiB}};
  Client client_{server_.address()};
};

TEST_F(TimeAttack, OfManyShapesEndsWithItsClient) {
  client_.Load(Cluster(kNodes));
  ExpectEndsWithItsClient(kPlace, Giant());
}

TEST_F(TimeAttack, OfManyShapesEndsAtItsDeadline) {
  client_.Load(Cluster(kNodes));
  ExpectEndsAtItsDeadline(kPlace, Giant());
}

TEST_F(TimeAttack, OfManyShapesInOrderEndsWithItsClient) {
  client_.Load(Cluster(kNodes));
  v1::PlaceRequest request = Giant();
  request.set_mode(v1::PLACEMENT_MODE_SEQUENTIAL);
  ExpectEndsWithItsClient(kPlace, request);
}

TEST_F(TimeAttack, OfAnAffinityToManyValuesEndsAtItsDeadline) {
  client_.Load(Cluster(kNodes));
  ExpectEndsAtItsDeadline(kPlace, GangWithAffinity("kubernetes.io/hostname", 100'000));
}

TEST_F(TimeAttack, OfManyResourcesEndsAtItsDeadline) {
  client_.Load(Cluster(kNodes));
  ExpectEndsAtItsDeadline(kPlace, GangWithResources(100'000));
}

TEST_F(TimeAttack, OfManyPodSetsEndsAtItsDeadline) {
  client_.Load(Cluster(1000));
  ExpectEndsAtItsDeadline(kPlace, WorkloadWithPodSets(100'000));
}

// A load is given up by its client, who has sent all of it.
TEST_F(TimeAttack, OfManyTaintsEndsWithItsClient) {
  client_.Load(Cluster(16));
  const std::vector<std::string> chunks = Serialized(ClusterWithTaints(100'000));
  {
    const auto stream = client_.Open(kLoadState);
    for (const std::string& chunk : chunks) ASSERT_TRUE(stream->Write(chunk));
    stream->Close();
    server_.WaitUntilComputing();
  }
  ExpectStops();
}

class BesideTwoGiants : public TimeAttack {
 protected:
  BesideTwoGiants() {
    base_ = client_.Load(Cluster(kNodes));
    for (int i = 0; i < 2; ++i) giants_.push_back(giant_client_.Start(kPlace, Giant()));
    server_.WaitUntilComputing();
  }
  void TearDown() override {
    for (const auto& giant : giants_) {
      EXPECT_FALSE(giant->done()) << "finished before the small call: " << giant->Wait().Text();
    }
  }

  v1::StatePosition base_;
  Client giant_client_{server_.address()};
  std::vector<std::unique_ptr<PendingCall>> giants_;
};

TEST_F(BesideTwoGiants, AGangIsPlaced) {
  const Reply reply = client_.Call(kPlace, Gangs({.pods = 2}));
  EXPECT_TRUE(reply.ok()) << reply.Text();
}

TEST_F(BesideTwoGiants, AGangIsCommitted) {
  const Reply reply = client_.Call(kPlace, Commit(Gangs({.pods = 2}), base_));
  EXPECT_TRUE(reply.ok()) << reply.Text();
}

TEST_F(BesideTwoGiants, AnUpdateIsTaken) {
  v1::UpdateStateRequest update;
  ASSERT_TRUE(update.ParseFromString(SoundRequest(kUpdateState)));
  *update.mutable_base() = base_;
  const Reply reply = client_.Call(kUpdateState, update);
  EXPECT_TRUE(reply.ok()) << reply.Text();
}

TEST_F(BesideTwoGiants, AStateIsLoaded) { client_.Load(Cluster(100)); }

TEST_F(BesideTwoGiants, TheStateIsSummarized) { EXPECT_EQ(client_.Summary().nodes(), kNodes); }

TEST_F(BesideTwoGiants, HealthIsTold) {
  EXPECT_EQ(HealthClient(client_.channel()).Check("espalier.v1.Placement"), "SERVING");
}

}  // namespace
}  // namespace espalier::attack::time_test
