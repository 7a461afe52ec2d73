#include "service/cli/cluster_picture.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier {
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

TEST(RenderPicture, DrawsBeforeAndAfter) {
  EXPECT_EQ(RenderPicture({{{"b1", "r1"}, 16, 4, 8},
                           {{"b1", "r2"}, 16, 0, 0},
                           {{"b2", "r1"}, 16, 16, 16},
                           {{"b2", "r2"}, 0, 0, 0}},
                          "h100", kGpu),
            "nvidia.com/gpu of flavor h100, a bar per rack: █ in use  ▓ placed now  ░ free\n"
            "\n"
            "before: 20 of 48 in use (42%)\n"
            "b1  r1 ██░░░░░░  r2 ░░░░░░░░\n"
            "b2  r1 ████████  r2         \n"
            "\n"
            "after: 24 of 48 in use (50%)\n"
            "b1  r1 ██▓▓░░░░  r2 ░░░░░░░░\n"
            "b2  r1 ████████  r2         \n");
}

TEST(RenderPicture, ShowsLittleAndOverfullRacks) {
  const std::string picture = RenderPicture(
      {{{"r1"}, 1000, 1, 2}, {{"r2"}, 1000, 999, 999}, {{"r3"}, 10, 25, 25}}, "f", "cpu");
  EXPECT_THAT(picture, testing::HasSubstr("r1 █░░░░░░░  r2 ███████░  r3 ████████"));
}

TEST(RenderPicture, IsEmptyWithoutRacks) { EXPECT_EQ(RenderPicture({}, "f", "cpu"), ""); }

}  // namespace
}  // namespace espalier
