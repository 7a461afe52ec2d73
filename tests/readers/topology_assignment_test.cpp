// Both encodings of a stored assignment (R19.1) and their limits (R19.9).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/readers/kubernetes_objects.hpp"
#include "tests/readers/json_text.hpp"

namespace espalier::topology_assignment_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(ReadTopologyAssignment, Domains) {
  JsonText json(R"({"levels": ["block", "rack"], "domains": [
      {"values": ["b1", "r2"], "count": 3}, {"values": ["b1", "r1"], "count": 1}]})");
  EXPECT_EQ(ReadTopologyAssignment(json.root(), json.context()),
            (TopologyAssignment{{"block", "rack"}, {{{"b1", "r2"}, 3}, {{"b1", "r1"}, 1}}}));
  EXPECT_THAT(json.Errors(), IsEmpty());
}

TEST(ReadTopologyAssignment, SlicesKeepTheirOrder) {
  JsonText json(R"({"levels": ["block", "host"], "slices": [
      {"domainCount": 2, "podCounts": {"individual": [1, 2]}, "valuesPerLevel": [
        {"universal": "b1"}, {"individual": {"prefix": "h-", "suffix": ".x", "roots": ["2", "1"]}}]},
      {"domainCount": 1, "podCounts": {"universal": 4}, "valuesPerLevel": [
        {"universal": "b0"}, {"universal": "h"}]},
      {"domainCount": 2, "podCounts": {"universal": 1}, "valuesPerLevel": [
        {"individual": {"roots": ["b2", "b3"]}}, {"individual": {"prefix": "p", "roots": ["", "q"]}}]}]})");
  EXPECT_EQ(ReadTopologyAssignment(json.root(), json.context()),
            (TopologyAssignment{{"block", "host"},
                                {{{"b1", "h-2.x"}, 1},
                                 {{"b1", "h-1.x"}, 2},
                                 {{"b0", "h"}, 4},
                                 {{"b2", "p"}, 1},
                                 {{"b3", "pq"}, 1}}}));
  EXPECT_THAT(json.Errors(), IsEmpty());
}

// W8.8.
TEST(ReadTopologyAssignment, GroupsByTheLabelsOfTheirNodes) {
  JsonText json(R"({"groups": [{"nodeLabels": {"rack": "r2", "block": "b1"}, "count": 3},
                               {"nodeLabels": {"block": "b1", "rack": "r1"}, "count": 1}]})");
  EXPECT_EQ(ReadTopologyAssignment(json.root(), json.context()),
            (TopologyAssignment{{"block", "rack"}, {{{"b1", "r2"}, 3}, {{"b1", "r1"}, 1}}}));
  EXPECT_THAT(json.Errors(), IsEmpty());
  JsonText hosts(R"({"groups": [
      {"nodeLabels": {"kubernetes.io/hostname": "h", "rack": "r", "a": "b"}, "count": 3}]})");
  EXPECT_EQ(ReadTopologyAssignment(hosts.root(), hosts.context()),
            (TopologyAssignment{{"kubernetes.io/hostname"}, {{{"h"}, 3}}}));
}

TEST(OrderLevels, AreThoseOfTheTopology) {
  const TopologyAssignment sorted{{"a-rack", "b-block"}, {{{"r2", "b1"}, 3}, {{"r1", "b1"}, 1}}};
  TopologyAssignment ordered = sorted;
  OrderLevels({"b-block", "a-rack"}, ordered);
  EXPECT_EQ(ordered,
            (TopologyAssignment{{"b-block", "a-rack"}, {{{"b1", "r2"}, 3}, {{"b1", "r1"}, 1}}}));
  TopologyAssignment other = sorted;
  OrderLevels({"b-block", "host"}, other);
  EXPECT_EQ(other, sorted);
}

TEST(ReadTopologyAssignment, MayBeEmpty) {  // R19.2
  JsonText json(R"({"levels": ["rack"], "slices": []})");
  EXPECT_EQ(ReadTopologyAssignment(json.root(), json.context()),
            (TopologyAssignment{{"rack"}, {}}));
  EXPECT_THAT(json.Errors(), IsEmpty());
}

std::string Slice(std::string_view members) {
  return fmt::format(R"({{"levels": ["host"], "slices": [{{{}}}]}})", members);
}

struct Wrong {
  std::string json;
  std::string error;
};

class WrongAssignments : public testing::TestWithParam<Wrong> {};

TEST_P(WrongAssignments, AreReportedAndTakeNoMemory) {
  JsonText json(GetParam().json);
  const TopologyAssignment assignment = ReadTopologyAssignment(json.root(), json.context());
  EXPECT_THAT(json.Errors(), testing::Contains(GetParam().error));
  EXPECT_LE(assignment.domains.size(), 1000u);
}

INSTANTIATE_TEST_SUITE_P(
    R19_9, WrongAssignments,
    testing::Values(
        Wrong{R"({"slices": []})", ": the number of levels is wrong"},
        Wrong{
            R"({"levels": ["1","2","3","4","5","6","7","8","9","a","b","c","d","e","f","g","h"]})",
            "levels: the number of levels is wrong"},
        Wrong{R"({"groups": []})", "groups: the number of levels is wrong"},
        Wrong{R"({"groups": [{"nodeLabels": {"a": "x"}}]})", "groups[0].count: it is missing"},
        Wrong{R"({"groups": [{"count": 1}]})", "groups[0].nodeLabels: it is missing"},
        Wrong{R"({"groups": [{"nodeLabels": {"a": "x"}, "count": 0}]})",
              "groups[0].count: it is out of range or no integer"},
        Wrong{R"({"groups": [{"nodeLabels": {"a": "x"}, "count": 1},
                             {"nodeLabels": {"b": "x"}, "count": 1}]})",
              "groups[1].nodeLabels: its keys are not those of the first group"},
        Wrong{R"({"groups": [{"nodeLabels": {"a": "x"}, "count": 1}], "levels": ["a"]})",
              "levels: it stands beside groups"},
        Wrong{R"({"levels": ["a"], "domains": [{"values": ["x", "y"], "count": 1}]})",
              "domains[0].values: it has 2 items"},
        Wrong{R"({"levels": ["a"], "domains": [{"values": ["x"], "count": 0}]})",
              "domains[0].count: it is out of range or no integer"},
        Wrong{R"({"levels": ["a"], "domains": [{"values": ["x"]}]})",
              "domains[0].count: it is missing"},
        Wrong{R"({"levels": ["a"], "domains": [{"count": 1}]})",
              "domains[0].values: it is missing"},
        Wrong{Slice(R"("podCounts": {"universal": 1}, "valuesPerLevel": [{"universal": "h"}])"),
              "slices[0].domainCount: it is missing"},
        Wrong{Slice(R"("domainCount": 0)"),
              "slices[0].domainCount: it is out of range or no integer"},
        Wrong{Slice(R"("domainCount": 2147483647, "podCounts": {"universal": 1},
                       "valuesPerLevel": [{"universal": "h"}])"),
              "slices[0].domainCount: it is too large"},
        Wrong{Slice(R"("domainCount": 100000, "podCounts": {"universal": 1},
                       "valuesPerLevel": [{"universal": "h"}])"),
              "slices[0].domainCount: all domains of the slice are the same one"},
        Wrong{Slice(R"("domainCount": 2, "podCounts": {"universal": 1},
                       "valuesPerLevel": [{"individual": {"roots": ["a"]}}])"),
              "slices[0].valuesPerLevel[0].individual.roots: it has 1 items"},
        Wrong{
            Slice(R"("domainCount": 1, "podCounts": {"universal": 1},
                       "valuesPerLevel": [{"universal": "a", "individual": {"roots": ["a"]}}])"),
            "slices[0].valuesPerLevel[0]: it has not exactly one of `universal` and `individual`"},
        Wrong{Slice(R"("domainCount": 1, "podCounts": {},
                       "valuesPerLevel": [{"universal": "a"}])"),
              "slices[0].podCounts: it has not exactly one of `universal` and `individual`"},
        Wrong{Slice(R"("domainCount": 1, "podCounts": {"universal": -1},
                       "valuesPerLevel": [{"universal": "a"}])"),
              "slices[0].podCounts.universal: it is out of range or no integer"},
        Wrong{Slice(R"("domainCount": 1, "podCounts": {"individual": [1, 1]},
                       "valuesPerLevel": [{"universal": "a"}])"),
              "slices[0].podCounts.individual: it has 2 items"},
        Wrong{
            Slice(
                R"("domainCount": 1, "valuesPerLevel": [{"universal": "a"}, {"universal": "b"}])"),
            "slices[0].valuesPerLevel: it has 2 items"},
        Wrong{Slice(R"("domainCount": 1, "podCounts": {"universal": 1},
                       "valuesPerLevel": [{"universal": ")" +
                    std::string(64, 'x') + R"("}])"),
              "slices[0].valuesPerLevel[0].universal: it is too long"},
        Wrong{Slice(R"("domainCount": 1, "podCounts": {"universal": 1},
                       "valuesPerLevel": [{"individual": {"roots": [7]}}])"),
              "slices[0].valuesPerLevel[0].individual.roots[0]: it is not a root of a value"}));

TEST(ReadTopologyAssignment, AtMostAThousandSlices) {
  std::string slices;
  for (int i = 0; i < 1001; ++i) {
    slices += R"({"domainCount": 1, "podCounts": {"universal": 1},
                  "valuesPerLevel": [{"universal": "h"}]},)";
  }
  slices.pop_back();
  JsonText json(R"({"levels": ["host"], "slices": [)" + slices + "]}");
  ReadTopologyAssignment(json.root(), json.context());
  EXPECT_THAT(json.Errors(), ElementsAre("slices: it is too long"));
}

TEST(ReadTopologyAssignment, RepeatedDomainsAreBoundedOverAllSlices) {
  std::string slices;
  for (int i = 0; i < 1000; ++i) {
    slices += R"({"domainCount": 500, "podCounts": {"universal": 1},
                  "valuesPerLevel": [{"universal": "h"}]},)";
  }
  slices.pop_back();
  JsonText json(R"({"levels": ["host"], "slices": [)" + slices + "]}");
  EXPECT_THAT(ReadTopologyAssignment(json.root(), json.context()).domains, SizeIs(1000));
  EXPECT_FALSE(json.diagnostics.ok());
}

TEST(ReadTopologyAssignment, AtMostAMillionDomainsInOneList) {
  std::string domains = "{}";
  for (int i = 0; i < 1'000'000; ++i) domains += ",{}";
  JsonText json(R"({"levels": ["host"], "domains": [)" + domains + "]}");
  EXPECT_THAT(ReadTopologyAssignment(json.root(), json.context()).domains, IsEmpty());
  EXPECT_THAT(json.Errors(), ElementsAre("domains: the assignment has too many domains"));
}

TEST(ReadTopologyAssignment, AtMostAMillionDomainsOverAllSlices) {
  std::string roots = R"("")";
  for (int i = 1; i < 100'000; ++i) roots += R"(,"")";
  const std::string slice = R"({"domainCount": 100000, "podCounts": {"universal": 1},
      "valuesPerLevel": [{"individual": {"roots": [)" +
                            roots + "]}}]}";
  std::string slices = slice;
  for (int i = 1; i < 10; ++i) slices += "," + slice;
  JsonText most(R"({"levels": ["host"], "slices": [)" + slices + "]}");
  EXPECT_THAT(ReadTopologyAssignment(most.root(), most.context()).domains, SizeIs(1'000'000));
  EXPECT_THAT(most.Errors(), IsEmpty());
  JsonText more(R"({"levels": ["host"], "slices": [)" + slices + "," + slice + "]}");
  ReadTopologyAssignment(more.root(), more.context());
  EXPECT_THAT(more.Errors(),
              ElementsAre("slices[10].domainCount: the assignment has too many domains"));
}

}  // namespace
}  // namespace espalier::topology_assignment_test
