#include "host/kueue/objects/assignment_encoding.hpp"

#include <functional>
#include <limits>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::assignment_encoding_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const FeatureGates kDefaults;

FeatureGates OneSliceOnly() {
  FeatureGates gates;
  gates.assignments_encoding_by_hostname_prefix = false;
  return gates;
}

TopologyAssignment OnHosts(const std::vector<std::pair<std::string, std::int32_t>>& hosts) {
  TopologyAssignment assignment{{std::string(kHostnameLabel)}, {}};
  for (const auto& [host, count] : hosts) assignment.domains.push_back({{host}, count});
  return assignment;
}

// k hosts in one rack with 2 pods each, then k in another with 1 each (E19).
TopologyAssignment TwoRacks(int k) {
  std::vector<std::pair<std::string, std::int32_t>> hosts;
  for (int i = 0; i < k; ++i) hosts.emplace_back(fmt::format("az1-zone-north-rack-a-{:02}", i), 2);
  for (int i = 0; i < k; ++i) hosts.emplace_back(fmt::format("az1-zone-south-rack-b-{:02}", i), 1);
  return OnHosts(hosts);
}

TEST(AssignmentEncoding, EmptyAssignmentHasNoSlices_R19_2) {
  const TopologyAssignment empty{{"rack"}, {}};
  EXPECT_EQ(ToJson(EncodeAssignment(empty, kDefaults)), R"({"levels":["rack"]})");
  EXPECT_EQ(ToJson(EncodeAssignment(empty, OneSliceOnly())), R"({"levels":["rack"]})");
  EXPECT_EQ(DecodeAssignment(EncodeAssignment(empty, kDefaults)), empty);
}

TEST(AssignmentEncoding, SingleDomainIsUniversal_R19_3) {
  const TopologyAssignment one{{"block", "rack"}, {{{"b1", "r1"}, 3}}};
  EXPECT_EQ(ToJson(EncodeAssignment(one, kDefaults)),
            R"({"levels":["block","rack"],"slices":[{"domainCount":1,"valuesPerLevel":)"
            R"([{"universal":"b1"},{"universal":"r1"}],"podCounts":{"universal":3}}]})");
}

TEST(AssignmentEncoding, ColumnOfValues_R19_3_E19) {
  const TopologyAssignment racks{{"rack"}, {{{"r10"}, 1}, {{"r1"}, 1}, {{"r100"}, 2}}};
  const EncodedAssignment encoded = EncodeAssignment(racks, kDefaults);
  ASSERT_EQ(encoded.slices.size(), 1u);
  EXPECT_EQ(std::get<IndividualValues>(encoded.slices[0].values_per_level[0]),
            (IndividualValues{"r1", "", {"0", "", "00"}}));
  EXPECT_EQ(encoded.slices[0].pod_counts, EncodedPodCounts((std::vector<std::int32_t>{1, 1, 2})));
}

TEST(AssignmentEncoding, SuffixIsKeptWholeWhenItMeetsThePrefix_R19_3) {
  const TopologyAssignment racks{{"rack"}, {{{"aXa"}, 1}, {{"a"}, 1}, {{"aYa"}, 1}}};
  const EncodedAssignment encoded = EncodeAssignment(racks, kDefaults);
  EXPECT_EQ(std::get<IndividualValues>(encoded.slices[0].values_per_level[0]),
            (IndividualValues{"", "a", {"aX", "", "aY"}}));
}

TEST(AssignmentEncoding, OneSliceWinsOnlyWhenShorter_R19_5_E19) {
  EXPECT_EQ(ToJson(EncodeAssignment(TwoRacks(4), kDefaults)).size(), 322u);
  const EncodedAssignment two = EncodeAssignment(TwoRacks(5), kDefaults);
  EXPECT_EQ(ToJson(two).size(), 342u);
  EXPECT_EQ(ToJson(EncodeAssignment(TwoRacks(5), OneSliceOnly())).size(), 363u);
  ASSERT_EQ(two.slices.size(), 2u);
  EXPECT_EQ(std::get<IndividualValues>(two.slices[0].values_per_level[0]),
            (IndividualValues{"az1-zone-north-rack-a-0", "", {"0", "1", "2", "3", "4"}}));
  EXPECT_EQ(two.slices[1].pod_counts, EncodedPodCounts(1));
}

TEST(AssignmentEncoding, UnorderedHostsStayInOrder_R19_7_E19) {
  const auto hosts = OnHosts({{"a-x-1", 1}, {"b-q", 1}, {"a-x-2", 1}, {"a-y-7", 1}, {"zz", 1}});
  const EncodedAssignment encoded = EncodeAssignment(hosts, kDefaults);
  EXPECT_EQ(ToJson(encoded).size(), 175u);
  EXPECT_EQ(DecodeAssignment(encoded), hosts);
}

TEST(AssignmentEncoding, GateOffKeepsOneSlice_R19_4) {
  EXPECT_EQ(EncodeAssignment(TwoRacks(50), kDefaults).slices.size(), 2u);
  EXPECT_EQ(EncodeAssignment(TwoRacks(50), OneSliceOnly()).slices.size(), 1u);
}

TEST(AssignmentEncoding, OnlyHostnamesAreSplitByPrefix_R19_6) {
  TopologyAssignment racks = TwoRacks(50);
  racks.levels = {"rack"};
  EXPECT_EQ(EncodeAssignment(racks, kDefaults).slices.size(), 1u);
}

TEST(AssignmentEncoding, KeysThatNeedTooManySlicesBecomeShorter_R19_7) {
  // 1,001 racks of two hosts: one slice per rack is too many, one per zone is not.
  std::vector<std::pair<std::string, std::int32_t>> hosts;
  for (int rack = 0; rack < 1001; ++rack) {
    const std::string_view zone = rack < 500 ? "a_very_long_zone_name" : "quite_another_zone";
    hosts.emplace_back(fmt::format("{}-{}-x", zone, rack), rack < 500 ? 1 : 2);
    hosts.emplace_back(fmt::format("{}-{}-y", zone, rack), rack < 500 ? 1 : 2);
  }
  const TopologyAssignment assignment = OnHosts(hosts);
  const EncodedAssignment encoded = EncodeAssignment(assignment, kDefaults);
  EXPECT_EQ(encoded.slices.size(), 2u);
  EXPECT_EQ(DecodeAssignment(encoded), assignment);
}

TEST(AssignmentEncoding, RunsAreCutAt100000_R19_6) {
  std::vector<std::pair<std::string, std::int32_t>> hosts;
  for (int i = 0; i < 250'001; ++i) hosts.emplace_back(fmt::format("node-{:06}", i), 1 + i % 3);
  const TopologyAssignment assignment = OnHosts(hosts);
  const EncodedAssignment encoded = EncodeAssignment(assignment, kDefaults);
  ASSERT_EQ(encoded.slices.size(), 3u);
  EXPECT_EQ(encoded.slices[0].domain_count, 100'000);
  EXPECT_EQ(encoded.slices[2].domain_count, 50'001);
  EXPECT_EQ(DecodeAssignment(encoded), assignment);
}

TEST(AssignmentEncoding, TextIsEscaped) {
  const TopologyAssignment odd{{"a\"b"}, {{{"c\\\n"}, 1}}};
  EXPECT_THAT(ToJson(EncodeAssignment(odd, kDefaults)), HasSubstr(R"("a\"b")"));
  EXPECT_THAT(ToJson(EncodeAssignment(odd, kDefaults)), HasSubstr(R"("c\\\u000a")"));
}

TEST(AssignmentEncoding, EveryLimitIsChecked_R19_9) {
  struct Case {
    std::string message;
    std::function<void(EncodedAssignment&)> break_it;
  };
  const auto individual = [](EncodedAssignment& encoded) -> IndividualValues& {
    return std::get<IndividualValues>(encoded.slices[0].values_per_level[0]);
  };
  const std::vector<Case> cases = {
      {"levels: 0 items", [](auto& e) { e.levels.clear(); }},
      {"levels: 17 items", [](auto& e) { e.levels.resize(17); }},
      {"levels[0]: 318 bytes", [](auto& e) { e.levels[0] = std::string(318, 'a'); }},
      {"slices: 1001 items", [](auto& e) { e.slices.resize(1001); }},
      {"slices[0].domainCount: 0, want 1", [](auto& e) { e.slices[0].domain_count = 0; }},
      {"slices[0].domainCount: 2147483647",
       [](auto& e) { e.slices[0].domain_count = std::numeric_limits<std::int32_t>::max(); }},
      {"slices[0].valuesPerLevel: 0 items", [](auto& e) { e.slices[0].values_per_level.clear(); }},
      {"slices[0].valuesPerLevel[0].universal: 64 bytes",
       [](auto& e) { e.slices[0].values_per_level[0] = std::string(64, 'a'); }},
      {"individual.prefix: 64 bytes",
       [&](auto& e) { individual(e).prefix = std::string(64, 'a'); }},
      {"individual.suffix: 64 bytes",
       [&](auto& e) { individual(e).suffix = std::string(64, 'a'); }},
      {"individual.roots[1]: 64 bytes",
       [&](auto& e) { individual(e).roots[1] = std::string(64, 'a'); }},
      {"individual.roots: 3 items, want domainCount, which is 2",
       [&](auto& e) { individual(e).roots.push_back("c"); }},
      {"podCounts.universal: 0", [](auto& e) { e.slices[0].pod_counts = 0; }},
      {"podCounts.individual: 1 items",
       [](auto& e) { e.slices[0].pod_counts = std::vector<std::int32_t>{1}; }},
      {"podCounts.individual[1]: -1",
       [](auto& e) {
         e.slices[0].pod_counts = std::vector<std::int32_t>{1, -1};
       }},
  };
  const EncodedAssignment good = EncodeAssignment(OnHosts({{"x1", 1}, {"x2", 1}}), kDefaults);
  ASSERT_TRUE(DecodeAssignment(good));
  for (const Case& c : cases) {
    EncodedAssignment broken = good;
    c.break_it(broken);
    const auto decoded = DecodeAssignment(broken);
    ASSERT_FALSE(decoded) << c.message;
    EXPECT_EQ(decoded.error().error_class, ErrorClass::kBadInput);
    EXPECT_THAT(decoded.error().message, HasSubstr(c.message));
  }
}

TEST(AssignmentEncoding, ManySmallSlicesCannotFillTheMemory) {
  EncodedAssignment encoded{{"rack"}, {}};
  for (int i = 0; i < 1000; ++i) encoded.slices.push_back({100'000, {std::string("r")}, 1});
  const auto decoded = DecodeAssignment(encoded);
  ASSERT_FALSE(decoded);
  EXPECT_THAT(decoded.error().message, HasSubstr("100000000 domains in all"));
}

}  // namespace
}  // namespace espalier::assignment_encoding_test
