#include "service/wire/ungating.hpp"

#include <gtest/gtest.h>

#include "tests/wire/object_samples.hpp"
#include "tests/wire/wire_samples.hpp"

namespace espalier::ungating_test {
namespace {

std::string ErrorOf(const v1::UngateRequest& message) {
  WorkBudget budget(kPlenty);
  const auto decoded = FromProto(message, budget);
  return decoded ? "no error" : decoded.error().message;
}

TEST(UngateRequest, RoundTripKeepsEveryField) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const Workload workload = SampleWorkload(random);
    const std::vector<Pod> pods = SamplePods(random);
    const auto message = ToProto(workload, pods);
    ASSERT_TRUE(message) << message.error().message;
    v1::UngateRequest received;
    ASSERT_TRUE(received.ParseFromString(message->SerializeAsString()));
    WorkBudget budget(kPlenty);
    const auto decoded = FromProto(received, budget);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->workload, workload) << "seed " << seed;
    EXPECT_EQ(decoded->pods, pods) << "seed " << seed;
  }
}

TEST(UngateRequest, OtherGatesThanTheTopologysDoNotTravel) {
  std::vector<Pod> pods(1);
  pods[0].scheduling_gates = {"example.com/other"};
  EXPECT_FALSE(ToProto(Workload(), pods)->pods(0).gated());
}

TEST(UngateRequest, HostileInputIsRefusedWithTheFieldPath) {
  v1::UngateRequest request;
  request.add_strings("pod");
  request.add_pods()->set_name(1);
  EXPECT_EQ(ErrorOf(request), "no error");

  v1::UngateRequest twice = request;
  twice.add_pods();
  twice.add_pods()->set_name(1);
  EXPECT_EQ(ErrorOf(twice), "pods[2]: is pod as pods[0] is; send each pod once");

  v1::UngateRequest out_of_range = request;
  out_of_range.mutable_pods(0)->mutable_labels()->add_keys(2);
  out_of_range.mutable_pods(0)->mutable_labels()->add_values(1);
  EXPECT_EQ(ErrorOf(out_of_range),
            "pods[0].labels: refers to row 2 of a table of 1; references are 0 to 1");

  v1::UngateRequest assigned_twice = request;
  for (int i = 0; i < 2; ++i) {
    assigned_twice.mutable_workload()->mutable_admission()->add_pod_set_assignments()->set_name(1);
  }
  EXPECT_EQ(ErrorOf(assigned_twice),
            "workload.admission.pod_set_assignments[1]: is \"pod\", as that of pod set 0 of the "
            "same workload; each pod set has a name of its own");

  v1::UngateRequest negative = request;
  negative.mutable_workload()->add_pod_sets()->set_count(-1);
  EXPECT_EQ(ErrorOf(negative), "workload.pod_sets[0].count: is -1; pods are 0 or more");
}

TEST(TopologyAssignment, HasAtMostAMillionDomains) {
  v1::UngateRequest request;
  request.mutable_workload()->mutable_admission()->add_pod_set_assignments()->set_assignment(1);
  v1::TopologyAssignment& assignment = *request.add_assignments();
  assignment.mutable_counts()->Resize(1'000'000, 1);
  EXPECT_EQ(ErrorOf(request), "no error");
  assignment.add_counts(1);
  EXPECT_EQ(ErrorOf(request),
            "assignments[0].counts: has 1000001 domains; an assignment has at most 1000000");
}

TEST(UngateResponse, RoundTripKeepsEveryPod) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const std::vector<Pod> pods = SamplePods(random);
    std::vector<UngatedPod> ungated;
    for (const Pod& pod : pods) {
      if (random.Below(2)) {
        ungated.push_back({pod.key, SampleText(random, "domain-"), SampleMap(random, "level")});
      }
    }
    v1::UngateResponse received;
    ASSERT_TRUE(received.ParseFromString(ToProto(ungated, pods).SerializeAsString()));
    WorkBudget budget(kPlenty);
    const auto decoded = FromProto(received, pods, budget);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, ungated) << "seed " << seed;
  }
}

TEST(UngateResponse, APodNobodySentIsRefused) {
  v1::UngateResponse message;
  message.add_pods()->set_pod(0xffffffff);
  WorkBudget budget(kPlenty);
  const auto decoded = FromProto(message, std::vector<Pod>(3), budget);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().message, "ungated.pods[0].pod: is 4294967295; there are only 3");
}

}  // namespace
}  // namespace espalier::ungating_test
