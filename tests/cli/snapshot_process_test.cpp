// `espalier snapshot` with a stand-in for kubectl.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"

namespace espalier::snapshot_process_test {
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
              AllOf(HasSubstr("not in this cluster: pod, "), Not(HasSubstr("topology.kueue"))));
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

// Objects that describe gangs mean the same without names.
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
  EXPECT_THAT(result.output, HasSubstr("47 placed, 19 not placed, 3 with nothing to place"));
  for (const char* name : {"team-nlp", "llm-pretrain", "use1a-b01", "gpu-h100\"", "us-east-1a"}) {
    EXPECT_THAT(result.output, Not(HasSubstr(name)));
  }
  const auto pods_of = [&](const std::string& script) {
    return WithKubectl(stand_in, script + " | grep -o '[0-9]* hosts* x [0-9]*' | sort").output;
  };
  EXPECT_EQ(pods_of("$E snapshot --redact | $E place -"),
            pods_of("$E place " + kDump + " " + kMore));
}

// Replaces the words within the texts of a JSON text by numbers, in the order of the words.
std::string UpToNames(std::string_view json) {
  std::map<std::string, std::size_t> numbers;
  std::string out;
  std::string word;
  bool quoted = false;
  for (const char c : json) {
    const bool in_word =
        std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
    if (quoted && in_word) {
      word += c;
      continue;
    }
    if (!word.empty())
      out += std::to_string(numbers.try_emplace(word, numbers.size()).first->second);
    word.clear();
    if (c == '"') quoted = !quoted;
    out += c;
  }
  return out;
}

const std::string kElastic =
    "ElasticJobsViaWorkloadSlices=true,ElasticJobsViaWorkloadSlicesWithTAS=true";

// Everything as if it were the nodes.
std::string PlacedUpToNames(const std::string& objects, const std::string& redact) {
  const std::string stand_in = "case $2 in node) cat <<'E'\n" + objects +
                               "\nE\n;; *) echo '{\"kind\": \"List\", \"items\": []}' ;; esac\n";
  const ProcessResult result = WithKubectl(
      stand_in, "$E snapshot " + redact + " | $E place - -o json --feature-gates " + kElastic);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  return UpToNames(result.output);
}

// A Topology of racks and hosts with a queue, and two nodes with these labels beside their racks.
std::string SmallCluster(const std::string& labels_a, const std::string& labels_b) {
  const auto node = [](const std::string& name, const std::string& labels) {
    return R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": ")" + name +
           R"(", "labels": {"pool": "a", "kubernetes.io/hostname": ")" + name + "\", " + labels +
           R"(}}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
                            "conditions": [{"type": "Ready", "status": "True"}]}},)";
  };
  return R"({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Topology", "metadata": {"name": "t"},
      "spec": {"levels": [{"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}},
    {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ResourceFlavor", "metadata": {"name": "f"},
      "spec": {"nodeLabels": {"pool": "a"}, "topologyName": "t"}},
    {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue", "metadata": {"name": "cq"},
      "spec": {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu", "memory"],
        "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "100"},
          {"name": "memory", "nominalQuota": "100Gi"}]}]}]}},
    {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "LocalQueue",
      "metadata": {"name": "q", "namespace": "ns"}, "spec": {"clusterQueue": "cq"}},
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}},)" +
         node("na", labels_a) + node("nb", labels_b);
}

std::string List(const std::string& objects) {
  return R"({"kind": "List", "apiVersion": "v1", "items": [)" + objects + "]}";
}

const std::string kPods =
    R"({"spec": {"containers": [{"resources": {"requests": {"cpu": "1"}}}]}})";

// An object with a queue and annotations.
std::string Queued(const std::string& version, const std::string& kind, const std::string& spec,
                   const std::string& annotations = "", const std::string& name = "x") {
  return R"({"apiVersion": ")" + version + R"(", "kind": ")" + kind + R"(", "metadata": {
      "namespace": "ns", "name": ")" +
         name + R"(", "labels": {"kueue.x-k8s.io/queue-name": "q"},
      "annotations": {)" +
         annotations + R"(}}, "spec": )" + spec + "}";
}

TEST(Snapshot, WithoutNamesDecidesAsWithThem) {
  const auto job = [](const std::string& spec) {
    return Queued("batch/v1", "Job",
                  R"({"suspend": true, "template": {"metadata": {"annotations":
                      {"kueue.x-k8s.io/podset-required-topology": "rack"}}, "spec": {)" +
                      spec + R"("containers": [{"resources": {"requests": {"cpu": "4"}}}]}}})");
  };
  const std::string racks = SmallCluster(R"("rack": "r1")", R"("rack": "r2")");
  const auto pod = [](const std::string& name) {
    return R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": ")" + name +
           R"(", "namespace": "ns", "annotations": {"pod-group-name": "kg"},
              "labels": {"kueue.x-k8s.io/queue-name": "q"}}, "status": {"phase": "Pending"},
              "spec": {"containers": [{"resources": {"requests": {"cpu": "1"}}}]}})";
  };
  const auto slice = [](const std::string& name, int count, const std::string& annotations,
                        const std::string& status) {
    return R"({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {
        "namespace": "ns", "name": ")" +
           name + R"(", "annotations": {
          "kueue.x-k8s.io/elastic-job": "true")" +
           annotations + R"(}}, "spec": {"queueName": "q",
        "podSets": [{"name": "main", "count": )" +
           std::to_string(count) + R"(,
          "topologyRequest": {"unconstrained": true}, "template": )" +
           kPods + R"(}]}, "status": )" + status + "}";
  };
  const std::string admitted = R"({"conditions": [{"type": "QuotaReserved", "status": "True"},
      {"type": "Admitted", "status": "True"}], "admission": {"clusterQueue": "cq",
      "podSetAssignments": [{"name": "main", "flavors": {"cpu": "f"}, "resourceUsage": {"cpu": "1"},
        "count": 1, "topologyAssignment": {"levels": ["kubernetes.io/hostname"],
          "domains": [{"values": ["nb"], "count": 1}]}}]}})";
  const auto hyper_node = [](const std::string& name, const std::string& pattern) {
    return R"({"apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode",
        "metadata": {"name": ")" +
           name + R"("}, "spec": {"tier": 1, "members": [{"type": "Node",
        "selector": {"regexMatch": {"pattern": ")" +
           pattern + R"("}}}]}},)";
  };
  const std::vector<std::string> cases = {
      // What a pattern matches, and Volcano's queues.
      SmallCluster(R"("rack": "r1")", R"("rack": "r2")") + hyper_node("h1", "^na$") +
          hyper_node("h2", "b$") +
          R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
              "metadata": {"name": "default"}, "spec": {"parent": "root",
              "capability": {"cpu": 4}}}, {"apiVersion": "batch.volcano.sh/v1alpha1",
              "kind": "Job", "metadata": {"name": "v", "namespace": "ns"}, "spec": {
              "networkTopology": {"mode": "hard", "highestTierAllowed": 1},
              "tasks": [{"name": "worker", "replicas": 3, "template": )" +
          kPods + "}]}}",
      // The key of a label is no field.
      SmallCluster(R"("rack": "r1", "env": "prod")", R"("rack": "r2", "env": "dev")") +
          job(R"("nodeSelector": {"env": "dev"}, )"),
      // A value that could be an amount.
      SmallCluster(R"("rack": "2b")", R"("rack": "30")") + job(""),
      SmallCluster(R"("rack": "r1", "speed": "90")", R"("rack": "r2", "speed": "100")") +
          job(R"("affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                {"nodeSelectorTerms": [{"matchExpressions":
                  [{"key": "speed", "operator": "Gt", "values": ["95"]}]}]}}}, )"),
      racks + Queued("ray.io/v1", "RayJob",
                     R"({"submissionMode": "K8sJobMode", "shutdownAfterJobFinishes": true,
          "rayClusterSpec": {
          "headGroupSpec": {"template": )" +
                         kPods + R"(}, "workerGroupSpecs": [
            {"groupName": "w", "replicas": 1, "template": )" +
                         kPods + "}]}}"),
      racks + Queued("workload.codeflare.dev/v1beta2", "AppWrapper",
                     R"({"components": [
          {"podSets": [{"replicas": 2, "path": "template.spec.template"}], "template": {
            "kind": "Job", "apiVersion": "batch/v1", "spec": {"template": )" +
                         kPods + "}}}]}"),
      racks + Queued("scheduling.run.ai/v2alpha2", "PodGroup", R"({"minMember": 2})", "", "kg") +
          "," + pod("p1") + "," + pod("p2"),
      racks + slice("old", 1, "", admitted) + "," +
          slice("new", 2, R"(, "kueue.x-k8s.io/workload-slice-replacement-for": "ns/old")", "{}"),
  };
  for (const std::string& objects : cases) {
    EXPECT_EQ(PlacedUpToNames(List(objects), "--redact"), PlacedUpToNames(List(objects), ""))
        << objects;
  }
}

}  // namespace
}  // namespace espalier::snapshot_process_test
