// The dump of a real cluster: what Kueue itself decided must follow from `before` alone.
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/engine.hpp"
#include "host/kueue/cycle/queue_order.hpp"
#include "host/kueue/cycle/scheduling_cycle.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/kueue/planning/placement_plan.hpp"
#include "host/readers/cluster_files.hpp"

namespace espalier::dump_test {
namespace {

std::string DumpPath(const std::string& name) {
  return std::string(ESPALIER_SOURCE_DIR) + "/tests/data/dumps/" + name;
}

Cluster ReadDump(const std::string& name) {
  auto read = ReadClusterFiles({DumpPath(name), DumpPath("extra.json")});
  if (!read) throw std::runtime_error(read.error().message);
  return std::move(read->cluster);
}

const Cluster& Before() {
  static const Cluster cluster = ReadDump("before.json.gz");
  return cluster;
}

const Cluster& After() {
  static const Cluster cluster = ReadDump("after.json.gz");
  return cluster;
}

std::map<std::string, const Workload*> ByName(const Cluster& cluster) {
  std::map<std::string, const Workload*> workloads;
  for (const Workload& workload : cluster.workloads) workloads[workload.key.ToString()] = &workload;
  return workloads;
}

struct Recorded {
  std::string cluster_queue;
  std::string workload;
  std::string status;
  std::string reason;
};

// decisions.jsonl: Kueue's evaluations in order.
const std::vector<Recorded>& RecordedDecisions() {
  static const std::vector<Recorded> decisions = [] {
    std::vector<Recorded> result;
    simdjson::dom::parser parser;
    for (const auto line : parser.load_many(DumpPath("decisions.jsonl"))) {
      const auto text = [&](const char* key) {
        std::string_view value;
        return line[key].get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
      };
      result.push_back({text("clusterQueue"), text("workload"), text("status"), text("reason")});
    }
    return result;
  }();
  return decisions;
}

const SchedulingCyclesResult& Cycles() {
  static const SchedulingCyclesResult result = [] {
    const Engine engine(MakeCpuBackend(1), FeatureGates{});
    auto run = RunSchedulingCycles(
        Before(), engine, {.until_stable = true, .admissibility = {.release_stopped = true}});
    if (!run) throw std::runtime_error(run.error().message);
    return *std::move(run);
  }();
  return result;
}

TEST(Dump, HoldsWhatItsDescriptionSays) {
  EXPECT_EQ(Before().nodes.size(), 336U);
  EXPECT_EQ(Before().workloads.size(), 69U);
  EXPECT_EQ(PendingInQueueOrder(Before()).size(), 69U);
  EXPECT_EQ(RecordedDecisions().size(), 71U);
}

TEST(Dump, SameAdmissionsInTheSameOrderPerClusterQueue) {
  std::map<std::string, std::vector<std::string>> recorded;
  for (const Recorded& decision : RecordedDecisions()) {
    if (decision.status == "assumed") recorded[decision.cluster_queue].push_back(decision.workload);
  }
  std::map<std::string, std::vector<std::string>> ours;
  std::size_t admissions = 0;
  for (const Decision& decision : Cycles().decisions) {
    if (decision.status != DecisionStatus::kAssumed) continue;
    ours[decision.cluster_queue].push_back(decision.workload.ToString());
    ++admissions;
  }
  EXPECT_EQ(admissions, 49U);
  EXPECT_EQ(ours, recorded);
}

TEST(Dump, SameRefusalsWithTheSameTexts) {
  std::map<std::string, std::string> recorded;
  for (const Recorded& decision : RecordedDecisions()) {
    if (decision.status == "not-admitted") recorded[decision.workload] = decision.reason;
  }
  std::map<std::string, std::string> ours;
  for (const Decision& decision : Cycles().decisions) {
    if (decision.status == DecisionStatus::kNotAdmitted) {
      ours[decision.workload.ToString()] = decision.reason;
    }
  }
  EXPECT_EQ(ours.size(), 19U);
  EXPECT_EQ(ours, recorded);
}

// Kueue looks at h200-01, etl-03 and etl-04 twice: releasing the queues woke their parked workloads
// a moment later. Here nothing happens outside of the cycles, so each workload is looked at once.
TEST(Dump, SameOrderOfFirstEvaluationsPerClusterQueue) {
  std::map<std::string, std::vector<std::string>> recorded;
  for (const Recorded& decision : RecordedDecisions()) {
    auto& list = recorded[decision.cluster_queue];
    if (std::ranges::find(list, decision.workload) == list.end()) list.push_back(decision.workload);
  }
  std::map<std::string, std::vector<std::string>> ours;
  for (const Decision& decision : Cycles().decisions) {
    ours[decision.cluster_queue].push_back(decision.workload.ToString());
  }
  EXPECT_EQ(ours, recorded);
}

TEST(Dump, SameAdmissionObjects) {
  const auto after = ByName(After());
  for (const Workload& workload : Cycles().cluster.workloads) {
    const auto& expected = after.at(workload.key.ToString())->admission;
    ASSERT_EQ(workload.admission.has_value(), expected.has_value()) << workload.key.ToString();
    if (!expected) continue;
    EXPECT_EQ(workload.admission->cluster_queue, expected->cluster_queue);
    EXPECT_EQ(workload.admission->pod_set_assignments, expected->pod_set_assignments)
        << workload.key.ToString();
  }
}

TEST(Dump, PartialAdmissionTakesTheLargestCountThatFits) {  // R21.11
  const Workload* partial = ByName(Cycles().cluster).at("team-vision/job-partial-01-cccfe");
  ASSERT_TRUE(partial->admission);
  EXPECT_EQ(partial->pod_sets[0].count, 12);
  EXPECT_EQ(partial->admission->pod_set_assignments[0].count, 7);
}

TEST(Dump, SameReasonOfTheQuotaReservedCondition) {
  const auto after = ByName(After());
  for (const Decision& decision : Cycles().decisions) {
    if (decision.status != DecisionStatus::kNotAdmitted) continue;
    for (const Condition& condition : after.at(decision.workload.ToString())->conditions) {
      // The dump was taken before Kueue had written down the last reason of efa-01.
      if (condition.type != kQuotaReserved || condition.reason == "PendingEvaluation") continue;
      EXPECT_EQ(decision.pending_reason, condition.reason) << decision.workload.ToString();
      EXPECT_EQ(decision.reason, condition.message);
    }
  }
}

TEST(Dump, NotesThatTheQueuesAreOnHold) {
  EXPECT_THAT(
      Cycles().notes,
      ::testing::UnorderedElementsAre(
          ::testing::HasSubstr("gpu-cluster has stopPolicy"),
          ::testing::HasSubstr("cpu-cluster has stopPolicy"),
          ::testing::HasSubstr("nb-quinn-unschedulable is left out: it names no LocalQueue")));
}

// Until partial-01, where admission takes fewer pods than asked for, placing in queue order without
// quota is what Kueue did.
TEST(Dump, SequentialPlacementAgreesUpToThePartialAdmission) {
  auto plan = PlanPlacement(Before(), {});
  ASSERT_TRUE(plan.has_value());
  ASSERT_EQ(plan->workloads.size(), 69U);
  std::vector<WorkloadRequest> requests;
  for (PlannedWorkload& planned : plan->workloads) {
    if (auto* request = std::get_if<WorkloadRequest>(&planned.plan)) {
      if (request->key.name.starts_with("job-partial-01")) break;
      requests.push_back(std::move(*request));
    }
  }
  auto state = ClusterState::Build(plan->state);
  ASSERT_TRUE(state.has_value());
  const Engine engine(MakeCpuBackend(1), FeatureGates{});
  const auto answers = engine.Place(*state, requests, PlacementMode::kSequential);

  const auto after = ByName(After());
  std::size_t recorded = 0;
  for (const Recorded& decision : RecordedDecisions()) {
    if (decision.workload == "team-vision/job-partial-01-cccfe") break;
    if (decision.cluster_queue == "gpu-cluster" && decision.status == "assumed") ++recorded;
  }
  std::size_t placed = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Workload& expected = *after.at(requests[i].key.ToString());
    const bool failed = answers[i].FirstFailure() != nullptr;
    EXPECT_EQ(failed, !expected.admission.has_value()) << requests[i].key.ToString();
    if (failed || !expected.admission) continue;
    ++placed;
    EXPECT_EQ(answers[i].pod_sets[0].assignment,
              expected.admission->pod_set_assignments[0].topology_assignment)
        << requests[i].key.ToString();
  }
  EXPECT_EQ(placed, recorded);
}

TEST(Dump, AfterHoldsTheUsageOfItsAdmissions) {
  EXPECT_EQ(PendingInQueueOrder(After()).size(), 20U);
  const ClusterStateInput input = BuildClusterStateInput(After(), FeatureGates{});
  std::map<std::string, Amount> slots;
  for (const FlavorLeafUsage& usage : input.tas_usage) {
    EXPECT_EQ(usage.flavor, "gpu-h100");
    slots[usage.leaf] += *usage.usage.Find(kPodsResource);
  }
  std::map<std::string, Amount> expected;
  for (const Workload& workload : After().workloads) {
    if (!workload.admission) continue;
    for (const PodSetAssignment& assignment : workload.admission->pod_set_assignments) {
      if (!assignment.topology_assignment) continue;
      for (const TopologyDomainAssignment& domain : assignment.topology_assignment->domains) {
        expected[domain.values.back()] += domain.count;
      }
    }
  }
  EXPECT_EQ(slots, expected);
}

// Pods of admitted workloads are not counted a second time as pods outside of Kueue.
TEST(Dump, NonTasUsageOfGpuNodesIsThatOfBefore) {
  const auto by_node = [](const Cluster& cluster) {
    std::map<std::string, Resources> usage;
    for (NodeUsage& node : NonTasUsage(cluster.pods)) {
      if (node.node.find("gpu") != std::string::npos) usage[node.node] = std::move(node.usage);
    }
    return usage;
  };
  EXPECT_EQ(by_node(Before()), by_node(After()));
}

}  // namespace
}  // namespace espalier::dump_test
