#include "host/kueue/objects/leaving_pods.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kueue/objects.hpp"

namespace espalier::leaving_pods_test {
namespace {

using Domains = std::vector<TopologyDomainAssignment>;
using Paths = std::vector<std::vector<std::string>>;

const Paths kTwoRacks = {{"r1", "a"}, {"r1", "b"}, {"r2", "c"}, {"r2", "d"}};

TEST(LeavingPods, TheFirstStayInStoredOrder) {  // R16.5
  const TopologyAssignment assignment = OnHosts({{"d", 2}, {"a", 3}});
  EXPECT_EQ(KeepFirstPods(assignment, 3),
            (ShrunkAssignment{OnHosts({{"d", 2}, {"a", 1}}), Domains{{{"a"}, 2}}}));
  EXPECT_EQ(KeepFirstPods(assignment, 0),
            (ShrunkAssignment{OnHosts({}), Domains{{{"d"}, 2}, {{"a"}, 3}}}));
  EXPECT_EQ(KeepFirstPods(assignment, 9), (ShrunkAssignment{assignment, {}}));
}

TEST(LeavingPods, TheSmallestWholeDomainsGoFirst) {
  const TopologyAssignment assignment = OnHosts({{"a", 3}, {"b", 3}, {"c", 2}, {"d", 3}});
  EXPECT_EQ(KeepWholeDomains(assignment, 6, kTwoRacks, {}).leaving,
            (Domains{{{"c"}, 2}, {{"d"}, 3}}));  // rack r2
  EXPECT_EQ(KeepWholeDomains(assignment, 9, kTwoRacks, {}).leaving, (Domains{{{"c"}, 2}}));
  EXPECT_EQ(KeepWholeDomains(assignment, 10, kTwoRacks, {}).leaving, (Domains{{{"c"}, 1}}));
  EXPECT_EQ(KeepWholeDomains(assignment, 8, kTwoRacks, {}).leaving,
            (Domains{{{"c"}, 2}, {{"d"}, 1}}));  // of equal leaves the last
}

TEST(LeavingPods, OnlyOneDomainLosesAPartOfASlice) {
  const TopologyAssignment assignment = OnHosts({{"a", 2}, {"b", 2}, {"c", 1}, {"d", 3}});
  const std::vector<std::size_t> racks = {0};
  // Without slices c is free first, and then a host of the other rack.
  EXPECT_EQ(KeepWholeDomains(assignment, 5, kTwoRacks, {}).leaving,
            (Domains{{{"b"}, 2}, {{"c"}, 1}}));
  EXPECT_EQ(KeepWholeDomains(assignment, 5, kTwoRacks, racks).leaving,
            (Domains{{{"c"}, 1}, {{"d"}, 2}}));
}

TEST(LeavingPods, CountsAddUp) {
  const TopologyAssignment assignment = OnHosts({{"a", 5}, {"b", 1}, {"c", 4}, {"d", 2}});
  for (std::int64_t count = -1; count <= 13; ++count) {
    const ShrunkAssignment shrunk = KeepWholeDomains(assignment, count, kTwoRacks, {});
    std::int64_t staying = 0;
    for (const auto& domain : shrunk.staying.domains) staying += domain.count;
    std::int64_t leaving = 0;
    for (const auto& domain : shrunk.leaving) leaving += domain.count;
    EXPECT_EQ(staying, std::clamp<std::int64_t>(count, 0, 12));
    EXPECT_EQ(staying + leaving, 12);
  }
}

}  // namespace
}  // namespace espalier::leaving_pods_test
