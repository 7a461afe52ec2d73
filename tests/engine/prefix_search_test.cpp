#include "host/what_if/prefix_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "tests/engine/requests.hpp"
#include "tests/packing/states.hpp"

namespace espalier::prefix_search_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

FlavorLeafUsage Gpu(std::string leaf, Amount amount) {
  return {"tas", std::move(leaf), {{"gpu", amount}}};
}

// Two racks of two hosts with four accelerators each, all of them held by victims.
ClusterStateInput FullRacks() {
  ClusterStateInput input = Gpus({{"r1/a", 4}, {"r1/b", 4}, {"r2/c", 4}, {"r2/d", 4}});
  for (const char* host : {"a", "b", "c", "d"}) input.tas_usage.push_back(Gpu(host, 4));
  return input;
}

const std::vector<Victim> kOnFullRacks = {{"on a", {Gpu("a", 4)}},
                                          {"on c", {Gpu("c", 4)}},
                                          {"on a leaf that is gone", {Gpu("x", 4)}},
                                          {"on d", {Gpu("d", 4)}},
                                          {"on b", {Gpu("b", 4)}}};

Result<PrefixAnswer> Find(const WorkloadRequest& request, const std::vector<Victim>& victims,
                          const ClusterStateInput& input = FullRacks()) {
  const ClusterState state = BuildState(input);
  return FindPrefix(Engine(MakeCpuBackend(1), {}), state, request, victims);
}

TEST(FindPrefix, PutsBackWhomTheRackDoesNotNeed_R29_3) {
  const auto found = Find(MakeWorkload({MakePodSet(8, Required("rack"))}), kOnFullRacks);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->fits);
  EXPECT_EQ(found->prefix, 4u);
  EXPECT_THAT(found->targets, ElementsAre(3, 1));  // the last took the place of who went back
  EXPECT_THAT(Texts(found->answer), ElementsAre("main -> c:4 d:4"));
}

TEST(FindPrefix, NobodyGoesWhereItFits) {
  ClusterStateInput input = FullRacks();
  input.tas_usage.clear();
  const auto found = Find(MakeWorkload({MakePodSet(8, Required("rack"))}), {}, input);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->fits);
  EXPECT_EQ(found->prefix, 0u);
  EXPECT_THAT(found->targets, IsEmpty());
}

TEST(FindPrefix, SaysWhyNotEvenWithAllGone) {
  const auto found = Find(MakeWorkload({MakePodSet(9, Required("rack"))}), kOnFullRacks);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->fits);
  EXPECT_THAT(found->targets, IsEmpty());
  EXPECT_THAT(Texts(found->answer),
              ElementsAre("main -> topology \"default\" allows to fit only 8 out of 9 pod(s)"));
}

TEST(FindPrefix, GroupsShareTheRoom) {
  const WorkloadRequest request = MakeWorkload(
      {MakePodSet(4, Required("rack"), "first"), MakePodSet(8, Required("rack"), "second")});
  const auto found = Find(request, kOnFullRacks);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->prefix, 4u);
  EXPECT_THAT(Texts(found->answer), ElementsAre("first -> a:4", "second -> c:4 d:4"));
}

TEST(FindPrefix, AnEmptyClusterKnowsNoVictims) {
  WorkloadRequest request = MakeWorkload({MakePodSet(8, Required("rack"))});
  request.simulate_empty = true;  // R5.1
  const auto found = Find(request, kOnFullRacks);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->prefix, 0u);
}

TEST(FindPrefix, WrongVictimsAreNamed) {
  const WorkloadRequest request = MakeWorkload({MakePodSet(1, Required("rack"))});
  const auto error = [&](const std::vector<Victim>& victims) {
    const auto found = Find(request, victims);
    EXPECT_FALSE(found);
    return found ? std::string() : found.error().message;
  };
  EXPECT_EQ(error({{"v", {Gpu("a", 1)}}, {"w", {}}, {"v", {}}}),
            "victim v: it is named twice; want each once");
  EXPECT_EQ(error({{"v", {{"spot", "a", {{"gpu", 1}}}}}}),
            "victim v: it is on the flavor spot, which the state does not have");
  EXPECT_THAT(error({{"v", {Gpu("a", 3)}}, {"w", {Gpu("a", 2)}}}),
              HasSubstr("victim w: it and those before it hold more gpu on a than is in use"));
  EXPECT_THAT(error({{"v", {Gpu("a", -1)}}}), HasSubstr("victim v: it holds -1 gpu on a"));
}

TEST(FitsWithoutEach, EachIsGoneAlone) {
  std::vector<Victim> victims = kOnFullRacks;
  victims.push_back({"on c and d", {Gpu("c", 4), Gpu("d", 4)}});
  const ClusterState state = BuildState(FullRacks());
  const Engine engine(MakeCpuBackend(1), {});
  const auto fits = [&](std::int32_t pods) {
    return FitsWithoutEach(engine, state, MakeWorkload({MakePodSet(pods, Required("rack"))}),
                           victims)
        .value();
  };
  EXPECT_THAT(fits(4), ElementsAre(true, true, false, true, true, true));
  EXPECT_THAT(fits(8), ElementsAre(false, false, false, false, false, true));
  victims = {{"v", {Gpu("a", 3), Gpu("a", 2)}}};
  EXPECT_FALSE(FitsWithoutEach(engine, state, MakeWorkload({MakePodSet(1)}), victims));
}

TEST(FindPrefix, StopsWithItsBudget) {
  WorkBudget budget;
  budget.Stop({ErrorClass::kCancelled, "nobody waits"});
  const ClusterState state = BuildState(FullRacks());
  const auto found = FindPrefix(Engine(MakeCpuBackend(1), {}, budget), state,
                                MakeWorkload({MakePodSet(8, Required("rack"))}), kOnFullRacks);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().error_class, ErrorClass::kCancelled);
}

}  // namespace
}  // namespace espalier::prefix_search_test
