// Tests who has to go and what little would do against answers that try every subset and every
// change on small racks.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/validation/certificate.hpp"
#include "host/packing/flavor_state.hpp"
#include "host/what_if/victim_sets.hpp"
#include "tests/differential/small_racks.hpp"
#include "tests/questions/explain_in.hpp"

namespace espalier::differential::questions_test {
namespace {

constexpr std::uint64_t kSeedsPerTest = 1000;
constexpr std::uint64_t kTests = 20;

class SmallRacksSeeds : public testing::TestWithParam<std::uint64_t> {
 protected:
  template <class Check>
  void ForEachSeed(const Check& check) {
    const std::uint64_t first = GetParam() * kSeedsPerTest;
    for (std::uint64_t seed = first; seed < first + kSeedsPerTest && !HasFailure(); ++seed) {
      SCOPED_TRACE(fmt::format("seed {}", seed));
      check(GenerateSmallRacks(seed));
    }
  }

  std::shared_ptr<Backend> backend_ = MakeCpuBackend(1);
  Engine engine_{backend_, {}};
  int of_use_ = 0;  // instances that had something to find
};

// Returns the victims in the order of `racks.running`.
std::vector<PricedVictim> VictimsOf(const SmallRacks& racks, const Cluster& cluster) {
  std::map<std::string, const RunningWorkload*> by_name;
  const std::vector<RunningWorkload> running = RunningWorkloads(cluster, {"team", "asked"});
  for (const RunningWorkload& workload : running) by_name[workload.key.name] = &workload;
  std::vector<PricedVictim> victims;
  for (const SmallWorkload& workload : racks.running) {
    const RunningWorkload& known = *by_name.at(workload.name);
    victims.push_back({known.victim, known.priority});
  }
  return victims;
}

TEST_P(SmallRacksSeeds, VictimSetsAreTheCheapestOfAllSubsets) {
  ForEachSeed([&](const SmallRacks& racks) {
    const Cluster cluster = racks.ToCluster();
    const auto state = ClusterState::Build(BuildClusterStateInput(cluster, {}));
    ASSERT_TRUE(state);
    const auto found =
        FindVictimSets(engine_, *state, racks.ToRequest(), VictimsOf(racks, cluster));
    ASSERT_TRUE(found) << found.error().message;
    const bool fits = racks.Fits(racks.Free(0), racks.gang.level, racks.gang.pods);
    ASSERT_EQ(found->fits, fits);
    std::map<std::string, std::vector<SmallRacks::Cost>> costs;
    for (const DomainVictims& domain : found->domains) {
      std::string name;
      if (domain.domain.valid()) {
        name = state->Find("tas")->snapshot().Path(domain.domain).back();
      }
      EXPECT_TRUE(domain.exact);
      const std::vector<std::size_t> hosts = racks.Domains(racks.gang.level).at(name);
      for (const VictimSet& set : domain.sets) {
        costs[name].emplace_back(set.priority, std::ssize(set.victims), set.accelerators);
        std::uint32_t gone = 0;
        for (const std::size_t victim : set.victims) gone |= 1U << victim;
        const std::vector<SmallAmounts> free = racks.Free(gone);
        std::int64_t room = 0;
        for (const std::size_t host : hosts) room += racks.RoomOn(free[host]);
        EXPECT_GE(room, racks.gang.pods) << name;
      }
    }
    if (fits) {
      EXPECT_TRUE(costs.empty());
      return;
    }
    EXPECT_EQ(costs, racks.CheapestVictims());
    of_use_ += static_cast<int>(!costs.empty());
  });
  EXPECT_GT(of_use_, 200);
}

// Checks what is short in the domain that is named, and that no domain holds more.
void CheckNearMiss(const SmallRacks& racks, const std::vector<SmallAmounts>& free,
                   const NearMiss& miss) {
  const auto domains = racks.Domains(racks.gang.level);
  const std::string name = miss.domain.empty() ? "" : miss.domain.back();
  ASSERT_TRUE(domains.contains(name)) << name;
  const auto room_in = [&](const std::vector<std::size_t>& hosts) {
    std::int64_t room = 0;
    for (const std::size_t host : hosts) room += racks.RoomOn(free[host]);
    return room;
  };
  std::int64_t most = 0;
  for (const auto& [other, hosts] : domains) most = std::max(most, room_in(hosts));
  const std::vector<std::size_t>& hosts = domains.at(name);
  EXPECT_EQ(miss.fit, room_in(hosts));
  EXPECT_EQ(miss.fit, most);
  EXPECT_EQ(miss.pods, racks.gang.pods);
  EXPECT_EQ(miss.nodes, std::ssize(hosts));
  std::map<std::string, std::int64_t> enough;  // of each resource, for so many pods
  std::int64_t with_room = 0;
  for (const std::size_t host : hosts) {
    const std::int64_t devices = free[host].devices / racks.gang.each.devices;
    const std::int64_t cpu = free[host].cpu / racks.gang.each.cpu;
    enough["example.com/devices"] += devices;
    enough["cpu"] += cpu;
    with_room += static_cast<std::int64_t>(std::min(devices, cpu) > 0);
  }
  EXPECT_EQ(miss.nodes_with_room, with_room);
  std::erase_if(enough, [&](const auto& entry) { return entry.second >= racks.gang.pods; });
  std::map<std::string, std::int64_t> binding;
  for (const BindingResource& resource : miss.binding) {
    binding[resource.resource] = resource.pods;
    const std::int64_t each =
        resource.resource == "cpu" ? racks.gang.each.cpu : racks.gang.each.devices;
    EXPECT_EQ(resource.missing, (racks.gang.pods - resource.pods) * each);
  }
  EXPECT_EQ(binding, enough);
}

TEST_P(SmallRacksSeeds, CertificatesNameEverySingleChange) {
  ForEachSeed([&](const SmallRacks& racks) {
    const auto found = ExplainIn(racks.ToCluster(), racks.ToRequest(), engine_);
    ASSERT_TRUE(found) << found.error().message;
    const SmallGang& gang = racks.gang;
    const std::vector<SmallAmounts> now = racks.Free(0);
    ASSERT_EQ(found->fits, racks.Fits(now, gang.level, gang.pods));
    if (found->fits || racks.Domains(gang.level).empty()) return;
    ++of_use_;

    const std::uint32_t everybody = (1U << racks.running.size()) - 1;
    const std::vector<SmallAmounts> empty = racks.Free(everybody);
    EXPECT_EQ(found->never, !racks.Fits(empty, gang.level, gang.pods));
    ASSERT_TRUE(found->near_miss);
    CheckNearMiss(racks, found->never ? empty : now, *found->near_miss);

    std::vector<std::pair<std::int64_t, std::string>> gone;
    for (std::size_t w = 0; w < racks.running.size(); ++w) {
      if (!racks.Fits(racks.Free(1U << w), gang.level, gang.pods)) continue;
      gone.emplace_back(racks.running[w].priority, racks.running[w].name);
    }
    std::ranges::sort(gone);
    std::vector<std::string> names;
    for (const auto& [priority, name] : gone) names.push_back(name);
    std::vector<std::string> named;
    for (const ObjectKey& key : found->changes.gone) named.push_back(key.name);
    EXPECT_EQ(named, names);

    std::vector<std::string> repaired;
    for (std::size_t h = 0; h < racks.hosts.size(); ++h) {
      if (racks.hosts[h].takes_part()) continue;
      SmallRacks changed = racks;
      changed.hosts[h].ready = true;
      changed.hosts[h].cordoned = false;
      if (changed.Fits(now, gang.level, gang.pods)) repaired.push_back(racks.hosts[h].name);
    }
    EXPECT_EQ(found->changes.repaired, repaired);

    std::int32_t fewer = 0;
    for (std::int32_t pods = gang.slice; pods < gang.pods; pods += gang.slice) {
      if (racks.Fits(now, gang.level, pods)) fewer = pods;
    }
    EXPECT_EQ(found->changes.fewer_pods, fewer);
    const bool rack =
        gang.level == SmallLevel::kHost && racks.Fits(now, SmallLevel::kRack, gang.pods);
    EXPECT_EQ(found->changes.coarser_level, rack ? "rack" : "");
    EXPECT_EQ(found->changes.anywhere, gang.level != SmallLevel::kAnywhere && !rack &&
                                           gang.slice == 1 &&
                                           racks.Fits(now, SmallLevel::kAnywhere, gang.pods));
  });
  EXPECT_GT(of_use_, 400);
}

INSTANTIATE_TEST_SUITE_P(Thousands, SmallRacksSeeds, testing::Range(std::uint64_t{0}, kTests));

}  // namespace
}  // namespace espalier::differential::questions_test
