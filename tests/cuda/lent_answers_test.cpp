// Answers that are read where the device wrote them stay as they are, whatever comes after them.
#include <cstdlib>
#include <vector>

#include "tests/cuda/gang_queue.hpp"

namespace espalier::lent_answers_test {
namespace {

class LentAnswers : public PlannedDeviceTest {
 protected:
  // Enough shares for all of them to be lent.
  static std::vector<GangRow> Gangs(int pods) { return std::vector<GangRow>(50, {0, pods}); }

  GangAnswers OnDevice(int pods) { return Nominate(backend_, state_, shapes_, Gangs(pods)); }
  GangAnswers Right(int pods) const { return OnCpu(state_, shapes_, Gangs(pods)); }

  static bool IsLent(const GangAnswers& answers) {
    return answers.shares.size() > 0 && answers.shares.capacity() == 0;
  }

  const ClusterState state_ = Build(MakeGpuCluster(4, 16, 16, 41));
  const std::vector<GangShape> shapes_ = MakeShapes(1);
};

TEST_F(LentAnswers, StayWhenTheNextBatchIsAnswered) {
  const GangAnswers first = OnDevice(60);
  const GangAnswers second = OnDevice(70);
  EXPECT_TRUE(IsLent(first));
  EXPECT_TRUE(IsLent(second));
  EXPECT_EQ(first, Right(60));
  EXPECT_EQ(second, Right(70));
  ExpectAllOnDevice();
}

TEST_F(LentAnswers, TheirMemoryIsUsedAgain) {
  GangAnswers answers = OnDevice(60);
  const LeafShare* memory = answers.shares.begin();
  GangBatch(state_, {}, shapes_).Nominate(*backend_, Gangs(59), answers);
  EXPECT_EQ(answers.shares.begin(), memory);
  EXPECT_EQ(answers, Right(59));
  answers = {};
  EXPECT_EQ(OnDevice(58).shares.begin(), memory);
}

TEST_F(LentAnswers, StayWhenTheSessionIsGone) {
  const GangAnswers answers = OnDevice(60);
  EXPECT_GT(plan_->pinned.size(), 1u);
  backend_ = nullptr;
  EXPECT_EQ(plan_->pinned.size(), 0u);
  EXPECT_TRUE(IsLent(answers));
  EXPECT_EQ(answers, Right(60));
}

TEST_F(LentAnswers, StayWhenTheDeviceIsLostInFlight) {
  const GangAnswers answers = OnDevice(60);
  plan_->fail_at = plan_->calls + 4;
  EXPECT_EQ(OnDevice(70), Right(70));
  EXPECT_FALSE(backend_->status().ready);
  EXPECT_EQ(plan_->pinned.size(), 0u);
  EXPECT_EQ(answers, Right(60));
}

// Memory that the device may still write to is never freed.
TEST_F(LentAnswers, StayWhenTheDeviceIsStuck) {
  {
    const GangAnswers answers = OnDevice(60);
    plan_->stuck = true;
    plan_->fail_at = plan_->calls + 4;
    EXPECT_EQ(OnDevice(70), Right(70));
    EXPECT_EQ(answers, Right(60));
  }
  EXPECT_GT(plan_->pinned.size(), 1u);
  for (void* memory : plan_->pinned) std::free(memory);
}

// However many are kept.
TEST_F(LentAnswers, AreCopiedWhereManyAreKept) {
  std::vector<GangAnswers> kept;
  for (int pods = 50; pods < 65; ++pods) kept.push_back(OnDevice(pods));
  EXPECT_TRUE(IsLent(kept.front()));
  EXPECT_FALSE(IsLent(kept.back()));
  for (int i = 0; i < 15; ++i) EXPECT_EQ(kept[static_cast<std::size_t>(i)], Right(50 + i)) << i;
  kept.clear();
  EXPECT_TRUE(IsLent(OnDevice(66)));
}

// More shares than the first copy brings.
TEST_F(LentAnswers, OfASecondCopy) {
  EXPECT_EQ(OnDevice(1), Right(1));
  std::vector<GangRow> gangs(800, {0, 60});
  const GangAnswers answers = Nominate(backend_, state_, shapes_, gangs);
  EXPECT_TRUE(IsLent(answers));
  EXPECT_EQ(answers, OnCpu(state_, shapes_, gangs));
}

TEST_F(LentAnswers, FewSharesAreCopied) {
  const GangAnswers answers = OnDevice(1);
  EXPECT_FALSE(IsLent(answers));
  EXPECT_EQ(answers, Right(1));
}

// Rows that are added behind lent ones are in memory of their own.
TEST_F(LentAnswers, CanBeAddedTo) {
  GangAnswers answers = OnDevice(60);
  const GangAnswers more = OnDevice(61);
  answers.AddRows(more);
  PlacementColumns right = Right(60);
  right.AddRows(Right(61));
  EXPECT_EQ(static_cast<const PlacementColumns&>(answers), right);
  EXPECT_FALSE(IsLent(answers));
}

}  // namespace
}  // namespace espalier::lent_answers_test
