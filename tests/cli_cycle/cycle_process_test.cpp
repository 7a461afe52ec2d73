// `espalier cycle` as a process, on a real cluster and compared with itself; see also
// tests/cli/transcripts/cycle*.txt.
#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include "tests/cli/process.hpp"
#include "tests/cli_cycle/files.hpp"

namespace espalier::cycle_process_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::vector<std::string> kRealCluster = {"cycle", kDumps + "before.json.gz",
                                               kDumps + "extra.json", "--until-stable",
                                               "--release-stopped"};

std::vector<std::string> With(std::vector<std::string> arguments,
                              const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

struct Line {
  std::string cluster_queue;
  std::string workload;
  std::string status;
  std::string reason;
};

std::vector<Line> ParseLines(const std::string& text) {
  std::vector<Line> lines;
  const simdjson::padded_string padded(text);
  simdjson::dom::parser parser;
  for (const auto object : parser.parse_many(padded)) {
    const auto member = [&](const char* key) {
      std::string_view value;
      return object[key].get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
    };
    lines.push_back(
        {member("clusterQueue"), member("workload"), member("status"), member("reason")});
  }
  return lines;
}

std::map<std::string, std::vector<std::string>> AdmittedPerQueue(const std::vector<Line>& lines) {
  std::map<std::string, std::vector<std::string>> admitted;
  for (const Line& line : lines) {
    if (line.status == "assumed") admitted[line.cluster_queue].push_back(line.workload);
  }
  return admitted;
}

std::map<std::string, std::string> LastReasons(const std::vector<Line>& lines) {
  std::map<std::string, std::string> reasons;
  for (const Line& line : lines) {
    if (line.status == "not-admitted") reasons[line.workload] = line.reason;
  }
  return reasons;
}

// The lines of one ClusterQueue without evaluation and cycle, each text once.
std::vector<std::string> DistinctLinesOf(const std::string& queue, const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  const std::string start = "\"clusterQueue\": \"" + queue + "\"";
  for (std::string line; std::getline(stream, line);) {
    const std::size_t at = line.find(start);
    if (at == std::string::npos) continue;
    line.erase(0, at);
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
  }
  return lines;
}

// Its other forms are in tests/cli/transcripts/cycle.txt.
TEST(CycleOutput, MatchesTheGoldenFile) {
  const ProcessResult result =
      RunEspalier({"cycle", kData + "queues.yaml", "--until-stable", "--output", "json"});
  EXPECT_EQ(result.output, FileContent(kData + "queues.json"));
  EXPECT_EQ(result.exit_code, 1) << "some do not fit";
}

// R21.14.
TEST(CycleOutput, OfStoppedQueuesNothingIsAdmitted) {
  const std::vector<std::string> stopped = {"cycle", kDumps + "before.json.gz",
                                            kDumps + "extra.json", "-o", "jsonl"};
  const ProcessResult result = RunEspalier(stopped);
  EXPECT_EQ(result.exit_code, 1);
  for (const Line& line : ParseLines(result.output)) {
    EXPECT_EQ(line.reason, "ClusterQueue " + line.cluster_queue + " is inactive");
  }
  EXPECT_THAT(result.errors, HasSubstr("espalier: ClusterQueue gpu-cluster is inactive: it has "
                                       "stopPolicy Hold\n"));
  const ProcessResult released = RunEspalier(With(stopped, {"--release-stopped"}));
  EXPECT_THAT(released.output, HasSubstr("\"status\": \"assumed\""));
  EXPECT_THAT(released.errors, HasSubstr("ClusterQueue gpu-cluster has stopPolicy Hold: simulated "
                                         "as if it were released\n"));
}

// A real Kueue recorded its decisions on this cluster.
TEST(CycleOutput, OfTheRealClusterIsWhatKueueDecided) {
  const ProcessResult result = RunEspalier(With(kRealCluster, {"--output", "jsonl"}));
  EXPECT_EQ(result.exit_code, 1);
  const std::vector<Line> ours = ParseLines(result.output);
  const std::vector<Line> recorded = ParseLines(FileContent(kDumps + "decisions.jsonl"));
  const auto admitted = AdmittedPerQueue(recorded);
  ASSERT_EQ(admitted.at("gpu-cluster").size() + admitted.at("cpu-cluster").size(), 49U);
  EXPECT_EQ(AdmittedPerQueue(ours), admitted);
  EXPECT_EQ(LastReasons(recorded).size(), 19U);
  EXPECT_EQ(LastReasons(ours), LastReasons(recorded));
}

// Byte for byte what Kueue recorded from `clusterQueue` on, queue by queue. Kueue looked a second
// time at three workloads, and its queues were not released in the same instant.
TEST(CycleOutput, HasTheFormOfTheRecordedDecisions) {
  const std::string ours = RunEspalier(With(kRealCluster, {"-o", "jsonl"})).output;
  const std::string recorded = FileContent(kDumps + "decisions.jsonl");
  EXPECT_THAT(ours, StartsWith(recorded.substr(0, recorded.find('\n') + 1)));
  for (const char* queue : {"gpu-cluster", "cpu-cluster"}) {
    EXPECT_EQ(DistinctLinesOf(queue, ours), DistinctLinesOf(queue, recorded));
  }
}

TEST(CycleOutput, IsTheSameForAnyNumberOfThreads) {
  const std::vector<std::string> json = With(kRealCluster, {"-o", "json"});
  EXPECT_EQ(RunEspalier(With(json, {"--threads", "1"})).output,
            RunEspalier(With(json, {"--threads", "3"})).output);
  EXPECT_EQ(RunEspalier(With(json, {"--backend", "cpu"})).output,
            RunEspalier(With(json, {"--backend", "emulated"})).output);
}

}  // namespace
}  // namespace espalier::cycle_process_test
