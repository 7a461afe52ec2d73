#include "service/cli/reports/domain_text.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::domain_text_test {
namespace {

using testing::ElementsAre;

const Topology kHosts{.name = "default",
                      .levels = {"topology.kubernetes.io/zone", "cloud.provider.com/topology-block",
                                 "cloud.provider.com/topology-rack", "kubernetes.io/hostname"}};
const Topology kRacks{.name = "racks", .levels = {"example.com/block", "example.com/rack"}};

// Two zones of two blocks of two racks of four hosts.
std::vector<Node> Nodes() {
  std::vector<Node> nodes;
  for (const char* zone : {"a", "b"}) {
    for (int block = 1; block <= 2; ++block) {
      for (int rack = 1; rack <= 2; ++rack) {
        for (int host = 1; host <= 4; ++host) {
          Node node;
          node.name = fmt::format("n-{}{}{}-{}", zone, block, rack, host);
          node.labels.Set(kHosts.levels[0], fmt::format("zone-{}", zone));
          node.labels.Set(kHosts.levels[1], fmt::format("block-{}", block));
          node.labels.Set(kHosts.levels[2], fmt::format("rack-{}", rack));
          node.labels.Set(kHosts.levels[3], node.name);
          nodes.push_back(node);
        }
      }
    }
  }
  return nodes;
}

TopologyAssignment OnHosts(std::vector<std::pair<std::string, int>> domains) {
  TopologyAssignment assignment{.levels = {"kubernetes.io/hostname"}};
  for (const auto& [host, count] : domains) assignment.domains.push_back({{host}, count});
  return assignment;
}

TEST(DomainLines, SumsUpHostsOfOneBlockOnOneLine) {
  const TopologyNames names(kHosts, Nodes());
  EXPECT_THAT(DomainLines(OnHosts({{"n-a11-1", 4}, {"n-a11-2", 4}, {"n-a12-1", 2}}), names,
                          Detail::kShort, 4),
              ElementsAre("zone-a/block-1/rack-{1,2}: 2 hosts x 4, 1 host x 2"));
  EXPECT_THAT(DomainLines(OnHosts({{"n-a11-1", 1}, {"n-b21-1", 1}, {"n-b21-2", 1}}), names,
                          Detail::kShort, 4),
              ElementsAre("zone-a/block-1/rack-1/n-a11-1: 1 host x 1",
                          "zone-b/block-2/rack-1: 2 hosts x 1"));
}

TEST(DomainLines, NamesHostsInFull) {
  const TopologyNames names(kHosts, Nodes());
  EXPECT_THAT(DomainLines(OnHosts({{"n-a11-1", 4}, {"n-a11-2", 4}, {"n-a12-1", 4}}), names,
                          Detail::kFull, 9),
              ElementsAre("zone-a/block-1/rack-1/n-a11-{1,2}: 2 hosts x 4",
                          "zone-a/block-1/rack-2/n-a12-1: 1 host x 4"));
}

TEST(DomainLines, TellsHowManyLinesAreLeftOut) {
  const TopologyNames names(kHosts, Nodes());
  EXPECT_THAT(DomainLines(OnHosts({{"n-a11-1", 1}, {"n-a21-1", 1}, {"n-b11-1", 1}}), names,
                          Detail::kShort, 2),
              ElementsAre("zone-a/block-1/rack-1/n-a11-1: 1 host x 1", "and 2 more"));
}

TEST(DomainLines, AreInNaturalOrder) {
  const TopologyNames names(kRacks, {});
  const TopologyAssignment assignment{
      .levels = kRacks.levels,
      .domains = {{{"b1", "r1"}, 1}, {{"b10", "r1"}, 1}, {{"b2", "r10"}, 1}, {{"b2", "r2"}, 1}}};
  EXPECT_THAT(DomainLines(assignment, names, Detail::kShort, 4),
              ElementsAre("b1/r1: 1 rack x 1", "b2/r{2,10}: 2 racks x 1", "b10/r1: 1 rack x 1"));
}

TEST(DomainLines, KeepsHostsThatNoNodeDescribes) {
  const TopologyNames names(kHosts, Nodes());
  EXPECT_THAT(DomainLines(OnHosts({{"gone", 3}}), names, Detail::kShort, 4),
              ElementsAre("gone: 1 host x 3"));
}

TEST(DomainLines, CountsDomainsWhereTheLowestLevelIsNoHost) {
  const TopologyNames names(kRacks, {});
  const TopologyAssignment assignment{.levels = kRacks.levels,
                                      .domains = {{{"b1", "r1"}, 16}, {{"b1", "r2"}, 16}}};
  EXPECT_THAT(DomainLines(assignment, names, Detail::kShort, 4),
              ElementsAre("b1/r{1,2}: 2 racks x 16"));
}

TEST(ReachedLevel, IsTheFinestLevelThatHoldsAll) {
  const TopologyNames names(kHosts, Nodes());
  const auto reached = [&](const TopologyAssignment& assignment) {
    return ReachedLevel(assignment, names);
  };
  EXPECT_EQ(reached(OnHosts({{"n-a11-1", 4}})), "host");
  EXPECT_EQ(reached(OnHosts({{"n-a11-1", 4}, {"n-a11-2", 4}})), "rack");
  EXPECT_EQ(reached(OnHosts({{"n-a11-1", 4}, {"n-a12-2", 4}})), "block");
  EXPECT_EQ(reached(OnHosts({{"n-a11-1", 4}, {"n-a22-2", 4}})), "zone");
  EXPECT_EQ(reached(OnHosts({{"n-a11-1", 4}, {"n-b11-2", 4}})), "cluster");
  EXPECT_EQ(reached(OnHosts({})), "-");
}

TEST(RequestText, SaysWhatIsAskedFor) {
  const TopologyNames names(kHosts, {});
  const auto text = [&](const TopologyRequest& request) { return RequestText(request, names); };
  EXPECT_EQ(RequestText(std::nullopt, names), "implied");
  EXPECT_EQ(text({}), "implied");
  EXPECT_EQ(text({.unconstrained = true}), "unconstrained");
  EXPECT_EQ(text({.preferred = kHosts.levels[2]}), "preferred rack");
  EXPECT_EQ(
      text({.required = kHosts.levels[1], .slice_topology = kHosts.levels[2], .slice_size = 4}),
      "required block, 4/rack");
  EXPECT_EQ(text({.required = kHosts.levels[0],
                  .slice_constraints = {{kHosts.levels[1], 16}, {kHosts.levels[3], 4}}}),
            "required zone, 16/block, 4/host");
  EXPECT_EQ(text({.required = "example.com/nvlink-domain"}), "required example.com/nvlink-domain");
}

TEST(TopologyNames, KeepsKeysWhoseShortNamesAreEqual) {
  const TopologyNames names({.name = "t", .levels = {"a.com/rack", "b.com/rack"}}, {});
  EXPECT_EQ(names.LevelName("a.com/rack"), "a.com/rack");
}

}  // namespace
}  // namespace espalier::domain_text_test
