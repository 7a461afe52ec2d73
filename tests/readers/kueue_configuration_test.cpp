#include "host/readers/kueue_configuration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/readers/cluster_text.hpp"

namespace espalier::kueue_configuration_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

// The Configuration that Kueue's manifests install, cut.
constexpr const char* kDefaults = R"(
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
health: {healthProbeBindAddress: ":8081"}
metrics: {bindAddress: ":8443"}
webhook: {port: 9443}
leaderElection: {leaderElect: true, resourceName: c1f6bfd2.kueue.x-k8s.io}
controller: {groupKindConcurrency: {Job.batch: 5, Pod: 5}}
clientConnection: {qps: 50, burst: 100}
integrations:
  frameworks: [batch/job, jobset.x-k8s.io/jobset, pod]
)";

constexpr const char* kResources = R"(
apiVersion: config.kueue.x-k8s.io/v1beta1
kind: Configuration
resources:
  excludeResourcePrefixes: [networking.example.com/]
  transformations:
  - input: nvidia.com/mig-1g.5gb
    strategy: Replace
    outputs: {example.com/accelerator-memory: 5Gi, example.com/credits: -1}
  - input: example.com/gpumem
    multiplyBy: example.com/gpu
    outputs: {example.com/total: 500m}
featureGates: {TASBalancedPlacement: true, QuotaCheckStrategy: false}
)";

std::string InConfigMap(std::string_view text, const std::string& name = "kueue-manager-config") {
  std::string indented;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    indented += fmt::format("    {}\n", text.substr(at, end - at));
    at = end + 1;
  }
  return fmt::format(
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}, namespace: kueue-system}}\ndata:\n"
      "  controller_manager_config.yaml: |\n{}",
      name, indented);
}

TEST(KueueConfiguration, IsAnObjectOrTheTextOfAConfigMap) {
  for (const std::string& text : {std::string(kResources), InConfigMap(kResources),
                                  InConfigMap(kResources, "acme-manager-config")}) {
    const auto read = TryRead(text);
    ASSERT_TRUE(read) << ErrorOf(read);
    ASSERT_TRUE(read->cluster.configuration);
    const KueueConfiguration& configuration = *read->cluster.configuration;
    EXPECT_THAT(configuration.excluded_prefixes, ElementsAre("networking.example.com/"));
    ASSERT_EQ(configuration.transformations.size(), 2u);
    EXPECT_EQ(configuration.transformations[0],
              (ResourceTransformation{"nvidia.com/mig-1g.5gb",
                                      false,
                                      "",
                                      {{"example.com/accelerator-memory", *ParseQuantity("5Gi")},
                                       {"example.com/credits", *ParseQuantity("-1")}}}));
    EXPECT_EQ(configuration.transformations[1],
              (ResourceTransformation{"example.com/gpumem",
                                      true,
                                      "example.com/gpu",
                                      {{"example.com/total", *ParseQuantity("500m")}}}));
    EXPECT_THAT(configuration.feature_gates,
                ElementsAre(Pair("QuotaCheckStrategy", false), Pair("TASBalancedPlacement", true)));
    EXPECT_THAT(configuration.frameworks, ElementsAre("batch/job")) << "as Kueue's default";
    EXPECT_EQ(read->diagnostics.warning_count(), 0u) << read->diagnostics.RenderWarnings();
    EXPECT_EQ(SkippedLine(read->facts), "");
  }
}

TEST(KueueConfiguration, AsItIsInstalledIsUnderstoodAsAWhole) {
  const auto read = TryRead(kDefaults, /*strict=*/true);
  ASSERT_TRUE(read) << ErrorOf(read);
  EXPECT_THAT(read->cluster.configuration->frameworks,
              ElementsAre("batch/job", "jobset.x-k8s.io/jobset", "pod"));
  EXPECT_FALSE(Selects(read->cluster.configuration->managed_namespaces,
                       {{"kubernetes.io/metadata.name", "kueue-system"}}));
  EXPECT_TRUE(Selects(read->cluster.configuration->managed_namespaces,
                      {{"kubernetes.io/metadata.name", "team"}}));
}

TEST(KueueConfiguration, OfSomethingElseIsNone) {
  const auto read = TryRead(
      InConfigMap("apiVersion: acme.com/v1\nkind: Configuration\n", "acme") +
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: kube-root-ca}\n" +
      "---\napiVersion: serving.knative.dev/v1\nkind: Configuration\n" + "metadata: {name: x}\n");
  ASSERT_TRUE(read) << ErrorOf(read);
  EXPECT_FALSE(read->cluster.configuration);
  EXPECT_THAT(SkippedLine(read->facts), HasSubstr("1 ConfigMap"));
}

TEST(KueueConfiguration, NamesWhatIsWrong) {
  const std::string text = R"(
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
integrations: {frameworks: [batch/job, batch/jobs, acme/job]}
featureGates: {TASBalancedPlacement: "yes"}
manageJobsWithoutQueueName: 1
managedJobsNamespaceSelector: {matchExpressions: [{key: a, operator: Is}]}
resources:
  quotaCheckStrategy: Ignore
  transformations:
  - {input: a, strategy: Keep, outputs: {b: 1x}}
  - {input: a}
  - {outputs: {c: 1}}
)";
  const std::string errors = ErrorOf(TryRead(InConfigMap(text)));
  for (const char* error : {
           "f: ConfigMap kueue-system/kueue-manager-config, controller_manager_config.yaml: "
           "integrations.frameworks[1]: Kueue has no such integration, got \"batch/jobs\"; want "
           "batch/job",
           "integrations.frameworks[2]: Kueue has no such integration, got \"acme/job\"; want "
           "batch/job, deployment, ",
           "featureGates.TASBalancedPlacement: it is not true or false, got \"yes\"",
           "manageJobsWithoutQueueName: it is not",
           "managedJobsNamespaceSelector.matchExpressions[0].operator: this operator does not "
           "exist",
           "resources.quotaCheckStrategy: there is no such strategy, got \"Ignore\"; want "
           "BlockUndeclared or IgnoreUndeclared",
           "resources.transformations[0].strategy: there is no such strategy, got \"Keep\"; want "
           "Retain or Replace",
           "resources.transformations[0].outputs.b: it is not a quantity",
           "resources.transformations[1].input: another transformation has this input, got \"a\"",
           "resources.transformations[2].input: ",
       }) {
    EXPECT_THAT(errors, HasSubstr(error));
  }
  EXPECT_THAT(
      ErrorOf(TryRead(R"(
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
resources: {quotaCheckStrategy: IgnoreUndeclared, excludeResourcePrefixes: [x]}
)")),
      HasSubstr("f: Configuration: resources.quotaCheckStrategy: excludeResourcePrefixes is "
                "not allowed when quotaCheckStrategy is IgnoreUndeclared"));
}

TEST(KueueConfiguration, NamesWhatIsNotHonoured) {
  const auto read = TryRead(InConfigMap(R"(
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
waitForPodsReady: {timeout: 5m}
fairSharing: {preemptionStrategies: [LessThanInitialShare]}
integrations: {podOptions: {podSelector: {matchLabels: {a: b}}}, newOption: 1}
resources:
  deviceClassMappings: [{name: m, deviceClassNames: [mig], sources: [{counter: {name: c}}], more: 1}]
  excludeResourcePrefix: [x]
manageEverything: true
)"));
  ASSERT_TRUE(read) << ErrorOf(read);
  const std::string warnings = read->diagnostics.RenderWarnings();
  for (const char* warning : {
           "waitForPodsReady: it is not simulated",
           "fairSharing: it is not simulated",
           "integrations.podOptions: it is not honoured",
           "integrations.newOption: the key newOption is unknown, and not honoured",
           "resources.deviceClassMappings[0].sources: what devices have of counters and "
           "capacities is not read",
           "resources.deviceClassMappings[0].more: the key more is unknown, and not honoured",
           "resources.excludeResourcePrefix: the key excludeResourcePrefix is unknown",
           "manageEverything: the key manageEverything is unknown, and not honoured",
       }) {
    EXPECT_THAT(warnings, HasSubstr(warning));
  }
  // v1beta1 has to turn it on.
  const auto off = TryRead(
      "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\n"
      "waitForPodsReady: {timeout: 5m}\nfairSharing: {enable: false}\n",
      /*strict=*/true);
  EXPECT_TRUE(off) << ErrorOf(off);
}

// R30.7
TEST(KueueConfiguration, MapsEachDeviceClassOnce) {
  const auto mappings = [](const std::string& list) {
    return fmt::format(
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
        "resources: {{deviceClassMappings: [{}]}}\n",
        list);
  };
  const auto read = TryRead(mappings("{name: acme.com/gpu, deviceClassNames: [a, b]}"));
  ASSERT_TRUE(read) << ErrorOf(read);
  EXPECT_EQ(read->cluster.configuration->device_classes,
            (std::vector<DeviceClassMapping>{{"acme.com/gpu", {"a", "b"}}}));
  EXPECT_EQ(read->diagnostics.RenderWarnings(), "");
  for (const auto& [list, error] : std::vector<std::pair<std::string, std::string>>{
           {"{name: x, deviceClassNames: [a]}, {name: y, deviceClassNames: [b, a]}",
            "deviceClassMappings[1].deviceClassNames: DeviceClass a is mapped to x already"},
           {"{name: x, deviceClassNames: [a, a]}", "DeviceClass a is mapped to x already"},
           {"{name: x, deviceClassNames: [a]}, {name: x, deviceClassNames: [b]}",
            "deviceClassMappings[1].name: another mapping has this name"},
           {"{name: x}", "deviceClassMappings[0]: it names 0 DeviceClasses; want 1 to 8"},
           {"{deviceClassNames: [a]}", "name"},
           {"{name: x, deviceClassNames: [a, b, c, d, e, f, g, h, i]}", "it names 9 DeviceClasses"},
       }) {
    EXPECT_THAT(ErrorOf(TryRead(mappings(list))), HasSubstr(error));
  }
}

TEST(KueueConfiguration, ThatSaysNothingBecauseOfAGateIsSaid) {
  const auto read = TryRead(R"(
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
resources: {quotaCheckStrategy: IgnoreUndeclared}
featureGates: {QuotaCheckStrategy: false}
)");
  ASSERT_TRUE(read) << ErrorOf(read);
  EXPECT_FALSE(read->cluster.configuration->ignore_undeclared);
  EXPECT_THAT(read->diagnostics.RenderWarnings(),
              HasSubstr("resources.quotaCheckStrategy: it has no effect, as the feature gate "
                        "QuotaCheckStrategy is off"));
}

TEST(KueueConfiguration, CountsOnceOfTwoThatSayTheSame) {
  const auto read = TryRead(std::string(kResources) + "---\n" + InConfigMap(kResources));
  ASSERT_TRUE(read) << ErrorOf(read);
  EXPECT_TRUE(read->cluster.configuration);
  EXPECT_THAT(read->diagnostics.RenderWarnings(),
              HasSubstr("two Configurations of Kueue that say the same, f, object 1 and f, object "
                        "2: ConfigMap kueue-system/kueue-manager-config"));
  EXPECT_THAT(ErrorOf(TryRead(InConfigMap(kDefaults) + "---\n" + InConfigMap(kResources, "other"))),
              AllOf(HasSubstr("f, object 1: ConfigMap kueue-system/kueue-manager-config"),
                    HasSubstr("f, object 2: ConfigMap kueue-system/other"),
                    HasSubstr("want one Configuration, or --kueue-config")));
}

TEST(KueueConfiguration, MayBeATextThatCannotBeRead) {
  EXPECT_THAT(ErrorOf(TryRead(InConfigMap("a: [b\n"))),
              HasSubstr("f: ConfigMap kueue-system/kueue-manager-config: "
                        "data[controller_manager_config.yaml]: it is not valid YAML"));
  EXPECT_THAT(ErrorOf(TryRead(InConfigMap("a: 1\n---\nb: 2\n"))),
              HasSubstr("it holds 2 YAML documents"));
  EXPECT_THAT(ErrorOf(TryRead(InConfigMap("apiVersion: v1\nkind: Node\n"))),
              HasSubstr("it is not Kueue's Configuration"));
  EXPECT_THAT(
      ErrorOf(TryRead(R"({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "x"},
          "data": {"controller_manager_config.yaml": "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nresources: {transformations: [{input: a, outputs: {b: 1e999}}]}"}})")),
      HasSubstr("resources.transformations[0].outputs.b: "));
  const auto none =
      TryRead("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kueue-manager-config}\n");
  ASSERT_TRUE(none) << ErrorOf(none);
  EXPECT_THAT(none->diagnostics.RenderWarnings(),
              HasSubstr("it does not have Kueue's Configuration, and is skipped"));
}

TEST(KueueConfiguration, GivenCountsInThePlaceOfTheInputs) {
  KueueConfiguration given;
  given.excluded_prefixes = {"given"};
  const auto read = ReadClusterText("f", InConfigMap("not: ours"), {.configuration = &given});
  ASSERT_TRUE(read) << ErrorOf(read);
  EXPECT_EQ(read->cluster.configuration, given);
  EXPECT_TRUE(HasConfiguration(read->facts));
}

// A job of each kind in a namespace, and two queues.
constexpr const char* kJobs = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: default, namespace: with-default}
spec: {clusterQueue: cq}
---
apiVersion: v1
kind: Namespace
metadata: {name: labelled, labels: {managed: "true"}}
---
apiVersion: v1
kind: Namespace
metadata: {name: plain}
)";

std::string Job(const std::string& name, const std::string& name_space, bool with_queue = true) {
  return fmt::format(
      "---\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: {}, namespace: {}{}}}\n"
      "spec: {{template: {{spec: {{containers: [{{name: c}}]}}}}}}\n",
      name, name_space, with_queue ? ", labels: {kueue.x-k8s.io/queue-name: lq}" : "");
}

std::string JobSet(const std::string& name_space) {
  return fmt::format(
      "---\napiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\n"
      "metadata: {{name: set, namespace: {}, labels: {{kueue.x-k8s.io/queue-name: lq}}}}\n"
      "spec: {{replicatedJobs: [{{name: a, template: {{spec: {{template: {{spec: {{containers: "
      "[{{name: c}}]}}}}}}}}}}]}}\n",
      name_space);
}

std::string PodWithQueue() {
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: pod, namespace: plain, labels: "
         "{kueue.x-k8s.io/queue-name: lq}}\nspec: {containers: [{name: c}]}\n";
}

// "name: reason" of each workload, by name.
std::vector<std::string> Refusals(const std::string& configuration, const std::string& jobs,
                                  Trees trees = Trees::kNone) {
  const auto read = ReadClusterText(
      "f",
      fmt::format("{}\n---\napiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n{}{}",
                  kJobs, configuration, jobs),
      {.trees = trees});
  if (!read) return {ErrorOf(read)};
  std::vector<std::string> refusals;
  for (const Workload& workload : read->cluster.workloads) {
    refusals.push_back(workload.key.name + ": " + workload.refusal);
  }
  std::ranges::sort(refusals);
  return refusals;
}

constexpr const char* kSetIsOff =
    "set: Kueue does not manage this JobSet: integrations.frameworks of its Configuration does not "
    "have jobset.x-k8s.io/jobset";

TEST(ManagedJobs, AreThoseOfFrameworksThatAreOn) {
  const std::string jobs = Job("job", "plain") + JobSet("plain") + PodWithQueue();
  EXPECT_THAT(Refusals("", jobs),
              ElementsAre("job: ",
                          "pod: Kueue does not manage this Pod: integrations.frameworks of its "
                          "Configuration does not have pod",
                          kSetIsOff))
      << "without a list that of batch Jobs alone is on";
  EXPECT_THAT(Refusals("integrations: {frameworks: [jobset.x-k8s.io/jobset, statefulset]}\n", jobs),
              ElementsAre("job: Kueue does not manage this Job: integrations.frameworks of its "
                          "Configuration does not have batch/job",
                          "pod: ", "set: "))
      << "StatefulSets need that of pods";
  EXPECT_THAT(Refusals("integrations: {externalFrameworks: [JobSet.v1alpha2.jobset.x-k8s.io]}\n",
                       JobSet("plain")),
              ElementsAre("set: "));
  EXPECT_THAT(Refusals("", JobSet("plain"), Trees::kNested), ElementsAre(kSetIsOff));
  EXPECT_THAT(Refusals("", JobSet("plain"), Trees::kAll), ElementsAre("set: "))
      << "profile kep5732 does without Kueue";
}

TEST(ManagedJobs, HaveAQueueOrAreManagedWithoutOne) {
  const std::string jobs =
      Job("a", "plain", false) + Job("b", "with-default", false) + Job("c", "plain");
  EXPECT_THAT(Refusals("", jobs),
              ElementsAre("a: Kueue does not manage this Job: it has no label "
                          "kueue.x-k8s.io/queue-name, and manageJobsWithoutQueueName of its "
                          "Configuration is not set",
                          "b: ", "c: "));
  EXPECT_THAT(Refusals("manageJobsWithoutQueueName: true\n", jobs),
              ElementsAre("a: ", "b: ", "c: "));
}

TEST(ManagedJobs, AreInSelectedNamespaces) {
  const std::string jobs =
      Job("a", "plain") + Job("b", "labelled") + Job("c", "unknown") + Job("d", "kueue-system");
  const auto not_selected = [](const std::string& name, const std::string& name_space) {
    return fmt::format(
        "{}: Kueue does not manage this Job: managedJobsNamespaceSelector of its "
        "Configuration does not select namespace {}",
        name, name_space);
  };
  EXPECT_THAT(Refusals("", jobs),
              ElementsAre("a: ", "b: ", "c: ", not_selected("d", "kueue-system")));
  EXPECT_THAT(Refusals("managedJobsNamespaceSelector: {matchLabels: {managed: \"true\"}}\n", jobs),
              ElementsAre(not_selected("a", "plain"), "b: ", "c: ", "d: "))
      << "labels that are not known count as selected";
  EXPECT_THAT(Refusals("managedJobsNamespaceSelector: {matchExpressions: [{key: "
                       "kubernetes.io/metadata.name, operator: In, values: [plain]}]}\n",
                       jobs),
              ElementsAre("a: ", not_selected("b", "labelled"), not_selected("c", "unknown"),
                          not_selected("d", "kueue-system")));
}

// Quota did not count what an admitted workload has no flavor for.
TEST(KueueConfiguration, ThatIsMissingIsNoticed) {
  const std::string workload = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: runs, namespace: team}
spec:
  podSets:
  - name: main
    count: 1
    template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1, example.com/rdma: 1}}}]}}
status:
  admission:
    clusterQueue: cq
    podSetAssignments: [{name: main, count: 1, flavors: {cpu: f}, resourceUsage: {cpu: 1}}]
  conditions: [{type: QuotaReserved, status: "True"}]
)";
  const auto read = TryRead(workload);
  ASSERT_TRUE(read) << ErrorOf(read);
  EXPECT_THAT(read->diagnostics.RenderWarnings(),
              HasSubstr("f: Workload team/runs: it was admitted without a flavor for "
                        "example.com/rdma, which Kueue's Configuration leaves out of quota"));
  const auto with = TryRead(workload + "---\n" + kResources);
  ASSERT_TRUE(with) << ErrorOf(with);
  EXPECT_THAT(with->diagnostics.RenderWarnings(), Not(HasSubstr("without a flavor")));
}

}  // namespace
}  // namespace espalier::kueue_configuration_test
