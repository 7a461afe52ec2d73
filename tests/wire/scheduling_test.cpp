#include "service/wire/scheduling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/wire/object_samples.hpp"
#include "tests/wire/wire_samples.hpp"

namespace espalier::scheduling_test {
namespace {

template <class Message>
auto Decode(const Message& message, std::int64_t budget_bytes = kPlenty) {
  WorkBudget budget(budget_bytes);
  return FromProto(message, budget);
}

TEST(CycleRequest, RoundTripKeepsEveryField) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const Cluster cluster = SampleCluster(seed);
    const auto message = ToProto(cluster);
    ASSERT_TRUE(message) << message.error().message;
    v1::CycleRequest received;
    ASSERT_TRUE(received.ParseFromString(message->SerializeAsString()));
    const auto decoded = Decode(received);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, cluster) << "seed " << seed;
  }
}

TEST(CycleRequest, EqualShapesStandOnce) {
  Random random(1);
  Cluster cluster;
  cluster.workloads.assign(100, SampleWorkload(random));
  cluster.workloads[0].pod_sets.resize(1);
  cluster.workloads.assign(100, cluster.workloads[0]);
  const auto message = ToProto(cluster);
  ASSERT_TRUE(message);
  EXPECT_LE(message->node_constraints_size(), 1);
  EXPECT_LE(message->topology_requests_size(), 1);
  EXPECT_EQ(message->workloads_size(), 100);
}

TEST(CycleRequest, AnAssignmentTheWireCannotSayIsRefusedByTheSender) {
  Cluster cluster;
  PodSetAssignment& assignment =
      cluster.workloads.emplace_back().admission.emplace().pod_set_assignments.emplace_back();
  assignment.topology_assignment = TopologyAssignment{{"block", "host"}, {{{"b1"}, 1}}};
  const auto message = ToProto(cluster);
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().error_class, ErrorClass::kBadInput);
}

TEST(CycleRequest, EmptyMessageIsAnEmptyCluster) {
  const auto decoded = Decode(v1::CycleRequest());
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, Cluster());
}

// One queue and one workload with one pod set, admitted.
v1::CycleRequest SmallRequest() {
  v1::CycleRequest request;
  request.add_strings("main");
  request.add_strings("cpu");
  v1::FlavorQuota& quota = *request.add_cluster_queues()->add_resource_groups()->add_flavors();
  quota.mutable_nominal()->add_names(2);
  quota.mutable_nominal()->add_amounts(1000);
  request.add_local_queues()->set_cluster_queue(1);
  v1::Workload& workload = *request.add_workloads();
  workload.add_pod_sets()->set_count(3);
  workload.mutable_admission()->add_pod_set_assignments()->set_name(1);
  return request;
}

struct HostileCase {
  const char* name;
  void (*spoil)(v1::CycleRequest&);
  const char* error;
};

class HostileCycle : public testing::TestWithParam<HostileCase> {};

TEST_P(HostileCycle, IsRefusedWithTheFieldPath) {
  v1::CycleRequest request = SmallRequest();
  ASSERT_TRUE(Decode(request));
  GetParam().spoil(request);
  const auto decoded = Decode(request);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().error_class, ErrorClass::kBadInput);
  EXPECT_EQ(decoded.error().message, GetParam().error);
}

v1::PodSet& PodSetOf(v1::CycleRequest& request) {
  return *request.mutable_workloads(0)->mutable_pod_sets(0);
}

INSTANTIATE_TEST_SUITE_P(
    , HostileCycle,
    testing::Values(
        HostileCase{"StringOutOfRange", [](auto& r) { r.mutable_workloads(0)->set_name(9); },
                    "workloads[0].name: refers to row 9 of a table of 2; references are 0 "
                    "to 2"},
        HostileCase{"RowOutOfRange", [](auto& r) { PodSetOf(r).set_requests(0xffffffff); },
                    "workloads[0].pod_sets[0].requests: refers to row 4294967295 of a table "
                    "of 0; references are 0 to 0"},
        HostileCase{"PodSetTwice",
                    [](auto& r) {
                      PodSetOf(r).set_name(1);
                      r.mutable_workloads(0)->add_pod_sets()->set_name(1);
                    },
                    "workloads[0].pod_sets[1]: is \"main\", as that of pod set 0 of the "
                    "same workload; each pod set has a name of its own"},
        HostileCase{"NegativeCount", [](auto& r) { PodSetOf(r).set_count(-3); },
                    "workloads[0].pod_sets[0].count: is -3; pods are 0 or more"},
        HostileCase{"NegativeMinimum", [](auto& r) { PodSetOf(r).set_min_count(-1); },
                    "workloads[0].pod_sets[0].min_count: is -1; pods are 0 or more"},
        HostileCase{"NegativeReclaimable",
                    [](auto& r) { r.mutable_workloads(0)->add_reclaimable_pods()->set_count(-1); },
                    "workloads[0].reclaimable_pods[0].count: is -1; pods are 0 or more"},
        HostileCase{"NegativeAdmitted",
                    [](auto& r) {
                      r.mutable_workloads(0)
                          ->mutable_admission()
                          ->mutable_pod_set_assignments(0)
                          ->set_count(-1);
                    },
                    "workloads[0].admission.pod_set_assignments[0].count: is -1; pods are 0 "
                    "or more"},
        HostileCase{
            "AssignedTwice",
            [](auto& r) {
              r.mutable_workloads(0)->mutable_admission()->add_pod_set_assignments()->set_name(1);
            },
            "workloads[0].admission.pod_set_assignments[1]: is \"main\", as that of pod set "
            "0 of the same workload; each pod set has a name of its own"},
        HostileCase{"WorkloadTwice",
                    [](auto& r) {
                      r.mutable_workloads(0)->set_name(1);
                      *r.add_workloads() = v1::Workload(r.workloads(0));
                    },
                    "workloads[1]: is main as workloads[0] is; send each workload once"},
        HostileCase{"QuotaTwice",
                    [](auto& r) {
                      auto& nominal = *r.mutable_cluster_queues(0)
                                           ->mutable_resource_groups(0)
                                           ->mutable_flavors(0)
                                           ->mutable_nominal();
                      nominal.add_names(2);
                      nominal.add_amounts(1);
                    },
                    "cluster_queues[0].resource_groups[0].flavors[0].nominal: has the key "
                    "\"cpu\" twice"},
        HostileCase{"NegativeQuota",
                    [](auto& r) {
                      r.mutable_cluster_queues(0)
                          ->mutable_resource_groups(0)
                          ->mutable_flavors(0)
                          ->mutable_nominal()
                          ->set_amounts(0, -1);
                    },
                    "cluster_queues[0].resource_groups[0].flavors[0].nominal: has -1 cpu; 0 or "
                    "more expected"},
        HostileCase{"MinimumAboveTheCount", [](auto& r) { PodSetOf(r).set_min_count(4); },
                    "workloads[0].pod_sets[0].min_count: is 4; 0 to the count of the pod set, 3, "
                    "expected"},
        HostileCase{"ClusterQueueTwice",
                    [](auto& r) {
                      r.mutable_cluster_queues(0)->set_name(1);
                      r.add_cluster_queues()->set_name(1);
                    },
                    "cluster_queues[1]: is main as cluster_queues[0] is; send each queue once"},
        HostileCase{"LocalQueueTwice",
                    [](auto& r) {
                      r.mutable_local_queues(0)->set_name(1);
                      r.add_local_queues()->set_name(1);
                    },
                    "local_queues[1]: is main as local_queues[0] is; send each queue once"},
        HostileCase{"AdmissionCheckTwice",
                    [](auto& r) {
                      r.add_admission_checks()->set_name(1);
                      r.add_admission_checks()->set_name(1);
                    },
                    "admission_checks[1]: is main as admission_checks[0] is; send each check once"},
        HostileCase{"NamespaceTwice",
                    [](auto& r) {
                      r.add_namespaces()->set_name(1);
                      r.add_namespaces()->set_name(1);
                    },
                    "namespaces[1]: is main as namespaces[0] is; send each namespace once"},
        HostileCase{
            "CheckOutOfRange",
            [](auto& r) { r.mutable_cluster_queues(0)->add_admission_checks()->add_flavors(7); },
            "cluster_queues[0].admission_checks[0].flavors[0]: refers to row 7 of a "
            "table of 2; references are 0 to 2"},
        HostileCase{"NegativePods",
                    [](auto& r) {
                      r.add_assignments()->add_levels(1);
                      r.mutable_assignments(0)->add_values(1);
                      r.mutable_assignments(0)->add_counts(-1);
                    },
                    "assignments[0].counts: entry 0 is -1; pods are 0 or more"}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(CycleRequest, AFewBytesCannotAskForGigabytes) {
  v1::CycleRequest request;
  request.add_strings(std::string(1 << 20, 'x'));
  for (int i = 0; i < 1000; ++i) request.add_workloads()->set_name(1);
  const auto decoded = Decode(request, std::int64_t{64} << 20);
  ASSERT_FALSE(decoded);
  EXPECT_THAT(decoded.error().message,
              testing::HasSubstr("needs more memory than the 64 MiB it may hold"));
}

SchedulingCyclesResult SampleResult(std::uint32_t seed) {
  Random random(seed);
  SchedulingCyclesResult result;
  result.cycles = static_cast<std::int64_t>(random.Below(9));
  for (auto i = 0ul, n = random.Below(9); i < n; ++i) {
    Decision& decision = result.decisions.emplace_back();
    decision.evaluation = static_cast<std::int64_t>(i) + 1;
    decision.cycle = static_cast<std::int64_t>(random.Below(9));
    decision.cluster_queue = SampleText(random, "cq-");
    decision.workload = {SampleText(random, "ns-"), SampleText(random, "workload-")};
    decision.status = static_cast<DecisionStatus>(random.Below(5));
    decision.reason = SampleText(random, "reason ");
    decision.pending_reason = SampleText(random, "Waiting");
    if (random.Below(2)) decision.assignments.push_back(SamplePodSetAssignment(random));
  }
  if (random.Below(2)) result.notes = {"a note", "another"};
  return result;
}

TEST(CycleResponse, RoundTripKeepsEveryDecision) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const SchedulingCyclesResult result = SampleResult(seed);
    const auto message = ToProto(result);
    ASSERT_TRUE(message) << message.error().message;
    v1::CycleResponse received;
    ASSERT_TRUE(received.ParseFromString(message->SerializeAsString()));
    const auto decoded = Decode(received);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->decisions, result.decisions) << "seed " << seed;
    EXPECT_EQ(decoded->cycles, result.cycles);
    EXPECT_EQ(decoded->notes, result.notes);
  }
}

TEST(CycleResponse, AnUnknownStatusIsRefused) {
  v1::CycleResponse message;
  message.add_decisions()->set_status(static_cast<v1::DecisionStatus>(9));
  const auto decoded = Decode(message);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().message, "decided.decisions[0].status: is 9, which is no known status");
}

}  // namespace
}  // namespace espalier::scheduling_test
