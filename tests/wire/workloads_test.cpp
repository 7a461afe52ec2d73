#include "service/wire/workloads.hpp"

#include <gtest/gtest.h>

#include "tests/wire/wire_samples.hpp"

namespace espalier::workloads_test {
namespace {

Result<std::vector<WorkloadRequest>> Decode(const v1::WorkloadBatch& message,
                                            std::int64_t budget_bytes = kPlenty) {
  WorkBudget budget(budget_bytes);
  return FromProto(message, budget);
}

std::string ErrorOf(const v1::WorkloadBatch& message) {
  const auto decoded = Decode(message);
  return decoded ? "no error" : decoded.error().message;
}

// One workload with one pod set.
v1::WorkloadBatch SmallBatch() {
  v1::WorkloadBatch batch;
  batch.add_strings("main");
  batch.add_strings("cpu");
  v1::ResourceVector& row = *batch.add_resources();
  row.add_names(2);
  row.add_amounts(1000);
  batch.add_pod_set_offsets(0);
  batch.add_pod_set_offsets(1);
  batch.add_pod_set_names(1);
  batch.add_pod_set_flavors(2);
  batch.add_pod_set_counts(3);
  batch.add_pod_set_requests(1);
  return batch;
}

TEST(WorkloadBatch, RoundTripKeepsEveryField) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const std::vector<WorkloadRequest> requests = SampleRequests(seed, 20);
    const auto message = ToProto(requests);
    ASSERT_TRUE(message) << message.error().message;
    v1::WorkloadBatch received;
    ASSERT_TRUE(received.ParseFromString(message->SerializeAsString()));
    const auto decoded = Decode(received);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, requests) << "seed " << seed;
  }
}

TEST(WorkloadBatch, APodRequestsAtMostAsManyResourcesAsAreNumbered) {
  v1::WorkloadBatch batch = SmallBatch();
  v1::ResourceVector& row = *batch.mutable_resources(0);
  for (std::uint32_t i = 1; i < 32'766; ++i) {
    batch.add_strings(std::to_string(i));
    row.add_names(i + 2);
    row.add_amounts(1);
  }
  EXPECT_EQ(ErrorOf(batch), "no error");
  row.add_names(1);
  row.add_amounts(1);
  EXPECT_EQ(ErrorOf(batch),
            "workloads.pod_set_requests[0]: has 32767 resources; at most 32766 expected");
}

TEST(WorkloadBatch, LeavesOutWhatPlacementDoesNotRead) {
  std::vector<WorkloadRequest> requests(1);
  PodSetRequest& pod_set = requests[0].pod_sets.emplace_back();
  pod_set.pod_template.labels = {{"only", "read by updates"}};
  pod_set.pod_template.requests = {{"cpu", 1}};
  const auto decoded = Decode(*ToProto(requests));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->at(0).pod_sets.at(0), PodSetRequest{});
}

TEST(WorkloadBatch, EqualShapesStandOnce) {
  std::vector<WorkloadRequest> requests(1000, SampleRequests(7, 1)[0]);
  requests[0].pod_sets.resize(1);
  const auto one = ToProto(std::span(requests).first(1));
  const auto message = ToProto(std::vector<WorkloadRequest>(1000, requests[0]));
  ASSERT_TRUE(one && message);
  EXPECT_EQ(message->resources_size(), one->resources_size());
  EXPECT_EQ(message->node_constraints_size(), one->node_constraints_size());
  EXPECT_EQ(message->pod_set_names_size(), 1000);
}

TEST(WorkloadBatch, UsersOfAnAssignmentShareIt) {
  TopologyAssignment assignment{{"kubernetes.io/hostname"}, {}};
  for (int i = 0; i < 1000; ++i) assignment.domains.push_back({{"host-" + std::to_string(i)}, 1});
  std::vector<WorkloadRequest> requests(1000);
  for (WorkloadRequest& request : requests) {
    request.pod_sets.emplace_back().previous_assignment = assignment;
    request.replacement.emplace().unhealthy_nodes = {"host-7"};
    request.replacement->admitted.emplace_back().topology_assignment = assignment;
  }
  const auto message = ToProto(requests);
  ASSERT_TRUE(message);
  // A tenth of what a copy for each of them would take.
  const auto decoded = Decode(*message, std::int64_t{8} << 20);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, requests);
  const TopologyAssignment* first = &*decoded->at(0).pod_sets.at(0).previous_assignment;
  for (const WorkloadRequest& request : *decoded) {
    EXPECT_EQ(&*request.pod_sets.at(0).previous_assignment, first);
    EXPECT_EQ(&*request.replacement->admitted.at(0).topology_assignment, first);
  }
}

TEST(WorkloadBatch, EmptyMessageIsNoWorkloads) {
  const auto decoded = Decode(v1::WorkloadBatch());
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(decoded->empty());
}

TEST(WorkloadBatch, OptionalColumnsMayBeEmpty) {
  const auto decoded = Decode(SmallBatch());
  ASSERT_TRUE(decoded) << decoded.error().message;
  const PodSetRequest& pod_set = decoded->at(0).pod_sets.at(0);
  EXPECT_EQ(pod_set.name, "main");
  EXPECT_EQ(pod_set.count, 3);
  EXPECT_EQ(pod_set.requests, (Resources{{"cpu", 1000}}));
  EXPECT_EQ(pod_set.group, std::nullopt);
}

TEST(WorkloadBatch, AnAssignmentTheWireCannotSayIsRefusedByTheSender) {
  std::vector<WorkloadRequest> requests(1);
  requests[0].pod_sets.emplace_back().previous_assignment =
      TopologyAssignment{{"block", "host"}, {{{"b1"}, 1}}};
  const auto message = ToProto(requests);
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().error_class, ErrorClass::kBadInput);
}

struct HostileCase {
  const char* name;
  void (*spoil)(v1::WorkloadBatch&);
  const char* error;
};

class HostileBatch : public testing::TestWithParam<HostileCase> {};

TEST_P(HostileBatch, IsRefusedWithTheFieldPath) {
  v1::WorkloadBatch batch = SmallBatch();
  GetParam().spoil(batch);
  EXPECT_EQ(ErrorOf(batch), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    , HostileBatch,
    testing::Values(
        HostileCase{"StringOutOfRange", [](auto& b) { b.set_pod_set_names(0, 9); },
                    "workloads.pod_set_names[0]: refers to row 9 of a table of 2; references are 0 "
                    "to 2"},
        HostileCase{"NoRequests", [](auto& b) { b.set_pod_set_requests(0, 0); },
                    "workloads.pod_set_requests[0]: is 0, which refers to nothing; references "
                    "count from 1, and a pod set that requests nothing refers to an empty row"},
        HostileCase{"RequestsMissing", [](auto& b) { b.clear_pod_set_requests(); },
                    "workloads.pod_set_requests: has 0 entries; 1 expected"},
        HostileCase{"HugeReference", [](auto& b) { b.set_pod_set_requests(0, 0xffffffff); },
                    "workloads.pod_set_requests[0]: refers to row 4294967295 of a table of 1; "
                    "references are 0 to 1"},
        HostileCase{"OffsetsDecrease",
                    [](auto& b) {
                      b.set_pod_set_offsets(1, 5);
                      b.add_pod_set_offsets(1);
                    },
                    "workloads.pod_set_offsets: entry 2 is 1, below the one before, 5; offsets "
                    "never decrease"},
        HostileCase{"OffsetsStartLate", [](auto& b) { b.set_pod_set_offsets(0, 1); },
                    "workloads.pod_set_offsets: starts at 1; offsets start at 0"},
        HostileCase{"OffsetsEndEarly", [](auto& b) { b.set_pod_set_offsets(1, 0); },
                    "workloads.pod_set_offsets: ends at 0; the list it cuts has 1 elements"},
        HostileCase{"OffsetsPastTheEnd", [](auto& b) { b.set_pod_set_offsets(1, 0xffffffff); },
                    "workloads.pod_set_offsets: ends at 4294967295; the list it cuts has 1 "
                    "elements"},
        HostileCase{"OffsetsMissing", [](auto& b) { b.clear_pod_set_offsets(); },
                    "workloads.pod_set_offsets: ends at 0; the list it cuts has 1 elements"},
        HostileCase{"PodSetTwice",
                    [](auto& b) {
                      b.set_pod_set_offsets(1, 2);
                      b.add_pod_set_names(1);
                      b.add_pod_set_flavors(2);
                      b.add_pod_set_counts(1);
                      b.add_pod_set_requests(1);
                    },
                    "workloads.pod_set_names[1]: is \"main\", as that of pod set 0 of the same "
                    "workload; each pod set has a name of its own"},
        HostileCase{"NegativeCount", [](auto& b) { b.set_pod_set_counts(0, -3); },
                    "workloads.pod_set_counts[0]: is -3; pods are 0 or more"},
        HostileCase{"ColumnTooShort", [](auto& b) { b.clear_pod_set_counts(); },
                    "workloads.pod_set_counts: has 0 entries; 1 expected"},
        HostileCase{"OptionalColumnTooLong",
                    [](auto& b) {
                      b.add_pod_set_groups(0);
                      b.add_pod_set_groups(0);
                    },
                    "workloads.pod_set_groups: has 2 entries; 1 or none expected"},
        HostileCase{"KeysWithoutValues", [](auto& b) { b.mutable_resources(0)->add_names(1); },
                    "workloads.resources[0]: has 2 keys and 1 values; as many of one as of the "
                    "other expected"},
        HostileCase{"ResourceTwice",
                    [](auto& b) {
                      b.mutable_resources(0)->add_names(2);
                      b.mutable_resources(0)->add_amounts(1);
                    },
                    "workloads.resources[0]: has the key \"cpu\" twice"},
        HostileCase{"NegativePods",
                    [](auto& b) {
                      b.add_assignments()->add_levels(1);
                      b.mutable_assignments(0)->add_values(1);
                      b.mutable_assignments(0)->add_counts(-1);
                    },
                    "workloads.assignments[0].counts: entry 0 is -1; pods are 0 or more"},
        HostileCase{"ValuesPerLevel",
                    [](auto& b) {
                      b.add_assignments()->add_levels(1);
                      b.mutable_assignments(0)->add_counts(1);
                    },
                    "workloads.assignments[0].values: has 0 entries; 1 expected"},
        HostileCase{"TooManyLevels",
                    [](auto& b) {
                      b.add_assignments();
                      for (int i = 0; i < 17; ++i) b.mutable_assignments(0)->add_levels(1);
                    },
                    "workloads.assignments[0]: has 17 levels; a topology has at most 16"},
        HostileCase{"UpdateOfNoPodSet", [](auto& b) { b.add_updates()->set_pod_set(1); },
                    "workloads.updates[0].pod_set: is 1; there are only 1"},
        HostileCase{"ReplacementTwice",
                    [](auto& b) {
                      b.add_replacements()->add_unhealthy_nodes(1);
                      b.add_replacements()->add_unhealthy_nodes(1);
                    },
                    "workloads.replacements[1].workload: is 0, not above the one before, 0; "
                    "entries ascend"},
        HostileCase{"ReplacementOfNothing", [](auto& b) { b.add_replacements(); },
                    "workloads.replacements[0].unhealthy_nodes: is empty; a replacement names at "
                    "least one node"},
        HostileCase{"AssumedUsageWithoutAmount",
                    [](auto& b) { b.add_assumed_usage()->add_leaves(1); },
                    "workloads.assumed_usage[0].usages: has 0 entries; 1 expected"}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(WorkloadBatch, AFewBytesCannotAskForGigabytes) {
  v1::WorkloadBatch batch;
  batch.add_strings(std::string(1 << 20, 'x'));
  v1::StringMap& selector = *batch.add_node_constraints()->mutable_node_selector();
  selector.add_keys(1);
  selector.add_values(1);
  batch.add_resources();
  batch.add_pod_set_offsets(0);
  for (int p = 0; p < 100'000; ++p) {
    batch.add_pod_set_names(0);
    batch.add_pod_set_flavors(0);
    batch.add_pod_set_counts(1);
    batch.add_pod_set_requests(1);
    batch.add_pod_set_node_constraints(1);
  }
  batch.add_pod_set_offsets(100'000);
  const auto decoded = Decode(batch, std::int64_t{64} << 20);
  ASSERT_FALSE(decoded);
  EXPECT_NE(decoded.error().message.find("needs more memory than the 64 MiB it may hold"),
            std::string::npos)
      << decoded.error().message;
}

}  // namespace
}  // namespace espalier::workloads_test
