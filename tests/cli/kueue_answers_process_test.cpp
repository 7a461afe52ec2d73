// Jobs that Kueue refuses or admits in part, clusters with gates of their own, and pods on drained
// nodes: what the commands say of them.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/cli/process.hpp"
#include "tests/cli/queue_of_one.hpp"

namespace espalier {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kCluster = QueueOfOne("cpu: \"4\"", "cpu: 100");

std::string Job(int pods, const std::string& metadata = "", const std::string& of_pods = "") {
  return fmt::format(
      "---\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: job, namespace: team, labels: "
      "{{kueue.x-k8s.io/queue-name: lq}}{}}}\nspec: {{parallelism: {}, template: {{{}spec: "
      "{{containers: [{{name: c, resources: {{requests: {{cpu: 1}}}}}}]}}}}}}\n",
      metadata, pods, of_pods);
}

const std::string kTwoTopologies =
    "metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: kubernetes.io/hostname, "
    "kueue.x-k8s.io/podset-preferred-topology: kubernetes.io/hostname}}, ";

TEST(RefusedJobs, NeverComeToBe) {
  const std::string input = kCluster + Job(1, "", kTwoTopologies);
  for (const std::string command : {"place", "cycle"}) {
    const ProcessResult result = RunEspalier({command, "-"}, input);
    EXPECT_EQ(result.exit_code, 1) << command;
    EXPECT_THAT(result.output + result.errors,
                AllOf(HasSubstr("Kueue's webhook refuses Job team/job, which never comes to be: "
                                "spec.template.metadata.annotations: Invalid value: "),
                      HasSubstr("must not contain more than one topology annotation"),
                      Not(HasSubstr("n1: 1 host"))))
        << command;
  }
  const ProcessResult explained = RunEspalier({"explain", "job", "-"}, input);
  EXPECT_NE(explained.exit_code, 0);
  EXPECT_THAT(explained.output + explained.errors,
              HasSubstr("Kueue's webhook refuses Job team/job"));
  // Only Kueue has that webhook.
  EXPECT_THAT(RunEspalier({"place", "-", "--profile", "espalier"}, input).output,
              Not(HasSubstr("webhook")));
}

// It is there already, whatever would be said of it now.
TEST(RefusedJobs, AreNotThoseThatExist) {
  const ProcessResult result =
      RunEspalier({"place", "-"}, kCluster + Job(1, ", uid: u-1", kTwoTopologies));
  EXPECT_THAT(result.output, Not(HasSubstr("webhook refuses Job")));
}

TEST(RefusedJobs, AreThoseWithoutAWorkloadToo) {
  const ProcessResult prebuilt = RunEspalier(
      {"place", "-"},
      kCluster + Job(1, ", annotations: {kueue.x-k8s.io/prebuilt-workload-name: mine}"));
  EXPECT_EQ(prebuilt.exit_code, 1);
  EXPECT_THAT(prebuilt.output,
              HasSubstr("Kueue makes no Workload of it: prebuilt workload not found"));
}

TEST(FewerPods, ArePlacedWhereAllHaveNoRoom) {
  const std::string partial = ", annotations: {kueue.x-k8s.io/job-min-parallelism: \"2\"}";
  const ProcessResult result = RunEspalier({"place", "-"}, kCluster + Job(6, partial));
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_THAT(result.output, AllOf(HasSubstr("4 of 6"), HasSubstr("n1: 1 host x 4"),
                                   HasSubstr("with fewer pods, as its minimum allows"),
                                   HasSubstr("1 of the placed with fewer pods")));
  // As a cycle does.
  EXPECT_THAT(RunEspalier({"cycle", "-"}, kCluster + Job(6, partial)).output,
              HasSubstr("n1: 1 host x 4"));
  EXPECT_THAT(RunEspalier({"place", "-", "-o", "json"}, kCluster + Job(6, partial)).output,
              AllOf(HasSubstr("\"count\": 4"), HasSubstr("espalier.dev/fewer-pods")));
}

TEST(FewerPods, AreExplained) {
  const std::string input =
      kCluster + Job(6, ", annotations: {kueue.x-k8s.io/job-min-parallelism: \"2\"}");
  const ProcessResult result = RunEspalier({"explain", "job", "-"}, input);
  EXPECT_EQ(result.exit_code, 0) << result.output << result.errors;
  EXPECT_THAT(result.output, AllOf(HasSubstr("with 4 of 6 pods, as its minimum allows"),
                                   HasSubstr("n1: 1 host x 4"),
                                   HasSubstr("allows to fit only 4 out of 6 pod(s)")));
  EXPECT_THAT(RunEspalier({"explain", "job", "-", "-o", "json"}, input).output,
              AllOf(HasSubstr("\"fewerPods\": true"), HasSubstr("\"fits\": true")));
  const ProcessResult above =
      RunEspalier({"explain", "job", "-"},
                  kCluster + Job(6, ", annotations: {kueue.x-k8s.io/job-min-parallelism: \"5\"}"));
  EXPECT_EQ(above.exit_code, 1);
  EXPECT_THAT(above.output, Not(HasSubstr("as its minimum allows")));
}

TEST(FewerPods, AreNotPlacedBelowTheMinimum) {
  const ProcessResult result =
      RunEspalier({"place", "-"},
                  kCluster + Job(6, ", annotations: {kueue.x-k8s.io/job-min-parallelism: \"5\"}"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("allows to fit only 4 out of 6 pod(s)"));
}

// What comes later finds the room that is left.
TEST(FewerPods, LeaveNoRoomToThoseAfterThem) {
  std::string second = Job(1);
  second.replace(second.find("name: job"), 9, "name: zzz");
  const std::string input =
      kCluster + Job(6, ", annotations: {kueue.x-k8s.io/job-min-parallelism: \"2\"}") + second;
  EXPECT_THAT(RunEspalier({"place", "-"}, input).output,
              AllOf(HasSubstr("4 of 6"), HasSubstr("1 placed, 1 not placed")));
  EXPECT_THAT(RunEspalier({"place", "-", "--mode", "nominate"}, input).output,
              AllOf(HasSubstr("4 of 6"), HasSubstr("2 placed, 0 not placed")));
}

class TwoClusters : public testing::Test {
 protected:
  TwoClusters()
      : folder_(std::filesystem::temp_directory_path() / fmt::format("two-{}", getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~TwoClusters() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << text;
    return path;
  }

  std::filesystem::path folder_;
};

// Pods without constraints go to the nodes with the least room first, of which two are full then
// (R9.6), or with the gate TASProfileMixed off to the node with the most, which leaves room.
TEST_F(TwoClusters, GoByTheGatesOfTheirOwnConfigurations) {
  std::string nodes;
  for (const int cpu : {2, 3}) {
    nodes += fmt::format(
        "---\napiVersion: v1\nkind: Node\nmetadata: {{name: m{0}, labels: {{pool: a, "
        "kubernetes.io/hostname: m{0}}}}}\nstatus: {{allocatable: {{cpu: \"{0}\", pods: \"110\"}}, "
        "conditions: [{{type: Ready, status: \"True\"}}]}}\n",
        cpu);
  }
  const std::string gates =
      "---\napiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfeatureGates: "
      "{TASProfileMixed: false, NoSuchGate: true}\n";
  const std::string east = Write("east.yaml", kCluster + nodes + gates);
  const std::string west = Write("west.yaml", kCluster + nodes);
  const std::string jobs = Write(
      "jobs.yaml", kCluster + Job(5, "",
                                  "metadata: {annotations: "
                                  "{kueue.x-k8s.io/podset-unconstrained-topology: \"true\"}}, "));
  const auto ask = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"place",        jobs,        "--cluster",
                                      "east=" + east, "--cluster", "west=" + west};
    words.insert(words.end(), more.begin(), more.end());
    return RunEspalier(words);
  };
  const ProcessResult own = ask({});
  EXPECT_EQ(own.exit_code, 0) << own.output << own.errors;
  EXPECT_THAT(own.errors, HasSubstr("feature gate NoSuchGate is not known here"));
  EXPECT_LT(own.output.find("west"), own.output.find("east")) << own.output;
  const ProcessResult same = ask({"--feature-gates", "TASProfileMixed=true"});
  EXPECT_LT(same.output.find("east"), same.output.find("west")) << same.output;
}

// The cluster with the most pods comes first, and one that holds the minimum of no flavor last.
TEST_F(TwoClusters, HoldFewerPodsWhereTheyMay) {
  const auto with_cpu = [&](const std::string& name, int cpu) {
    return name + "=" +
           Write(name + ".yaml", QueueOfOne(fmt::format("cpu: \"{}\"", cpu), "cpu: 100"));
  };
  const std::string jobs = Write(
      "jobs.yaml", kCluster + Job(6, ", annotations: {kueue.x-k8s.io/job-min-parallelism: \"2\"}"));
  std::vector<std::string> words = {"place", jobs};
  for (const auto& [name, cpu] : {std::pair("a", 3), std::pair("b", 5), std::pair("c", 1)}) {
    words.insert(words.end(), {"--cluster", with_cpu(name, cpu)});
  }
  const ProcessResult table = RunEspalier(words);
  EXPECT_EQ(table.exit_code, 0) << table.output << table.errors;
  EXPECT_LT(table.output.find("1 pod fewer than it asks for, as its minimum allows"),
            table.output.find("3 pods fewer than it asks for, as its minimum allows"))
      << table.output;
  EXPECT_THAT(table.output, AllOf(HasSubstr("does-not-fit"),
                                  HasSubstr("1 of 1 workload can be held by a cluster")));
  words.insert(words.end(), {"-o", "json"});
  EXPECT_THAT(RunEspalier(words).output, HasSubstr("\"podsLeftOut\": 1"));
}

TEST(DrainedNodes, HaveOtherPodsToo) {
  const auto pod = [](const std::string& name, const std::string& metadata) {
    return fmt::format(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {}, namespace: web{}}}\nspec: "
        "{{nodeName: n1, containers: [{{name: c, resources: {{requests: {{cpu: 100m}}}}}}]}}\n"
        "status: {{phase: Running}}\n",
        name, metadata);
  };
  const std::string input =
      kCluster + Job(1) + pod("a", "") + pod("b", "") +
      pod("d",
          ", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: u, "
          "controller: true}]");
  const ProcessResult what_if = RunEspalier({"what-if", "job", "-", "--drain", "n1"}, input);
  EXPECT_THAT(what_if.output,
              AllOf(HasSubstr("drained: 1 node, with pods of 0 admitted workloads\n"),
                    HasSubstr("also there: 2 other pods, which go too (to where is not looked "
                              "at); 1 pod of DaemonSets or of the nodes themselves\n")))
      << what_if.errors;
  EXPECT_THAT(RunEspalier({"what-if", "job", "-", "--drain", "n1", "-o", "json"}, input).output,
              AllOf(HasSubstr("\"otherPods\": 2"), HasSubstr("\"daemonPods\": 1")));
  EXPECT_THAT(RunEspalier({"drain", "n1", "-"}, input).output,
              HasSubstr("also there: 2 other pods, which go too"));
}

// A ReplicaSet is no kind that Kueue has a webhook for.
TEST(ValidateObjects, NamesKindsWithoutAWebhook) {
  const ProcessResult result = RunEspalier(
      {"validate-objects", "-"},
      "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: r, namespace: team}\nspec: "
      "{replicas: 1, template: {spec: {containers: [{name: c}]}}}\n");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("not looked at: 1 ReplicaSet"));
}

}  // namespace
}  // namespace espalier
