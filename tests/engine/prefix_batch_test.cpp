#include "host/what_if/prefix_batch.hpp"

#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "tests/engine/requests.hpp"
#include "tests/packing/states.hpp"

namespace espalier::prefix_batch_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

FlavorLeafUsage Gpu(std::string leaf, Amount amount) {
  return {"tas", std::move(leaf), {{"gpu", amount}}};
}

// Two racks of two hosts with four accelerators each, all of them held by victims.
class PrefixBatchTest : public testing::Test {
 protected:
  PrefixBatchTest() {
    input_ = Gpus({{"r1/a", 4}, {"r1/b", 4}, {"r2/c", 4}, {"r2/d", 4}});
    for (const char* host : {"a", "b", "c", "d"}) {
      input_.tas_usage.push_back(Gpu(host, 4));
      victims_.push_back({std::string("on ") + host, {Gpu(host, 4)}});
    }
  }

  Result<std::vector<PrefixAnswer>> Find(const std::vector<WorkloadRequest>& requests,
                                         const VictimLists& lists,
                                         WorkBudget& budget = WorkBudget::Unlimited()) {
    const ClusterState state = BuildState(input_);
    const Engine engine(MakeCpuBackend(2), {}, budget);
    auto batch = PrefixBatch::Open(engine, state, requests, victims_, lists);
    if (!batch) return tl::unexpected(batch.error());
    std::vector<PrefixAnswer> answers;
    while (true) {
      auto some = batch->Next();
      if (!some) return tl::unexpected(some.error());
      if (some->empty()) return answers;
      std::ranges::move(*some, std::back_inserter(answers));
    }
  }

  std::string ErrorOf(const VictimLists& lists) {
    const auto found = Find(requests_, lists);
    EXPECT_FALSE(found);
    return found ? std::string() : found.error().message;
  }

  static WorkloadRequest Gang(std::int32_t pods) {
    return MakeWorkload({MakePodSet(pods, Required("rack"))});
  }

  ClusterStateInput input_;
  std::vector<Victim> victims_;
  const std::vector<WorkloadRequest> requests_ = {Gang(1), Gang(8), Gang(9)};
};

TEST_F(PrefixBatchTest, RequestsShareAList_R29_3) {
  const auto found = Find(requests_, {{0, 2, 3, 1}});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 3u);
  EXPECT_EQ((*found)[0].prefix, 1u);
  EXPECT_THAT((*found)[0].targets, ElementsAre(0));
  EXPECT_THAT(Texts((*found)[0].answer), ElementsAre("main -> a:1"));
  EXPECT_EQ((*found)[1].prefix, 3u);
  EXPECT_THAT((*found)[1].targets, ElementsAre(3, 2));  // positions in the victims
  EXPECT_THAT(Texts((*found)[1].answer), ElementsAre("main -> c:4 d:4"));
  EXPECT_FALSE((*found)[2].fits);
  EXPECT_THAT((*found)[2].targets, IsEmpty());
  EXPECT_THAT(Texts((*found)[2].answer),
              ElementsAre("main -> topology \"default\" allows to fit only 8 out of 9 pod(s)"));
}

TEST_F(PrefixBatchTest, EachRequestHasAListOfItsOwn) {
  const auto found = Find({Gang(4), Gang(4), Gang(4)}, {{3}, {}, {3}});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT((*found)[0].targets, ElementsAre(3));
  EXPECT_FALSE((*found)[1].fits);
  EXPECT_EQ((*found)[2], (*found)[0]);
}

// Nobody is removed twice, though the same victims may be on several lists.
TEST_F(PrefixBatchTest, WrongListsAreNamedByTheirVictims) {
  victims_.push_back({"on a", {}});
  victims_.push_back({"on a too", {Gpu("a", 1)}});
  EXPECT_TRUE(Find(requests_, {{0}, {4}, {5}}));
  EXPECT_EQ(ErrorOf({{1}, {0, 4}, {2}}), "victim on a: it is named twice; want each once");
  EXPECT_THAT(ErrorOf({{1}, {0, 5}, {2}}),
              HasSubstr("victim on a too: it and those before it hold more gpu on a"));
  EXPECT_THAT(ErrorOf({{5, 0}}), HasSubstr("victim on a: it and those before it hold more"));
  victims_.push_back({"elsewhere", {{"spot", "a", {{"gpu", 1}}}}});
  EXPECT_EQ(ErrorOf({{1}, {0, 6}, {2}}),
            "victim elsewhere: it is on the flavor spot, which the state does not have");
}

TEST_F(PrefixBatchTest, StopsWithItsBudget) {
  WorkBudget budget;
  budget.Stop({ErrorClass::kCancelled, "nobody waits"});
  const auto found = Find(requests_, {{0, 2, 3, 1}}, budget);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().error_class, ErrorClass::kCancelled);
}

TEST_F(PrefixBatchTest, NobodyAsks) { EXPECT_THAT(*Find({}, {{0, 1}}), IsEmpty()); }

}  // namespace
}  // namespace espalier::prefix_batch_test
