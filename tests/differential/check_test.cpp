// Positive controls: the comparison and the invariants notice what they are there for.
#include <gtest/gtest.h>

#include "tests/differential/instance.hpp"
#include "tests/differential/invariants.hpp"

namespace espalier::differential::check_test {
namespace {

Node MakeNode(const std::string& name, const std::string& rack, Amount pods) {
  Node node;
  node.name = name;
  node.ready = true;
  node.labels = {{"rack", rack}, {std::string(kHostnameLabel), name}};
  node.allocatable = {{"cpu", 8000}, {"pods", pods}};
  return node;
}

// Racks r1{a:4, b:4} and r2{c:4}; four pods that require one rack.
Instance MakeInstance() {
  Instance instance;
  instance.cluster.nodes = {MakeNode("a", "r1", 4), MakeNode("b", "r1", 4), MakeNode("c", "r2", 4)};
  instance.cluster.topologies = {{"t", {"rack", std::string(kHostnameLabel)}}};
  ResourceFlavor flavor;
  flavor.name = "f";
  flavor.topology_name = "t";
  instance.cluster.flavors = {flavor};
  PodSetRequest pod_set;
  pod_set.name = "main";
  pod_set.flavor = "f";
  pod_set.count = 4;
  pod_set.requests = {{"cpu", 1000}};
  pod_set.topology_request.emplace();
  pod_set.topology_request->required = std::string("rack");
  instance.request.pod_sets = {pod_set};
  return instance;
}

WorkloadAnswer MakeAnswer(const std::vector<TopologyDomainAssignment>& domains) {
  const TopologyAssignment assignment{{std::string(kHostnameLabel)}, domains};
  return {{PodSetAnswer{"main", "f", assignment, std::nullopt}}};
}

WorkloadAnswer MakeFailure(const std::string& reason) {
  return {{PodSetAnswer{"main", "f", std::nullopt, PlacementFailure{reason, std::nullopt}}}};
}

TEST(Difference, NoticesEveryPartOfAnAnswer) {
  const WorkloadAnswer answer = MakeAnswer({{{"a"}, 2}, {{"b"}, 2}});
  EXPECT_EQ(Difference(answer, answer), std::nullopt);
  EXPECT_NE(Difference(answer, MakeAnswer({{{"a"}, 3}, {{"b"}, 1}})), std::nullopt);
  EXPECT_NE(Difference(answer, MakeAnswer({{{"b"}, 2}, {{"a"}, 2}})), std::nullopt);
  EXPECT_NE(Difference(answer, MakeFailure("topology level not specified")), std::nullopt);
  EXPECT_NE(Difference(answer, {}), std::nullopt);
  EXPECT_NE(Difference(MakeFailure("a"), MakeFailure("b")), std::nullopt);
}

TEST(Difference, AsksForNoMoreThanTheRulesSay) {
  const WorkloadAnswer undefined = MakeFailure("undefined upstream: something");
  EXPECT_EQ(Difference(undefined, MakeFailure("undefined upstream: other words")), std::nullopt);
  EXPECT_NE(Difference(undefined, MakeAnswer({})), std::nullopt);
  EXPECT_EQ(Difference(MakeFailure("invalid affinity node selectors"),
                       MakeFailure("invalid affinity node selectors: map[], reason: x")),
            std::nullopt);
}

TEST(Invariants, HoldForASoundAnswer) {
  EXPECT_EQ(BrokenInvariant(MakeInstance(), MakeAnswer({{{"a"}, 4}})), std::nullopt);
}

TEST(Invariants, NoticePodsThatAreMissing) {
  EXPECT_NE(BrokenInvariant(MakeInstance(), MakeAnswer({{{"a"}, 3}})), std::nullopt);
}

TEST(Invariants, NoticeALeafFilledBeyondItsCapacity) {
  Instance instance = MakeInstance();
  instance.cluster.tas_usage = {{"f", "a", {{"cpu", 1000}, {"pods", 1}}}};
  EXPECT_NE(BrokenInvariant(instance, MakeAnswer({{{"a"}, 4}})), std::nullopt);
}

TEST(Invariants, NoticePodsOutsideTheRequiredDomain) {
  EXPECT_NE(BrokenInvariant(MakeInstance(), MakeAnswer({{{"a"}, 2}, {{"c"}, 2}})), std::nullopt);
}

TEST(Invariants, NoticeDisorder) {
  EXPECT_NE(BrokenInvariant(MakeInstance(), MakeAnswer({{{"b"}, 2}, {{"a"}, 2}})), std::nullopt);
  EXPECT_NE(BrokenInvariant(MakeInstance(), MakeAnswer({{{"gone"}, 4}})), std::nullopt);
}

TEST(Invariants, NoticeABrokenSlice) {
  Instance instance = MakeInstance();
  instance.request.pod_sets.front().topology_request->slice_constraints = {
      {std::string(kHostnameLabel), 2}};
  EXPECT_EQ(BrokenInvariant(instance, MakeAnswer({{{"a"}, 2}, {{"b"}, 2}})), std::nullopt);
  EXPECT_NE(BrokenInvariant(instance, MakeAnswer({{{"a"}, 3}, {{"b"}, 1}})), std::nullopt);
}

}  // namespace
}  // namespace espalier::differential::check_test
