// `espalier resize` as a process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"
#include "tests/cli_cycle/files.hpp"

namespace espalier {
namespace {

using testing::HasSubstr;
using testing::Not;

ProcessResult Resize(const std::string& to, const std::vector<std::string>& options = {}) {
  std::vector<std::string> arguments = {
      "resize", kData + "elastic.yaml", "--workload", "train", "--to", to};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return RunEspalier(arguments);
}

TEST(ResizeOutput, TellsWhichPodsLeave_W5_2) {
  const ProcessResult result = Resize("main=2");
  EXPECT_EQ(result.output,
            "Workload team/job-train-1f2e3: changes in place.\n"
            "Pods afterwards: main=2\n"
            "\n"
            "POD SET  LEAVE  FROM\n"
            "main     2      b1\n"
            "\n"
            "FLAVOR  RESOURCE        USED\n"
            "gpu     nvidia.com/gpu  2\n");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

TEST(ResizeOutput, PlacesTheDifferenceNearTheOldPods_W5_3) {
  const ProcessResult result = Resize("main=10");
  EXPECT_THAT(result.output, HasSubstr("is replaced by a new slice.\n"));
  EXPECT_THAT(result.output,
              HasSubstr("job-train-1f2e3-slice-2  main=10  main: a1:3, a2:4, b1:3\n"));
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

TEST(ResizeOutput, SaysWhyASliceWaits) {
  const ProcessResult result = Resize("main=11");
  EXPECT_THAT(result.output, HasSubstr("runs on; its new slice waits.\nPods wanted: main=11\n"));
  EXPECT_THAT(result.output,
              HasSubstr("insufficient unused quota for nvidia.com/gpu in flavor gpu, "
                        "1 more needed"));
  EXPECT_EQ(result.exit_code, 1);
}

TEST(ResizeOutput, ForScripts) {
  EXPECT_EQ(Resize("main=6", {"-o", "json"}).output, FileContent(kData + "resize.json"));
  EXPECT_EQ(Resize("main=12", {"--slices", "per-replica", "-o", "yaml"}).output,
            FileContent(kData + "replicas.yaml"));
  EXPECT_EQ(Resize("main=12", {"--slices", "per-replica"}).exit_code, 1);
}

TEST(ResizeOutput, ProfileEspalierFreesWholeDomains_W5_2) {
  EXPECT_THAT(Resize("main=3").output, HasSubstr("main     1      b1\n"));
  EXPECT_THAT(Resize("main=3", {"--profile", "espalier"}).output,
              HasSubstr("main     1      a1\n"));
}

TEST(ResizeOutput, RefusesWithKueuesWords_R20_3) {
  const ProcessResult result =
      Resize("main=6", {"--feature-gates", "ElasticJobsViaWorkloadSlices=false"});
  EXPECT_THAT(result.output, HasSubstr("keeps its size.\n  the feature gate "
                                       "ElasticJobsViaWorkloadSlices is off\n"));
  EXPECT_EQ(result.exit_code, 1);
}

TEST(ResizeOutput, TheSlicesOfAJobAreNamedByIt) {
  const std::string slices = kData + "slices.yaml";
  std::string text = FileContent(kData + "elastic.yaml");
  for (const char* old : {"about to be replaced", "replaced"}) {
    const ProcessResult result =
        RunEspalier({"resize", "-", slices, "--workload", "train", "--to", "main=5"}, text);
    EXPECT_THAT(result.output, HasSubstr("Workload team/job-train-slice-2: changes in place.\n"))
        << old << result.errors;
    const std::string admitted = "{type: Admitted, status: \"True\", reason: Admitted}";
    const auto at = text.find(admitted);
    if (at == std::string::npos) break;
    text.replace(at, admitted.size(),
                 "{type: Finished, status: \"True\", reason: WorkloadSliceReplaced}");
  }
}

ProcessResult Flow(const std::vector<std::string>& options = {}) {
  std::vector<std::string> arguments = {"resize",    "--multikueue",
                                        "--manager", kData + "multikueue/manager.yaml",
                                        "--worker",  "east=" + kData + "multikueue/worker.yaml"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return RunEspalier(arguments);
}

TEST(ResizeAcrossClusters, ShowsWhoWritesWhat_W6) {
  const ProcessResult result = Flow();
  EXPECT_EQ(result.output, FileContent(kData + "multikueue/up.table"));
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(Flow({"-o", "json"}).output, FileContent(kData + "multikueue/up.json"));
}

TEST(ResizeAcrossClusters, AStepThatWaitsIsTheLast_W6) {
  const ProcessResult result = Flow({"--to", "small-group=9"});
  EXPECT_THAT(result.output, HasSubstr("insufficient unused quota for cpu in flavor default"));
  EXPECT_EQ(result.exit_code, 1);
}

TEST(ResizeAcrossClusters, FindsTheJobAmongSeveralWorkers_W6_5) {
  const std::string worker = kData + "multikueue/worker.yaml";
  ProcessResult result = Flow({"--worker", "west=" + kData + "elastic.yaml"});
  EXPECT_EQ(result.output, FileContent(kData + "multikueue/up.table"));
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  result = Flow({"--worker", "west=" + worker});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, HasSubstr("the worker clusters have several jobs: team/ray in east, "
                                       "team/ray in west"));
  result = Flow({"--worker", "manager=" + worker});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, HasSubstr("a worker cluster is called \"manager\""));
}

TEST(ResizeAcrossClusters, TakesOnlyCountsThatCanBe) {
  for (const auto& [to, error] :
       {std::pair("mall-group=3", "has no pod set \"mall-group\"; it has head, small-group"),
        std::pair("small-group=-1", "the count of pod set \"small-group\" is -1"),
        std::pair("small-group=9223372036854775807", "it lies in 0 to 2147483647"),
        std::pair("small-group=2,small-group=3", "pod set \"small-group\" is given two counts")}) {
    const ProcessResult result = Flow({"--to", to});
    EXPECT_EQ(result.exit_code, 3) << to;
    EXPECT_THAT(result.errors, HasSubstr(error));
  }
}

TEST(ResizeAcrossClusters, ARefusalIsTheLastStep) {
  const ProcessResult result = Flow({"--feature-gates", "ElasticJobsViaWorkloadSlices=false"});
  EXPECT_THAT(result.output, HasSubstr("3     manager "));
  EXPECT_THAT(result.output, Not(HasSubstr("4     ")));
  EXPECT_THAT(result.output, HasSubstr("refused: the feature gate ElasticJobsViaWorkloadSlices"));
  EXPECT_EQ(result.exit_code, 1);
}

TEST(ResizeAcrossClusters, ASuspendedJobIsSaidToBe) {
  std::string text = FileContent(kData + "multikueue/worker.yaml");
  const std::string spec = "  submissionMode: HTTPMode\n";
  text.replace(text.find(spec), spec.size(), spec + "  suspend: true\n");
  const ProcessResult result =
      RunEspalier({"resize", "--multikueue", "--manager", kData + "multikueue/manager.yaml",
                   "--worker", "east=-", "-o", "json"},
                  text);
  EXPECT_THAT(result.output, HasSubstr("\"suspended\": true"));
  EXPECT_THAT(result.output, Not(HasSubstr("\"suspended\": false")));
  EXPECT_THAT(result.output, HasSubstr("waits: for the worker's job controller"));
  EXPECT_EQ(result.exit_code, 1);
}

TEST(ResizeAcrossClusters, NamesWhatIsMissing_W8_10) {
  ProcessResult result = Flow({"--workload", "other"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, HasSubstr("the worker cluster has no job other"));
  result = RunEspalier({"resize", "--multikueue", "--manager", kData + "multikueue/manager.yaml"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("--worker is required"));
}

const std::string kRay = kData + "ray/";

ProcessResult ResizeRay(const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {"resize", "--workload", "ray-wl"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  for (const char* file : {"cluster.yaml", "workload.yaml", "raycluster.yaml"}) {
    arguments.push_back(kRay + file);  // also behind --to, which takes one word
  }
  return RunEspalier(arguments);
}

TEST(ResizeOfRay, PodsOfSeveralPodSetsCountOnce_W5_3_W8_9) {
  const std::vector<std::vector<std::string>> ways = {
      {"--profile", "espalier"},
      {"--slices", "per-replica"},
      {"--profile", "espalier", "--slices", "per-replica"}};
  for (const std::vector<std::string>& way : ways) {
    std::vector<std::string> options = way;
    options.insert(options.end(), {"--to", "small-group=7"});  // with the head the 8 cpu there are
    ProcessResult result = ResizeRay(options);
    EXPECT_THAT(result.output, HasSubstr("Pods afterwards: head=1, small-group=7\n"));
    EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
    options.back() = "small-group=8";
    result = ResizeRay(options);
    EXPECT_THAT(result.output, HasSubstr("waits: ")) << result.errors;
    EXPECT_EQ(result.exit_code, 1);
    options.back() = "head=0,small-group=8";  // mixed: the head's room is free
    result = ResizeRay(options);
    EXPECT_THAT(result.output, HasSubstr("Pods afterwards: head=0, small-group=8\n"));
    EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
    options.back() = "small-group=2";
    EXPECT_THAT(ResizeRay(options).output, HasSubstr("changes in place.\n"));
  }
}

TEST(ResizeOfRay, SaysThatKueueCountsThePodsTwice_R16_8) {
  const ProcessResult result = ResizeRay({"--to", "small-group=7"});
  EXPECT_THAT(result.errors, HasSubstr("counted once, as profile espalier does, it fits"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(ResizeRay({"--to", "small-group=8"}).errors, Not(HasSubstr("counted once")));
}

TEST(ResizeOfRay, ScriptsSeeWhatIsWrittenToTheParent_W8_9) {
  const ProcessResult result =
      ResizeRay({"--slices", "per-replica", "-o", "yaml", "--to", "small-group=8"});
  EXPECT_THAT(result.output, HasSubstr("    kueue.x-k8s.io/folded-workload-slices: "
                                       "\"ray-wl-replica-1,ray-wl-replica-2,ray-wl-replica-3\"\n"));
  EXPECT_THAT(result.output, HasSubstr("    - type: \"ResizeRequested\"\n"
                                       "      status: \"True\"\n"
                                       "      reason: \"SlicesPending\"\n"));
}

TEST(ResizeOfRay, AutoscalingOptsIn_W5) {
  const ProcessResult result = RunEspalier({"cycle", kRay + "cluster.yaml", kRay + "workload.yaml",
                                            kRay + "raycluster.yaml", "--until-stable"});
  EXPECT_THAT(result.errors,
              HasSubstr("workload team/ray-wl counts as elastic, as its RayCluster team/ray is\n"));
  EXPECT_THAT(result.output, HasSubstr("team/ray-wl-slice-2"));
  const ProcessResult without =
      RunEspalier({"resize", "--workload", "ray-wl", "--to", "small-group=2", kRay + "cluster.yaml",
                   kRay + "workload.yaml"});
  EXPECT_THAT(without.output, HasSubstr("is not elastic"));
  EXPECT_EQ(without.exit_code, 1);
}

// The story of a RayJob whose RayCluster Ray changes, from each of its first steps.
TEST(ResizeOfRay, TheFlowStartsWhereTheObjectsAre_W6) {
  const std::string worker = FileContent(kRay + "worker.yaml");
  const auto flow = [&](const std::string& manager, const std::string& text) {
    return RunEspalier({"resize", "--multikueue", "--manager", manager, "--worker", "east=-"},
                       text);
  };
  ProcessResult result = flow(kRay + "manager.yaml", worker);
  EXPECT_THAT(result.output,
              HasSubstr("1     worker      RayJob team/ray wants head=1, small-group=5, its "
                        "workload has head=1, small-group=1"));
  EXPECT_THAT(result.output, HasSubstr("pods: 4 of small-group start"));
  EXPECT_EQ(result.exit_code, 0) << result.errors;

  std::string reported = worker;
  const std::string uid = "  uid: wl-1\n";
  reported.insert(reported.find(uid),
                  "  annotations: {kueue.x-k8s.io/scale-request: '{\"small-group\":5}'}\n");
  result = flow(kRay + "manager.yaml", reported);
  EXPECT_THAT(result.output, HasSubstr("1     multikueue  workload team/ray-wl of the worker"));
  EXPECT_THAT(result.output, HasSubstr("pods: 4 of small-group start"));
  EXPECT_EQ(result.exit_code, 0) << result.errors;

  std::string fewer = worker;  // as many as there are
  fewer.replace(fewer.find("replicas: 5"), 11, "replicas: 1");
  EXPECT_THAT(flow(kRay + "manager.yaml", fewer).output, HasSubstr("Nothing to do"));
}

TEST(ResizeAcrossClusters, TakesNoOptionThatItWouldNotHonour) {
  EXPECT_EQ(Flow({"--profile", "espalier"}).exit_code, 2);
}

TEST(SlicesOfAJob, AreOneVictim_W5_5) {
  const std::vector<std::string> files = {kData + "elastic.yaml", kData + "slices.yaml"};
  ProcessResult result = RunEspalier(
      {"victims", "urgent", files[0], files[1], "--policy", "LowerPriority", "-o", "json"});
  EXPECT_THAT(result.output, HasSubstr("\"candidates\": 1"));
  EXPECT_THAT(result.output, HasSubstr("\"pods\": 10"));
  EXPECT_THAT(result.output, HasSubstr("\"slices\": [\n"));
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  for (const char* named :
       {"job-train-1f2e3", "job-train-slice-2", "train", "job-train-1f2e3,job-train-slice-2"}) {
    result = RunEspalier({"what-if", "urgent", files[0], files[1], "--without", named});
    EXPECT_THAT(result.output, HasSubstr("once the first 1 of 1 are gone; of these, must go: "
                                         "team/job-train-1f2e3, team/job-train-slice-2\n"));
    EXPECT_EQ(result.exit_code, 0) << result.errors;
  }
}

ProcessResult Dispatch(const std::vector<std::string>& options = {}) {
  std::vector<std::string> arguments = {"place",     kData + "dispatch/jobs.yaml",
                                        "--cluster", "west=" + kData + "dispatch/west.yaml",
                                        "--cluster", "east=" + kData + "elastic.yaml",
                                        "--cluster", "north="};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return RunEspalier(arguments);
}

TEST(PlaceOverClusters, BestFirstAndUnknownIsNotNo_W6_6) {
  const ProcessResult result = Dispatch();
  EXPECT_EQ(result.output, FileContent(kData + "dispatch/all.table"));
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(Dispatch({"-o", "json"}).output, FileContent(kData + "dispatch/all.json"));
  EXPECT_EQ(Dispatch({"-o", "yaml", "--workload", "small"}).output,
            FileContent(kData + "dispatch/small.yaml"));
}

TEST(PlaceOverClusters, ExitCodes) {
  const std::string jobs = kData + "dispatch/jobs.yaml";
  ProcessResult result =
      RunEspalier({"place", jobs, "--cluster", "west=" + kData + "dispatch/west.yaml"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("1 of 2 workloads can be held by a cluster\n"));
  result = RunEspalier({"place", jobs, "--cluster", "west"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("--cluster: west is not NAME=FILE, as in east=east.json"));
  result = RunEspalier({"place", jobs, "--cluster", "west=" + kData + "nowhere.yaml"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, HasSubstr("cluster west: "));
  EXPECT_EQ(Dispatch({"--connect", "127.0.0.1:1"}).exit_code, 2);
  EXPECT_EQ(Dispatch({"--workload", "nobody"}).exit_code, 3);
}

TEST(PlaceOverClusters, AClusterWithoutTheQueueIsUnknown_W6_6) {
  const ProcessResult result = RunEspalier(
      {"place", kData + "dispatch/jobs.yaml", "--cluster", "east=" + kData + "elastic_job.yaml"});
  EXPECT_THAT(result.output, HasSubstr("unknown"));
  EXPECT_THAT(result.output, HasSubstr("LocalQueue team/gpu is not in the input"));
  EXPECT_EQ(result.exit_code, 1);
}

// The job of the workload wants ten pods by now.
TEST(ResizeInACycle, AJobThatGrewGetsItsSlice_R21_13) {
  const ProcessResult result =
      RunEspalier({"cycle", kData + "elastic.yaml", kData + "elastic_job.yaml", "--until-stable",
                   "--feature-gates", "ElasticJobsViaWorkloadSlicesWithTAS=true", "-o", "jsonl"});
  EXPECT_THAT(result.errors, HasSubstr("workload team/job-train-1f2e3 grows: slice "
                                       "job-train-1f2e3-slice-2 asks to replace it"));
  EXPECT_THAT(result.output, HasSubstr("\"workload\": \"team/job-train-1f2e3-slice-2\", "
                                       "\"status\": \"assumed\""));
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

TEST(ResizeExitCode, WrongCommandLinesAndInput) {
  for (const char* to : {"main=x", "main", "=3", "main=3.5"}) {
    const ProcessResult result = Resize(to);
    EXPECT_EQ(result.exit_code, 2) << to;
    EXPECT_THAT(result.errors, HasSubstr("is not NAME=COUNT, as in workers=10"));
  }
  EXPECT_THAT(Resize("main=99999999999999999999").errors, HasSubstr("it lies in 0 to 2147483647"));
  EXPECT_THAT(Resize("main=3,main=4").errors, HasSubstr("pod set \"main\" is given two counts"));
  EXPECT_THAT(Resize("main=2147483647", {"--slices", "per-replica"}).errors,
              HasSubstr("2147483643 slices per replica would be made; at most 10000 are at once"));
  const ProcessResult result = Resize("mian=3");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, HasSubstr("has no pod set \"mian\"; it has main"));
}

}  // namespace
}  // namespace espalier
