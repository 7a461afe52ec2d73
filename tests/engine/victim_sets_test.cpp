#include "host/what_if/victim_sets.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/packing/flavor_state.hpp"
#include "tests/engine/requests.hpp"
#include "tests/generated/random.hpp"
#include "tests/packing/states.hpp"

namespace espalier::victim_sets_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Cost = std::tuple<std::int64_t, std::size_t, std::int64_t>;  // priority, number, accelerators

constexpr const char* kDevice = "example.com/device";

PricedVictim MakeVictim(const std::string& name, std::int64_t priority,
                        const std::vector<std::pair<std::string, Amount>>& hosts) {
  PricedVictim victim{{name, {}}, priority};
  for (const auto& [host, amount] : hosts) {
    victim.victim.usage.push_back({"tas", host, {{"gpu", amount}, {kDevice, amount}}});
  }
  return victim;
}

// Full hosts of four accelerators, by rack and host, and who is on them.
ClusterStateInput FullHosts(const std::vector<std::string>& hosts,
                            const std::vector<PricedVictim>& victims) {
  ClusterStateInput input;
  {
    std::vector<std::pair<std::string, Amount>> racks;
    for (const std::string& host : hosts) racks.emplace_back(host, 4);
    input = Gpus(racks);
  }
  for (Node& node : input.nodes) node.allocatable.Set(kDevice, 4);
  for (const PricedVictim& victim : victims) {
    for (const FlavorLeafUsage& usage : victim.victim.usage) input.tas_usage.push_back(usage);
  }
  return input;
}

VictimSets Find(const ClusterStateInput& input, const WorkloadRequest& request,
                const std::vector<PricedVictim>& victims,
                std::int64_t most_trials = kMostVictimTrials) {
  const ClusterState state = BuildState(input);
  auto found = FindVictimSets(Engine(MakeCpuBackend(1), {}), state, request, victims, most_trials);
  if (!found) ADD_FAILURE() << found.error().message;
  return *std::move(found);
}

TEST(FindVictimSets, FewOfHighPriorityOrManyOfLowAreBothCheapest) {
  const std::vector<PricedVictim> victims = {
      MakeVictim("small-a", 1, {{"a", 2}}), MakeVictim("small-b", 1, {{"a", 2}}),
      MakeVictim("large", 2, {{"b", 4}}), MakeVictim("other", 0, {{"c", 4}})};
  const VictimSets found = Find(FullHosts({"r1/a", "r1/b", "r2/c"}, victims),
                                MakeWorkload({MakePodSet(4, Required("rack"))}), victims);
  EXPECT_FALSE(found.fits);
  ASSERT_THAT(found.domains, SizeIs(2));
  EXPECT_TRUE(found.domains[0].exact);
  EXPECT_THAT(found.domains[0].sets, ElementsAre(VictimSet{{0, 1}, 1, 4}, VictimSet{{2}, 2, 4}));
  EXPECT_THAT(found.domains[1].sets, ElementsAre(VictimSet{{3}, 0, 4}));
}

TEST(FindVictimSets, NobodyGoesWhereItFits) {
  const VictimSets found =
      Find(FullHosts({"r1/a"}, {}), MakeWorkload({MakePodSet(4, Required("rack"))}), {});
  EXPECT_TRUE(found.fits);
  EXPECT_THAT(found.domains, IsEmpty());
}

TEST(FindVictimSets, DomainsThatAreTooSmallAreLeftOut) {
  const std::vector<PricedVictim> victims = {MakeVictim("a", 0, {{"a", 4}})};
  EXPECT_THAT(
      Find(FullHosts({"r1/a"}, victims), MakeWorkload({MakePodSet(5, Required("rack"))}), victims)
          .domains,
      IsEmpty());
}

TEST(FindVictimSets, SaysThatTheBoundEndedIt) {
  std::vector<PricedVictim> victims;
  std::vector<std::string> hosts;
  for (int i = 0; i < 12; ++i) {
    hosts.push_back(fmt::format("r1/h{}", i));
    victims.push_back(MakeVictim(fmt::format("v{}", i), i % 3, {{fmt::format("h{}", i), 4}}));
  }
  const WorkloadRequest request = MakeWorkload({MakePodSet(24, Required("rack"))});
  const VictimSets few = Find(FullHosts(hosts, victims), request, victims, 5);
  ASSERT_THAT(few.domains, SizeIs(1));
  EXPECT_FALSE(few.domains[0].exact);
  EXPECT_THAT(few.domains[0].sets, SizeIs(1));
  EXPECT_TRUE(Find(FullHosts(hosts, victims), request, victims).domains[0].exact);
}

TEST(FindVictimSets, AnyNumberOfCandidatesIsTriedInTurn) {
  constexpr int kVictims = 60'000;
  ClusterStateInput input = Gpus({{"r1/h", kVictims}});
  input.nodes[0].allocatable.Set("pods", 2 * kVictims);
  std::vector<PricedVictim> victims;
  for (int i = 0; i < kVictims; ++i) {
    victims.push_back({{fmt::format("v{}", i), {{"tas", "h", {{"gpu", 1}}}}}, 0});
    input.tas_usage.push_back(victims.back().victim.usage[0]);
  }
  const WorkloadRequest request = MakeWorkload({MakePodSet(kVictims - 3, Required("rack"))});
  const VictimSets found = Find(input, request, victims);
  ASSERT_THAT(found.domains, SizeIs(1));
  EXPECT_FALSE(found.domains[0].exact);
  ASSERT_THAT(found.domains[0].sets, SizeIs(1));
  EXPECT_THAT(found.domains[0].sets[0].victims, SizeIs(kVictims - 3));
}

// One slice has lost a pod on each rack, and only one of them finds room without the victim.
TEST(FindVictimSets, SlicesThatAreReplacedTogetherAreSeveralJobs) {
  ClusterStateInput input = Gpus({{"b/r1/a1", 1},
                                  {"b/r1/a2", 1},
                                  {"b/r1/a3", 1},
                                  {"b/r2/b1", 1},
                                  {"b/r2/b2", 1},
                                  {"b/r2/b3", 1}});
  for (const char* host : {"a1", "a2", "b1", "b2", "b3"}) {
    input.tas_usage.push_back({"tas", host, {{"gpu", 1}}});
  }
  WorkloadRequest request = MakeWorkload({MakePodSet(4, Required("block", {{"rack", 2}}))});
  request.replacement.emplace();
  request.replacement->joint = true;
  request.replacement->unhealthy_nodes = {"a2", "b2"};
  PodSetAssignment admitted;
  admitted.name = "main";
  admitted.topology_assignment = OnHosts({{"a1", 1}, {"a2", 1}, {"b1", 1}, {"b2", 1}});
  request.replacement->admitted = {admitted};
  const std::vector<PricedVictim> victims = {{{"v", {{"tas", "b3", {{"gpu", 1}}}}}, 1}};
  const VictimSets found = Find(input, request, victims);
  EXPECT_FALSE(found.fits);
  ASSERT_THAT(found.domains, SizeIs(1));
  ASSERT_THAT(found.domains[0].sets, SizeIs(1));
  EXPECT_THAT(found.domains[0].sets[0].victims, ElementsAre(0));
}

TEST(FindVictimSets, NamesAVictimThatHoldsMoreThanThereIs) {
  const std::vector<PricedVictim> victims = {MakeVictim("greedy", 0, {{"a", 5}})};
  const ClusterState state = BuildState(FullHosts({"r1/a"}, {}));
  const auto found = FindVictimSets(Engine(MakeCpuBackend(1), {}), state,
                                    MakeWorkload({MakePodSet(4, Required("rack"))}), victims);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("victim greedy"));
}

// Every subset of the victims, tried on the hosts of one rack alone.
std::set<Cost> CheapestByForce(const ClusterStateInput& input, const std::string& rack,
                               const WorkloadRequest& request,
                               const std::vector<PricedVictim>& victims) {
  ClusterStateInput alone = input;
  for (Node& node : alone.nodes) {
    if (!rack.empty() && *node.labels.Find("rack") != rack) {
      node.allocatable = {};
    }
  }
  const ClusterState state = BuildState(alone);
  const Engine engine(MakeCpuBackend(1), {});
  std::set<Cost> costs;
  for (std::uint32_t subset = 0; subset < 1U << victims.size(); ++subset) {
    ClusterState without = state.Clone();
    Cost cost{std::numeric_limits<std::int64_t>::min(),
              static_cast<std::size_t>(std::popcount(subset)), 0};
    for (std::size_t v = 0; v < victims.size(); ++v) {
      if ((subset >> v & 1) == 0) continue;
      without.RemoveUsage(victims[v].victim.usage);
      std::get<0>(cost) = std::max(std::get<0>(cost), victims[v].priority);
      for (const FlavorLeafUsage& usage : victims[v].victim.usage) {
        std::get<2>(cost) += *usage.usage.Find(kDevice);
      }
    }
    const auto no_worse = [&](const Cost& other) {
      return std::get<0>(other) <= std::get<0>(cost) && std::get<1>(other) <= std::get<1>(cost) &&
             std::get<2>(other) <= std::get<2>(cost);
    };
    if (std::ranges::any_of(costs, no_worse)) continue;
    if (engine.NominateOne(without, request).FirstFailure() != nullptr) continue;
    std::erase_if(costs, [&](const Cost& other) {
      return std::get<0>(cost) <= std::get<0>(other) && std::get<1>(cost) <= std::get<1>(other) &&
             std::get<2>(cost) <= std::get<2>(other);
    });
    costs.insert(cost);
  }
  return costs;
}

std::set<Cost> CostsOf(const DomainVictims& domain) {
  std::set<Cost> costs;
  for (const VictimSet& set : domain.sets) {
    costs.emplace(set.priority, set.victims.size(), set.accelerators);
  }
  return costs;
}

TEST(FindVictimSets, AreTheCheapestOfAllSubsets) {
  std::size_t several = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const std::vector<std::string> hosts = {"r1/a", "r1/b", "r1/c", "r2/d", "r2/e", "r3/f"};
    std::map<std::string, Amount> left;
    for (const std::string& host : hosts) left[host.substr(3)] = 4;
    std::vector<PricedVictim> victims;
    for (int i = 0; i < 9; ++i) {
      std::vector<std::pair<std::string, Amount>> on;
      for (auto& [host, amount] : left) {
        if (random.Below(3) != 0 || amount == 0) continue;
        on.emplace_back(host, random.Between(1, amount));
        amount -= on.back().second;
      }
      victims.push_back(
          MakeVictim(fmt::format("v{}", i), static_cast<std::int64_t>(random.Below(3)), on));
    }
    const ClusterStateInput input = FullHosts(hosts, victims);
    const bool required = seed % 4 != 0;
    const WorkloadRequest request = MakeWorkload(
        {MakePodSet(static_cast<std::int32_t>(5 + random.Below(8)),
                    required ? Required("rack") : TopologyRequest{.unconstrained = true})});
    const VictimSets found = Find(input, request, victims);
    std::map<std::string, std::set<Cost>> costs;
    const ClusterState state = BuildState(input);
    const FlavorSnapshot& snapshot = state.Find("tas")->snapshot();
    for (const DomainVictims& domain : found.domains) {
      const std::string rack = domain.domain.valid() ? snapshot.Path(domain.domain).back() : "";
      costs[rack] = CostsOf(domain);
      several += static_cast<std::size_t>(domain.sets.size() > 1);
      EXPECT_TRUE(domain.exact);
    }
    if (found.fits) continue;
    const std::vector<std::string> racks =
        required ? std::vector<std::string>{"r1", "r2", "r3"} : std::vector<std::string>{""};
    for (const std::string& rack : racks) {
      const std::set<Cost> expected = CheapestByForce(input, rack, request, victims);
      EXPECT_EQ(costs.contains(rack), !expected.empty()) << rack;
      if (costs.contains(rack)) {
        EXPECT_EQ(costs[rack], expected) << rack;
      }
    }
  }
  EXPECT_GT(several, 10u);
}

}  // namespace
}  // namespace espalier::victim_sets_test
