#include "host/packing/booked_amounts.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "host/packing/cluster_state.hpp"
#include "tests/generated/random.hpp"
#include "tests/packing/states.hpp"

namespace espalier::booked_amounts_test {
namespace {

// Racks of 1 to 200 hosts; some amounts saturate.
TEST(BookedAmountsTest, AreWhatBranchesBooked) {
  constexpr int kHosts = 200;
  constexpr Amount kEnormous = Amount{1} << 61;
  std::vector<std::pair<std::string, Amount>> hosts;
  for (const int of_rack : {1, kHosts, 63, 64, 65}) {
    for (int host = 0; host < of_rack; ++host) {
      hosts.emplace_back(fmt::format("r{0:03}/r{0:03}h{1:03}", of_rack, host), 9);
    }
  }
  for (const Amount most : {Amount{5}, kEnormous}) {
    Random random(11);
    const ClusterState root = BuildState(Gpus(hosts));
    BookedAmounts booked;
    std::map<std::string, Resources> expected;
    ClusterState before = root.Branch();
    for (int round = 0; round < 40; ++round) {
      ClusterState after = before.Branch();
      for (std::int64_t i = random.Between(0, 30); i > 0; --i) {
        const auto& path =
            hosts[static_cast<std::size_t>(random.Between(0, std::ssize(hosts) - 1))].first;
        const std::string leaf = path.substr(path.find('/') + 1);
        const Resources usage = {{random.Chance(50) ? "gpu" : "pods", random.Between(1, most)}};
        after.AddUsage({{"tas", leaf, usage}});
        AddTo(expected[leaf], usage);
      }
      booked.Add(before, after);
      before = std::move(after);
    }
    if (most == kEnormous) continue;  // sums saturate on the way; nothing may crash
    std::map<std::string, Resources> found;
    for (FlavorLeafUsage& entry : booked.TakeAll(root)) {
      EXPECT_TRUE(found.emplace(entry.leaf, std::move(entry.usage)).second) << entry.leaf;
    }
    EXPECT_EQ(found, expected);
    EXPECT_TRUE(booked.TakeAll(root).empty());
  }
}

}  // namespace
}  // namespace espalier::booked_amounts_test
