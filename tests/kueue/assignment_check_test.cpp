#include "host/kueue/validation/assignment_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kueue/objects.hpp"

namespace espalier::assignment_check_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two racks of two hosts with four accelerators each, and one workload of four pods on a and b.
class AssignmentCheckTest : public testing::Test {
 protected:
  AssignmentCheckTest() {
    for (const auto& [host, rack] : std::vector<std::pair<const char*, const char*>>{
             {"a", "r1"}, {"b", "r1"}, {"c", "r2"}, {"d", "r2"}}) {
      cluster_.nodes.push_back(MakeNode(host, rack, {{"gpu", 4}, {"pods", 10}}));
    }
    cluster_.topologies = {{"default", {kRack, std::string(kHostnameLabel)}}};
    cluster_.flavors = {MakeFlavor("gpu", "default")};
    Add("job", {{"a", 2}, {"b", 2}}, 4);
  }

  Workload& Add(const std::string& name, std::vector<std::pair<std::string, std::int32_t>> hosts,
                std::int32_t pods) {
    Workload workload =
        MakeWorkload(name, "main", {MakePodSet("main", pods, {{"gpu", 1}}, Required(kRack))});
    TopologyAssignment assignment{{std::string(kHostnameLabel)}, {}};
    for (const auto& [host, count] : hosts) assignment.domains.push_back({{host}, count});
    workload.admission = Admission{"queue",
                                   {{.name = "main",
                                     .flavors = {{"gpu", "gpu"}},
                                     .count = pods,
                                     .topology_assignment = assignment}}};
    workload.conditions = {{.type = "QuotaReserved", .status = "True"}};
    cluster_.workloads.push_back(workload);
    return cluster_.workloads.back();
  }

  std::vector<std::string> Problems(const std::optional<ObjectKey>& only = std::nullopt) const {
    const auto check = CheckAssignments(cluster_, {}, only);
    std::vector<std::string> problems;
    for (const AssignmentFault& fault : check->faults) {
      problems.push_back(fault.workload.name + ": " + fault.problem);
    }
    return problems;
  }

  Workload& job() { return cluster_.workloads.front(); }
  TopologyAssignment& assignment() {
    return job().admission->pod_set_assignments[0].topology_assignment.Mutable();
  }

  Cluster cluster_;
};

TEST_F(AssignmentCheckTest, FindsNothingWhereNothingIsWrong) { EXPECT_THAT(Problems(), IsEmpty()); }

TEST_F(AssignmentCheckTest, PodsWithoutAPlace) {
  assignment().domains.pop_back();
  EXPECT_THAT(Problems(), ElementsAre("job: its domains have 2 pods, and it has 4"));
}

TEST_F(AssignmentCheckTest, NodesThatAreNotThere) {
  cluster_.nodes[0].ready = false;
  EXPECT_THAT(Problems(), ElementsAre("job: there is no ready node of its flavor at a"));
}

TEST_F(AssignmentCheckTest, LevelsOfAnotherTopology) {
  assignment().levels = {kRack};
  EXPECT_THAT(Problems(), ElementsAre("job: its levels are rack; want kubernetes.io/hostname"));
}

TEST_F(AssignmentCheckTest, NodesThatDoNotMatch_R7_2) {
  cluster_.nodes[1].taints = {{"broken", "", "NoSchedule"}};
  EXPECT_THAT(Problems(),
              ElementsAre("job: its node selector, affinity or tolerations do not allow b"));
}

TEST_F(AssignmentCheckTest, RequiredDomains) {
  assignment().domains[1].values = {"c"};
  EXPECT_THAT(Problems(), ElementsAre("job: it must share one rack, and is in 2: r1, r2"));
}

TEST_F(AssignmentCheckTest, Slices_R6_1) {
  TopologyRequest& request = *job().pod_sets[0].topology_request;
  request.slice_topology = std::string(kHostnameLabel);
  request.slice_size = 4;
  EXPECT_THAT(Problems(), ElementsAre("job: r1/a has 2 of its pods; slices of 4 want a multiple of "
                                      "that in each kubernetes.io/hostname"));
  request.slice_size = 2;
  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_F(AssignmentCheckTest, NodesUsedBeyondWhatTheyHave) {
  Add("second", {{"a", 3}}, 3);
  EXPECT_THAT(Problems(),
              ElementsAre("job: there is not so much room at a: 5 of gpu are in use on it, which "
                          "has 4",
                          "second: there is not so much room at a: 5 of gpu are in use on it, "
                          "which has 4"));
  EXPECT_EQ(Problems(ObjectKey{"team", "second"}).size(), 1u);
}

TEST_F(AssignmentCheckTest, NoAssignmentWhereThereMustBeOne) {
  job().admission->pod_set_assignments[0].topology_assignment = {};
  EXPECT_THAT(Problems(), ElementsAre("job: it is on the flavor gpu, which has a topology, without "
                                      "a topologyAssignment"));
  job().admission->pod_set_assignments[0].delayed_topology_request = "Pending";
  EXPECT_THAT(Problems(), IsEmpty());
}

}  // namespace
}  // namespace espalier::assignment_check_test
