// Holds of a StateStore, beside changes of what they stand on.
#include <chrono>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/booked_usage.hpp"
#include "host/engine/engine.hpp"
#include "host/live/lost_holds.hpp"
#include "host/live/state_store.hpp"
#include "tests/generated/random.hpp"
#include "tests/server/same_state.hpp"
#include "tests/server/small_cluster.hpp"

namespace espalier::store_holds_test {
namespace {

// Whatever happened to holds and usage, the state is that of the holds and the usage that are left.
TEST(Holds, LeaveTheStateThatTheirRestMakes) {
  int ends = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Engine engine(MakeCpuBackend(1), {});
    ClusterStateInput input = SmallCluster(6);
    StateStore store;
    StatePosition position = *store.Load(input);
    HoldClock::TimePoint now{};
    std::map<std::string, Hold> holds;
    std::map<ObjectKey, AdmittedUsage> workloads;
    const auto any = [&]() -> Hold& {
      return std::next(holds.begin(), static_cast<std::ptrdiff_t>(random.Below(holds.size())))
          ->second;
    };
    for (int step = 0; step < 60; ++step) {
      const std::uint64_t kind = random.Below(8);
      if (kind < 3 || holds.empty()) {
        ClusterState branch = store.Current()->state.Branch();
        const WorkloadRequest gang =
            MakeGang("g" + std::to_string(step), static_cast<std::int32_t>(1 + random.Below(8)));
        const auto answers = engine.PlaceInOrder(branch, {&gang, 1});
        if (answers[0].FirstFailure() != nullptr) continue;
        AdmittedUsage used;
        used.usage = BookedUsage(gang, answers[0]);
        const Hold hold{HoldId(gang.key, 0, position.generation + 1),
                        gang.key,
                        "me",
                        "user:1",
                        InOrder(used).usage,
                        now,
                        now + std::chrono::seconds(1 + random.Below(20))};
        position = *store.PlaceHolds(position, {hold});
        holds[hold.id] = hold;
      } else if (kind == 3) {
        const std::string id = any().id;
        position = *store.ReleaseHolds({id}, now);
        holds.erase(id);
        ++ends;
      } else if (kind == 4) {
        const Hold hold = any();
        AdmittedUsage usage{hold.workload, 0, 0, hold.usage, {}};
        position = *store.ConfirmHolds({.ids = {hold.id},
                                        .base = {},
                                        .delta = {.set_workloads = {usage}},
                                        .configuration = {}},
                                       now);
        workloads[usage.key] = usage;
        holds.erase(hold.id);
        ++ends;
      } else if (kind == 5) {
        now += std::chrono::seconds(random.Below(8));
        const auto next = store.ExpireHolds(now);
        ASSERT_TRUE(next);
        std::erase_if(holds, [&](const auto& hold) { return hold.second.expires <= now; });
        for (const auto& [id, hold] : holds) EXPECT_GE(hold.expires, *next);
        position = store.Current()->position;
      } else if (kind == 6 && !workloads.empty()) {
        const ObjectKey key = workloads.begin()->first;
        position = *store.Update(position, {.set_workloads = {{key, 0, 0, {}, {}}}});
        workloads.erase(key);
      } else if (input.nodes.size() > 12) {
        const std::size_t gone = random.Below(input.nodes.size());
        const std::string name = input.nodes[gone].name;
        std::set<std::string> broken;
        for (const auto& [id, hold] : holds) {
          for (const auto& entry : hold.usage) {
            if (entry.leaf == name) broken.insert(id);
          }
        }
        std::vector<LostHold> lost;
        if (random.Below(2) == 0) {
          input.nodes.erase(input.nodes.begin() + static_cast<std::ptrdiff_t>(gone));
          position = *store.Update(position, {.remove_nodes = {name}}, WorkBudget::Unlimited(),
                                   std::nullopt, &lost);
        } else {
          input.nodes.erase(input.nodes.begin() + static_cast<std::ptrdiff_t>(gone));
          std::vector<AdmittedUsage> all;
          for (const auto& [key, workload] : workloads) all.push_back(workload);
          position = *store.Load(input, WorkBudget::Unlimited(), std::move(all), nullptr, &lost);
        }
        std::set<std::string> told;
        for (const LostHold& hold : lost) told.insert(hold.id);
        EXPECT_EQ(told, broken);
        for (const std::string& id : broken) holds.erase(id);
      }
      StateStore fresh;
      std::vector<AdmittedUsage> all;
      for (const auto& [key, workload] : workloads) all.push_back(workload);
      const StatePosition base = *fresh.Load(input, WorkBudget::Unlimited(), std::move(all));
      std::vector<Hold> left;
      for (const auto& [id, hold] : holds) left.push_back(hold);
      ASSERT_TRUE(fresh.PlaceHolds(base, left));
      ASSERT_EQ(store.CurrentChecked()->checksum, fresh.CurrentChecked()->checksum);
      ASSERT_EQ(store.Current()->holds, std::ssize(holds));
      // A state built in one go makes the same of usage.
      const ClusterState built = *ClusterState::Build(store.LoadedAt(std::nullopt)->input);
      ASSERT_NO_FATAL_FAILURE(ExpectSame(store.Current()->state, built));
      ASSERT_NO_FATAL_FAILURE(ExpectSame(fresh.Current()->state, built));
    }
  }
  EXPECT_GT(ends, 100);
}

}  // namespace
}  // namespace espalier::store_holds_test
