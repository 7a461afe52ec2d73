// `espalier cycle` as a process: what it prints, byte for byte, and how it ends.
#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include "tests/cli/process.hpp"
#include "tests/cli_cycle/files.hpp"

namespace espalier {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::string kQueues = kData + "queues.yaml";
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

TEST(CycleOutput, MatchesTheGoldenFiles) {
  for (const auto& [golden, flags] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"queues.first-cycle", {}},
           {"queues.table", {"--until-stable"}},
           {"queues.json", {"--until-stable", "--output", "json"}},
           {"queues.jsonl", {"--until-stable", "--output", "jsonl"}},
       }) {
    const ProcessResult result = RunEspalier(With({"cycle", kQueues}, flags));
    EXPECT_EQ(result.output, FileContent(kData + golden)) << golden;
    EXPECT_EQ(result.exit_code, 1) << "some do not fit";
  }
}

TEST(CycleOutput, SaysWhatIsLeftOutOnStandardError) {
  const ProcessResult result = RunEspalier({"cycle", kQueues});
  EXPECT_THAT(result.errors,
              HasSubstr("espalier: workload team/nowhere is left out: LocalQueue team/missing is "
                        "not in the input; there are cpu, gpu\n"));
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

constexpr const char* kOneJob = R"(
apiVersion: v1
kind: Namespace
metadata: {name: team, labels: {tier: gold}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: cpu}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cpu}
spec:
  namespaceSelector: {matchLabels: {tier: gold}}
  resourceGroups:
    - coveredResources: [cpu]
      flavors: [{name: cpu, resources: [{name: cpu, nominalQuota: "10"}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: team}
spec: {clusterQueue: cpu}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: job, namespace: team}
spec:
  queueName: main
  podSets:
    - count: 2
      template: {spec: {containers: [{name: main, resources: {requests: {cpu: "1"}}}]}}
)";

std::string OneJobWith(const std::string& before, const std::string& after) {
  std::string objects = kOneJob;
  return objects.replace(objects.find(before), before.size(), after);
}

// R21.14, from the files on.
TEST(CycleOutput, PassesOverWhatKueueRefuses) {
  EXPECT_EQ(RunEspalier({"cycle", "-"}, kOneJob).exit_code, 0);
  for (const auto& [before, after, reason] : std::vector<std::array<std::string, 3>>{
           {"labels: {tier: gold}", "labels: {tier: silver}",
            "workload namespace doesn't match ClusterQueue selector"},
           {"namespaceSelector: {matchLabels: {tier: gold}}", "queueingStrategy: StrictFIFO",
            "workload namespace doesn't match ClusterQueue selector"},
           {"{name: team, labels", "{name: other, labels",
            "workload namespace \"team\" does not exist: Namespace \"team\" not found"},
           {"requests: {cpu: \"1\"}", "requests: {cpu: \"2\"}, limits: {cpu: \"1\"}",
            "resources validation failed: spec.podSets[0].template.spec.containers[0]: Invalid "
            "value: [\"cpu\"]: requests must not exceed its limits"},
           {"---",
            "---\n{kind: LimitRange, metadata: {name: l, namespace: team}, "
            "spec: {limits: [{type: Pod, max: {cpu: 500m}}]}}\n---",
            "resources didn't satisfy LimitRange constraints: spec.podSets[0].template.spec: "
            "Invalid value: [\"cpu\"]: requests must not be above the limitRange max"},
           {"kind: ResourceFlavor\nmetadata: {name: cpu}",
            "kind: ResourceFlavor\nmetadata: {name: gpu}", "ClusterQueue cpu is inactive"},
           {"kind: ClusterQueue\nmetadata: {name: cpu}",
            "kind: ClusterQueue\nmetadata: {name: gpu}", "ClusterQueue cpu not found"},
       }) {
    const std::string objects = OneJobWith(before, after);
    const ProcessResult result = RunEspalier({"cycle", "-"}, objects);
    EXPECT_EQ(result.exit_code, 1) << reason;
    EXPECT_THAT(result.output, HasSubstr(reason));
  }
  const std::string status =
      std::string(kOneJob) + "status: {admissionChecks: [{name: c, state: Rejected}]}\n";
  EXPECT_THAT(RunEspalier({"cycle", "-"}, status).output,
              HasSubstr("The workload has failed admission checks"));
}

TEST(CycleOutput, AWorkloadMayHaveToWait) {
  const std::string objects =
      std::string(kOneJob) + "status: {requeueState: {requeueAt: \"2026-01-31T12:00:00Z\"}}\n";
  const ProcessResult before =
      RunEspalier({"cycle", "-", "--now", "2026-01-31T11:00:00Z"}, objects);
  EXPECT_EQ(before.exit_code, 1);
  EXPECT_THAT(before.errors, HasSubstr("workload team/job of ClusterQueue cpu waits outside of its "
                                       "queue: it is requeued at 2026-01-31T12:00:00Z only"));
  EXPECT_EQ(RunEspalier({"cycle", "-", "--now", "2026-01-31T12:00:00Z"}, objects).exit_code, 0);
  EXPECT_EQ(RunEspalier({"cycle", "-", "--now", "noon"}, objects).exit_code, 2);
}

// What a real Kueue decided on this cluster.
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

TEST(CycleExitCode, IsZeroWhenNothingStaysPending) {
  const ProcessResult result = RunEspalier({"cycle", "-"}, kOneJob);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("team/job  admitted  flavor cpu"));
  EXPECT_THAT(result.output, HasSubstr("1 admitted, 0 not admitted (1 evaluation in 1 cycle)"));
  EXPECT_THAT(result.errors, IsEmpty());
}

TEST(CycleExitCode, IsTwoForAWrongCommandLine) {
  for (const auto& [arguments, text] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"cycle"}, "FILES is required"},
           {{"cycle", "x", "--output", "yaml"}, "--output: yaml not in {table,wide,json,jsonl}"},
           {{"cycle", "x", "--feature-gates", "TASProfileMixd=true"}, "TASProfileMixed"},
       }) {
    const ProcessResult result = RunEspalier(arguments);
    EXPECT_EQ(result.exit_code, 2) << text;
    EXPECT_THAT(result.errors, HasSubstr(text));
    EXPECT_THAT(result.output, IsEmpty());
  }
}

TEST(CycleExitCode, IsThreeForWrongInput) {
  EXPECT_EQ(RunEspalier({"cycle", "no-such-file.json"}).exit_code, 3);
  const ProcessResult result = RunEspalier({"cycle", "-"}, R"({"kind": "Node")");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, HasSubstr("standard input"));
}

TEST(CycleHelp, TeachesWithExamples) {
  const ProcessResult help = RunEspalier({"cycle", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* text : {"FILES", "--until-stable", "--feature-gates", "--threads", "--output",
                           "--strict", "--verbose", "Examples:", "Exit codes:"}) {
    EXPECT_THAT(help.output, HasSubstr(text));
  }
}

}  // namespace
}  // namespace espalier
