// The story of the proposal, 4 -> 2 -> 5 -> 10 -> preempted, in both modes of slices, held to what
// was seen and judged right (KEP-77, W5).
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/kueue/cycle/preemption.hpp"
#include "host/kueue/elastic/resize_plan.hpp"
#include "host/kueue/elastic/workload_slices.hpp"
#include "tests/kueue/objects.hpp"

namespace espalier::elastic_story_test {
namespace {

std::string Text(const Workload& workload) {
  std::string text = fmt::format("  {}: {} pods", workload.key.name, workload.pod_sets[0].count);
  for (const Condition& condition : workload.conditions) {
    if (condition.status != "True") continue;
    text += " " + condition.type;
    if (condition.type == kFinished) text += "=" + condition.reason;
  }
  if (!workload.admission) return text + "\n";
  for (const auto& domain :
       workload.admission->pod_set_assignments[0].topology_assignment->domains) {
    text += fmt::format(" {}:{}", domain.values.back(), domain.count);
  }
  return text + "\n";
}

class ElasticStory : public testing::TestWithParam<SliceMode> {
 protected:
  ElasticStory() {
    cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 0, 10);
    Workload workload =
        MakeWorkload("train", "gpu", {MakePodSet("main", 4, {{"gpu", 1}}, Unconstrained())});
    workload.annotations = {{std::string(kElasticJobAnnotation), "true"}};
    workload.owners = {{"batch/v1", "Job", "train", "uid-job", true}};
    Admit(workload, "gpu-queue", "gpu", OnHosts({{"a1", 2}, {"b1", 2}}));
    cluster_.workloads = {workload};
    Tell("4 pods");
  }

  void Tell(const std::string& what) {
    story_ += what + "\n";
    for (const Workload& workload : cluster_.workloads) story_ += Text(workload);
  }

  void ResizeTo(std::int64_t count) {
    const Engine engine(MakeCpuBackend(1), ResizeGates({}));
    const auto newest = std::ranges::find_if(
        cluster_.workloads, [](const Workload& workload) { return HasReservation(workload); });
    ASSERT_NE(newest, cluster_.workloads.end());
    const auto plan = PlanResize(
        cluster_, engine, {newest->key, {{"main", count}}, GetParam(), ResizeProfile::kKueue});
    ASSERT_TRUE(plan) << plan.error().message;
    std::string what = fmt::format("to {}: {}", count, ToString(plan->decision));
    for (const LeavingPods& leaving : plan->leaving) {
      for (const auto& domain : leaving.domains) {
        what += fmt::format(", {} leave {}", domain.count, fmt::join(domain.values, "/"));
      }
    }
    for (const PlannedSlice& slice : plan->slices) {
      what += fmt::format(", {} {}", slice.workload.key.name,
                          slice.admitted ? "admitted" : "waits: " + slice.reason);
    }
    CarryOut(*plan, cluster_);
    Tell(what);
  }

  void Preempt() {
    Workload asking = MakeWorkload("urgent", "gpu", {}, 100, 5);
    WorkloadRequest request;
    request.pod_sets.push_back({.name = "main", .flavor = "gpu", .requests = {{"gpu", 1}}});
    const auto victims = PreemptionCandidates(cluster_, asking, request, "gpu-queue",
                                              PreemptionPolicy::kLowerPriority);
    story_ += "preempted\n";
    for (const VictimSlices& slices : victims) {
      std::vector<std::string> names;
      for (const std::size_t i : slices) names.push_back(cluster_.workloads[i].key.name);
      std::int64_t pods = 0;
      for (const auto& usage : VictimOf(cluster_, slices, ClusterLookup(cluster_)).usage) {
        pods += *usage.usage.Find(kPodsResource);
      }
      story_ += fmt::format("  one victim: {}, {} pods\n", fmt::join(names, ", "), pods);
    }
  }

  static std::string Golden(const std::string& name) {
    std::ifstream file(std::string(ESPALIER_SOURCE_DIR "/tests/kueue/data/") + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  Cluster cluster_ = MakeCluster();
  std::string story_;
};

TEST_P(ElasticStory, FourTwoFiveTenPreempted) {
  for (const std::int64_t count : {2, 5, 10, 12}) ResizeTo(count);
  Preempt();
  const bool replacement = GetParam() == SliceMode::kReplacement;
  EXPECT_EQ(story_, Golden(replacement ? "story_replacement.txt" : "story_per_replica.txt"));
}

INSTANTIATE_TEST_SUITE_P(BothModes, ElasticStory,
                         testing::Values(SliceMode::kReplacement, SliceMode::kPerReplica));

}  // namespace
}  // namespace espalier::elastic_story_test
