#include "host/kueue/drain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "tests/engine/requests.hpp"
#include "tests/kueue/running_cluster.hpp"

namespace espalier {
namespace {

using ::testing::ElementsAre;

// Three racks of a host each; `one` holds a and b, `two` holds c.
class DrainTest : public testing::Test {
 protected:
  DrainTest() {
    cluster_.workloads = {RunningOn("one", 1, {{"a", 2}, {"b", 1}}),
                          RunningOn("two", 2, {{"c", 2}})};
  }

  std::vector<std::string> Moves(const std::vector<std::size_t>& nodes) const {
    const auto plan = PlanDrain(cluster_, nodes, Engine(MakeCpuBackend(1), {}));
    std::vector<std::string> moves;
    for (const Move& move : plan->moves) {
      moves.push_back(cluster_.workloads[move.hit.index].key.name + " " +
                      std::to_string(move.hit.pods_hit) + "/" + std::to_string(move.hit.pods) +
                      " " + Texts(move.answer).front());
    }
    return moves;
  }

  Cluster cluster_ = ThreeRacks();
};

TEST_F(DrainTest, WhoIsHitIsPlacedAnewAsAWhole) {
  EXPECT_THAT(Moves({0}), ElementsAre("one 2/3 main -> b:3"));
  EXPECT_THAT(Moves({2}), ElementsAre("two 2/2 main -> a:2"));
}

TEST_F(DrainTest, HigherPriorityTakesItsRoomFirst) {
  EXPECT_THAT(Moves({0, 2}),
              ElementsAre("two 2/2 main -> b:2",
                          "one 2/3 main -> topology \"default\" allows to fit only 2 out of 3 "
                          "pod(s)"));
}

TEST_F(DrainTest, NobodyIsHitWhereNobodyRuns) {
  cluster_.workloads.clear();
  EXPECT_THAT(Moves({0}), ElementsAre());
}

}  // namespace
}  // namespace espalier
