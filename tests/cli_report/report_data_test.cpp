// The data that a report embeds.
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/cli/html_report/html_report.hpp"
#include "tests/generated/clusters.hpp"

namespace espalier::report_data_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr Amount kMost = std::numeric_limits<Amount>::max();

// Two racks, of one host and of two.
HtmlReport SmallReport(const std::string& resource, Amount each) {
  HtmlReport report;
  report.command = "espalier place";
  report.state = OneFlavor(LevelKeys(2));
  for (const char* path : {"r1/a", "r2/b", "r2/c"}) {
    report.state.nodes.push_back(HostNode(path, {{resource, each}}));
  }
  return report;
}

ReportedGang GangOn(const std::string& host, const std::string& resource, Amount each) {
  ReportedGang gang;
  gang.name = "team/train";
  gang.state = ReportedGang::State::kRunning;
  ReportedPodSet pod_set;
  pod_set.name = "main";
  pod_set.flavor = "tas";
  pod_set.pods = 2;
  pod_set.requests.Set(resource, each);
  pod_set.assignment = TopologyAssignment{{std::string(kHostnameLabel)}, {{{host}, 2}}};
  gang.pod_sets = {pod_set};
  return gang;
}

std::string DataOf(HtmlReport report) {
  const Result<std::string> data = ReportData(std::move(report));
  return data ? *data : "error: " + data.error().message;
}

TEST(ReportData, PacksDomainsByLevelAndPodsByLeaf) {
  HtmlReport report = SmallReport("example.com/gpu", 8);
  report.state.non_tas_usage.push_back({"b", {}});
  report.state.non_tas_usage.back().usage.Set("example.com/gpu", 3);
  report.gangs = {GangOn("c", "example.com/gpu", 4)};
  EXPECT_THAT(
      DataOf(report),
      AllOf(HasSubstr(R"("levels": ["rack", "host"], "names": [["r1", "r2"], ["a", "b", "c"]], )"
                      R"("children": [[0, 1, 3]], "capacity": [8, 8, 8], "others": [1, 3])"),
            HasSubstr(R"("resource": "example.com/gpu", "accelerator": true)"),
            HasSubstr(R"("each": 4, "lines": ["r2/c: 1 host x 2"], "leaves": [2, 2]})")));
}

TEST(ReportData, HasAnAtlasWhereThereIsOne) {
  HtmlReport report = SmallReport("example.com/gpu", 8);
  EXPECT_THAT(DataOf(report), Not(HasSubstr("\"atlas\"")));
  report.atlas =
      ReportedAtlas{{-5, std::numeric_limits<std::int64_t>::max()},
                    {{"rack of tas", "about </script>", {"team/a"}, {"r1", "r2"}, {{0, 3}}}}};
  EXPECT_THAT(DataOf(report),
              HasSubstr(R"("atlas": {"priorities": ["-5", "9223372036854775807"], "sheets": [)"
                        R"({"name": "rack of tas", "about": "about \u003c/script>", )"
                        R"("rows": ["team/a"], "columns": ["r1", "r2"], "cells": [[0, 3]]}]})"));
}

TEST(ReportData, ShowsTheDeviceThatMostAskFor) {
  HtmlReport report = SmallReport("example.com/gpu", 8);
  for (Node& node : report.state.nodes) node.allocatable.Set("example.com/eni", 100);
  EXPECT_THAT(DataOf(report), HasSubstr(R"("resource": "example.com/eni")"));  // none is asked for
  report.gangs = {GangOn("c", "example.com/gpu", 4)};
  EXPECT_THAT(DataOf(report), HasSubstr(R"("resource": "example.com/gpu")"));
  report.gangs = {GangOn("c", "example.com/fpga", 4)};  // which no node has
  EXPECT_THAT(DataOf(report), HasSubstr(R"("resource": "example.com/eni")"));
}

TEST(ReportData, FallsBackToCpuAndSaysSo) {
  EXPECT_THAT(DataOf(SmallReport("cpu", 16000)),
              AllOf(HasSubstr(R"("resource": "cpu", "accelerator": false)"),
                    HasSubstr(R"("capacity": [16000, 16000, 16000])")));
}

TEST(ReportData, NoTextCanEndItsElement) {
  HtmlReport report = SmallReport("example.com/gpu", 8);
  const std::string evil = "</script><script>alert(1)</script><!--\n\"\\";
  report.facts = report.about = evil;
  report.state.nodes[0].labels.Set("rack", evil);
  report.gangs = {GangOn("c", "example.com/gpu", 4)};
  report.gangs[0].name = report.gangs[0].status = report.gangs[0].cluster_queue = evil;
  report.gangs[0].reasons = report.gangs[0].changes = {evil};
  report.gangs[0].pod_sets[0].name = report.gangs[0].pod_sets[0].requested = evil;
  EXPECT_THAT(DataOf(report),
              AllOf(Not(HasSubstr("<")),
                    HasSubstr(R"("facts": "\u003c/script>\u003cscript>alert(1)\u003c/script>)"
                              R"(\u003c!--\u000a\"\\")")));
}

TEST(ReportData, ShowsWhatNobodySees) {
  HtmlReport report = SmallReport("example.com/gpu", 8);
  report.gangs = {GangOn("c", "example.com/gpu", 4)};
  report.gangs[0].name = "team/Z\u00fcrich-\u202egnorw\u200b";
  EXPECT_THAT(DataOf(report),
              HasSubstr("\"team/Z\u00fcrich-\\\\xe2\\\\x80\\\\xaegnorw\\\\xe2\\\\x80\\\\x8b\""));
}

TEST(ReportData, AmountsAtTheLimitsStayWhole) {
  HtmlReport report = SmallReport("example.com/gpu", kMost);
  report.gangs = {GangOn("a", "example.com/gpu", kMost)};
  report.gangs[0].priority = std::numeric_limits<std::int64_t>::min();
  EXPECT_THAT(DataOf(report), AllOf(HasSubstr(R"("capacity": [9223372036854775807, )"),
                                    HasSubstr(R"("each": 9223372036854775807)"),
                                    HasSubstr(R"("priority": "-9223372036854775808")")));
}

TEST(ReportData, PodsOnNodesThatAreGoneAreCounted) {
  HtmlReport report = SmallReport("example.com/gpu", 8);
  report.gangs = {GangOn("gone", "example.com/gpu", 4)};
  EXPECT_THAT(DataOf(report), HasSubstr(R"("leaves": [], "lost": 2)"));
  report.gangs[0].pod_sets[0].flavor = "other";
  EXPECT_THAT(DataOf(report), HasSubstr(R"("flavor": -1, "requested": "", "pods": 2, "each": 0)"));
}

TEST(ReportData, FindsTheNearestDomainInItsLevel) {
  HtmlReport report = SmallReport("example.com/gpu", 8);
  report.gangs = {GangOn("a", "example.com/gpu", 4)};
  NearMiss& miss = report.gangs[0].nearest.emplace();
  miss.flavor = "tas";
  miss.level = "rack";
  miss.domain = {"r2"};
  EXPECT_THAT(DataOf(report), HasSubstr(R"("flavor": 0, "level": 0, "index": 1})"));
  miss.domain = {"r2", "c"};
  EXPECT_THAT(DataOf(report), HasSubstr(R"("flavor": 0, "level": 1, "index": 2})"));
  miss.domain = {"r9"};
  EXPECT_THAT(DataOf(report), HasSubstr(R"("flavor": 0, "level": -1, "index": -1})"));
  miss.domain = {};  // all of the flavor
  EXPECT_THAT(DataOf(report), HasSubstr(R"("flavor": 0, "level": -1, "index": -1})"));
}

TEST(ReportData, OfNothingIsADocumentToo) {
  EXPECT_EQ(DataOf({}), R"({"command": "", "facts": "", "about": "", "flavors": [], "gangs": []})"
                        "\n");
  HtmlReport report = SmallReport("cpu", 1);
  report.state.nodes.clear();
  EXPECT_THAT(DataOf(report), HasSubstr(R"("names": [[], []], "children": [[0]], "capacity": [])"));
}

}  // namespace
}  // namespace espalier::report_data_test
