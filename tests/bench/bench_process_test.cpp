// `espalier bench` and `espalier generate` as a user meets them.
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/packing/flavor_state.hpp"
#include "tests/bench/small_scenarios.hpp"
#include "tests/cli/process.hpp"
#include "tests/sanitizers.hpp"

namespace espalier::bench_process_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class GenerateProcess : public testing::Test {
 protected:
  GenerateProcess() { std::filesystem::create_directories(folder_); }
  ~GenerateProcess() override { std::filesystem::remove_all(folder_); }

  // The arguments of SmallScenario(mix, gangs, prefill), and where to.
  std::vector<std::string> Arguments(const std::string& mix, const std::string& gangs,
                                     const std::string& prefill,
                                     const std::vector<std::string>& where) const {
    std::vector<std::string> arguments = {"generate", "T-131K",  "--nodes", "64",        "--mix",
                                          mix,        "--gangs", gangs,     "--prefill", prefill};
    arguments.insert(arguments.end(), where.begin(), where.end());
    return arguments;
  }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("espalier-generate-" + std::to_string(::getpid()));
};

// Hosts and pods of every workload of `espalier place -o json`, in its order; empty: not placed.
std::vector<std::map<std::string, std::int64_t>> PlacedPods(const std::string& json) {
  simdjson::dom::parser parser;
  std::vector<std::map<std::string, std::int64_t>> all;
  for (const simdjson::dom::element item : parser.parse(json)["items"].get_array()) {
    auto& pods = all.emplace_back();
    simdjson::dom::array sets;
    if (item["status"]["admission"]["podSetAssignments"].get(sets) != simdjson::SUCCESS) continue;
    for (const simdjson::dom::element slice :
         sets.at(0)["topologyAssignment"]["slices"].get_array()) {
      const std::int64_t domains = slice["domainCount"].get_int64();
      for (std::int64_t i = 0; i < domains; ++i) {
        const auto index = static_cast<std::size_t>(i);
        std::string_view universal;
        std::string host;
        const simdjson::dom::element values = slice["valuesPerLevel"].at(0);
        if (values["universal"].get(universal) == simdjson::SUCCESS) {
          host = universal;
        } else {
          std::string_view part;
          if (values["individual"]["prefix"].get(part) == simdjson::SUCCESS) host += part;
          host += std::string_view(values["individual"]["roots"].at(index));
          if (values["individual"]["suffix"].get(part) == simdjson::SUCCESS) host += part;
        }
        std::int64_t count = 0;
        if (slice["podCounts"]["universal"].get(count) != simdjson::SUCCESS) {
          count = slice["podCounts"]["individual"].at(index).get_int64();
        }
        pods[host] += count;
      }
    }
  }
  return all;
}

// Returns the pods of each gang by leaf, as the scenario's own columns answer.
std::vector<std::map<std::string, std::int64_t>> ExpectedPods(const Scenario& scenario) {
  const LoadedScenario loaded = LoadSmall(scenario);
  ClusterState state = loaded.state.Clone();
  GangAnswers answers;
  GangBatch(state, loaded.mix.gates, loaded.mix.shapes)
      .PlaceInOrder(*MakeCpuBackend(1), state, loaded.mix.gangs, answers);
  std::vector<std::map<std::string, std::int64_t>> all;
  for (std::size_t i = 0; i < loaded.mix.gangs.size(); ++i) {
    auto& pods = all.emplace_back();
    for (const LeafShare& share : answers.SharesOf(i)) {
      pods[loaded.flavor().snapshot().LeafIdText(share.leaf)] += share.pods;
    }
  }
  return all;
}

TEST_F(GenerateProcess, FilesReadBackGiveTheSameAnswers) {
  for (const auto& [mix, prefill] : std::vector<std::pair<std::string, std::string>>{
           {"X-ACME", "P70"}, {"X-SHAPES(16)", "P70"}, {"X-SHAPES(16)", "P70+PODS"}}) {
    const auto written =
        RunEspalier(Arguments(mix, "40", prefill, {"--output-dir", Path("cluster")}));
    ASSERT_EQ(written.exit_code, 0) << written.errors;
    const auto placed = RunEspalier({"place", Path("cluster"), "-o", "json", "--strict"});
    EXPECT_LE(placed.exit_code, 1) << placed.errors;
    const auto expected = ExpectedPods(SmallScenario(mix, 40, prefill));
    EXPECT_EQ(PlacedPods(placed.output), expected) << mix << " beside " << prefill;
  }
}

// A ClusterQueue without a namespaceSelector would admit nothing.
TEST_F(GenerateProcess, CyclesAdmitWhatWasGenerated) {
  const std::string file = Path("queues.json");
  ASSERT_EQ(RunEspalier(Arguments("X-ACME", "3", "P0", {"-o", file})).exit_code, 0);
  const auto decided = RunEspalier({"cycle", file, "--until-stable"});
  EXPECT_THAT(decided.output, HasSubstr("3 admitted, 0 not admitted")) << decided.errors;
}

TEST_F(GenerateProcess, OneFileIsTheSameAsTwo) {
  ASSERT_EQ(
      RunEspalier(Arguments("X-LEADER", "20", "SLOTS50", {"--output-dir", Path("two")})).exit_code,
      0);
  ASSERT_EQ(RunEspalier(Arguments("X-LEADER", "20", "SLOTS50", {"-o", Path("one.json")})).exit_code,
            0);
  ASSERT_EQ(
      RunEspalier(Arguments("X-LEADER", "20", "SLOTS50", {"-o", Path("one.json.gz")})).exit_code,
      0);
  const std::string two = RunEspalier({"place", Path("two")}).output;
  EXPECT_THAT(two, HasSubstr("bench/gang-000000"));
  EXPECT_EQ(RunEspalier({"place", Path("one.json")}).output, two);
  EXPECT_EQ(RunEspalier({"place", Path("one.json.gz")}).output, two);
  EXPECT_LT(std::filesystem::file_size(Path("one.json.gz")) * 3,
            std::filesystem::file_size(Path("one.json")));
}

TEST_F(GenerateProcess, SequencesAreConformanceCasesOfToday) {
  for (const char* mix : {"X-LEADER", "X-KUEUE", "X-ADV"}) {
    for (const char* mode : {"sequential", "nominate"}) {
      const std::string file = Path("sequence.jsonl.gz");
      const auto written = RunEspalier({"generate", "T-DGXB200", "--mix", mix, "--gangs", "50",
                                        "--prefill", "SLOTS70", "--mode", mode, "-o", file});
      ASSERT_EQ(written.exit_code, 0) << written.errors;
      const auto read = RunEspalier({"conformance", file});
      EXPECT_THAT(read.output, HasSubstr("50 passed, 0 failed")) << mix << " " << mode;
    }
  }
}

TEST_F(GenerateProcess, WhatASequenceCannotSayIsRefused) {
  const auto cut = RunEspalier(Arguments("X-ACME", "1", "P0", {"-o", Path("s.jsonl")}));
  EXPECT_EQ(cut.exit_code, 3);
  EXPECT_THAT(cut.errors, HasSubstr("full tree"));
  const auto prefill = RunEspalier(
      {"generate", "T-KAI512", "--prefill", "P90", "--gangs", "1", "-o", Path("s.jsonl")});
  EXPECT_EQ(prefill.exit_code, 3);
  EXPECT_THAT(prefill.errors, HasSubstr("SLOTS1"));
}

// Sanitizers reserve more than any such limit.
#if !defined(ESPALIER_SANITIZED)
TEST_F(GenerateProcess, MakesMoreGangsThanFitTheMemory) {
  const auto written = RunShell("ulimit -d 300000; \"$E\" generate T-KAI512 --gangs 600000 -o " +
                                Path("many.json.gz"));
  EXPECT_EQ(written.exit_code, 0) << written.errors;
}
#endif

TEST_F(GenerateProcess, WrongCommandLinesSayWhatIsWrong) {
  EXPECT_EQ(RunEspalier({"generate"}).exit_code, 2);
  EXPECT_EQ(RunEspalier({"generate", "T-KAI512"}).exit_code, 2);
  const auto unknown = RunEspalier({"generate", "T-NONE", "-o", Path("x.json")});
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_THAT(unknown.errors, HasSubstr("T-131K"));
  const auto nowhere = RunEspalier({"generate", "T-KAI512", "-o", "/nonexistent/x.json"});
  EXPECT_EQ(nowhere.exit_code, 3);
  EXPECT_THAT(nowhere.errors, HasSubstr("/nonexistent/x.json"));
  EXPECT_THAT(RunEspalier({"generate", "--list"}).output, HasSubstr("X-ACME"));
}

TEST(BenchProcess, PrintsATableWithFloorsAndRightAnswers) {
  const auto run = RunEspalier({"bench", "B06/750x4", "--repeat", "3"});
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("B06-k8s-tas/750x4"));
  EXPECT_THAT(run.output, HasSubstr("OF FLOOR"));
  EXPECT_THAT(run.output, HasSubstr("right"));
  EXPECT_THAT(run.output, Not(HasSubstr("WRONG")));
  EXPECT_THAT(run.output, HasSubstr("floors of"));
}

TEST(BenchProcess, DigestsAreTheSameOnAnyNumberOfThreads) {
  const auto one = RunEspalier(
      {"bench", "B42/sequential", "--repeat", "1", "--threads", "1", "--output", "digest"});
  const auto two = RunEspalier(
      {"bench", "B42/sequential", "--repeat", "1", "--threads", "2", "--output", "digest"});
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_EQ(one.output.size(), 64 + 2 + std::string("B42-ties/sequential\n").size());
  EXPECT_EQ(one.output, two.output);
}

TEST(BenchProcess, JsonHoldsWhatTheScriptsRead) {
  const auto run = RunEspalier({"bench", "B06/2250x4", "--repeat", "2", "--output", "json"});
  EXPECT_EQ(run.exit_code, 0);
  simdjson::dom::parser parser;
  const simdjson::dom::element report = parser.parse(run.output);
  EXPECT_GT(std::int64_t{report["floors"]["cellsPerSecond"]}, 0);
  const simdjson::dom::element result = report["results"].at(0);
  EXPECT_EQ(std::string_view(result["name"]), "B06-k8s-tas/2250x4");
  EXPECT_EQ(std::int64_t{result["gangs"]}, 2250);
  EXPECT_EQ(std::string_view(result["sha256"]).size(), 64U);
  EXPECT_EQ(std::string_view(result["target"]["name"]), "M5");
  EXPECT_GT(std::int64_t{result["recordedOnAnotherRun"]["nanoseconds"]}, 0);
  EXPECT_EQ(std::int64_t{result["stages"].at(1)["repeats"]}, 2);
}

// Whatever comes at whichever rate: answers are those of the state that they name.
TEST(BenchProcess, AnswersAreRightWhenMoreIsAskedThanCanBeAnswered) {
  const auto run = RunEspalier({"bench", "B62/8", "--seconds", "1"});
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("right"));
  EXPECT_THAT(run.output, Not(HasSubstr("WRONG")));
  EXPECT_THAT(run.output, HasSubstr("B62-open-loop/8: 200 %: "));
  EXPECT_THAT(run.output, HasSubstr("updates"));
}

TEST(BenchProcess, WrongNamesAreAWrongCommandLine) {
  const auto unknown = RunEspalier({"bench", "B99"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("--list"));
  EXPECT_EQ(RunEspalier({"bench", "B06", "--suite", "smoke"}).exit_code, 2);
  EXPECT_THAT(RunEspalier({"bench", "--list"}).output, HasSubstr("B23-sequential-131k/S256"));
}

}  // namespace
}  // namespace espalier::bench_process_test
