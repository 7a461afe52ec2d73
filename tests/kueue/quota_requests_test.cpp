#include "host/kueue/cycle/quota_requests.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/kueue/cycle/flavor_choice.hpp"
#include "host/kueue/cycle/preemption.hpp"
#include "host/model/quantity.hpp"
#include "tests/kueue/objects.hpp"

namespace espalier::quota_requests_test {
namespace {

constexpr Amount kMost = std::numeric_limits<Amount>::max();

Quantity Amounting(const std::string& text) { return *ParseQuantity(text); }

KueueConfiguration With(std::vector<ResourceTransformation> transformations) {
  KueueConfiguration configuration;
  configuration.transformations = std::move(transformations);
  return configuration;
}

Resources Counted(const Resources& requests, const KueueConfiguration& configuration) {
  return QuotaRequests(requests, &configuration);
}

// R30.6
TEST(QuotaRequests, AreThoseOfThePodWithoutAConfiguration) {
  const Resources requests = {{"cpu", 1500}, {"gpu", 2}};
  EXPECT_EQ(QuotaRequests(requests, nullptr), requests);
  EXPECT_EQ(Counted(requests, {}), requests);
}

TEST(QuotaRequests, LeaveOutResourcesOfExcludedPrefixes) {
  KueueConfiguration configuration;
  configuration.excluded_prefixes = {"networking.example.com/", "eph"};
  EXPECT_EQ(Counted({{"cpu", 1000},
                     {"ephemeral-storage", 7},
                     {"networking.example.com/rdma", 1},
                     {"networking.example.org/rdma", 2}},
                    configuration),
            (Resources{{"cpu", 1000}, {"networking.example.org/rdma", 2}}));
}

TEST(QuotaRequests, ReplaceOrRetainWhatIsTransformed) {
  const auto mig = [](const std::string& input, const std::string& memory, bool retain) {
    return ResourceTransformation{
        input,
        retain,
        "",
        {{"accelerator-memory", Amounting(memory)}, {"credits", Amounting("10")}}};
  };
  const Resources requests = {{"cpu", 1000}, {"mig-1g", 2}, {"mig-2g", 1}};
  EXPECT_EQ(Counted(requests, With({mig("mig-1g", "5Gi", false), mig("mig-2g", "10Gi", false)})),
            (Resources{{"accelerator-memory", Amount{20} << 30}, {"cpu", 1000}, {"credits", 30}}));
  EXPECT_EQ(Counted(requests, With({mig("mig-1g", "5Gi", true), mig("mig-2g", "10Gi", false)})),
            (Resources{{"accelerator-memory", Amount{20} << 30},
                       {"cpu", 1000},
                       {"credits", 30},
                       {"mig-1g", 2}}));
  // A resource that no pod asks for has no outputs.
  EXPECT_EQ(Counted({{"cpu", 1000}}, With({mig("mig-1g", "5Gi", true)})),
            (Resources{{"cpu", 1000}}));
  // Without outputs quota does not look at it.
  EXPECT_EQ(Counted({{"cpu", 1000}, {"x", 1}}, With({{"x", false, "", {}}})),
            (Resources{{"cpu", 1000}}));
}

TEST(QuotaRequests, AddAnOutputToARequestOfItsName) {
  EXPECT_EQ(
      Counted({{"gpu", 2}, {"mig", 3}}, With({{"mig", false, "", {{"gpu", Amounting("1")}}}})),
      (Resources{{"gpu", 5}}));
}

// The multiplier counts for the outputs alone; a Retain keeps what was asked for.
TEST(QuotaRequests, MultiplyOutputsByAnotherRequest) {
  const KueueConfiguration configuration =
      With({{"gpumem", true, "gpu", {{"total-gpumem", Amounting("1")}}}});
  EXPECT_EQ(Counted({{"gpu", 2}, {"gpumem", 1024}}, configuration),
            (Resources{{"gpu", 2}, {"gpumem", 1024}, {"total-gpumem", 2048}}));
  EXPECT_EQ(Counted({{"gpumem", 1024}}, configuration),
            (Resources{{"gpumem", 1024}, {"total-gpumem", 1024}}));
  // A cpu of 500m is a half.
  EXPECT_EQ(Counted({{"cpu", 500}, {"gpumem", 5}},
                    With({{"gpumem", false, "cpu", {{"x", Amounting("1")}}}})),
            (Resources{{"cpu", 500}, {"x", 3}}));
}

TEST(QuotaRequests, AreExactAndRoundedUpOnce) {
  const auto credits = [](const std::string& factor) {
    return With({{"cpu", true, "", {{"credits", Amounting(factor)}}}});
  };
  EXPECT_EQ(*Counted({{"cpu", 300}}, credits("1000")).Find("credits"), 300);
  EXPECT_EQ(*Counted({{"cpu", 300}}, credits("1")).Find("credits"), 1);
  EXPECT_EQ(*Counted({{"cpu", 1}}, credits("1n")).Find("credits"), 1);
  EXPECT_EQ(*Counted({{"cpu", 2000}}, credits("1500m")).Find("credits"), 3);
  // Halves of two resources are one.
  EXPECT_EQ(Counted({{"a", 1}, {"b", 1}}, With({{"a", false, "", {{"c", Amounting("500m")}}},
                                                {"b", false, "", {{"c", Amounting("500m")}}}})),
            (Resources{{"c", 1}}));
  // cpu is counted in milli.
  EXPECT_EQ(Counted({{"gpu", 2}}, With({{"gpu", false, "", {{"cpu", Amounting("250m")}}}})),
            (Resources{{"cpu", 500}}));
}

TEST(QuotaRequests, CountNoAllowanceBelowZero) {
  const KueueConfiguration configuration =
      With({{"a", false, "", {{"c", Amounting("3")}}}, {"b", false, "", {{"c", Amounting("-2")}}}});
  EXPECT_EQ(Counted({{"a", 2}, {"b", 2}}, configuration), (Resources{{"c", 2}}));
  EXPECT_EQ(Counted({{"a", 1}, {"b", 2}}, configuration), (Resources{{"c", 0}}));
  // Nor is it taken from what a pod asks for.
  EXPECT_EQ(Counted({{"b", 2}, {"c", 5}}, configuration), (Resources{{"c", 5}}));
}

// R30.7
TEST(QuotaRequests, CountDevicesInThePlaceOfWhatStandsForThem) {
  PodTemplate pods;
  pods.requests = {{"cpu", 1000}, {"vendor.com/gpu", 3}};
  pods.device_backed = {{"vendor.com/gpu", 2}};
  pods.devices = {{"gpu", 2}, {"nic", 1}};
  KueueConfiguration configuration;
  configuration.excluded_prefixes = {"gpu", "vendor.com/"};
  EXPECT_EQ(QuotaRequests(pods, pods.requests, &configuration),
            (Resources{{"cpu", 1000}, {"gpu", 2}, {"nic", 1}}));
}

TEST(QuotaRequests, StayAtTheLimitOfAmounts) {
  const auto by = [](const std::string& factor, const std::string& multiplier) {
    return With({{"a", false, multiplier, {{"c", Amounting(factor)}}}});
  };
  EXPECT_EQ(*Counted({{"a", kMost}}, by("2", "")).Find("c"), kMost);
  EXPECT_EQ(*Counted({{"a", kMost}}, by("1", "")).Find("c"), kMost);
  EXPECT_EQ(*Counted({{"a", kMost - 1}}, by("1", "")).Find("c"), kMost - 1);
  EXPECT_EQ(*Counted({{"a", kMost}, {"m", kMost}}, by("9E", "m")).Find("c"), kMost);
  EXPECT_EQ(*Counted({{"a", kMost}, {"m", kMost}}, by("-9E", "m")).Find("c"), 0);
  EXPECT_EQ(*Counted({{"a", kMost}, {"m", 0}}, by("9E", "m")).Find("c"), 0);
  EXPECT_EQ(Counted({{"a", kMost}, {"c", kMost}}, by("1", "")), (Resources{{"c", kMost}}));
}

class QuotaWithAConfiguration : public testing::Test {
 protected:
  FlavorAssignment Choose() {
    const ClusterLookup lookup(cluster_);
    const Quota quota(queue_);
    return ChooseFlavors(workload_, PendingCounts(workload_),
                         {lookup, queue_, &quota, nullptr, {}});
  }
  KueueConfiguration& configuration() { return *cluster_.configuration; }

  Cluster cluster_ = [] {
    Cluster cluster = MakeCluster();
    cluster.configuration.emplace();
    return cluster;
  }();
  ClusterQueue queue_ = MakeQueue("q", {"gpu"}, 10'000, 16);
  Workload workload_ = MakeWorkload(
      "w", "gpu",
      {MakePodSet("main", 2, {{"cpu", 1000}, {"example.com/rdma", 1}}, Required(kRack))});
};

TEST_F(QuotaWithAConfiguration, DoesNotLookAtExcludedResources) {
  EXPECT_EQ(Choose().Message(),
            "couldn't assign flavors to pod set main: resource example.com/rdma unavailable in "
            "ClusterQueue");
  configuration().excluded_prefixes = {"example.com/"};
  const FlavorAssignment chosen = Choose();
  EXPECT_EQ(chosen.Mode(), AssignmentMode::kFit);
  EXPECT_EQ(chosen.pod_sets[0].flavors, (StringMap{{"cpu", "gpu"}}));
  EXPECT_EQ(chosen.pod_sets[0].requests, (Resources{{"cpu", 2000}}));
}

TEST_F(QuotaWithAConfiguration, LeavesOutWhatTheQueueDoesNotDeclare) {
  configuration().ignore_undeclared = true;
  const FlavorAssignment chosen = Choose();
  EXPECT_EQ(chosen.Mode(), AssignmentMode::kFit);
  EXPECT_EQ(chosen.pod_sets[0].flavors, (StringMap{{"cpu", "gpu"}}));
  // Kueue records what the queue does not declare, too.
  EXPECT_EQ(chosen.pod_sets[0].requests, (Resources{{"cpu", 2000}, {"example.com/rdma", 2}}));
  queue_ = MakeQueue("q", {"gpu"}, 1000);
  EXPECT_EQ(Choose().Mode(), AssignmentMode::kNoFit) << "what it declares it looks at";
}

TEST_F(QuotaWithAConfiguration, ComparesTheOutputsOfTransformations) {
  configuration().transformations = {
      {"example.com/rdma", false, "cpu", {{"gpu", *ParseQuantity("8")}}}};
  EXPECT_EQ(Choose().pod_sets[0].requests, (Resources{{"cpu", 2000}, {"gpu", 16}}));
  EXPECT_EQ(Choose().Mode(), AssignmentMode::kFit);
  workload_.pod_sets[0].count = 3;
  EXPECT_EQ(Choose().Message(),
            "couldn't assign flavors to pod set main: insufficient quota for gpu in flavor gpu, "
            "previously considered podsets requests (0) + current podset request (24) > maximum "
            "capacity (16)");
}

// R29.1 goes by what quota counts.
TEST_F(QuotaWithAConfiguration, FindsVictimsByTheResourcesThatItCounts) {
  configuration().transformations = {
      {"example.com/rdma", false, "", {{"credits", *ParseQuantity("1")}}}};
  workload_.pod_sets[0].pod_template.requests = {{"example.com/rdma", 1}};
  Workload victim = MakeWorkload("victim", "gpu", {MakePodSet("main", 1, {{"credits", 1}})});
  Admit(victim, "gpu-queue", "gpu", OnHosts({{"a1", 1}}));
  victim.priority = -1;
  cluster_.workloads = {victim, workload_};
  WorkloadRequest request;
  request.pod_sets.emplace_back();
  request.pod_sets[0].flavor = "gpu";
  request.pod_sets[0].requests = workload_.pod_sets[0].pod_template.requests;
  const auto candidates = PreemptionCandidates(cluster_, workload_, request, "gpu-queue",
                                               PreemptionPolicy::kLowerPriority);
  EXPECT_EQ(candidates, (std::vector<VictimSlices>{{0}}));
}

}  // namespace
}  // namespace espalier::quota_requests_test
