// Wrong answers, made from right ones by one change each, are caught.
#include "bench/scenarios/answer_checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/scenarios/answer_digest.hpp"
#include "fallback_cpu/cpu_backend.hpp"
#include "host/packing/flavor_state.hpp"
#include "tests/bench/small_scenarios.hpp"

namespace espalier::answer_checks_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class AnswerChecks : public testing::Test {
 protected:
  explicit AnswerChecks(const Scenario& scenario = SmallScenario("X-ACME", 20))
      : loaded_(LoadSmall(scenario)), state_(loaded_.state.Clone()) {
    GangBatch(state_, loaded_.mix.gates, loaded_.mix.shapes)
        .PlaceInOrder(*MakeCpuBackend(1), state_, loaded_.mix.gangs, answers_);
  }

  std::vector<std::string> Check(bool in_order = true, bool compare_after = true) const {
    return CheckAnswers({.before = loaded_.flavor(),
                         .in_order = in_order,
                         .after = compare_after ? state_.Find(kBenchFlavor) : nullptr,
                         .shapes = loaded_.mix.shapes,
                         .gangs = loaded_.mix.gangs,
                         .answers = answers_});
  }

  // The first gang that is placed and has `least` pods or more.
  std::size_t Placed(std::int32_t least = 1) const {
    for (std::size_t i = 0; i < answers_.status.size(); ++i) {
      if (answers_.status[i] == PlacementStatus::kPlaced && loaded_.mix.gangs[i].pods >= least) {
        return i;
      }
    }
    throw std::runtime_error("no such gang");
  }
  LeafShare& FirstShare(std::size_t gang) {
    return answers_.shares.Own()[gang == 0 ? 0 : answers_.share_end[gang - 1]];
  }

  LoadedScenario loaded_;
  ClusterState state_;
  GangAnswers answers_;
};

TEST_F(AnswerChecks, RightAnswersPass) { EXPECT_THAT(Check(), IsEmpty()); }

TEST_F(AnswerChecks, TooManyPodsOnOneNodeAreCaught) {
  const std::size_t gang = Placed();
  FirstShare(gang).pods += 1000;
  loaded_.mix.gangs[gang].pods += 1000;
  EXPECT_THAT(Check(true, false), Contains(HasSubstr("than it has left")));
}

// Each fits alone, the two do not fit together.
TEST_F(AnswerChecks, TwoGangsOnTheSameRoomAreCaughtInOrderOnly) {
  loaded_ = LoadSmall(SmallScenario("X-ACME", 2, "P0"));
  const Resources node = SlotRequests(loaded_.cluster, 8);
  loaded_.mix.shapes.resize(1);
  loaded_.mix.shapes[0].workers.requests = node;
  loaded_.mix.gangs = {{0, 1}, {0, 1}};
  answers_ = {{.status = {PlacementStatus::kPlaced, PlacementStatus::kPlaced},
               .level = {0, 0},
               .share_end = {1, 2},
               .shares = {{LeafId(3), 0, 1}, {LeafId(3), 0, 1}},
               .failures = {}},
              {}};
  EXPECT_THAT(Check(false, false), IsEmpty());
  EXPECT_THAT(Check(true, false), Contains(HasSubstr("leaf 3")));
}

TEST_F(AnswerChecks, HalfAGangIsCaught) {
  FirstShare(Placed()).pods -= 1;
  EXPECT_THAT(Check(true, false), Contains(HasSubstr("pods")));
}

TEST_F(AnswerChecks, PodsOfAGangThatIsNotPlacedAreCaught) {
  answers_.status[Placed()] = PlacementStatus::kDoesNotFit;
  EXPECT_THAT(Check(true, false), Contains(HasSubstr("not placed but has pods")));
}

TEST_F(AnswerChecks, AStateThatWasBookedOtherwiseIsCaught) {
  FlavorState& flavor = *state_.Find(kBenchFlavor);
  flavor.Add(LeafId(5), {{"cpu", 1}});
  EXPECT_THAT(Check(), ElementsAre(HasSubstr("what is left of cpu")));
}

TEST_F(AnswerChecks, ALeafThatDoesNotExistIsCaught) {
  FirstShare(Placed()).leaf = LeafId(64);
  EXPECT_THAT(Check(true, false), Contains(HasSubstr("does not exist")));
}

TEST_F(AnswerChecks, MissingAnswersAreCaught) {
  answers_.status.pop_back();
  EXPECT_THAT(Check(), ElementsAre(HasSubstr("19 answers for 20 gangs")));
}

TEST_F(AnswerChecks, ARequiredRackAndWholeSlicesAreHeld) {
  loaded_ = LoadSmall(SmallScenario("X-ACME", 1, "P0"));
  loaded_.mix.shapes.resize(1);
  GangShape& only = loaded_.mix.shapes[0];
  only.workers.requests = SlotRequests(loaded_.cluster, 1);
  only.workers.topology_request = {.required = RackLevel(loaded_.cluster)};
  loaded_.mix.gangs = {{0, 2}};
  answers_ = {{.status = {PlacementStatus::kPlaced},
               .level = {3},
               .share_end = {2},
               .shares = {{LeafId(0), 0, 1}, {LeafId(1), 0, 1}},
               .failures = {}},
              {}};
  EXPECT_THAT(Check(true, false), IsEmpty());
  answers_.shares.Own()[1].leaf = LeafId(63);  // another rack
  EXPECT_THAT(Check(true, false), Contains(HasSubstr("required level")));

  TopologyRequest& request = *only.workers.topology_request;
  request = {.preferred = ZoneLevel(loaded_.cluster)};
  request.slice_topology = RackLevel(loaded_.cluster);
  request.slice_size = 2;
  EXPECT_THAT(Check(true, false), Contains(HasSubstr("slice")));
  answers_.shares.Own()[1].leaf = LeafId(15);
  EXPECT_THAT(Check(true, false), IsEmpty());
}

TEST(Digest, IsSha256AndSeesEveryChange) {
  Sha256 sha;
  sha.Add("abc");
  EXPECT_EQ(sha.Hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");

  GangAnswers answers = {{.status = {PlacementStatus::kPlaced, PlacementStatus::kDoesNotFit},
                          .level = {1, 0},
                          .share_end = {1, 1},
                          .shares = {{LeafId(3), 0, 2}},
                          .failures = {{.row = 1, .fit = 3, .total = 4}}},
                         {}};
  const std::string digest = DigestOf(answers, 2);
  const std::string first = DigestOf(answers, 1);
  EXPECT_EQ(DigestOf(answers, 2), digest);
  EXPECT_NE(first, digest);
  answers.failures[0].fit = 2;
  EXPECT_NE(DigestOf(answers, 2), digest);
  EXPECT_EQ(DigestOf(answers, 1), first);
  answers.shares.Own()[0].leaders = 1;
  EXPECT_NE(DigestOf(answers, 1), first);
}

}  // namespace
}  // namespace espalier::answer_checks_test
