#include "service/wire/nested.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/nested/nested_steps.hpp"
#include "tests/wire/wire_samples.hpp"

namespace espalier::nested_test {
namespace {

NestedGroup Pods(std::string name, std::int32_t least, std::int32_t most) {
  NestedGroup group;
  group.name = std::move(name);
  group.pods.emplace();
  group.pods->requests = {{"cpu", 1000}, {"nvidia.com/gpu", 8}};
  group.pods->min_count = least;
  group.pods->max_count = most;
  return group;
}

// Everything that a tree can say.
NestedRequest Sample() {
  NestedRequest request;
  request.key = {"team", "train"};
  request.flavor = "gpu";
  request.simulate_empty = true;
  request.root.name = "train";
  request.root.required = "block";
  request.root.in_order = true;
  NestedGroup& replica = request.root.groups.emplace_back();
  replica.name = "replica";
  replica.copies = 4;
  replica.min_copies = 0;
  replica.preferred = "rack";
  replica.ranks = RankPlacement::kStriped;
  replica.rank_level = "host";
  replica.running_on = {"h1", "h2"};
  replica.groups = {Pods("leader", 1, 1), Pods("workers", 2, 7)};
  replica.groups[1].pods->pod_template.node_selector.Set("disk", "ssd");
  request.root.groups.push_back(Pods("extra", 0, 3));
  request.root.groups[1].running_on = {"h3"};
  request.root.min_groups = 1;
  request.root.groups[1].apart = true;
  return request;
}

std::string ErrorOf(const v1::NestedBatch& message, std::int64_t bytes = kPlenty) {
  WorkBudget budget(bytes);
  const auto decoded = FromProto(message, budget);
  return decoded ? "no error" : decoded.error().message;
}

TEST(NestedBatch, RoundTripKeepsEveryField) {
  NestedRequest plain;
  plain.root = Pods("w", 1, 1);
  const std::vector<NestedRequest> requests = {Sample(), plain, Sample()};
  v1::NestedBatch received;
  ASSERT_TRUE(received.ParseFromString(ToProto(requests).SerializeAsString()));
  EXPECT_EQ(received.shapes_size(), 2) << "each shape once";
  WorkBudget budget(kPlenty);
  const auto decoded = FromProto(received, budget);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, requests);
}

TEST(NestedBatch, ColumnsThatSayNothingMayBeLeftOut) {
  v1::NestedBatch message;
  message.add_strings("gpu");
  message.add_flavors(1);
  message.add_group_offsets(0);
  message.add_group_offsets(1);
  message.add_group_names(0);
  message.add_group_children(0);
  WorkBudget budget(kPlenty);
  const auto decoded = FromProto(message, budget);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->at(0).root, NestedGroup());
  message.add_copies(3);
  EXPECT_EQ(FromProto(message, budget)->at(0).root.min_copies, 3) << "all copies";
}

TEST(NestedBatch, HostileInputIsRefusedWithTheFieldPath) {
  const v1::NestedBatch good = ToProto(std::vector<NestedRequest>{Sample()});
  const auto with = [&](auto change) {
    v1::NestedBatch message = good;
    change(message);
    return ErrorOf(message);
  };
  EXPECT_EQ(with([](auto&) {}), "no error");
  EXPECT_EQ(with([](auto& m) { m.set_group_children(0, 7); }),
            "nested.group_children[0]: is 7; its workload has 4 more groups");
  EXPECT_EQ(with([](auto& m) { m.set_group_children(0, 1); }),
            "nested.group_children[4]: workload 0 has 1 more groups than are inside its root");
  EXPECT_EQ(with([](auto& m) { m.set_group_children(0, 3); }),
            "nested.group_children[0]: is 3; its workload has only 2 groups for it");
  EXPECT_EQ(with([](auto& m) { m.set_group_offsets(1, 9); }),
            "nested.group_offsets: ends at 9; the list it cuts has 5 elements");
  EXPECT_EQ(with([](auto& m) {
              m.add_group_offsets(5), m.add_flavors(1), m.add_names(0), m.add_namespaces(0),
                  m.add_simulate_empty(false);
            }),
            "nested.group_offsets[1]: workload 1 has no group; each has a root");
  EXPECT_EQ(with([](auto& m) { m.add_copies(1); }),
            "nested.copies: has 6 entries; 5 or none expected");
  EXPECT_EQ(with([](auto& m) { m.set_ranks(0, static_cast<v1::NestedRankPlacement>(5)); }),
            "nested.ranks[0]: is 5; 0 to 4 expected");
  EXPECT_EQ(with([](auto& m) { m.set_pods(2, 3); }),
            "nested.pods[2]: refers to row 3 of a table of 2; references are 0 to 2");
  EXPECT_EQ(with([](auto& m) { m.set_pods(2, 0); }),
            "nested.pods[2]: is 0, but the group has counts of pods; refer to their shape");
  EXPECT_EQ(with([](auto& m) { m.set_max_counts(2, -1); }),
            "nested.max_counts[2]: is -1; pods are 0 or more");
  EXPECT_EQ(with([](auto& m) { m.mutable_shapes(0)->set_requests(0); }),
            "nested.shapes[0].requests: is 0, which refers to nothing; references count from 1, "
            "and pods that request nothing refer to an empty row");
  EXPECT_EQ(with([](auto& m) { m.mutable_running_pods(0)->set_group(9); }),
            "nested.running_pods[0].group: is 9; there are only 5");
  EXPECT_EQ(with([](auto& m) { m.mutable_running_pods(1)->set_group(1); }),
            "nested.running_pods[1].group: is 1, not above the one before; entries ascend");
  EXPECT_EQ(with([](auto& m) { m.set_flavors(0, 99); }).substr(0, 18), "nested.flavors[0]:");
}

TEST(NestedBatch, GroupsAreNestedOnlySoDeep) {
  const auto chain = [](std::int32_t deep) {
    NestedRequest request;
    NestedGroup* group = &request.root;
    for (std::int32_t i = 1; i < deep; ++i) {
      group->name = "g";
      group = &group->groups.emplace_back();
    }
    return ToProto(std::vector<NestedRequest>{request});
  };
  EXPECT_EQ(ErrorOf(chain(kMostNestedDepth)), "no error");
  EXPECT_EQ(ErrorOf(chain(kMostNestedDepth + 1)),
            "nested.group_children[15]: groups are nested 17 deep; nest at most 16");
}

TEST(NestedBatch, WhatAShapeTakesIsChargedForEachGroup) {
  NestedRequest request = Sample();
  request.root.groups[0].groups[1].pods->pod_template.node_selector.Set("disk",
                                                                        std::string(1000, 'x'));
  NestedGroup workers = request.root.groups[0].groups[1];
  for (int i = 0; i < 1000; ++i) request.root.groups.push_back(workers);
  EXPECT_THAT(ErrorOf(ToProto(std::vector<NestedRequest>{request}), 1 << 19),
              testing::HasSubstr("memory"));
}

NestedAnswer SampleAnswer() {
  NestedAnswer answer;
  answer.status = NestedStatus::kPlacedInPart;
  answer.reason = "3 of 4 pods are placed";
  answer.groups.push_back({"", NestedStatus::kPlacedInPart, std::nullopt, {}, std::nullopt});
  answer.groups.push_back({"replica[0]/workers",
                           NestedStatus::kPlaced,
                           "rack",
                           {"b0", ""},
                           TopologyAssignment{{"host"}, {{{"h2"}, 2}, {{"h1"}, 1}, {{"h2"}, 1}}}});
  answer.groups.push_back({"replica[1]", NestedStatus::kNever, std::nullopt, {}, std::nullopt});
  return answer;
}

TEST(NestedAnswers, RoundTripKeepsEveryField) {
  NestedAnswer bad;
  bad.status = NestedStatus::kBadRequest;
  bad.reason = "no";
  const std::vector<NestedAnswer> answers = {SampleAnswer(), bad};
  WorkBudget budget(kPlenty);
  const auto message = ToProto(answers, budget);
  ASSERT_TRUE(message);
  v1::NestedAnswerBatch received;
  ASSERT_TRUE(received.ParseFromString(message->SerializeAsString()));
  const auto decoded = FromProto(received, 2, budget);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, answers);
  EXPECT_EQ(FromProto(received, 3, budget).error().message,
            "nested.workloads: has 2 entries; 3 expected");
  received.mutable_workloads(0)->set_status(v1::NESTED_STATUS_UNSPECIFIED);
  EXPECT_EQ(FromProto(received, 2, budget).error().message,
            "nested.workloads[0].status: is 0; 1 to 6 expected");
}

}  // namespace
}  // namespace espalier::nested_test
