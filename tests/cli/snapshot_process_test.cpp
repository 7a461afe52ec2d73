// `espalier snapshot` with a stand-in for kubectl.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"

namespace espalier {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kDump = ESPALIER_SOURCE_DIR "/tests/data/dumps/before.json.gz";
const std::string kMore = ESPALIER_SOURCE_DIR "/tests/data/dumps/extra.json";

// Runs a script in a folder of its own, whose `kubectl` is `stand_in` and comes first on PATH.
ProcessResult WithKubectl(const std::string& stand_in, const std::string& script) {
  return RunShell(
      "d=$(mktemp -d); cat > $d/kubectl; chmod +x $d/kubectl; PATH=$d:$PATH; export d; " + script +
          "; code=$?; rm -r $d; exit $code",
      "#!/bin/sh\n" + stand_in);
}

// A node, a pod and a Topology; no other type is known.
constexpr const char* kSmallCluster = R"(
echo "$*" >> $d/calls
case $2 in
  node) echo '{"kind": "List", "items": [{"kind": "Node", "metadata": {"name": "acme-1"}}]}' ;;
  topology.kueue.x-k8s.io)
    echo '{"kind": "List", "items": []}' ;;
  *) echo "error: the server doesn't have a resource type \"$2\"" >&2; exit 1 ;;
esac
)";

TEST(Snapshot, AsksForEveryTypeThatIsRead) {
  const ProcessResult result = WithKubectl(
      kSmallCluster, "$E snapshot --context lab -o $d/c.json.gz; cat $d/calls; zcat $d/c.json.gz");
  EXPECT_THAT(result.output, AllOf(HasSubstr("get node -A -o json --context lab\n"),
                                   HasSubstr("get clusterqueue.kueue.x-k8s.io -A -o json"),
                                   HasSubstr("get job.batch -A -o json"),
                                   HasSubstr("get runtimeclass.node.k8s.io -A -o json"),
                                   HasSubstr("get jobset.jobset.x-k8s.io -A -o json"),
                                   HasSubstr("get workload.scheduling.k8s.io -A -o json"),
                                   HasSubstr(R"({"name": "acme-1"})")));
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr("not in this cluster: pod, "), Not(HasSubstr("topology"))));
  EXPECT_EQ(result.exit_code, 0);
}

TEST(Snapshot, WritesToStandardOutputWithoutAFile) {
  EXPECT_THAT(WithKubectl(kSmallCluster, "$E snapshot").output, HasSubstr(R"({"name": "acme-1"})"));
  EXPECT_THAT(WithKubectl(kSmallCluster, "$E snapshot | $E place -").output,
              HasSubstr("No pending workloads.\n"));
}

TEST(Snapshot, SaysWhatKubectlSays) {
  const ProcessResult refused =
      WithKubectl("echo 'error: You must be logged in' >&2; exit 1\n", "$E snapshot -o $d/c.json");
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_THAT(refused.errors,
              HasSubstr("`kubectl get node -A -o json` failed with exit code 1: error: You must be "
                        "logged in"));
  const ProcessResult absent = RunShell("PATH=/nowhere; \"$E\" snapshot");
  EXPECT_EQ(absent.exit_code, 4);
  EXPECT_THAT(absent.errors, HasSubstr("kubectl cannot be started: "));
  EXPECT_THAT(absent.output, IsEmpty());
}

TEST(Snapshot, RefusesWhatIsNotJsonWhenItHidesNames) {
  const ProcessResult result = WithKubectl("echo '{\"kind\": List}'\n", "$E snapshot --redact");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors,
              HasSubstr("it is not valid JSON: line 1, column 10: List is not a JSON value"));
}

// What describes gangs means the same without names.
TEST(Snapshot, GangsWithoutNamesAreUnderstoodAsWithThem) {
  const std::string stand_in =
      "case $2 in workload.scheduling) cat <<'E'\n"
      R"({"kind": "List", "items": [{"apiVersion": "scheduling/v1alpha1", "kind": "Workload",
        "metadata": {"name": "acme", "namespace": "labs"}, "spec": {
          "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "acme"},
          "replicaMode": "Unreplicated", "gangGroups": [{"name": "one", "gangMode": "Gang",
            "topologyRequest": {"policy": "Required", "level": "example.com/rack"},
            "eqGroups": [{"name": "x", "count": 2,
                          "template": {"resources": {"requests": {"cpu": 1}}}}]}]}}]})"
      "\nE\n;; *) echo '{\"kind\": \"List\", \"items\": []}' ;; esac\n";
  const ProcessResult result =
      WithKubectl(stand_in, "$E snapshot --redact | $E place - --show-model -o json");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output,
              AllOf(HasSubstr(R"("required": "example.com/rack")"), HasSubstr(R"("mode": "Gang")"),
                    HasSubstr(R"("kind": "Job")"), Not(HasSubstr("acme")), Not(HasSubstr("labs"))));
}

// The whole cluster as if it were the nodes, and the rest as if it were the pods.
TEST(Snapshot, WithoutNamesIsAnsweredAsWithThem) {
  const std::string stand_in = "case $2 in node) zcat " + kDump + " ;; pod) cat " + kMore +
                               " ;; *) echo '{\"kind\": \"List\", \"items\": []}' ;; esac\n";
  const ProcessResult result = WithKubectl(
      stand_in, "$E snapshot --redact -o $d/c.json.gz; zcat $d/c.json.gz; $E place $d/c.json.gz");
  EXPECT_THAT(result.output, HasSubstr("43 placed, 22 not placed, 3 with nothing to place"));
  for (const char* name : {"team-nlp", "llm-pretrain", "use1a-b01", "gpu-h100\"", "us-east-1a"}) {
    EXPECT_THAT(result.output, Not(HasSubstr(name)));
  }
  const auto pods_of = [&](const std::string& script) {
    return WithKubectl(stand_in, script + " | grep -o '[0-9]* hosts* x [0-9]*' | sort").output;
  };
  EXPECT_EQ(pods_of("$E snapshot --redact | $E place -"),
            pods_of("$E place " + kDump + " " + kMore));
}

}  // namespace
}  // namespace espalier
