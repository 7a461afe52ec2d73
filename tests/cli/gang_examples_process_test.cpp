// The nine examples of the gang API's document, with their owners, their Workloads and their pods.
#include <fstream>
#include <functional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/gang_files.hpp"
#include "tests/cli/process.hpp"

namespace espalier::gang_examples_process_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// A pod without a node; `link` is what it says in spec.workload, `labels` and `resources` are maps.
std::string PodText(const std::string& name, const std::string& link, const std::string& labels,
                    const std::string& resources) {
  return fmt::format(
      "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {}, labels: {{{}}}}}\n"
      "spec: {{workload: {{{}}}, containers: [{{name: main, resources: {{limits: {{{}}}}}}}]}}\n",
      name, labels, link, resources);
}

std::string IndexedPods(const std::string& name, int count, const std::string& link,
                        const std::string& label, const std::string& resources) {
  std::string pods;
  for (int i = 0; i < count; ++i) {
    pods += PodText(fmt::format("{}-{}", name, i), link, fmt::format("{}: \"{}\"", label, i),
                    resources);
  }
  return pods;
}

// Leader and worker of each of the two replicas, in no order.
std::string PodsOfReplicas() {
  std::string pods;
  for (const auto& [group, worker] : {std::pair(1, 1), {0, 0}, {1, 0}, {0, 1}}) {
    pods += PodText(
        worker == 0 ? fmt::format("vllm-{}", group) : fmt::format("vllm-{}-{}", group, worker),
        "name: w-vllm",
        fmt::format("leaderworkerset.sigs.k8s.io/name: vllm, "
                    "leaderworkerset.sigs.k8s.io/group-index: \"{}\", "
                    "leaderworkerset.sigs.k8s.io/group-key: k{}, "
                    "leaderworkerset.sigs.k8s.io/worker-index: \"{}\"",
                    group, 7 - group, worker),
        "nvidia.com/gpu: \"8\", memory: 1124Gi, ephemeral-storage: 800Gi, cpu: 125");
  }
  return pods;
}

struct Example {
  std::string name;  // of its file
  std::string pods;
};

std::vector<Example> Examples() {
  const std::string completion = "batch.kubernetes.io/job-completion-index";
  const std::string index = "apps.kubernetes.io/pod-index";
  return {
      {"1-indexed-job", IndexedPods("job-1", 100, "name: w-job-1, gangGroup: gg, rankedGroup: rg",
                                    completion, "nvidia.com/gpu: 1")},
      {"2-unindexed-job",
       IndexedPods("job-2", 50, "name: w-job-2", "pod", "memory: 50G, cpu: 16000")},
      {"3-parallel-statefulset", IndexedPods("ss-1", 4, "name: w-ss-1", index, "cpu: 1")},
      {"4-in-order-statefulset",
       IndexedPods("ss-2", 3, "name: w-ss-1", index, "memory: 100G, cpu: 10000")},
      {"5-trainjob",
       IndexedPods("example-train-job-node", 18, "name: w-tjob-1", completion, "cpu: 1")},
      {"6-trainjob-mpi", PodText("mpi-init", "name: w-tjob-mpi, gangGroup: dataset-initializer",
                                 "a: b", "cpu: 5, memory: 20Gi") +
                             IndexedPods("mpi-node", 10, "name: w-tjob-mpi, gangGroup: trainer",
                                         completion, "nvidia.com/gpu: 2")},
      {"7-deployment", PodText("t5-inference-x", "name: w-t5-inference", "app: t5",
                               "nvidia.com/gpu: 1, cpu: 3, memory: 16Gi, ephemeral-storage: 10Gi")},
      {"8-leaderworkerset", PodsOfReplicas()},
      {"9-jobset",
       IndexedPods("jobset-1", 3, "name: w-jobset-1", completion, "cpu: 10000, memory: 100G")},
  };
}

// The documents of a YAML file that are a Workload of the gang API, or those that are not.
std::string Documents(const std::string& yaml, bool workloads) {
  std::string kept;
  for (std::size_t at = 0; at < yaml.size();) {
    const std::size_t end = std::min(yaml.find("\n---\n", at), yaml.size());
    const std::string document = yaml.substr(at, end - at);
    const bool is_workload = document.find("apiVersion: scheduling/") != std::string::npos;
    if (is_workload == workloads) kept += document + "\n---\n";
    at = end == yaml.size() ? end : end + 5;
  }
  return kept;
}

std::string LastLine(const std::string& text) {
  return text.substr(text.rfind('\n', text.size() - 2) + 1);
}

// Returns how the input is read, and where its pods go; of a long table the last line alone.
std::string Answer(const std::string& title, const std::string& input) {
  constexpr std::ptrdiff_t kMostLines = 16;
  const ProcessResult model = RunEspalier({"place", "-", "--show-model"}, input);
  const ProcessResult placed = RunEspalier({"place", kCluster, "-", "--guess-flavor"}, input);
  const bool is_short = std::ranges::count(placed.output, '\n') <= kMostLines;
  return fmt::format("== {}\n{}{}{}\n", title, model.output + model.errors,
                     is_short ? placed.output : LastLine(placed.output),
                     placed.exit_code == 0 ? "" : fmt::format("exit code {}\n", placed.exit_code));
}

// W7, W8.1, W8.3.
TEST(GangExamples, FromOwnersWorkloadsAndPods) {
  std::string all;
  for (const Example& example : Examples()) {
    const std::string yaml = FileContent(kData + "gang-api/" + example.name + ".yaml");
    const std::string owner = Documents(yaml, false);
    const std::string workload = Documents(yaml, true);
    if (!owner.empty()) all += Answer(example.name + ": owner", owner);
    all += Answer(example.name + ": owner and Workload", owner + workload);
    all += Answer(example.name + ": Workload and pods", workload + example.pods);
    all += Answer(example.name + ": owner, Workload and pods", owner + workload + example.pods);
  }
  const std::string golden = ESPALIER_SOURCE_DIR "/tests/cli/data/gang-examples.txt";
  EXPECT_EQ(all, FileContent(golden));
  if (HasFailure()) std::ofstream(testing::TempDir() + "gang-examples.txt") << all;
}

// A cluster of two blocks with two racks of two hosts of 4 CPUs each.
std::string SmallCluster() {
  std::string text = R"(
apiVersion: kueue.x-k8s.io/v1beta1
kind: Topology
metadata: {name: t}
spec: {levels: [{nodeLabel: block}, {nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: f}
spec: {nodeLabels: {pool: f}, topologyName: t}
)";
  for (const char* host :
       {"b1r1h1", "b1r1h2", "b1r2h1", "b1r2h2", "b2r1h1", "b2r1h2", "b2r2h1", "b2r2h2"}) {
    text += fmt::format(
        "---\napiVersion: v1\nkind: Node\nmetadata: {{name: {0}, labels: {{pool: f, block: {1}, "
        "rack: {2}, kubernetes.io/hostname: {0}}}}}\nstatus: {{allocatable: {{cpu: \"4\", pods: "
        "\"110\"}}, conditions: [{{type: Ready, status: \"True\"}}]}}\n",
        host, std::string(host, 2), std::string(host, 4));
  }
  return text + "---\n";
}

std::string Deployment(int replicas) {
  return fmt::format(
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d}}\nspec: {{replicas: {}, "
      "template: {{spec: {{containers: [{{name: c, resources: {{requests: {{cpu: 1}}}}}}]}}}}}}\n"
      "---\n",
      replicas);
}

std::string WorkloadOf(const std::string& spec) {
  return "apiVersion: scheduling/v1alpha1\nkind: Workload\nmetadata: {name: w}\nspec: {" + spec +
         "}\n---\n";
}

ProcessResult Place(const std::string& input, const std::string& profile = "kueue") {
  return RunEspalier({"place", "-", "--guess-flavor", "--profile", profile},
                     SmallCluster() + input);
}

// W1.3, W1.6: as many pods as fit are placed in one domain, in every profile, and the others told.
TEST(BestEffortPods, AsManyAsFitShareTheDomain) {
  const std::string groups = "gangGroups: [{name: gg, gangMode: \"Off\", ";
  const std::string pods = "eqGroups: [{count: 20, template: {resources: {requests: {cpu: 1}}}}]}]";
  for (const std::string& spec : {
           "topologyRequest: {required: block}, " + groups + pods,
           groups + "topologyRequest: {required: block}, " + pods,
           "topologyRequest: {required: block, preferred: rack}, " + groups + pods,
           "topologyRequest: {required: block}, replicaMode: ReplicatedPods, replicas: 20, " +
               groups + pods,
       }) {
    for (const char* profile : {"kueue", "espalier", "kep5732"}) {
      const ProcessResult result = Place(WorkloadOf(spec), profile);
      EXPECT_EQ(result.exit_code, 1) << spec;
      EXPECT_THAT(result.output, HasSubstr("16 of 20")) << spec << profile;
      EXPECT_THAT(result.output, HasSubstr("not placed: 4 pods more")) << spec << profile;
      EXPECT_THAT(result.output, Not(HasSubstr("b2"))) << spec << profile;
    }
  }
}

// W1.2: replicas that are pods of a Deployment, by a request of its Workload.
TEST(BestEffortPods, ReplicasThatArePodsShareTheDomain) {
  const std::string workload = WorkloadOf(
      "controllerRef: {name: d, kind: Deployment, apiGroup: apps}, replicaMode: ReplicatedPods, "
      "topologyRequest: {required: rack}, gangGroups: [{name: gg, gangMode: \"Off\"}]");
  const ProcessResult whole = Place(Deployment(8) + workload);
  EXPECT_EQ(whole.exit_code, 0) << whole.errors;
  EXPECT_THAT(whole.output, HasSubstr("required rack"));
  const ProcessResult part = Place(Deployment(9) + workload);
  EXPECT_EQ(part.exit_code, 1);
  EXPECT_THAT(part.output, HasSubstr("8 of 9"));
}

// A preferred level keeps no pod back that another domain has room for.
TEST(BestEffortPods, APreferredLevelHoldsNoneBack) {
  const ProcessResult result = Place(WorkloadOf(
      "topologyRequest: {preferred: rack}, gangGroups: [{name: gg, gangMode: \"Off\", eqGroups: "
      "[{count: 12, template: {resources: {requests: {cpu: 1}}}}]}]"));
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("w  "));
  EXPECT_THAT(result.errors, HasSubstr("preferred rack keeps none of them back"));
}

TEST(BestEffortPods, AreTheReasonWhereNoneFits) {
  const ProcessResult result = Place(WorkloadOf(
      "topologyRequest: {required: block}, gangGroups: [{name: gg, gangMode: \"Off\", eqGroups: "
      "[{count: 3, template: {resources: {requests: {cpu: 5}}}}]}]"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("not placed: no domain of block has room"));
}

// R25.10, R25.11.
TEST(RankPlacements, AreReadFromADescription) {
  const std::string pods = "eqGroups: [{count: 6, template: {resources: {requests: {cpu: 1}}}}]";
  const auto ranked = [&](const std::string& policy) {
    return WorkloadOf(
        "topologyRequest: {required: block}, gangGroups: [{name: gg, rankedGroups: [{name: rg, "
        "podRank: {valueFrom: {fieldRef: {fieldPath: \"metadata.labels['rank']\"}}}, "
        "rankPlacement: {policy: " +
        policy + ", level: rack}, " + pods + "}]}]");
  };
  const ProcessResult balanced = Place(ranked("Balanced"), "espalier");
  EXPECT_THAT(balanced.output, HasSubstr("ranks balanced over rack"));
  EXPECT_THAT(balanced.output, HasSubstr("b1/b1r{1,2}: 2 hosts x 3")) << balanced.errors;
  const ProcessResult striped = Place(ranked("Striped"), "espalier");
  EXPECT_THAT(striped.output, HasSubstr("ranks striped over rack"));
  EXPECT_EQ(striped.exit_code, 0) << striped.errors;
  const std::string together = WorkloadOf(
      "gangGroups: [{name: gg, rankPlacement: {policy: Together, level: kubernetes.io/hostname}, "
      "rankedGroups: [{name: actor, " +
      pods + "}, {name: learner, " + pods + "}]}]");
  const ProcessResult pairs = Place(together, "espalier");
  EXPECT_EQ(pairs.exit_code, 0) << pairs.errors << pairs.output;
  EXPECT_THAT(pairs.output, HasSubstr("equal ranks together over host"));
  EXPECT_THAT(Place(ranked("Balanced")).errors,
              HasSubstr("rankPlacement of rankedGroup rg: Balanced over rack is not honoured"));
  EXPECT_THAT(Place(ranked("Together")).errors, HasSubstr("there is no such policy here"));
}

// W1.5: what-if says whether pods fit at their largest too.
TEST(LargestSize, IsAskedOfWhatIf) {
  const std::string workload = WorkloadOf(
      "gangGroups: [{name: gg, eqGroups: [{count: 8, template: {resources: {requests: {cpu: 3}}}, "
      "maxTemplate: {resources: {requests: {cpu: 6}}}}]}]");
  const std::string queues =
      "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: q}\nspec: "
      "{namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, "
      "resources: [{name: cpu, nominalQuota: 100}]}]}]}\n---\napiVersion: kueue.x-k8s.io/v1beta1\n"
      "kind: LocalQueue\nmetadata: {name: q, namespace: default}\nspec: {clusterQueue: q}\n---\n";
  std::string asked = workload;
  asked.replace(asked.find("{name: w}"), 9, "{name: w, labels: {kueue.x-k8s.io/queue-name: q}}");
  const ProcessResult result =
      RunEspalier({"what-if", "w", "-", "--drain", "b2r2h2"}, SmallCluster() + queues + asked);
  EXPECT_THAT(result.output, HasSubstr("then, at its largest")) << result.errors;
}

}  // namespace
}  // namespace espalier::gang_examples_process_test
