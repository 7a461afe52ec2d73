#include "host/conformance/run.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fallback_cpu/cpu_backend.hpp"

namespace espalier::run_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Write(const std::string& name, const std::string& text) {
  const auto path =
      std::filesystem::path(testing::TempDir()) / (std::to_string(getpid()) + "run" + name);
  std::ofstream(path) << text;
  return path.string();
}

// One node with room for two pods, and a request for `count`.
std::string PlacementLine(const std::string& name, int count, const std::string& expect) {
  return R"({"name":")" + name +
         R"(","topology":{"name":"t","levels":["kubernetes.io/hostname"]},"flavor":{"name":"f"},)"
         R"("nodes":[{"metadata":{"name":"n","labels":{"kubernetes.io/hostname":"n"}},)"
         R"("status":{"allocatable":{"cpu":"2","pods":"9"},)"
         R"("conditions":[{"type":"Ready","status":"True"}]}}],)"
         R"("request":{"podSets":[{"count":)" +
         std::to_string(count) +
         R"(,"podSet":{"name":"main","topologyRequest":{"unconstrained":true}},)"
         R"("requests":{"cpu":1000}}]},"expect":{"main":)" +
         expect + "}}\n";
}

const std::string kTwoOnN = R"({"assignment":{"levels":["kubernetes.io/hostname"],)"
                            R"("domains":[{"values":["n"],"count":2}]}})";

struct Outcome {
  ConformanceReport report;
  std::vector<CaseFailure> failures;
};

Outcome RunFiles(const std::vector<std::string>& files, ConformanceOptions options = {}) {
  Outcome outcome;
  options.make_backend = [] { return MakeCpuBackend(1); };
  outcome.report = RunConformance(
      files, options, [&](const CaseFailure& failure) { outcome.failures.push_back(failure); });
  return outcome;
}

TEST(RunConformance, WrongExpectationsFailWithTheirDifference) {
  const auto path =
      Write("wrong", PlacementLine("good", 2, kTwoOnN) + PlacementLine("bad", 1, kTwoOnN) +
                         PlacementLine("reason", 3, R"({"reason":"topology"})"));
  const Outcome outcome = RunFiles({path});
  EXPECT_EQ(outcome.report.passed, 1u);
  EXPECT_EQ(outcome.report.failed, 2u);
  ASSERT_EQ(outcome.failures.size(), 2u);
  EXPECT_EQ(outcome.failures[0].file, path);
  EXPECT_EQ(outcome.failures[0].line, 2u);
  EXPECT_EQ(outcome.failures[0].name, "bad");
  EXPECT_THAT(outcome.failures[0].difference,
              HasSubstr("pod set main: domain 0: want n:2, got n:1"));
  EXPECT_THAT(outcome.failures[1].difference, HasSubstr("reason differs at byte 8"));
}

TEST(RunConformance, AnyOfSeveralAnswersIsRight) {
  std::string line = PlacementLine("any", 2, "{}");
  const std::size_t expect = line.find("\"expect\"");
  const auto with = [&](const std::string& answers) {
    return line.substr(0, expect) + "\"expectAnyOf\":" + answers + "}\n";
  };
  const auto path = Write("any", with(R"([{"main":{}},{"main":)" + kTwoOnN + "}]") +
                                     with(R"([{"main":{}},{"main":{"reason":"x"}}])"));
  const Outcome outcome = RunFiles({path});
  EXPECT_EQ(outcome.report.passed, 1u);
  ASSERT_EQ(outcome.failures.size(), 1u);
  EXPECT_THAT(outcome.failures[0].difference, HasSubstr("none of 2 right answers"));
}

TEST(RunConformance, MalformedLineAndClusterAreFailures) {
  std::string cluster = PlacementLine("cluster", 2, kTwoOnN);
  cluster.replace(cluster.find("[\"kubernetes.io/hostname\"]"), 26, "[]");
  const auto path = Write("malformed", "{\"name\":\"cut\n" + cluster);
  const Outcome outcome = RunFiles({path});
  EXPECT_EQ(outcome.report.failed, 2u);
  EXPECT_EQ(outcome.failures[0].name, "");
  EXPECT_THAT(outcome.failures[0].difference, HasSubstr("not a JSON object"));
  EXPECT_THAT(outcome.failures[1].difference, HasSubstr("the cluster cannot be built"));
}

TEST(RunConformance, FilesThatCannotBeReadAreNamed) {
  const auto good = Write("good", PlacementLine("good", 2, kTwoOnN));
  const auto empty = Write("empty", "\n\n");
  const Outcome outcome = RunFiles({"/no/such/file", empty, good});
  EXPECT_EQ(outcome.report.passed, 1u);
  ASSERT_EQ(outcome.report.unreadable.size(), 2u);
  EXPECT_EQ(outcome.report.unreadable[0].error_class, ErrorClass::kNotFound);
  EXPECT_THAT(outcome.report.unreadable[1].message, HasSubstr("there is no case in it"));
}

TEST(RunConformance, FilterCountsOnlyWhatItAccepts) {
  const auto path =
      Write("filter", PlacementLine("good", 2, kTwoOnN) + PlacementLine("bad", 1, kTwoOnN));
  ConformanceOptions options;
  options.filter = [](std::string_view name) { return name == "good"; };
  const Outcome outcome = RunFiles({path}, options);
  EXPECT_EQ(outcome.report.passed, 1u);
  EXPECT_EQ(outcome.report.failed, 0u);
}

TEST(RunConformance, ThreadsChangeNothing) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += PlacementLine(std::to_string(i), i % 3, kTwoOnN);
  const auto path = Write("threads", text);
  ConformanceOptions one;
  one.threads = 1;
  ConformanceOptions four;
  four.threads = 4;
  const Outcome with_one = RunFiles({path, path}, one);
  EXPECT_EQ(with_one.report.failed, 134u);
  EXPECT_EQ(with_one.failures, RunFiles({path, path}, four).failures);
}

// Two nodes of two pods each; every gang wants two pods on one node.
std::string SequenceText(const std::string& mode, const std::vector<std::string>& expected) {
  std::string text =
      R"({"sequence":"s","mode":")" + mode +
      R"(","topology":"t","grid":{"levels":[{"key":"kubernetes.io/hostname","prefix":"n",)"
      R"("fanout":2}],"allocatable":{"cpu":"2","pods":"9"}},)"
      R"("shapes":[{"requests":{"cpu":1000},)"
      R"("topologyRequest":{"required":"kubernetes.io/hostname"}}]})"
      "\n";
  int number = 0;
  for (const std::string& expect : expected) {
    text += R"({"gang":)" + std::to_string(number++) + R"(,"shape":0,"count":2,"expect":)" +
            expect + "}\n";
  }
  return text;
}

// FNV-1a 64 of "n0:2;" and "n1:2;".
const std::string kOnN0 = R"({"main":{"digest":"5c7ff196c7576aa0","domains":1}})";
const std::string kOnN1 = R"({"main":{"digest":"1eb927905bc0e17d","domains":1}})";

TEST(RunConformance, SequentialGangsConsumeCapacity) {
  const std::string full =
      R"({"reason":"topology \"t\" doesn't allow to fit any of 2 pod(s). Total nodes: 2; )"
      R"(excluded: resource \"cpu\": 2"})";
  const Outcome outcome =
      RunFiles({Write("seq", SequenceText("sequential", {kOnN0, kOnN1, full}))});
  EXPECT_EQ(outcome.report.passed, 3u);
  EXPECT_THAT(outcome.failures, IsEmpty());
}

TEST(RunConformance, NominatedGangsDoNot) {
  const Outcome outcome = RunFiles({Write("nom", SequenceText("nominate", {kOnN0, kOnN1, kOnN0}))});
  EXPECT_EQ(outcome.report.passed, 2u);
  ASSERT_EQ(outcome.failures.size(), 1u);
  EXPECT_EQ(outcome.failures[0].name, "s/1");
  EXPECT_EQ(outcome.failures[0].line, 3u);
}

TEST(RunConformance, GangThatCannotBeReadFailsAlone) {
  const auto path = Write("cut", SequenceText("nominate", {kOnN0, kOnN0}) + "{\"gang\":2,");
  const Outcome outcome = RunFiles({path});
  EXPECT_EQ(outcome.report.passed, 2u);
  EXPECT_EQ(outcome.report.failed, 1u);
}

TEST(RunConformance, WithoutItsHeaderNoGangCanPass) {
  const auto path = Write("header", SequenceText("never", {kOnN0}));
  const Outcome outcome = RunFiles({path});
  EXPECT_EQ(outcome.report.passed, 0u);
  EXPECT_EQ(outcome.report.failed, 2u);
  EXPECT_THAT(outcome.failures[0].difference, HasSubstr("this mode does not exist"));
}

// The first of two victims on one node does not suffice; upstream's search keeps the second alone.
TEST(RunConformance, WhatIfCases_R29_3) {
  const std::string full =
      R"({"reason":"topology \"t\" doesn't allow to fit any of 2 pod(s). Total nodes: 1; )"
      R"(excluded: resource \"cpu\": 1"})";
  std::string line = PlacementLine("w", 2, full);
  line.erase(line.rfind('}'));
  line += R"(,"leafUsage":[{"leaf":"n","tas":{"cpu":2000}}],"victims":[)"
          R"({"name":"small","usage":[{"leaf":"n","usage":{"cpu":0}}]},)"
          R"({"name":"large","usage":[{"leaf":"n","usage":{"cpu":2000}}]}],)"
          R"("expectVictims":{"fits":true,"prefix":2,"targets":["TARGET"],"result":{"main":)" +
          kTwoOnN + "}}}\n";
  const auto with = [&](const std::string& what, const std::string& value) {
    std::string changed = line;
    return changed.replace(changed.find(what), what.size(), value);
  };
  line = with("TARGET", "large");
  const auto path = Write("whatif", line + with(R"("prefix":2)", R"("prefix":1)") +
                                        with("[\"large\"]", "[\"small\"]") +
                                        with(R"("fits":true)", R"("fits":false)") +
                                        with(R"("cpu":2000}}]}])", R"("cpu":2001}}]}])"));
  const Outcome outcome = RunFiles({path});
  EXPECT_EQ(outcome.report.passed, 1u);
  ASSERT_EQ(outcome.failures.size(), 4u);
  EXPECT_THAT(outcome.failures[0].difference, HasSubstr("prefix: want 1\n got 2"));
  EXPECT_THAT(outcome.failures[1].difference, HasSubstr("targets: want small\n got large"));
  EXPECT_THAT(outcome.failures[2].difference, HasSubstr("want it does not fit\n got it fits"));
  EXPECT_THAT(outcome.failures[3].difference, HasSubstr("victim large: it and those before it"));
}

TEST(RunConformance, UngateAndEncodeCases) {
  const std::string encode =
      R"({"name":"e","encode":{"levels":["rack"],"domains":[{"values":["a"],"count":1}]},)"
      R"("expectEncoded":{"levels":["rack"],"slices":[{"domainCount":1,)"
      R"("valuesPerLevel":[{"universal":"a"}],"podCounts":{"universal":COUNT}}]}})"
      "\n";
  const std::string ungate =
      R"({"name":"u","ungate":{"offset":0,"maxRank":1,"podSetAssignment":{"name":"m","count":1,)"
      R"("topologyAssignment":{"levels":["rack"],"slices":[{"domainCount":1,)"
      R"("valuesPerLevel":[{"universal":"a"}],"podCounts":{"universal":1}}]}},)"
      R"("pods":[{"name":"p","gated":true}]},"expectUngate":{"p":"WHERE"}})"
      "\n";
  const auto with = [](std::string line, const std::string& what, const std::string& value) {
    return line.replace(line.find(what), what.size(), value);
  };
  const auto path = Write("kinds", with(encode, "COUNT", "1") + with(encode, "COUNT", "2") +
                                       with(ungate, "WHERE", "a") + with(ungate, "WHERE", "b"));
  const Outcome outcome = RunFiles({path});
  EXPECT_EQ(outcome.report.passed, 2u);
  ASSERT_EQ(outcome.failures.size(), 2u);
  EXPECT_THAT(outcome.failures[0].difference, HasSubstr("v1beta2 form differs"));
  EXPECT_THAT(outcome.failures[1].difference, HasSubstr("pod p: want b"));
}

}  // namespace
}  // namespace espalier::run_test
