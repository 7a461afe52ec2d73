#include <gmock/gmock.h>

#include "host/questions/drain_plan.hpp"
#include "tests/questions/both_doors.hpp"

namespace espalier::drain_test {
namespace {

using ::testing::ElementsAre;

class DrainTest : public BothDoors {
 protected:
  std::vector<std::string> Moves(const std::vector<std::size_t>& nodes) {
    const std::shared_ptr<Questions> asked = Open(cluster_);
    Cluster described = cluster_;
    const auto plan = PlanDrain(described, nodes, *asked, gates_);
    EXPECT_TRUE(plan) << plan.error().message;
    std::vector<std::string> moves;
    for (const Move& move : *plan) {
      const auto* refused = std::get_if<RefusedWorkload>(&move.planned.plan);
      moves.push_back(described.workloads[move.index].key.name + " " +
                      std::to_string(move.pods_hit) + "/" + std::to_string(move.pods) + " " +
                      (refused != nullptr ? refused->reason : Texts(move.answer).front()));
    }
    return moves;
  }
};

TEST_P(DrainTest, WhoIsHitIsPlacedAnewAsAWhole) {
  EXPECT_THAT(Moves({0}), ElementsAre("one 2/3 main -> b:3"));
  EXPECT_THAT(Moves({2}), ElementsAre("two 2/2 main -> a:2"));
}

TEST_P(DrainTest, HigherPriorityTakesItsRoomFirst) {
  EXPECT_THAT(Moves({0, 2}),
              ElementsAre("two 2/2 main -> b:2",
                          "one 2/3 main -> topology \"default\" allows to fit only 2 out of 3 "
                          "pod(s)"));
}

TEST_P(DrainTest, NobodyIsHitWhereNobodyRuns) {
  cluster_.workloads.clear();
  EXPECT_THAT(Moves({0}), ElementsAre());
}

TEST_P(DrainTest, SlicesOfAJobMoveTogether_W5_5) {
  cluster_.workloads.push_back(RunningOn("newer", 2, {{"c", 2}}));
  cluster_.workloads.back().annotations = {
      {"kueue.x-k8s.io/workload-slice-replacement-for", "team/two"}};
  EXPECT_THAT(Moves({2}), ElementsAre("newer 4/4 main -> a:2"));
}

INSTANTIATE_TEST_SUITE_P(Doors, DrainTest, testing::Values(Door::kFiles, Door::kServer), NameOf);

}  // namespace
}  // namespace espalier::drain_test
