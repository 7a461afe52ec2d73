// Every kind that describes a gang, through `espalier place`: the model, the table, the exit code.
#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/gang_files.hpp"
#include "tests/cli/process.hpp"

namespace espalier {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> Files(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kData + folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

// Golden files beside the inputs are written by hand-checking the output for them.
class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, ModelAndPlacement) {
  for (const std::string& file : Files(GetParam())) {
    const std::string base = file.substr(0, file.size() - 5);
    const ProcessResult model = RunEspalier({"place", file, "--show-model", "-o", "json"});
    EXPECT_EQ(model.exit_code, 0) << model.errors;
    EXPECT_EQ(model.output, FileContent(base + ".model.json")) << file;
    const ProcessResult placed = RunEspalier({"place", kCluster, file, "--guess-flavor"});
    EXPECT_EQ(placed.output, FileContent(base + ".table")) << file << placed.errors;
  }
}

class GoldenTrees : public testing::TestWithParam<std::string> {};

// The same files, placed as the trees that they are; those of which Kueue can say all are placed as
// before.
TEST_P(GoldenTrees, ArePlaced) {
  for (const std::string& file : Files(GetParam())) {
    const std::string base = file.substr(0, file.size() - 5);
    const ProcessResult placed =
        RunEspalier({"place", kCluster, file, "--guess-flavor", "--profile", "espalier"});
    const std::string tree = base + ".espalier.table";
    const std::string golden = std::filesystem::exists(tree) ? tree : base + ".table";
    EXPECT_EQ(placed.output, FileContent(golden)) << file << placed.errors;
    EXPECT_THAT(placed.errors, Not(HasSubstr("one after the other, each on its own"))) << file;
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, Golden,
                         testing::Values("gang-api", "kinds", "manifests", "segments"));
INSTANTIATE_TEST_SUITE_P(Workloads, GoldenTrees, testing::Values("gang-api", "segments"));

TEST(Gangs, AFolderOfEveryKindIsOneTable) {
  const ProcessResult result = RunEspalier({"place", kCluster, kData + "kinds"});
  EXPECT_EQ(result.exit_code, 1) << "one kind is unknown, and some pods wait";
  for (const char* text :
       {"default/concurrent", "default/serving-1", "default/parallel", "default/inference-1",
        "default/notebooks", "default/mpi ", "default/torch", "default/tf", "default/fine-tune",
        "default/wrapped", "default/grouped", "default/my-training-workers-0", "default/workers-0",
        "default/root", "default/pg-train", "default/ordered "}) {
    EXPECT_THAT(result.output, HasSubstr(text));
  }
  EXPECT_THAT(result.output, HasSubstr("asks for pods (spec.tasks[0].template.spec)"));
  EXPECT_THAT(result.output, HasSubstr("Workload nowhere is not in the input; 2 pods wait for it"));
  EXPECT_THAT(result.output, Not(HasSubstr("inference-5d")));
  EXPECT_THAT(result.errors, HasSubstr("pod set main: not looked at, as in Kueue: 1 host port"));
}

TEST(Gangs, TheModelComesAsYamlToo) {
  const ProcessResult result =
      RunEspalier({"place", kData + "gang-api/2-unindexed-job.yaml", "--show-model", "-o", "yaml"});
  EXPECT_THAT(result.output, HasSubstr("mode: \"Off\""));
  const ProcessResult table =
      RunEspalier({"place", kData + "gang-api/2-unindexed-job.yaml", "--show-model"});
  EXPECT_THAT(table.output, HasSubstr("gang group, Off"));
}

// An object of an unknown kind is named, with its kind and why.
TEST(Gangs, WhatIsNotUnderstoodIsNamed) {
  const ProcessResult result = RunEspalier({"place", kData + "kinds/unknown.yaml"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output,
              HasSubstr("Job of batch.example.com/v1alpha1 is not a kind that is read"));
  EXPECT_THAT(result.errors, HasSubstr("skipped: 1 ConfigMap"));
}

// Cycles take what is placed of the kinds, too, and leave out what cannot be.
TEST(Gangs, CyclesAdmitThem) {
  const ProcessResult result = RunEspalier({"cycle", kCluster, kData + "kinds", "--until-stable"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("default/concurrent"));
  EXPECT_THAT(result.output, Not(HasSubstr("default/elsewhere")));
  EXPECT_THAT(result.errors, HasSubstr("workload default/elsewhere is left out: Job of batch"));
}

// KEP-2724's first form of a request is read, and what is not known of one is named.
TEST(Gangs, TheFirstTopologyRequestIsRead) {
  const auto workload = [](const std::string& request) {
    return R"(
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata: {name: w, namespace: default}
spec:
  queueName: gpu
  podSets:
    - name: main
      count: 2
      topologyRequest: )" +
           request + R"(
      template: {spec: {containers: [{name: main, resources: {requests: {nvidia.com/gpu: 16}}}]}}
)";
  };
  const ProcessResult early = RunEspalier({"place", kCluster, "-"},
                                          workload("{policy: Required, level: example.com/rack}"));
  EXPECT_EQ(early.exit_code, 0) << early.errors;
  EXPECT_THAT(early.output, HasSubstr("required rack"));
  const ProcessResult wrong = RunEspalier({"place", kCluster, "-"},
                                          workload("{policy: Sometimes, level: example.com/rack}"));
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.errors, HasSubstr("want Required or Preferred"));
  const std::string unknown = workload("{required: example.com/rack, colour: red}");
  EXPECT_THAT(RunEspalier({"place", kCluster, "-"}, unknown).errors,
              HasSubstr("topologyRequest.colour: the key colour is unknown, and not honoured"));
  EXPECT_EQ(RunEspalier({"place", kCluster, "-", "--strict"}, unknown).exit_code, 3);
}

// W1.6.
TEST(Gangs, AnInnerLevelAboveTheOuterOneIsAnError) {
  const ProcessResult result = RunEspalier({"place", kCluster, "-"}, R"(
apiVersion: scheduling/v1alpha1
kind: Workload
metadata: {name: w}
spec:
  topologyRequest: {required: example.com/rack}
  gangGroups:
    - name: gg
      topologyRequest: {required: example.com/block}
      eqGroups: [{count: 2, template: {resources: {limits: {cpu: 1}}}}]
)");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, HasSubstr("gangGroup gg requires example.com/block, which is above "
                                       "example.com/rack that the workload around it requires"));
}

// Replicas of two pod sets in one rack each, all in one block, of which some wait.
constexpr const char* kTree = R"(
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: w, labels: {kueue.x-k8s.io/queue-name: gpu}}
spec:
  replicas: 3
  leaderWorkerTemplate:
    size: 4
    workerTemplate: {spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: 16}}}]}}
---
apiVersion: scheduling/v1alpha1
kind: Workload
metadata: {name: w}
spec:
  controllerRef: {name: w, kind: LeaderWorkerSet, apiGroup: leaderworkerset.x-k8s.io}
  replicaMode: ReplicatedGangs
  topologyRequest: {required: example.com/block}
  gangGroups:
    - name: gg
      topologyRequest: {required: example.com/rack}
      eqGroups:
        - name: pods
          count: 4
          template: {spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: 16}}}]}}
)";

TEST(Profiles, KueueDecidesEachUnitAndSaysWhatItLeavesOut) {
  const ProcessResult result = RunEspalier({"place", kCluster, "-"}, kTree);
  EXPECT_EQ(result.exit_code, 1) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("default/w-2"));
  EXPECT_THAT(result.output, HasSubstr("3 of the placed not as asked"));
  EXPECT_THAT(result.errors, HasSubstr("required example.com/block is not honoured"));
}

TEST(Profiles, EspalierPlacesTheTree) {
  const ProcessResult table = RunEspalier({"place", kCluster, "-", "--profile", "espalier"}, kTree);
  EXPECT_EQ(table.exit_code, 1) << "a replica waits";
  EXPECT_THAT(table.errors, Not(HasSubstr("not honoured")));
  EXPECT_THAT(table.output, HasSubstr("required block  block    b0"));
  EXPECT_THAT(table.output, HasSubstr("gg[1]/rg/pods"));
  EXPECT_THAT(table.output, HasSubstr("gg[2]"));
  EXPECT_THAT(table.output, HasSubstr("1 of the placed in part"));
  const ProcessResult json =
      RunEspalier({"place", kCluster, "-", "--profile", "espalier", "-o", "json"}, kTree);
  EXPECT_THAT(json.output, HasSubstr(R"("status": "PlacedInPart")"));
  EXPECT_THAT(json.output, HasSubstr(R"("group": "gg[1]/rg/pods")"));
  EXPECT_THAT(json.output, HasSubstr(R"("status": "Undecided")")) << "two racks a block";
  const ProcessResult model = RunEspalier(
      {"place", kCluster, "-", "--show-model", "--profile", "espalier", "-o", "json"}, kTree);
  EXPECT_THAT(model.output, Not(HasSubstr("not honoured")));
  const ProcessResult picture =
      RunEspalier({"place", kCluster, "-", "--profile", "kep5732", "--picture"}, kTree);
  EXPECT_EQ(picture.exit_code, 1) << picture.errors;
}

TEST(Profiles, AServerAnswersTheSame) {
  const std::string place = "\"$E\" place " + kCluster + " " + kData +
                            "gang-api/6-trainjob-mpi.yaml " + kData +
                            "kinds --guess-flavor --profile espalier -o json";
  const ProcessResult here = RunShell(place);
  const ProcessResult there = RunShell(
      "d=$(mktemp -d); \"$E\" serve --listen unix:$d/s > /dev/null 2>&1 & p=$!; "
      "while [ ! -S $d/s ]; do sleep 0.01; done; " +
      place + " --connect unix:$d/s --load; kill $p; wait $p; rm -r $d");
  EXPECT_THAT(here.output, HasSubstr("nestedPlacement"));
  EXPECT_EQ(there.output, here.output) << there.errors;
}

TEST(Profiles, NotNowAndNeverAreToldApart) {
  const auto job = [](const std::string& name, int pods) {
    return "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name +
           ", labels: {kueue.x-k8s.io/queue-name: gpu}}\nspec: {parallelism: " +
           std::to_string(pods) + ", completions: " + std::to_string(pods) +
           ", template: {metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: "
           "example.com/block}}, spec: {containers: [{name: c, resources: {requests: "
           "{nvidia.com/gpu: 16}}}]}}}\n";
  };
  const std::string jobs = job("a", 8) + job("b", 8) + job("c", 8) + job("d", 9);
  const ProcessResult table = RunEspalier({"place", kCluster, "-"}, jobs);
  EXPECT_EQ(table.exit_code, 1);
  EXPECT_THAT(table.output, HasSubstr("not now: the nodes could hold it, were they empty"));
  EXPECT_THAT(table.output, HasSubstr("never: the nodes could not hold it, were they all empty"));
  const ProcessResult yaml = RunEspalier({"place", kCluster, "-", "-o", "yaml"}, jobs);
  EXPECT_THAT(yaml.output, HasSubstr("espalier.dev/verdict: \"NotNow\""));
  EXPECT_THAT(yaml.output, HasSubstr("espalier.dev/verdict: \"Never\""));
}

}  // namespace
}  // namespace espalier
