#include "host/kueue/cycle/preemption.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/kueue/elastic/workload_slices.hpp"
#include "tests/kueue/objects.hpp"

namespace espalier::preemption_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PreemptionTest : public testing::Test {
 protected:
  Workload& Add(const std::string& name, std::int64_t priority, std::int64_t created) {
    Workload workload = MakeWorkload(name, "main", {}, created, priority);
    workload.admission = Admission{"queue", {{.name = "main", .flavors = {{"gpu", "gpu"}}}}};
    workload.conditions = {{.type = "QuotaReserved", .status = "True"}};
    cluster_.workloads.push_back(workload);
    return cluster_.workloads.back();
  }

  std::vector<std::string> Names(PreemptionPolicy policy) const {
    WorkloadRequest request;
    request.pod_sets.push_back({.name = "main", .flavor = "gpu", .requests = {{"gpu", 1}}});
    std::vector<std::string> names;
    for (const VictimSlices& slices : PreemptionCandidates(
             cluster_, MakeWorkload("asked", "main", {}, 100, 5), request, "queue", policy)) {
      std::string name;
      for (const std::size_t i : slices) {
        name += (name.empty() ? "" : "+") + cluster_.workloads[i].key.name;
      }
      names.push_back(name);
    }
    return names;
  }

  Cluster cluster_;
};

TEST_F(PreemptionTest, PoliciesAllowMoreAndMore_R29_1) {
  Add("lower", 4, 0);
  Add("equal-older", 5, 99);
  Add("equal-younger", 5, 101);
  Add("higher", 6, 0);
  Add("equal-sent-back", 5, 99)
      .conditions.push_back({"Evicted", "True", "AdmissionCheck", "", 101});
  EXPECT_THAT(Names(PreemptionPolicy::kNever), IsEmpty());
  EXPECT_THAT(Names(PreemptionPolicy::kLowerPriority), ElementsAre("lower"));
  EXPECT_THAT(Names(PreemptionPolicy::kLowerOrNewerEqualPriority),
              ElementsAre("equal-sent-back", "lower", "equal-younger"));
  EXPECT_EQ(Names(PreemptionPolicy::kAny).size(), 5u);
}

TEST_F(PreemptionTest, OnlyWhoHoldsWhatIsAskedFor_R29_1) {
  Add("other-queue", 0, 0).admission->cluster_queue = "other";
  Add("other-flavor", 0, 0).admission->pod_set_assignments[0].flavors = {{"gpu", "spot"}};
  Add("other-resource", 0, 0).admission->pod_set_assignments[0].flavors = {{"cpu", "gpu"}};
  Add("finished", 0, 0).conditions.push_back({.type = "Finished", .status = "True"});
  Add("pending", 0, 0).conditions.clear();
  Add("holder", 0, 0);
  EXPECT_THAT(Names(PreemptionPolicy::kAny), ElementsAre("holder"));
}

TEST_F(PreemptionTest, EvictedThenLowerThenLater_R29_2) {
  Add("high", 3, 0);
  Add("early", 2, 0).conditions.front().since_seconds = 10;
  Add("late", 2, 0).conditions.front().since_seconds = 20;
  Add("unknown-b", 2, 0);
  Add("unknown-a", 2, 0);
  Add("evicted", 4, 0).conditions.push_back({.type = "Evicted", .status = "True"});
  EXPECT_THAT(Names(PreemptionPolicy::kAny),
              ElementsAre("evicted", "unknown-a", "unknown-b", "late", "early", "high"));
}

TEST_F(PreemptionTest, TheSlicesOfAJobAreOneVictim_W5_5) {
  Add("other", 2, 0);
  Add("job", 2, 0);
  Add("job-slice-2", 2, 101).annotations = {{std::string(kSliceReplacementFor), "team/job"}};
  Add("job-slice-3", 2, 0).annotations = {{std::string(kSliceNameAnnotation), "job"}};
  cluster_.workloads.back().conditions.clear();  // it waits: nothing is free without it
  EXPECT_THAT(Names(PreemptionPolicy::kAny), ElementsAre("job+job-slice-2", "other"));
  // The job is older than who asks, so that its newer slice may not go either.
  for (Workload& workload : cluster_.workloads) workload.priority = 5;
  EXPECT_THAT(Names(PreemptionPolicy::kLowerOrNewerEqualPriority), IsEmpty());
}

TEST_F(PreemptionTest, NobodyMakesRoomForTheirOwnJob_W5_5) {
  Add("job", 2, 0);
  Add("asked", 5, 100).conditions.clear();
  cluster_.workloads.back().annotations = {{std::string(kSliceReplacementFor), "team/job"}};
  EXPECT_THAT(Names(PreemptionPolicy::kAny), IsEmpty());
}

TEST_F(PreemptionTest, AVictimHoldsWhatAllItsSlicesHold_W5_5) {
  cluster_ = MakeCluster();
  for (const char* name : {"job", "job-slice-2"}) {
    Workload workload = MakeWorkload(name, "gpu", {MakePodSet("main", 1, {{"gpu", 1}})});
    workload.annotations = {{std::string(kSliceNameAnnotation), "job"}};
    Admit(workload, "gpu-queue", "gpu", OnHosts({{"a1", 1}}));
    cluster_.workloads.push_back(workload);
  }
  const Victim victim = VictimOf(cluster_, {0, 1}, ClusterLookup(cluster_));
  EXPECT_EQ(victim.name, "team/job");
  EXPECT_EQ(victim.usage.size(), 2U);
}

TEST(ParsePreemptionPolicy, KnowsKueuesNames) {
  EXPECT_EQ(ParsePreemptionPolicy(""), PreemptionPolicy::kNever);
  EXPECT_EQ(ParsePreemptionPolicy("LowerPriority"), PreemptionPolicy::kLowerPriority);
  EXPECT_EQ(ParsePreemptionPolicy("lowerpriority"), std::nullopt);
}

}  // namespace
}  // namespace espalier::preemption_test
