// Kueue's Configuration of a server and in snapshots; transcripts/kueue-config.txt shows what it
// does.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/data_folders.hpp"
#include "tests/cli/process.hpp"

namespace espalier::kueue_config_process_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kCluster = kData + "excluded-prefix.yaml";
const std::string kConfig = kData + "kueue-config.yaml";

TEST(KueueConfig, IsTheSameAmongTheFiles) {
  for (const std::string output : {"table", "json", "yaml"}) {
    EXPECT_EQ(RunEspalier({"place", kCluster, kConfig, "-o", output}).output,
              RunEspalier({"place", kCluster, "--kueue-config", kConfig, "-o", output}).output);
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
  // One of the two jobs is in a namespace that the selector does not select, in both files.
  const std::string not_selected = "managedJobsNamespaceSelector";
  std::size_t told = 0;
  for (std::size_t at = result.errors.find(not_selected); at != std::string::npos;
       at = result.errors.find(not_selected, at + 1)) {
    ++told;
  }
  EXPECT_EQ(told, 2u) << result.errors;
}

}  // namespace
}  // namespace espalier::kueue_config_process_test
