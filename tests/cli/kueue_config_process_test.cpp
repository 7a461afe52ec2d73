// Kueue's Configuration, among the files and given with --kueue-config.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/data_folders.hpp"
#include "tests/cli/process.hpp"

namespace espalier {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kCluster = kData + "excluded-prefix.yaml";
const std::string kConfig = kData + "kueue-config.yaml";

// The Configuration with one more line, for standard input.
std::string ConfigurationWith(const std::string& lines) {
  return "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n" + lines;
}

// Nodes look at the devices that quota does not count.
TEST(KueueConfig, LeavesDevicesToTheNodes) {
  const ProcessResult without = RunEspalier({"place", kCluster});
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_THAT(without.output, HasSubstr("resource devices.acme.com/nic unavailable"));
  EXPECT_THAT(without.errors,
              AllOf(HasSubstr("Workload team/runs: it was admitted without a flavor for "
                              "devices.acme.com/nic"),
                    HasSubstr("want ConfigMap kueue-manager-config of Kueue among the files, or "
                              "--kueue-config")));
  const ProcessResult given = RunEspalier({"place", kCluster, "--kueue-config", kConfig});
  EXPECT_EQ(given.exit_code, 1);
  EXPECT_THAT(
      given.output,
      AllOf(HasSubstr("host-2: 1 host x 2"), HasSubstr("1 placed, 1 not placed"),
            HasSubstr("doesn't allow to fit any of 3 pod(s)"), Not(HasSubstr("unavailable"))));
  EXPECT_THAT(given.errors, Not(HasSubstr("without a flavor")));
  for (const std::string output : {"table", "json", "yaml"}) {
    EXPECT_EQ(RunEspalier({"place", kCluster, kConfig, "-o", output}).output,
              RunEspalier({"place", kCluster, "--kueue-config", kConfig, "-o", output}).output);
  }
}

TEST(KueueConfig, HoldsInEveryQuestion) {
  const ProcessResult cycle = RunEspalier({"cycle", kCluster, kConfig, "--until-stable", "--now",
                                           "2026-01-02T00:00:00Z", "-o", "json"});
  EXPECT_EQ(cycle.exit_code, 1);
  EXPECT_THAT(cycle.output, AllOf(HasSubstr("\"host-2\""), Not(HasSubstr("unavailable")),
                                  Not(HasSubstr("devices.acme.com/nic\": \"2\""))));
  EXPECT_EQ(RunEspalier({"explain", "waits", kCluster, kConfig}).exit_code, 0);
  EXPECT_THAT(RunEspalier({"explain", "waits-3", kCluster, kConfig}).output,
              HasSubstr("devices.acme.com/nic"));
  const ProcessResult what_if =
      RunEspalier({"what-if", "waits-3", kCluster, kConfig, "--without", "runs"});
  EXPECT_EQ(what_if.exit_code, 0) << what_if.output << what_if.errors;
  EXPECT_THAT(what_if.output, HasSubstr("host-{1,2}: 1 host x 2, 1 host x 1"));
  const ProcessResult capacity = RunEspalier({"capacity", kCluster, kConfig});
  EXPECT_THAT(capacity.output, HasSubstr("2x{cpu=1,devices.acme.com/nic=1}"));
  using Words = std::vector<std::string>;
  for (Words words : {Words{"explain", "waits"}, Words{"victims", "waits"},
                      Words{"what-if", "waits", "--without", "runs"}}) {
    words.push_back(kCluster);
    const ProcessResult refused = RunEspalier(words);
    EXPECT_THAT(refused.errors + refused.output, HasSubstr("unavailable in ClusterQueue"))
        << words.front();
    words.push_back(kConfig);
    const ProcessResult asked = RunEspalier(words);
    EXPECT_THAT(asked.errors + asked.output, Not(HasSubstr("unavailable"))) << words.front();
  }
}

TEST(KueueConfig, GivesGatesThatTheFlagOverrides) {
  const std::string gates =
      ConfigurationWith("featureGates: {ElasticJobsViaWorkloadSlices: false, NoSuchGate: true}\n");
  const std::string elastic = "ElasticJobsViaWorkloadSlicesWithTAS=true";
  const ProcessResult off = RunEspalier(
      {"place", kCluster, kConfig, "--kueue-config", "-", "--feature-gates", elastic}, gates);
  EXPECT_EQ(off.exit_code, 3);
  EXPECT_THAT(off.errors, HasSubstr("ElasticJobsViaWorkloadSlices is off but required by"));
  const ProcessResult on = RunEspalier({"place", kCluster, "--kueue-config", "-", "--feature-gates",
                                        "ElasticJobsViaWorkloadSlices=true," + elastic},
                                       gates);
  EXPECT_EQ(on.exit_code, 1) << on.errors;
  EXPECT_THAT(on.errors, HasSubstr("feature gate NoSuchGate is not known here, and not honoured"));
}

TEST(KueueConfig, SaysWhatIsWrong) {
  const ProcessResult none = RunEspalier({"place", kCluster, "--kueue-config", kCluster});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.errors, HasSubstr("--kueue-config: " + kCluster + " has no Configuration"));
  const ProcessResult two = RunEspalier({"place", kCluster, kConfig, "-"},
                                        ConfigurationWith("manageJobsWithoutQueueName: true\n"));
  EXPECT_EQ(two.exit_code, 3);
  EXPECT_THAT(two.errors, AllOf(HasSubstr("two Configurations of Kueue: "), HasSubstr(kConfig)));
  const ProcessResult wrong =
      RunEspalier({"place", kCluster, "--kueue-config", "-"},
                  ConfigurationWith("resources: {excludeResourcePrefixes: devices}\n"));
  EXPECT_EQ(wrong.exit_code, 3);
  EXPECT_THAT(wrong.errors, HasSubstr("Configuration: resources.excludeResourcePrefixes: "));
}

TEST(KueueConfig, SaysWhichJobsAreNotManaged) {
  const std::string job_set = R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: set, namespace: team, labels: {kueue.x-k8s.io/queue-name: lq}}
spec: {replicatedJobs: [{name: a, template: {spec: {template: {spec: {containers: [{name: c}]}}}}}]}
)";
  for (const std::string command : {"place", "cycle"}) {
    const ProcessResult result = RunEspalier({command, kCluster, kConfig, "-"}, job_set);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.output + result.errors,
                HasSubstr("Kueue does not manage this JobSet: integrations.frameworks of its"))
        << command;
  }
}

TEST(KueueConfig, IsLoadedWithAStateAndCountsThere) {
  const std::string address = SocketAddress();
  BackgroundEspalier server({"serve", "--listen", address});
  ASSERT_THAT(server.ReadLine(), HasSubstr(address));
  const ProcessResult here = RunEspalier({"place", kCluster, kConfig});
  EXPECT_EQ(RunEspalier({"place", kCluster, kConfig, "--connect", address, "--load"}).output,
            here.output);
  // The state has it, so that the files need not.
  for (const std::vector<std::string>& ask :
       {std::vector<std::string>{"place", kCluster},
        {"explain", "waits", kCluster},
        {"what-if", "waits", "--without", "runs", kCluster}}) {
    std::vector<std::string> words = ask;
    words.insert(words.end(), {"--connect", address});
    const ProcessResult asked = RunEspalier(words);
    EXPECT_THAT(asked.output + asked.errors, Not(HasSubstr("unavailable"))) << ask.front();
    EXPECT_THAT(asked.output, HasSubstr("host-2")) << ask.front() << asked.errors;
  }
  const ProcessResult both = RunEspalier({"place", kCluster, kConfig, "--connect", address});
  EXPECT_THAT(both.errors, HasSubstr("the server's state has counts, not that of the files"));
  EXPECT_EQ(server.Stop(), 0);
}

// `espalier snapshot` saves it, with and without names.
TEST(KueueConfig, IsInASnapshot) {
  const std::string script =
      "d=$(mktemp -d); cat > $d/kubectl; chmod +x $d/kubectl; PATH=$d:$PATH; export d;"
      "$E snapshot -o $d/c.json; $E snapshot --redact -o $d/r.json; cat $d/calls;"
      "$E place $d/c.json 1>&2; cat $d/r.json; $E place $d/r.json 1>&2; rm -r $d";
  const std::string kubectl = R"sh(#!/bin/sh
echo "$*" >> $d/calls
case $2 in
  configmap) cat <<'E'
{"kind": "List", "items": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name":
 "kueue-manager-config", "namespace": "acme-system", "annotations": {"acme.com/note": "acme"}},
 "data": {"other": "acme", "controller_manager_config.yaml":
"apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nnamespace: acme-system\nmultiKueue: {origin: acme}\nmanagedJobsNamespaceSelector: {matchLabels: {kubernetes.io/metadata.name: acme-team}}\nresources: {excludeResourcePrefixes: [example.com/], transformations: [{input: nvidia.com/a, strategy: Replace, multiplyBy: cpu, outputs: {nvidia.com/b: 5Gi}}]}\n"}}]}
E
  ;;
  namespace) echo '{"kind": "List", "items": [
{"kind": "Namespace", "metadata": {"name": "acme-team", "labels": {"kubernetes.io/metadata.name": "acme-team"}}},
{"kind": "Namespace", "metadata": {"name": "acme-b", "labels": {"kubernetes.io/metadata.name": "acme-b"}}}]}' ;;
  job.batch) echo '{"kind": "List", "items": [
{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "acme-1", "namespace": "acme-team",
 "labels": {"kueue.x-k8s.io/queue-name": "acme"}}, "spec": {"suspend": true, "template": {"spec": {"containers": [{"name": "c"}]}}}},
{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "acme-2", "namespace": "acme-b",
 "labels": {"kueue.x-k8s.io/queue-name": "acme"}}, "spec": {"suspend": true, "template": {"spec": {"containers": [{"name": "c"}]}}}}]}' ;;
  *) echo '{"kind": "List", "items": []}' ;;
esac
)sh";
  const ProcessResult result = RunShell(script, kubectl);
  EXPECT_THAT(result.output, AllOf(HasSubstr("get configmap -A -o json --field-selector "
                                             "metadata.name=kueue-manager-config\n"),
                                   HasSubstr("excludeResourcePrefixes"), HasSubstr("5Gi"),
                                   HasSubstr("Replace"), Not(HasSubstr("acme"))));
  // Of the two jobs, one is in a namespace that the selector does not select; in both files.
  const std::string not_selected = "managedJobsNamespaceSelector";
  std::size_t told = 0;
  for (std::size_t at = result.errors.find(not_selected); at != std::string::npos;
       at = result.errors.find(not_selected, at + 1)) {
    ++told;
  }
  EXPECT_EQ(told, 2u) << result.errors;
}

}  // namespace
}  // namespace espalier
