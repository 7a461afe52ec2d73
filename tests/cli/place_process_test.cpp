// `espalier place` as a process: what it prints, byte for byte, and how it ends.
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/data_folders.hpp"
#include "tests/cli/process.hpp"

namespace espalier {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::vector<std::string> kRealCluster = {"place", kDumps + "before.json.gz",
                                               kDumps + "extra.json"};

std::string FileContent(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> With(std::vector<std::string> arguments,
                              const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// Golden files are written by hand-checking the output of `espalier place small.yaml`, with the
// flags named here.
TEST(PlaceOutput, MatchesTheGoldenFiles) {
  for (const auto& [golden, flags] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"small.table", {}},
           {"small.wide", {"--output", "wide"}},
           {"small.json", {"--output", "json"}},
           {"small.yaml-output", {"--output", "yaml"}},
           {"small.picture", {"--picture"}},
           {"small.nominate", {"--mode", "nominate"}},
       }) {
    const ProcessResult result = RunEspalier(With({"place", kData + "small.yaml"}, flags));
    EXPECT_EQ(result.output, FileContent(kData + golden)) << golden;
    EXPECT_EQ(result.exit_code, 1) << "one workload does not fit";
  }
}

TEST(PlaceOutput, IsTheSameForAnyNumberOfThreads) {
  const ProcessResult one = RunEspalier(With(kRealCluster, {"--threads", "1", "-o", "json"}));
  for (const char* threads : {"2", "3", "8"}) {
    EXPECT_EQ(RunEspalier(With(kRealCluster, {"--threads", threads, "-o", "json"})).output,
              one.output);
  }
}

TEST(PlaceOutput, IsTheSameOnAnyBackEnd) {
  for (const char* mode : {"nominate", "sequential"}) {
    const std::vector<std::string> arguments = With(kRealCluster, {"--mode", mode, "-o", "json"});
    const ProcessResult cpu = RunEspalier(With(arguments, {"--backend", "cpu"}));
    for (const char* name : {"auto", "emulated"}) {
      const ProcessResult other = RunEspalier(With(arguments, {"--backend", name, "--verbose"}));
      EXPECT_EQ(other.output, cpu.output) << name;
      EXPECT_EQ(other.exit_code, cpu.exit_code) << other.errors;
      if (name == std::string("auto")) continue;
      EXPECT_THAT(other.errors, HasSubstr("espalier: decided on emulated\n"));
    }
  }
}

// On a machine without a GPU, or in a build without CUDA.
TEST(PlaceErrors, NoGpuToDecideOn) {
  const ProcessResult result = RunEspalier(With(kRealCluster, {"--backend", "cuda"}));
  if (result.exit_code <= 1) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.output, IsEmpty());
  EXPECT_THAT(result.errors, HasSubstr("espalier: back end cuda: "));
}

TEST(PlaceOutput, OfTheRealClusterCoversItsPendingWorkloads) {
  const ProcessResult result = RunEspalier(With(kRealCluster, {"--picture"}));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output,
              HasSubstr("team-nlp/job-llm-pretrain-02-f23d8  main     24       required block"));
  EXPECT_THAT(result.output, HasSubstr("us-east-1a/use1a-b04/r{02..04}: 24 hosts x 1"));
  EXPECT_THAT(result.output, HasSubstr("47 placed, 19 not placed, 3 with nothing to place"));
  EXPECT_THAT(result.output, HasSubstr("nvidia.com/gpu of flavor gpu-h100"));
  EXPECT_THAT(result.errors, Not(HasSubstr("skipped")));
}

TEST(PlaceExitCode, IsZeroWhenAllArePlaced) {
  const ProcessResult result = RunEspalier({"place", kData + "fits.yaml"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("1 placed, 0 not placed"));
  EXPECT_THAT(result.errors, IsEmpty());
}

TEST(PlaceExitCode, IsOneWhenSomeAreNot) {
  EXPECT_EQ(RunEspalier({"place", kData + "small.yaml", "--workload", "team/too-big"}).exit_code,
            1);
  EXPECT_EQ(RunEspalier({"place", kData + "small.yaml", "--workload", "team/rack-job"}).exit_code,
            0);
}

// The text of fits.yaml with another queue name.
std::string WithQueue(const std::string& name) {
  std::string objects = FileContent(kData + "fits.yaml");
  const std::string field = "queueName: main";
  return objects.replace(objects.find(field), field.size(), "queueName: " + name);
}

TEST(PlaceQueues, ANameThatLeadsNowhereIsAReason) {
  for (const std::vector<std::string>& flags : {std::vector<std::string>{}, {"--strict"}}) {
    const ProcessResult result = RunEspalier(With({"place", "-"}, flags), WithQueue("mian"));
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.output,
                HasSubstr("not placed: LocalQueue team/mian is not in the input; there is main\n"));
    EXPECT_THAT(result.output, HasSubstr("0 placed, 1 not placed"));
  }
}

TEST(PlaceQueues, AGuessedFlavorIsNamedOnEveryLine) {
  const std::vector<std::string> guess = {"place", "-", "--guess-flavor"};
  const ProcessResult result = RunEspalier(guess, WithQueue("mian"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("host-1: 1 host x 2 (flavor any is a guess)\n"));
  EXPECT_THAT(result.output, HasSubstr("0 with nothing to place; 1 on a guessed flavor\n"));
  EXPECT_THAT(RunEspalier(With(guess, {"-o", "yaml"}), WithQueue("mian")).output,
              HasSubstr("espalier.dev/guessed-flavor: \"any\""));
  EXPECT_THAT(RunEspalier(guess, WithQueue("main")).output, Not(HasSubstr("guess")));
}

// R6.9.
TEST(PlaceOutput, PodsBeyondTheLastWholeSliceAreCounted) {
  std::string objects = FileContent(kData + "fits.yaml");
  const auto replace = [&](const std::string& before, const std::string& after) {
    objects.replace(objects.find(before), before.size(), after);
  };
  replace("count: 2", "count: 3");
  replace("{required: kubernetes.io/hostname}",
          "{required: kubernetes.io/hostname, podSetSliceRequiredTopology: kubernetes.io/hostname, "
          "podSetSliceSize: 2}");
  const ProcessResult result = RunEspalier({"place", "-"}, objects);
  EXPECT_EQ(result.exit_code, 1) << "not all it asks for is placed";
  EXPECT_EQ(RunEspalier({"place", "-", "--best-effort"}, objects).exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("team/train  main     2 of 3  required host, 2/host"));
  EXPECT_THAT(result.output,
              HasSubstr("1 placed, 0 not placed, 0 with nothing to place; 1 pod of the placed "
                        "without a place; 1 of the placed not as asked\n"));
  EXPECT_THAT(result.errors,
              HasSubstr("workload team/train, pod set main: 1 of its 3 pods get no place, as they "
                        "are beyond the last whole slice of 2; Kueue counts the workload as placed "
                        "all the same"));
}

TEST(PlaceOutput, SaysHowManyNodesTakePart) {
  const ProcessResult table = RunEspalier({"place", kData + "small.yaml"});
  EXPECT_THAT(table.output, HasSubstr("\n7 of 8 nodes take part; left out: 1 not ready\n3 placed"));
  const ProcessResult json = RunEspalier({"place", kData + "small.yaml", "-o", "json"});
  EXPECT_THAT(json.errors, HasSubstr("espalier: 7 of 8 nodes take part; left out: 1 not ready\n"));
}

TEST(PlaceExitCode, IsTwoForAWrongCommandLine) {
  for (const auto& [arguments, text] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"place"}, "FILES is required"},
           {{"place", "x", "--mode", "first"}, "--mode: first not in {sequential,nominate}"},
           {{"place", "x", "--output", "xml"}, "--output: xml not in {table,wide,json,yaml}"},
           {{"place", "x", "--threads", "-1"}, "--threads"},
           {{"place", "x", "--profile", "kai"}, "--profile: kai not in {kueue,espalier,kep5732}"},
           {{"place", "x", "--workload", "team/"}, "want NAMESPACE/NAME or NAME"},
           {{"place", "x", "--connect", "nowhere"}, "--connect: \"nowhere\""},
           {{"place", "x", "--color", "pink"}, "--color: pink not in {auto,always,never}"},
           {{"place", "x", "--feature-gates", "TASProfileMixd=true"}, "TASProfileMixed"},
           {{"place", "x", "--picture", "-o", "json"}, "table or wide"},
           {{"place", "x", "--picture", "--mode", "nominate"}, "needs --mode sequential"},
           {{"place", "x", "--load"}, "goes with --connect"},
           {{"place", "x", "--connect", "a:1", "--picture"}, "with --connect it needs --load"},
           {{"place", "x", "--no-such-flag"}, "--no-such-flag"},
           {{"plaice"}, "no command \"plaice\"; there is place"},
           {{}, "Usage: espalier"},
       }) {
    const ProcessResult result = RunEspalier(arguments);
    EXPECT_EQ(result.exit_code, 2) << text;
    EXPECT_THAT(result.errors, HasSubstr(text));
    EXPECT_THAT(result.output, IsEmpty());
  }
}

// What is wrong is left out alone, and named; all else is answered.
TEST(PlaceExitCode, IsOneWhereAnObjectIsLeftOut) {
  const std::string objects = FileContent(kData + "fits.yaml") + R"(---
apiVersion: v1
kind: Node
metadata: {name: odd}
status: {allocatable: {cpu: many}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: wrong, namespace: team, labels: {kueue.x-k8s.io/queue-name: q}}
spec: {parallelism: x, template: {spec: {containers: [{name: c}]}}}
)";
  const ProcessResult placed = RunEspalier({"place", "-"}, objects);
  EXPECT_EQ(placed.exit_code, 1);
  EXPECT_THAT(placed.errors, HasSubstr("Node odd: status.allocatable.cpu"));
  EXPECT_THAT(placed.output, HasSubstr("1 placed, 1 not placed"));
  EXPECT_THAT(placed.output, HasSubstr("Job team/wrong: spec.parallelism"));
  EXPECT_EQ(RunEspalier({"place", "-", "--strict"}, objects).exit_code, 3);
}

TEST(PlaceExitCode, IsThreeForWrongInput) {
  const std::vector<std::string> stdin_only = {"place", "-"};
  for (
      const auto& [input, text] : std::vector<std::pair<std::string, std::string>>{
          {R"({"kind": "Node")", "standard input"},
          {R"({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Topology", "metadata": {"name": "t"},
                "spec": {"levels": [{"nodeLabel": 3}]}})",
           "Topology t: spec.levels[0].nodeLabel"},
      }) {
    const ProcessResult result = RunEspalier(stdin_only, input);
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_THAT(result.errors, HasSubstr(text));
    EXPECT_THAT(result.errors, StartsWith("espalier: "));
    EXPECT_THAT(result.output, IsEmpty());
  }
  EXPECT_THAT(RunEspalier({"place", "no-such-file.json"}).errors, HasSubstr("no-such-file.json"));
  EXPECT_EQ(RunEspalier({"place", "no-such-file.json"}).exit_code, 3);
  const ProcessResult unknown =
      RunEspalier({"place", kData + "small.yaml", "--workload", "team/nobody"});
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_THAT(unknown.errors, HasSubstr("team/nobody"));
}

TEST(PlaceInput, WarningsAreShownWithoutAskingOnceOfEachKind) {
  const std::string objects =
      "kind: ResourceFlavor\nmetadata: {name: f}\nspec: {topologyName: gone}\n---\n"
      "kind: ResourceFlavor\nmetadata: {name: g}\nspec: {topologyName: gone}\n";
  const ProcessResult result = RunEspalier({"place", "-"}, objects);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.errors,
              HasSubstr("espalier: warnings about the input:\nstandard input, object 1: "
                        "ResourceFlavor f: spec.topologyName: this Topology is not in the input"));
  EXPECT_THAT(result.errors, HasSubstr("and 1 more warnings; --verbose shows them"));
  EXPECT_THAT(RunEspalier({"place", "-", "--verbose"}, objects).errors,
              HasSubstr("ResourceFlavor g: spec.topologyName: "));
  EXPECT_EQ(RunEspalier({"place", "-", "--strict"}, objects).exit_code, 3);
}

// The Workload job-a-1 of the Job a, and a Workload b in two namespaces.
constexpr const char* kNamedWorkloads = R"(
kind: Workload
metadata:
  name: job-a-1
  namespace: team
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: a, uid: u, controller: true}]
---
kind: Workload
metadata: {name: b, namespace: team}
---
kind: Workload
metadata: {name: b, namespace: other}
)";

TEST(PlaceWorkload, IsFoundByItsOwnNameOrThatOfItsJob) {
  for (const char* name : {"team/job-a-1", "team/a", "job-a-1", "a", "other/b"}) {
    const ProcessResult result = RunEspalier({"place", "-", "--workload", name}, kNamedWorkloads);
    EXPECT_LE(result.exit_code, 1) << name << result.errors;
  }
  for (const auto& [name, error] : std::vector<std::pair<const char*, const char*>>{
           {"team/job-a-2", "workload team/job-a-2 is not in the input; there is job-a-1"},
           {"b", "2 workloads are named b: team/b, other/b; want one of them with its namespace"},
           {"other/a", "workload other/a is not in the input"},
       }) {
    const ProcessResult result = RunEspalier({"place", "-", "--workload", name}, kNamedWorkloads);
    EXPECT_EQ(result.exit_code, 3) << name;
    EXPECT_THAT(result.errors, HasSubstr(error));
  }
}

TEST(PlacePicture, OfAnUnknownResourceIsAnErrorWithTheKnownOnes) {
  const ProcessResult result =
      RunEspalier({"place", kData + "small.yaml", "--picture=nvidia.com/gpus"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.output, IsEmpty());
  EXPECT_THAT(
      result.errors,
      HasSubstr("--picture: no node has nvidia.com/gpus; there are cpu, nvidia.com/gpu, pods"));
}

// Where a terminal is narrow, and where colors are wanted.
TEST(PlaceOutput, FollowsColumnsAndColor) {
  const std::string place = "\"$E\" place " + kData + "small.yaml";
  const ProcessResult narrow = RunShell("COLUMNS=60 " + place);
  EXPECT_THAT(narrow.output,
              HasSubstr("\n    not placed: topology \"default\" allows to fit only 2"));
  for (std::size_t at = 0, end = 0; at < narrow.output.size(); at = end + 1) {
    end = narrow.output.find('\n', at);
    EXPECT_LE(end - at, 60u) << narrow.output.substr(at, end - at);
  }
  EXPECT_EQ(RunShell("COLUMNS=60 " + place + " -o wide").output, FileContent(kData + "small.wide"));
  EXPECT_THAT(RunShell(place + " --color always").output, HasSubstr("\x1b[31mnot placed: "));
  EXPECT_EQ(RunShell("TERM=xterm " + place).output, FileContent(kData + "small.table"));
}

TEST(PlaceExitCode, IsFourWithoutAServer) {
  const ProcessResult result = RunEspalier(
      {"place", kData + "fits.yaml", "--connect", "unix:/tmp/espalier-test-no-such-socket"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.errors, HasSubstr("espalier-test-no-such-socket"));
}

TEST(PlaceInput, ReadsStandardInput) {
  const ProcessResult result = RunEspalier({"place", "-"}, FileContent(kData + "small.yaml"));
  EXPECT_EQ(result.output, FileContent(kData + "small.table"));
}

TEST(PlaceInput, OnRequestTellsSizesAndTimesOnStandardError) {
  const ProcessResult result = RunEspalier({"place", kData + "small.yaml", "--verbose"});
  EXPECT_THAT(result.errors, HasSubstr("17 objects"));
  EXPECT_THAT(result.errors, HasSubstr("answered 4 workloads"));
  EXPECT_EQ(result.output, FileContent(kData + "small.table"));
}

TEST(Help, ExplainsEveryFlagWithExamples) {
  const ProcessResult help = RunEspalier({"place", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* text :
       {"FILES", "--mode", "--profile", "--feature-gates", "--threads", "--output", "--workload",
        "--simulate-empty", "--color", "--strict", "--connect", "--picture", "--verbose",
        "Examples:", "espalier place cluster.json", "Exit codes:"}) {
    EXPECT_THAT(help.output, HasSubstr(text));
  }
  EXPECT_THAT(RunEspalier({"--help"}).output, HasSubstr("place"));
}

TEST(Version, TellsHowItWasBuilt) {
  const ProcessResult version = RunEspalier({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.output, StartsWith("espalier 0."));
  EXPECT_THAT(version.output, HasSubstr("back ends: cpu"));
}

// Whoever may create an object in a cluster may choose these names.
TEST(PlaceOutput, NamesNeitherSteerTheTerminalNorForgeLines) {
  const std::string name = "a\\x1b[2J\\nteam/forged  main" + std::string(1000, 'x');
  std::string objects = FileContent(kData + "fits.yaml");
  objects.replace(objects.find("name: train"), 11, "name: \"" + name + "\"");
  const ProcessResult placed = RunEspalier({"place", "-"}, objects);
  EXPECT_THAT(placed.output, HasSubstr("team/a\\x1b[2J\\nteam/forged"));
  EXPECT_THAT(placed.output, testing::Not(HasSubstr("\x1b")));
  EXPECT_THAT(placed.output, testing::Not(HasSubstr(std::string(200, 'x'))));

  objects.replace(objects.find("count: 2"), 8, "count: x");
  const ProcessResult refused = RunEspalier({"place", "-"}, objects);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("team/a\\x1b[2J\\nteam/forged"));
  EXPECT_THAT(refused.errors, testing::Not(HasSubstr("\x1b")));
  EXPECT_THAT(refused.errors, testing::Not(HasSubstr(std::string(200, 'x'))));
}

TEST(PlaceErrors, WordsOfTheCommandLineAreEscapedToo) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"\x1b[2J"}, {"place", "file", "--x\x1b[2J"}}) {
    const ProcessResult result = RunEspalier(words);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.errors, HasSubstr("\\x1b[2J"));
    EXPECT_THAT(result.errors, testing::Not(HasSubstr("\x1b")));
  }
}

}  // namespace
}  // namespace espalier
