#include "service/cli/reports/cluster_picture.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/cli/reports/amount_text.hpp"

namespace espalier::cluster_picture_test {
namespace {

constexpr const char* kGpu = "nvidia.com/gpu";

// Block 1 with racks 1 (two hosts) and 2 (one host), block 2 with rack 1 (one host); 8 GPUs each.
ClusterStateInput SmallCluster() {
  ClusterStateInput input;
  input.topologies = {{.name = "default", .levels = {"block", "rack", "kubernetes.io/hostname"}}};
  input.flavors = {{.name = "h100", .node_labels = {{"gpu", "h100"}}, .topology_name = "default"}};
  int number = 0;
  for (const auto& [block, rack] : std::vector<std::pair<const char*, const char*>>{
           {"b1", "r1"}, {"b1", "r1"}, {"b1", "r2"}, {"b2", "r1"}}) {
    Node node{.name = fmt::format("node-{}", ++number), .ready = true};
    node.labels = {{"block", block}, {"rack", rack}, {"gpu", "h100"}};
    node.labels.Set("kubernetes.io/hostname", fmt::format("host-{}", number));
    node.allocatable = {{kGpu, 8}};
    input.nodes.push_back(node);
  }
  return input;
}

TEST(UsageByRack, SumsWhatIsInUseAndWhatIsBooked) {
  ClusterStateInput input = SmallCluster();
  input.non_tas_usage = {{"node-1", {{kGpu, 3}}}, {"gone", {{kGpu, 5}}}};
  input.tas_usage = {{"h100", "host-4", {{kGpu, 8}}}};
  const std::vector<FlavorLeafUsage> booked = {{"h100", "host-2", {{kGpu, 4}}}};
  EXPECT_THAT(
      UsageByRack(input, booked, "h100", kGpu),
      testing::ElementsAre(RackUsage{{"b1", "r1"}, 16, 3, 7}, RackUsage{{"b1", "r2"}, 8, 0, 0},
                           RackUsage{{"b2", "r1"}, 8, 8, 8}));
}

TEST(UsageByRack, LeavesOutNodesThatAreNotAvailable) {  // R3.1, R3.2
  ClusterStateInput input = SmallCluster();
  input.nodes[0].ready = false;
  input.nodes[1].unschedulable = true;
  input.nodes[2].labels.Set("gpu", "a100");
  EXPECT_THAT(UsageByRack(input, {}, "h100", kGpu),
              testing::ElementsAre(RackUsage{{"b2", "r1"}, 8, 0, 0}));
  EXPECT_TRUE(UsageByRack(input, {}, "unknown", kGpu).empty());
}

TEST(UsageByRack, CountsOtherFlavorsOnTheSameNodesOnlyWhenTheyAreShared) {  // R5.6
  ClusterStateInput input = SmallCluster();
  input.tas_usage = {{"other", "host-4", {{kGpu, 8}}}};
  EXPECT_EQ(UsageByRack(input, {}, "h100", kGpu).back().before, 8);
  input.share_usage_between_flavors = false;
  EXPECT_EQ(UsageByRack(input, {}, "h100", kGpu).back().before, 0);
}

TEST(RenderPicture, SumsUpTheUpperLevelsAndShowsTheFullestRacks) {
  EXPECT_EQ(RenderPicture({{{"b1", "r1"}, 16, 4, 8},
                           {{"b1", "r2"}, 16, 0, 0},
                           {{"b10", "r1"}, 16, 16, 16},
                           {{"b2", "r2"}, 0, 0, 0}},
                          "h100", kGpu, false),
            "nvidia.com/gpu of flavor h100: █ in use  ▓ placed now  ░ free\n"
            "\n"
            "before: 20 of 48 nvidia.com/gpu in use (42%)\n"
            "after:  24 of 48 nvidia.com/gpu in use (50%)\n"
            "\n"
            "     before         after\n"
            "b1   █░░░░░░░  12%  █▓░░░░░░  25%  8 of 32 nvidia.com/gpu\n"
            "b2              0%             0%  0 of 0 nvidia.com/gpu\n"
            "b10  ████████ 100%  ████████ 100%  16 of 16 nvidia.com/gpu\n"
            "\n"
            "4 racks, the fullest first:\n"
            "        before         after\n"
            "b10/r1  ████████ 100%  ████████ 100%  16 of 16 nvidia.com/gpu\n"
            "b1/r1   ██░░░░░░  25%  ██▓▓░░░░  50%  8 of 16 nvidia.com/gpu\n"
            "b1/r2   ░░░░░░░░   0%  ░░░░░░░░   0%  0 of 16 nvidia.com/gpu\n"
            "b2/r2              0%             0%  0 of 0 nvidia.com/gpu\n");
}

TEST(RenderPicture, ShowsTheRacksThatGetPodsWhereAsked) {
  const std::string picture =
      RenderPicture({{{"b1", "r1"}, 16, 4, 8}, {{"b1", "r2"}, 16, 16, 16}}, "h100", kGpu, true);
  EXPECT_THAT(picture, testing::HasSubstr("\n1 of 2 racks get pods:\n"));
  EXPECT_THAT(picture, Not(testing::HasSubstr("b1/r2")));
}

TEST(RenderPicture, OfManyRacksShowsTenAndOfManyBlocksTheZones) {
  std::vector<RackUsage> racks;
  for (int zone = 0; zone < 2; ++zone) {
    for (int block = 0; block < 30; ++block) {
      for (int rack = 0; rack < 10; ++rack) {
        racks.push_back(
            {{fmt::format("z{}", zone), fmt::format("b{}", block), fmt::format("r{}", rack)},
             100,
             rack,
             rack});
      }
    }
  }
  const std::string picture = RenderPicture(racks, "f", kGpu, false);
  EXPECT_THAT(picture, testing::HasSubstr("\nthe 10 fullest of 600 racks:\n"));
  EXPECT_EQ(std::count(picture.begin(), picture.end(), '\n'), 3 + 2 + 3 + 2 + 11);
}

TEST(RenderPicture, ShowsLittleAndOverfullRacks) {
  const std::string picture = RenderPicture(
      {{{"r1"}, 1000, 1, 2}, {{"r2"}, 1000, 999, 999}, {{"r3"}, 10, 25, 25}}, "f", "cpu", false);
  for (const char* bar : {"r1  █░░░░░░░", "r2  ███████░", "r3  ████████"}) {
    EXPECT_THAT(picture, testing::HasSubstr(bar));
  }
}

TEST(RenderPicture, IsEmptyWithoutRacks) { EXPECT_EQ(RenderPicture({}, "f", "cpu", false), ""); }

TEST(AmountsText, HasUnitsThatPeopleRead) {
  EXPECT_EQ(AmountsText("cpu", 676'000, 57'435'400), "676 of 57,435 cores");
  EXPECT_EQ(AmountsText("cpu", 1'500, 8'000), "1.5 of 8 cores");
  EXPECT_EQ(AmountsText("memory", Amount{3} << 39, Amount{13} << 39), "1.5 of 6.5 TiB of memory");
  EXPECT_EQ(AmountsText("memory", 0, 0), "0 of 0 bytes of memory");
  EXPECT_EQ(AmountsText(kGpu, 8, 2389), "8 of 2,389 nvidia.com/gpu");
  EXPECT_EQ(AmountsText("pods", 1234567, 12345678), "1,234,567 of 12,345,678 pods");
}

}  // namespace
}  // namespace espalier::cluster_picture_test
