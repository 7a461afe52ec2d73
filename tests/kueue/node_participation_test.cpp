#include "host/kueue/objects/node_participation.hpp"

#include <gtest/gtest.h>

#include "tests/kueue/objects.hpp"

namespace espalier::node_participation_test {
namespace {

TEST(NodeParticipation, AllTakePart) {
  EXPECT_EQ(NodeLines(MakeCluster()), "4 of 4 nodes take part");
}

// R3.1, R3.2: each node under its first cause.
TEST(NodeParticipation, CountsByCause) {
  Cluster cluster = MakeCluster();
  cluster.nodes[0].ready = false;
  cluster.nodes[0].unschedulable = true;
  cluster.nodes[1].unschedulable = true;
  cluster.nodes[2].labels = {{"pool", "gpu"}, {std::string(kHostnameLabel), "b1"}};
  for (const char* name : {"c1", "c2"}) cluster.nodes.push_back(MakeNode(name, "r3", {}, "cpu"));
  cluster.nodes.push_back(MakeNode("x1", "r3", {}, "other"));
  EXPECT_EQ(NodeLines(cluster),
            "1 of 7 nodes takes part; left out: 1 of no flavor, 2 of flavors without a topology "
            "only, 1 not ready, 1 cordoned, 1 without the label rack");
}

TEST(NodeParticipation, OneFlavorIsEnough) {
  Cluster cluster = MakeCluster();
  cluster.flavors.push_back({.name = "any"});
  cluster.topologies.push_back({"blocks", {"block", std::string(kHostnameLabel)}});
  cluster.flavors.push_back(MakeFlavor("gpu", "blocks"));
  cluster.flavors.back().name = "blocks";
  EXPECT_EQ(NodeLines(cluster),
            "4 of 4 nodes take part\n"
            "flavor blocks has no node to place on: there are 4 with its labels, and all are left "
            "out");
}

TEST(NodeParticipation, AFlavorMayMatchNoNode) {
  Cluster cluster = MakeCluster();
  cluster.flavors.push_back(MakeFlavor("tpu", "default"));
  EXPECT_EQ(NodeLines(cluster),
            "4 of 4 nodes take part\n"
            "flavor tpu matches no node: none has the labels pool=tpu");
  cluster.nodes.clear();
  cluster.flavors.pop_back();
  EXPECT_EQ(NodeLines(cluster),
            "0 of 0 nodes take part\n"
            "flavor gpu matches no node: there are no nodes in the input");
}

}  // namespace
}  // namespace espalier::node_participation_test
