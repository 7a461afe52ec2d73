// Clusters without names, which are read as they were, but for the names.
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/readers/cluster_files.hpp"
#include "host/readers/redaction.hpp"
#include "host/readers/yaml_to_json.hpp"

namespace espalier::redacted_clusters_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// The documents of a YAML text as JSON, and what stands for them once their names are gone.
struct Texts {
  std::string original;
  std::string redacted;
};

Texts TextsOf(const std::string& yaml) {
  Texts texts;
  const auto documents = YamlToJson(yaml);
  EXPECT_TRUE(documents) << documents.error().message;
  if (!documents) return texts;
  Redaction redaction;
  for (const std::string& document : *documents) {
    texts.original += document + "\n";
    EXPECT_TRUE(redaction.Add(document));
  }
  for (const std::string& document : *documents) {
    const auto written = redaction.Write(document);
    EXPECT_TRUE(written);
    texts.redacted += written.value_or("") + "\n";
  }
  return texts;
}

std::string TextOf(const StringMap& map) {
  std::string text;
  for (const auto& [key, value] : map) text += fmt::format(" {}={}", key, value);
  return text;
}

std::string TextOf(const Resources& resources) {
  std::string text;
  for (const auto& [resource, amount] : resources) text += fmt::format(" {}={}", resource, amount);
  return text;
}

std::string TextOf(const PodSet& pod_set) {
  const TopologyRequest request = pod_set.topology_request.value_or(TopologyRequest());
  return fmt::format(
      "  {} X {} OF {}:{}, REQUIRED {}, PREFERRED {}, INDEX {}, NODES{}, WITHOUT {}\n",
      pod_set.name, pod_set.count, pod_set.min_count.value_or(-1),
      TextOf(pod_set.pod_template.requests), request.required.value_or(""),
      request.preferred.value_or(""), request.pod_index_label.value_or(""),
      TextOf(pod_set.pod_template.node_selector),
      fmt::join(pod_set.pod_template.ignored_constraints, ", "));
}

// What is decided by, as far as it was read.
std::string Facts(const std::string& text, Trees trees) {
  const auto read = ReadClusterText("f", text, {.trees = trees});
  if (!read) return "refused";  // for a reason that may name what it is about
  std::string facts;
  for (const Node& node : read->cluster.nodes) {
    facts += fmt::format("NODE {}{}\n", node.name, TextOf(node.labels));
  }
  for (const ClusterQueue& queue : read->cluster.cluster_queues) {
    facts += fmt::format("QUEUE {}\n", queue.name);
    for (const ResourceGroup& group : queue.resource_groups) {
      for (const FlavorQuota& flavor : group.flavors) {
        for (const FlavorQuota::Quota& quota : flavor.resources) {
          facts += fmt::format("  {} {} {}\n", flavor.flavor, quota.resource, quota.nominal);
        }
      }
    }
  }
  for (const LocalQueue& queue : read->cluster.local_queues) {
    facts += fmt::format("LOCAL QUEUE {} OF {}\n", queue.key.ToString(), queue.cluster_queue);
  }
  for (const Workload& workload : read->cluster.workloads) {
    facts += fmt::format("WORKLOAD {} IN {}, TOPOLOGY {}, CLASS {} {}, WAITS: {}\n",
                         workload.key.ToString(), workload.queue_name, workload.topology_name,
                         workload.priority_class, workload.priority, workload.refusal);
    for (const PodSet& pod_set : workload.pod_sets) facts += TextOf(pod_set);
  }
  for (const GangWorkload& workload : read->gang_workloads) {
    facts +=
        fmt::format("GANGS OF {}, WAITS: {}\n", workload.head.key.ToString(), workload.waits_for);
    for (const std::string& note : workload.notes) facts += fmt::format("  {}\n", note);
    for (const GangGroup& gang : workload.gang_groups) {
      facts += fmt::format("  {} NEEDS {}\n", gang.name, gang.min_count.value_or(-1));
      for (const RankedGroup& ranked : gang.ranked_groups) {
        facts += fmt::format("    {} BY {}:", ranked.name, ranked.rank_from);
        for (const EqGroup& group : ranked.eq_groups) {
          facts += fmt::format(" {} X {} TO {}", group.name, group.min_count.value_or(-1),
                               group.max_count.value_or(-1));
        }
        facts += "\n";
      }
    }
  }
  return facts;
}

// Replaces words by numbers, in the order of the words.
std::string UpToNames(std::string_view text) {
  constexpr std::string_view kOfWords = "._-/";
  std::map<std::string, std::size_t> numbers;
  std::string out;
  std::string word;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) || kOfWords.find(c) != kOfWords.npos) {
      word += c;
      continue;
    }
    if (!word.empty()) {
      out += std::to_string(numbers.try_emplace(word, numbers.size()).first->second);
    }
    word.clear();
    out += c;
  }
  return out;
}

// Expects that the texts say the same but for the names, as Kueue reads them and as trees. Returns
// what that is with the names.
std::string ExpectSame(const std::string& yaml) {
  const Texts texts = TextsOf(yaml);
  std::string facts;
  for (const Trees trees : {Trees::kNone, Trees::kAll}) {
    const std::string before = Facts(texts.original, trees);
    const std::string after = Facts(texts.redacted, trees);
    EXPECT_EQ(UpToNames(after), UpToNames(before)) << texts.redacted << before << after;
    facts += before;
  }
  return facts;
}

constexpr const char* kPods = "{spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}";

// The trainer sizes the container `node` of the Jobs `node` and `launcher`.
TEST(RedactedClusters, KeepWhatTrainJobsChange) {
  EXPECT_THAT(ExpectSame(R"(
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: t, namespace: team}
spec:
  runtimeRef: {name: r}
  trainer: {numNodes: 3, resourcesPerNode: {requests: {cpu: 6}}}
  podTemplateOverrides: [{targetJobs: [{name: node}], spec: {nodeSelector: {pool: big}}}]
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: r}
spec:
  mlPolicy: {numNodes: 1}
  template:
    spec:
      replicatedJobs:
      - name: node
        template: {spec: {template: {spec: {containers: [
          {name: side, resources: {requests: {cpu: 1}}},
          {name: node, resources: {requests: {cpu: 4}}}]}}}}
)"),
              HasSubstr("cpu=7000, REQUIRED , PREFERRED , INDEX , NODES pool=big"));
}

TEST(RedactedClusters, KeepTheOrderInWhichJobsStart) {
  EXPECT_THAT(ExpectSame(fmt::format(R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: s, namespace: team}}
spec:
  replicatedJobs:
  - {{name: leader, template: {{spec: {{template: {0}}}}}}}
  - {{name: worker, dependsOn: [{{name: leader, status: Ready}}], template: {{spec: {{template: {0}}}}}}}
)",
                                     kPods)),
              HasSubstr("GANGS OF team/s-worker-0"));
}

// The root of Volcano's queues binds nothing, and its queue `default` is that of jobs without one.
TEST(RedactedClusters, KeepTheQueuesThatVolcanoKnows) {
  EXPECT_THAT(ExpectSame(fmt::format(R"(
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: default}}
spec: {{parent: root, capability: {{cpu: 4}}}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: a-queue}}
spec: {{parent: default, capability: {{cpu: 8}}}}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: j, namespace: team}}
spec: {{tasks: [{{name: worker, replicas: 2, template: {0}}}]}}
)",
                                     kPods)),
              HasSubstr("LOCAL QUEUE team/default OF default"));
}

TEST(RedactedClusters, KeepTheQueueThatKaiKnows) {
  EXPECT_THAT(ExpectSame(fmt::format(R"(
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {{name: default-queue}}
spec: {{resources: {{cpu: {{limit: 4000}}}}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: j, namespace: team}}
spec: {{template: {0}}}
)",
                                     kPods)),
              HasSubstr("LOCAL QUEUE team/default-queue OF default-queue"));
}

// Kueue's defaults: a LocalQueue, a priority class, and namespaces whose jobs are not managed.
TEST(RedactedClusters, KeepWhatKueueDoesByDefault) {
  const std::string facts = ExpectSame(fmt::format(R"(
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {{name: default, namespace: team}}
spec: {{clusterQueue: cq}}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: WorkloadPriorityClass
metadata: {{name: default}}
value: 7
---
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
manageJobsWithoutQueueName: true
---
apiVersion: batch/v1
kind: Job
metadata: {{name: j, namespace: team}}
spec: {{template: {0}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: j, namespace: kube-system}}
spec: {{template: {0}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: j, namespace: kueue-system}}
spec: {{template: {0}}}
)",
                                                   kPods));
  EXPECT_THAT(facts, HasSubstr("WORKLOAD team/j IN default, TOPOLOGY , CLASS default 7"));
  EXPECT_THAT(facts, HasSubstr("does not select namespace kube-system"));
  EXPECT_THAT(facts, HasSubstr("does not select namespace kueue-system"));
}

TEST(RedactedClusters, KeepTheNamespaceOfWhatNamesNone) {
  EXPECT_THAT(ExpectSame(fmt::format(R"(
apiVersion: v1
kind: LimitRange
metadata: {{name: l, namespace: default}}
spec: {{limits: [{{type: Container, defaultRequest: {{memory: 5}}}}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: j}}
spec: {{template: {0}}}
)",
                                     kPods)),
              HasSubstr("cpu=1000 memory=5"));
}

// A pattern cannot match what stands for names: it becomes a list of those that it matched.
TEST(RedactedClusters, KeepTheMembersOfHyperNodes) {
  const std::string yaml = R"(
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: acme-rack-1}
spec: {tier: 1, members: [{type: Node, selector: {regexMatch: {pattern: '^acme-a[12]$'}}}]}
---
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: acme-rack-2}
spec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: acme-b1}}},
                          {type: Node, selector: {regexMatch: {pattern: acme-gone}}}]}
---
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: acme-spine}
spec: {tier: 2, members: [{type: HyperNode, selector: {regexMatch: {pattern: '^acme-'}}}]}
---
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: top}
spec: {tier: 3, members: [{type: HyperNode, selector: {exactMatch: {name: acme-spine}}}]}
---
{apiVersion: v1, kind: Node, metadata: {name: acme-a1}}
---
{apiVersion: v1, kind: Node, metadata: {name: acme-a2}}
---
{apiVersion: v1, kind: Node, metadata: {name: acme-a3}}
---
{apiVersion: v1, kind: Node, metadata: {name: acme-b1}}
)";
  EXPECT_THAT(ExpectSame(yaml),
              HasSubstr("NODE acme-a2 volcano.sh/hypernode-tier-1=acme-rack-1 "
                        "volcano.sh/hypernode-tier-2=acme-spine volcano.sh/hypernode-tier-3=top"));
  EXPECT_THAT(TextsOf(yaml).redacted, Not(HasSubstr("acme")));
}

TEST(RedactedClusters, KeepThatAPatternIsRefused) {
  const std::string yaml = R"(
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: r}
spec: {tier: 1, members: [{type: Node, selector: {regexMatch: {pattern: 'acme('}}}]}
)";
  EXPECT_THAT(ExpectSame(yaml), HasSubstr("refused"));
  EXPECT_THAT(TextsOf(yaml).redacted, Not(HasSubstr("acme")));
}

// An image alone tells that an object of an unknown kind asks for pods.
TEST(RedactedClusters, KeepThatAKindAsksForPods) {
  EXPECT_THAT(ExpectSame(R"(
apiVersion: workload.codeflare.dev/v1beta2
kind: AppWrapper
metadata: {name: w, namespace: team}
spec:
  components:
  - template: {apiVersion: e.com/v1, kind: Thing, spec: {container: {image: acme/train}}}
)"),
              HasSubstr("refused"));
}

// Of two sidecars of one name and image the second is none; the resources of an executor go to the
// container of its name.
TEST(RedactedClusters, KeepTheContainersOfSpark) {
  const std::string facts = ExpectSame(R"(
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: s, namespace: team}
spec:
  volumes:
  - {name: data, persistentVolumeClaim: {claimName: acme-data}}
  - {name: spark-local-dir-1, persistentVolumeClaim: {claimName: acme-scratch}}
  - {name: other, persistentVolumeClaim: {claimName: acme-other}}
  driver:
    coreRequest: "1"
    volumeMounts: [{name: data, mountPath: /acme}, {name: spark-local-dir-1, mountPath: /tmp}]
    sidecars:
    - {name: log, image: acme/a, resources: {requests: {cpu: 1}}}
    - {name: log, image: acme/b, resources: {requests: {cpu: 2}}}
    - {name: log, image: acme/a, resources: {requests: {cpu: 4}}}
  executor:
    instances: 2
    coreRequest: "3"
    sidecars: [{name: executor, image: acme/a, resources: {requests: {cpu: 8}}}]
)");
  EXPECT_THAT(facts, HasSubstr("driver X 1 OF -1: cpu=4000, REQUIRED , PREFERRED , INDEX , NODES, "
                               "WITHOUT 1 volume claim"));
  EXPECT_THAT(facts, HasSubstr("executor X 2 OF -1: cpu=3000"));
}

TEST(RedactedClusters, KeepWhatIsNotHonoured) {
  const std::string yaml = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: team}
spec:
  template:
    spec:
      volumes:
      - {name: acme-a, persistentVolumeClaim: {claimName: acme-data}}
      - {name: acme-b, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: acme-fast}}}}
      - {name: acme-c, hostPath: {path: /acme}}
      containers:
      - {name: c, ports: [{name: acme-web, hostPort: 80, containerPort: 80, protocol: TCP}]}
)";
  EXPECT_THAT(ExpectSame(yaml), HasSubstr("WITHOUT 1 host port, 2 volume claims"));
  EXPECT_THAT(TextsOf(yaml).redacted, Not(HasSubstr("acme")));
}

// Pods of two tasks of one group, which fall into subgroups by a label.
TEST(RedactedClusters, KeepTheTasksAndSubgroupsOfVolcano) {
  std::string yaml = R"(
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g, namespace: team}
spec:
  minMember: 1
  minTaskMember: {acme-trainer: 2, worker: 0}
  subGroupPolicy:
  - {name: rows, subGroupSize: 1, labelSelector: {matchLabels: {role: cell}}, matchLabelKeys: [row]}
)";
  const auto pod = [](const std::string& name, const std::string& task, const std::string& labels) {
    return fmt::format(R"(---
apiVersion: v1
kind: Pod
metadata: {{name: {}, namespace: team, labels: {{{}}}, annotations: {{
  scheduling.k8s.io/group-name: g, volcano.sh/task-spec: {}}}}}
spec: {{containers: [{{name: c}}]}}
)",
                       name, labels, task);
  };
  yaml += pod("p1", "acme-trainer", "") + pod("p2", "acme-trainer", "") + pod("p3", "worker", "") +
          pod("p4", "worker", "role: cell, row: r1") + pod("p5", "worker", "role: cell, row: r2");
  EXPECT_THAT(ExpectSame(yaml), HasSubstr("acme-trainer BY : acme-trainer X 2 TO 2"));
  EXPECT_THAT(TextsOf(yaml).redacted, Not(HasSubstr("acme")));
}

TEST(RedactedClusters, KeepTheTopologiesThatKaiNames) {
  const std::string yaml = R"(
apiVersion: kai.scheduler/v1alpha1
kind: Topology
metadata: {name: acme-net}
spec: {levels: [{nodeLabel: cloud/rack}]}
---
apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: g, namespace: team}
spec: {minMember: 1, topologyConstraint: {topology: acme-net, requiredTopologyLevel: cloud/rack}}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: team, annotations: {pod-group-name: g}}
spec: {containers: [{name: c}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: team, annotations: {kai.scheduler/topology: acme-net,
           kai.scheduler/batch-min-member: "2"}}
spec: {parallelism: 3, template: {spec: {containers: [{name: c}]}}}
)";
  const std::string facts = ExpectSame(yaml);
  EXPECT_THAT(facts, HasSubstr("WORKLOAD team/g IN , TOPOLOGY acme-net"));
  EXPECT_THAT(facts, HasSubstr("gg NEEDS 2"));
  EXPECT_THAT(TextsOf(yaml).redacted, Not(HasSubstr("acme")));
}

TEST(RedactedClusters, KeepWhatPodsAreOf) {
  EXPECT_THAT(ExpectSame(R"(
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: team, annotations: {scheduling.k8s.io/workload: w}}
spec: {containers: [{name: c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: q, namespace: team, annotations: {gpu-fraction-num-devices: "2"}}
spec: {containers: [{name: c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: r, namespace: team, labels: {pod-group.scheduling.sigs.k8s.io/name: light,
           pod-group.scheduling.sigs.k8s.io/min-available: "1"}}
spec: {containers: [{name: c}]}
)"),
              testing::AllOf(HasSubstr("Workload w is not in the input"),
                             HasSubstr("gpu-fraction-num-devices of its pods is 2"),
                             HasSubstr("GANGS OF team/light, WAITS: \n  gg NEEDS 1")));
}

std::string ReplicasText(const std::string& replica_key, const std::string& labels,
                         const std::string& of_workload) {
  std::string yaml = fmt::format(R"(
apiVersion: scheduling/v1alpha1
kind: Workload
metadata: {{name: w, namespace: team}}
spec:
  controllerRef: {{apiGroup: e.com, kind: Thing, name: t}}
  replicaMode: ReplicatedGangs
{}
  gangGroups: [{{name: gang, eqGroups: [{{name: worker, minCount: 1}}]}}]
)",
                                 replica_key);
  for (const int i : {10, 9, 0}) {
    yaml += fmt::format(R"(---
apiVersion: v1
kind: Pod
metadata:
  name: p-{0}
  namespace: team
  labels: {{{1}}}
  annotations: {{leaderworkerset.sigs.k8s.io/size: "1"}}
spec: {{workload: {{name: w{2}}}, containers: [{{name: c}}]}}
)",
                        i, fmt::format(fmt::runtime(labels), i),
                        fmt::format(fmt::runtime(of_workload), i));
  }
  return yaml;
}

// Replicas go by the numbers in their labels or keys.
TEST(RedactedClusters, KeepTheOrderOfReplicas) {
  ExpectSame(ReplicasText("",
                          "leaderworkerset.sigs.k8s.io/group-index: \"{0}\", "
                          "leaderworkerset.sigs.k8s.io/group-key: k{0}",
                          ""));
  ExpectSame(ReplicasText("  replicaKey: team/copy", "team/copy: \"{0}\"", ""));
  ExpectSame(ReplicasText("", "a: b", ", replicaKey: \"{0}\""));
}

TEST(RedactedClusters, KeepTheIndexesOfWrappedPods) {
  EXPECT_THAT(ExpectSame(R"(
apiVersion: workload.codeflare.dev/v1beta2
kind: AppWrapper
metadata: {name: w, namespace: team}
spec:
  components:
  - podSets:
    - replicas: 2
      path: template.parts[0]
      annotations: {workload.codeflare.dev.appwrapper/tas-pod-index-label: example.com/index}
    template:
      apiVersion: e.com/v1
      kind: Thing
      parts: [{metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}]
)"),
              HasSubstr("w-0 X 2"));
}

// Groups of Ray and the pod sets of their Workloads are named in lower case.
TEST(RedactedClusters, KeepWhatRayAsksFor) {
  ExpectSame(fmt::format(R"(
apiVersion: ray.io/v1
kind: RayCluster
metadata: {{name: r, namespace: team, annotations: {{ray.io/ft-enabled: "True"}}}}
spec:
  headGroupSpec: {{template: {0}}}
  workerGroupSpecs: [{{groupName: Big, replicas: 2, template: {0}}},
                     {{groupName: worker, replicas: 1, template: {0}}}]
---
apiVersion: ray.io/v1
kind: RayCluster
metadata: {{name: other, namespace: team}}
spec:
  headGroupSpec: {{template: {0}}}
  workerGroupSpecs: [{{groupName: big, replicas: 2, template: {0}}}]
)",
                         kPods));
}

}  // namespace
}  // namespace espalier::redacted_clusters_test
