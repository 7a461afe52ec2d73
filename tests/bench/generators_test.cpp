// Generated clusters, queues and prefills never change by themselves: figures of two dates are only
// comparable while these digests stand.
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "bench/scenarios/answer_digest.hpp"
#include "bench/scenarios/mixes.hpp"
#include "bench/scenarios/prefill.hpp"
#include "bench/scenarios/topologies.hpp"
#include "host/model/splitmix64.hpp"

namespace espalier::generators_test {
namespace {

BenchCluster Make(const TopologyChoice& choice) {
  auto cluster = MakeBenchCluster(choice);
  EXPECT_TRUE(cluster) << cluster.error().message;
  return *std::move(cluster);
}

std::string ShortDigest(Sha256& sha) { return sha.Hex().substr(0, 16); }

std::string DigestOf(const BenchCluster& cluster) {
  Sha256 sha;
  const NodeColumns& nodes = cluster.nodes;
  for (const std::string& name : nodes.names) sha.Add(name);
  for (const std::uint8_t available : nodes.available) sha.Add(std::int64_t{available});
  for (const LabelColumn& label : nodes.labels) {
    sha.Add(label.key);
    for (const std::string& value : label.values) sha.Add(value);
    for (const std::int32_t value : label.value_of) sha.Add(std::int64_t{value});
  }
  for (const std::string& resource : nodes.resources) sha.Add(resource);
  for (const Amount amount : nodes.allocatable) sha.Add(std::int64_t{amount});
  for (const std::string& level : cluster.levels) sha.Add(level);
  return ShortDigest(sha);
}

std::string DigestOf(const BenchMix& mix) {
  Sha256 sha;
  for (const GangShape& shape : mix.shapes) {
    for (const auto& [name, amount] : shape.workers.requests) {
      sha.Add(name);
      sha.Add(std::int64_t{amount});
    }
    const TopologyRequest& request = *shape.workers.topology_request;
    sha.Add(request.required.value_or("-"));
    sha.Add(request.preferred.value_or("-"));
    sha.Add(std::int64_t{request.unconstrained.value_or(false) ? 1 : 0});
    sha.Add(std::int64_t{request.slice_size.value_or(0)});
    sha.Add(std::int64_t{shape.leader ? 1 : 0});
    for (const auto& [name, value] : shape.workers.pod_template.node_selector) sha.Add(value);
  }
  for (const GangRow& gang : mix.gangs) {
    sha.Add(std::int64_t{gang.shape});
    sha.Add(std::int64_t{gang.pods});
  }
  return ShortDigest(sha);
}

std::string DigestOf(const Prefill& prefill) {
  Sha256 sha;
  for (const RunningGang& gang : prefill.gangs) {
    sha.Add(gang.slots);
    for (const auto& [node, pods] : gang.pods) {
      sha.Add(std::int64_t{node});
      sha.Add(pods);
    }
  }
  for (const OtherPod& pod : prefill.other_pods) {
    for (const std::int64_t value : {std::int64_t{pod.node}, pod.cpu, pod.memory}) sha.Add(value);
    sha.Add(std::int64_t{pod.of_daemon_set});
  }
  return ShortDigest(sha);
}

TEST(SplitMix64, GivesThePublishedNumbers) {
  SplitMix64 random(1234567);
  EXPECT_EQ(random.Next(), 6457827717110365317U);
  EXPECT_EQ(random.Next(), 3203168211198807973U);
  EXPECT_EQ(random.Next(), 9817491932198370423U);
}

TEST(Generators, EveryTopologyIsAsItWas) {
  const std::map<std::string, std::pair<std::int64_t, std::string>> expected = {
      {"T-KUEUE640", {640, "ec3093e59b7d2162"}},      {"T-KUEUE2500", {2500, "a1e62eab05c5b434"}},
      {"T-KUEUE1000R30", {1000, "14917aefa9762bbd"}}, {"T-K8S5000", {5000, "5f4e30429f673ea0"}},
      {"T-KAI512", {512, "521ec74f142c049c"}},        {"T-FLAT1000", {1000, "76aad1ba66856866"}},
      {"T-RACKS10", {1000, "02835c4601d63a64"}},      {"T-VOLC1000", {1000, "e6b9d328695e5b2b"}},
      {"T-VOLC6000", {6000, "cd65f2b1777e9c64"}},     {"T-META24K", {3072, "d234106b96c973bf"}},
      {"T-DGXB200", {2048, "12593f81344a2b0e"}},      {"T-NVL72-9K", {2304, "7843d821915034ca"}},
      {"T-NVL72-129K", {32256, "31bbea58d866aec2"}},  {"T-XAI100K", {12544, "69cfd8d82071bacf"}},
      {"T-AWS100K", {100000, "96779c15959a6d56"}},    {"T-131K", {131072, "1ef01164c72fbe21"}},
      {"T-1M", {20000, "064ad166e784f3fe"}},          {"T-OPENB", {1523, "662de9c924f063da"}},
      {"T-SPOT4278", {4278, "16f644ea7f4aa88d"}},     {"T-RAGGED", {127545, "d7d20e3511721a01"}},
  };
  for (const TopologyLine& line : TopologyLines()) {
    TopologyChoice choice{.name = std::string(line.name)};
    if (choice.name == "T-1M") choice.nodes = 20000;
    const BenchCluster cluster = Make(choice);
    const std::pair now = {cluster.size(), DigestOf(cluster)};
    const auto then = expected.find(choice.name);
    EXPECT_TRUE(then != expected.end() && then->second == now)
        << choice.name << " is now " << now.first << ", " << now.second;
    EXPECT_TRUE(CheckNodeColumns(cluster.nodes)) << choice.name;
  }
}

TEST(Generators, EveryMixIsAsItWas) {
  const std::map<std::string, std::string> expected = {
      {"X-SHAPES(256)", "0aa53c7ef44d9097"},
      {"X-ROWS(256)", "13d770d84705e9a6"},
      {"X-KUEUE", "568d0cc964e6fa11"},
      {"X-KUEUE-ASSIGN", "b4fff12db8bebaf8"},
      {"X-KUEUE-ASSIGN-LEADER", "97533bcc07252a55"},
      {"X-K8S4", "98652bce8950de1f"},
      {"X-K8S1000", "e9f483b31569fa3f"},
      {"X-KAI512-RACK", "19d72f10d305f69a"},
      {"X-KAI512-FREE", "62d564f57271ad3f"},
      {"X-SUBGROUPS", "13b6a6b4a6d7cc35"},
      {"X-TIER2", "829fb759d24b6814"},
      {"X-ONE-CPU", "67af6bddf5661347"},
      {"X-ACME", "0c67de37c652353c"},
      {"X-HELIOS", "6dce39eafadfd951"},
      {"X-PHILLY", "9ba079ac52d23298"},
      {"X-PAI", "4d7ce3ac88df2044"},
      {"X-OPENB", "83e4befe373b1b2c"},
      {"X-HERO", "6c94c9f8128a88ad"},
      {"X-NVL", "3b35c73dd6528b9e"},
      {"X-LEADER", "e56268538b14849b"},
      {"X-UNSAT", "c74c27b4821e7a9f"},
      {"X-HALVES", "9052f07f1b5ee8d5"},
      {"X-ROW64", "51f1061211415f26"},
      {"X-ROW32", "a7741f47591f4752"},
      {"X-500", "48b2cccfb6a4eb4d"},
      {"X-ADV", "daefb53829b37d17"},
      {"X-TIES", "b08e46d3ea5275a4"},
      {"X-REPLICAS-16", "829fb759d24b6814"},
      {"X-REPLICAS-128", "96b8df09b074f8bc"},
      {"X-PLAIN", "0b8540e1c847b53d"},
      {"X-PLAIN-LEADER", "739d7a39a4d7b022"},
      {"X-PLAIN-HOST-SLICES", "0f37afcdf9416fdf"},
      {"X-PLAIN-RACK-SLICES", "0f37afcdf9416fdf"},
      {"X-PLAIN-BALANCED", "0b8540e1c847b53d"},
      {"X-PLAIN-ANYWHERE", "eec9375bec474c21"},
  };
  const BenchCluster cluster = Make({.name = "T-131K", .resources = 8, .nodes = 4096});
  for (const TopologyLine& line : MixLines()) {
    std::string name(line.name);
    if (const auto shapes = name.find("(S)"); shapes != name.npos) name.replace(shapes, 3, "(256)");
    const auto mix = MakeMix(name, cluster, 1000, 52);
    ASSERT_TRUE(mix) << mix.error().message;
    const auto then = expected.find(name);
    EXPECT_TRUE(then != expected.end() && then->second == DigestOf(*mix))
        << name << " is now " << DigestOf(*mix);
    for (const GangRow& gang : mix->gangs) {
      ASSERT_LT(static_cast<std::size_t>(gang.shape), mix->shapes.size());
    }
  }
}

TEST(Generators, EveryPrefillIsAsItWas) {
  const std::map<std::string, std::string> expected = {
      {"P70", "ea11d6cf69e2bd31"},     {"P90", "d44f7e5b43440bbb"},
      {"P97", "6327622ce277e1df"},     {"P100", "358dcad54e70f088"},
      {"SLOTS70", "c5b81616b61ebb73"}, {"P0+PODS", "3042d232ca422938"}};
  const BenchCluster cluster = Make({.name = "T-131K", .nodes = 4096});
  for (const auto& [name, digest] : expected) {
    const auto prefill = MakePrefill(name, cluster, 51);
    ASSERT_TRUE(prefill) << prefill.error().message;
    EXPECT_EQ(DigestOf(*prefill), digest) << name;
  }
}

TEST(Generators, SeedsMatterAndTheSameOneGivesTheSame) {
  const BenchCluster cluster = Make({.name = "T-DGXB200"});
  EXPECT_EQ(DigestOf(*MakeMix("X-ACME", cluster, 100, 1)),
            DigestOf(*MakeMix("X-ACME", cluster, 100, 1)));
  EXPECT_NE(DigestOf(*MakeMix("X-ACME", cluster, 100, 1)),
            DigestOf(*MakeMix("X-ACME", cluster, 100, 2)));
  EXPECT_NE(DigestOf(Make({.name = "T-OPENB", .seed = 1})),
            DigestOf(Make({.name = "T-OPENB", .seed = 2})));
}

TEST(Generators, TotalsOfTheTraceClusters) {
  const BenchCluster openb = Make({.name = "T-OPENB"});
  EXPECT_EQ(openb.size(), 1523);
  EXPECT_EQ(openb.total_slots(), 6212);
  const BenchCluster spot = Make({.name = "T-SPOT4278"});
  EXPECT_EQ(spot.size(), 4278);
  EXPECT_EQ(spot.total_slots(), 3396 + 8 * 872 + 4 * 10);
}

TEST(Generators, VolcanoTreeHasItsDomains) {
  const BenchCluster cluster = Make({.name = "T-VOLC6000"});
  std::size_t domains = 0;
  for (const std::string& level : cluster.levels) {
    domains += cluster.nodes.FindLabel(level)->values.size();
  }
  EXPECT_EQ(domains, 9600U);
}

TEST(Generators, MoreResourcesLeaveTheRestAsItWas) {
  const BenchCluster four = Make({.name = "T-131K", .resources = 4, .nodes = 64});
  const BenchCluster thirty = Make({.name = "T-131K", .resources = 30, .nodes = 64});
  EXPECT_EQ(four.nodes.resources.size(), 4U);
  EXPECT_EQ(thirty.nodes.resources.size(), 30U);
  EXPECT_EQ(four.nodes.names, thirty.nodes.names);
}

TEST(Generators, WrongNamesSayWhatThereIs) {
  const auto topology = MakeBenchCluster({.name = "T-NONE"});
  ASSERT_FALSE(topology);
  EXPECT_NE(topology.error().message.find("T-131K"), std::string::npos);
  EXPECT_FALSE(MakeBenchCluster({.name = "T-DGXB200", .resources = 8}));
  EXPECT_FALSE(MakeBenchCluster({.name = "T-DGXB200", .nodes = 5000}));
  const BenchCluster cluster = Make({.name = "T-KAI512"});
  EXPECT_FALSE(MakeMix("X-NONE", cluster, 1, 1));
  EXPECT_FALSE(MakeMix("X-SHAPES(0)", cluster, 1, 1));
  EXPECT_FALSE(MakeMix("X-SHAPES(12x)", cluster, 1, 1));
  EXPECT_FALSE(MakePrefill("P101", cluster, 1));
  EXPECT_FALSE(MakePrefill("90", cluster, 1));
  EXPECT_FALSE(MakePrefill("+PODS", cluster, 1));
}

TEST(Prefill, FillsToItsShareAndNoNodeTooFar) {
  const BenchCluster cluster = Make({.name = "T-131K", .nodes = 4096});
  for (const auto& [name, percent] :
       std::map<std::string, std::int64_t>{{"P0", 0}, {"P70", 70}, {"P97", 97}, {"P100", 100}}) {
    const auto prefill = MakePrefill(name, cluster, 7);
    ASSERT_TRUE(prefill);
    std::map<std::int32_t, std::int64_t> used;
    std::int64_t total = 0;
    for (const RunningGang& gang : prefill->gangs) {
      for (const auto& [node, pods] : gang.pods) {
        used[node] += pods * gang.slots;
        total += pods * gang.slots;
      }
    }
    for (const auto& [node, slots] : used) ASSERT_LE(slots, 8) << name;
    EXPECT_EQ(total, cluster.total_slots() * percent / 100) << name;
  }
}

}  // namespace
}  // namespace espalier::generators_test
