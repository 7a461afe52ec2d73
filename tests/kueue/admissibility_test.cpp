// R21.14: what keeps a workload from being looked at, with Kueue's texts, in their order.
#include "host/kueue/cycle/admissibility.hpp"

#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "tests/kueue/objects.hpp"

namespace espalier::admissibility_test {
namespace {

class AdmissibilityTest : public ::testing::Test {
 protected:
  AdmissibilityTest() {
    cluster_.namespaces = {{"team", {{"tier", "gold"}}}};
    cluster_.admission_checks = {{"mk", "kueue.x-k8s.io/multikueue", true},
                                 {"mk2", "kueue.x-k8s.io/multikueue", true},
                                 {"pr", "kueue.x-k8s.io/provisioning-request", true},
                                 {"down", "example.com/check", false},
                                 {"silent", "example.com/check"}};
  }

  std::string WhyPassedOver() const {
    const ClusterLookup lookup(cluster_);
    const auto passed =
        Admissibility(cluster_, lookup, options_).WhyPassedOver(workload_, queue_name_);
    return passed ? passed->reason : "";
  }
  std::string WhyNoHead() const {
    const ClusterLookup lookup(cluster_);
    return Admissibility(cluster_, lookup, options_).WhyNoHead(workload_).value_or("");
  }
  std::string WhyInactive() const {
    const ClusterLookup lookup(cluster_);
    return Admissibility(cluster_, lookup, options_)
        .WhyInactive(cluster_.cluster_queues[0])
        .value_or("");
  }
  ClusterQueue& queue() { return cluster_.cluster_queues[0]; }

  Cluster cluster_ = MakeCluster();
  Workload workload_ = MakeWorkload("w", "gpu", {MakePodSet("main", 1, {{"gpu", 1}})});
  std::string queue_name_ = "gpu-queue";
  AdmissibilityOptions options_{.now_seconds = 1000};
};

TEST_F(AdmissibilityTest, NothingKeepsASoundOne) {
  EXPECT_EQ(WhyPassedOver(), "");
  EXPECT_EQ(WhyNoHead(), "");
  EXPECT_EQ(WhyInactive(), "");
}

// Each hides those after it.
TEST_F(AdmissibilityTest, TheFirstCauseCounts) {
  workload_.admission_checks = {{"pr", "Ready", {}}, {"x", "Rejected", {}}};
  queue().stop_policy = "Hold";
  queue().namespace_selector.reset();
  workload_.resources_error = "resources validation failed: x";
  EXPECT_EQ(WhyPassedOver(), "The workload has failed admission checks");
  workload_.admission_checks[1].state = "Retry";
  EXPECT_EQ(WhyPassedOver(), "The workload has failed admission checks");
  workload_.admission_checks[1].state = "Pending";
  EXPECT_EQ(WhyPassedOver(), "ClusterQueue gpu-queue is inactive");
  queue().stop_policy = "None";
  EXPECT_EQ(WhyPassedOver(), "workload namespace doesn't match ClusterQueue selector");
  queue().namespace_selector.emplace();
  EXPECT_EQ(WhyPassedOver(), "resources validation failed: x");
  queue_name_ = "gone";
  EXPECT_EQ(WhyPassedOver(), "ClusterQueue gone not found");
}

TEST_F(AdmissibilityTest, NamespaceSelector) {
  const std::string mismatch = "workload namespace doesn't match ClusterQueue selector";
  queue().namespace_selector->match_labels = {{"tier", "gold"}};
  EXPECT_EQ(WhyPassedOver(), "");
  queue().namespace_selector->match_labels = {{"tier", "silver"}};
  EXPECT_EQ(WhyPassedOver(), mismatch);
  queue().namespace_selector = LabelSelector{{}, {{"tier", "NotIn", {"gold"}}}};
  EXPECT_EQ(WhyPassedOver(), mismatch);
  queue().namespace_selector = LabelSelector{{}, {{"other", "DoesNotExist", {}}}};
  EXPECT_EQ(WhyPassedOver(), "");
  queue().namespace_selector.reset();
  EXPECT_EQ(WhyPassedOver(), mismatch) << "no selector matches nothing";
  cluster_.namespaces[0].name = "another";
  EXPECT_EQ(WhyPassedOver(),
            "workload namespace \"team\" does not exist: Namespace \"team\" not found");
}

TEST_F(AdmissibilityTest, WithoutNamespacesEverySelectorMatchesButNone) {
  cluster_.namespaces.clear();
  queue().namespace_selector->match_labels = {{"tier", "silver"}};
  EXPECT_EQ(WhyPassedOver(), "");
  queue().namespace_selector.reset();
  EXPECT_EQ(WhyPassedOver(), "workload namespace doesn't match ClusterQueue selector");
}

TEST_F(AdmissibilityTest, AMismatchLetsOthersPass) {
  queue().namespace_selector.reset();
  const ClusterLookup lookup(cluster_);
  EXPECT_TRUE(Admissibility(cluster_, lookup, options_)
                  .WhyPassedOver(workload_, queue_name_)
                  ->is_set_aside);
}

TEST_F(AdmissibilityTest, WhatMakesAClusterQueueInactive) {
  struct Case {
    std::function<void()> change;
    std::string why;
  };
  const Cluster sound = cluster_;
  for (const auto& [change, why] : std::vector<Case>{
           {[&] { queue().stop_policy = "HoldAndDrain"; }, "it has stopPolicy HoldAndDrain"},
           {[&] { cluster_.flavors.erase(cluster_.flavors.begin()); },
            "its ResourceFlavor gpu is not in the input"},
           {[&] { cluster_.topologies.clear(); },
            "the Topology default of its ResourceFlavor gpu is not in the input"},
           {[&] { queue().admission_checks = {"nobody"}; },
            "its AdmissionCheck nobody is not in the input"},
           {[&] { queue().admission_checks = {"down"}; }, "its AdmissionCheck down is not active"},
           {[&] {
              queue().admission_checks = {"silent", "pr", "mk2"};
            },
            "it has a MultiKueue check together with a ProvisioningRequest check"},
           {[&] {
              queue().admission_checks = {"mk", "mk2"};
            },
            "it has more than one MultiKueue check"},
           {[&] {
              queue().admission_checks = {"mk"};
              queue().admission_check_flavors = {{"mk", {"gpu"}}};
            },
            "its MultiKueue check mk is given per flavor"},
           {[&] {
              queue().admission_checks = {"silent", "mk"};
            },
            ""},
       }) {
    cluster_ = sound;
    change();
    EXPECT_EQ(WhyInactive(), why);
    EXPECT_EQ(WhyPassedOver(), why.empty() ? "" : "ClusterQueue gpu-queue is inactive");
  }
}

TEST_F(AdmissibilityTest, StoppedQueuesCanCountAsReleased) {
  options_.release_stopped = true;
  queue().stop_policy = "Hold";
  cluster_.local_queues[0].stop_policy = "Hold";
  EXPECT_EQ(WhyInactive(), "");
  EXPECT_EQ(WhyPassedOver(), "");
  EXPECT_EQ(WhyNoHead(), "");
}

TEST_F(AdmissibilityTest, WhoIsNoHead) {
  workload_.requeue_at_seconds = 1000;
  EXPECT_EQ(WhyNoHead(), "");
  workload_.requeue_at_seconds = 1001;
  EXPECT_EQ(WhyNoHead(), "it is requeued at 1970-01-01T00:16:41Z only");
  workload_.requeue_at_seconds = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(WhyNoHead(), "it is requeued at Unix second 9223372036854775807 only");
  workload_.requeue_at_seconds.reset();
  workload_.conditions = {{"Requeued", "True", "", ""}};
  EXPECT_EQ(WhyNoHead(), "");
  workload_.conditions = {{"Requeued", "False", "", ""}};
  EXPECT_EQ(WhyNoHead(), "its condition Requeued is False");
  workload_.conditions.clear();
  cluster_.local_queues[0].stop_policy = "Hold";
  EXPECT_EQ(WhyNoHead(), "its LocalQueue team/gpu has stopPolicy Hold");
}

}  // namespace
}  // namespace espalier::admissibility_test
