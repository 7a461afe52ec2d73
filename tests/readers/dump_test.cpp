// The bundled dump of a real cluster, and facts seen in it.
#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/readers/cluster_files.hpp"
#include "host/readers/input_bytes.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "tests/readers/json_text.hpp"

namespace espalier::dump_test {
namespace {

using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

std::string DumpPath(const std::string& name) {
  return std::string(ESPALIER_SOURCE_DIR) + "/tests/data/dumps/" + name;
}

ClusterRead ReadDump(const std::string& name) {
  auto read = ReadClusterFiles({DumpPath(name), DumpPath("extra.json")});
  EXPECT_TRUE(read.has_value()) << read.error().message;
  return read ? std::move(*read) : ClusterRead();
}

const Workload& Find(const Cluster& cluster, std::string_view name_part) {
  const auto it = std::find_if(
      cluster.workloads.begin(), cluster.workloads.end(),
      [&](const Workload& w) { return w.key.name.find(name_part) != std::string::npos; });
  EXPECT_NE(it, cluster.workloads.end()) << name_part;
  return *it;
}

constexpr Amount kGi = Amount{1} << 30;
constexpr Amount kMi = Amount{1} << 20;

TEST(Dump, CountsOfEachKind) {
  const ClusterRead read = ReadDump("before.json.gz");
  EXPECT_THAT(read.facts.objects,
              UnorderedElementsAre(
                  Pair("Node", 336u), Pair("Pod", 1132u), Pair("Workload", 68u), Pair("Job", 68u),
                  Pair("LocalQueue", 4u), Pair("ResourceFlavor", 2u), Pair("ClusterQueue", 2u),
                  Pair("WorkloadPriorityClass", 2u), Pair("Topology", 1u), Pair("RuntimeClass", 1u),
                  Pair("PriorityClass", 3u), Pair("Namespace", 10u)));
  EXPECT_EQ(SkippedLine(read.facts), "");
  EXPECT_EQ(read.facts.files, 2u);
  EXPECT_THAT(read.diagnostics.warnings(), IsEmpty());
  EXPECT_EQ(read.cluster.nodes.size(), 336u);
  EXPECT_EQ(read.cluster.pods.size(), 1132u);
  EXPECT_EQ(read.cluster.workloads.size(), 69u) << "no Job is a second Workload";
  EXPECT_EQ(read.cluster.workloads.back().key.name, "nb-quinn-unschedulable") << "a pod alone";
}

TEST(Dump, NodesOfTheFlavor) {  // R3.1, R3.2: "Total nodes: 300" of 336
  const ClusterRead read = ReadDump("before.json.gz");
  const Cluster& cluster = read.cluster;
  const auto gpu =
      std::find_if(cluster.flavors.begin(), cluster.flavors.end(),
                   [](const ResourceFlavor& f) { return f.topology_name.has_value(); });
  ASSERT_NE(gpu, cluster.flavors.end());
  ASSERT_EQ(gpu->topology_name, cluster.topologies.at(0).name);
  const auto belongs = [&](const Node& node) {
    return node.ready && !node.unschedulable &&
           std::all_of(gpu->node_labels.begin(), gpu->node_labels.end(),
                       [&](const auto& label) {
                         const std::string* value = node.labels.Find(label.first);
                         return value != nullptr && *value == label.second;
                       }) &&
           std::all_of(cluster.topologies[0].levels.begin(), cluster.topologies[0].levels.end(),
                       [&](const std::string& level) { return node.labels.Contains(level); });
  };
  EXPECT_EQ(std::count_if(cluster.nodes.begin(), cluster.nodes.end(), belongs), 300);
}

TEST(Dump, RequestsThatTheWorkloadDoesNotSay) {  // R20.4
  const ClusterRead read = ReadDump("before.json.gz");
  const auto requests = [&](std::string_view name) {
    return Find(read.cluster, name).pod_sets.at(0).pod_template.requests;
  };
  // Limits without requests.
  EXPECT_EQ(requests("limits-01"),
            (Resources{{"cpu", 30000}, {"memory", 300 * kGi}, {"nvidia.com/gpu", 2}}));
  // Overhead of the RuntimeClass: 250m and 160Mi.
  EXPECT_EQ(requests("kata-01"),
            (Resources{{"cpu", 10250}, {"memory", 100 * kGi + 160 * kMi}, {"nvidia.com/gpu", 1}}));
  // The init container `stage` beside the restartable `proxy` needs the most cpu; the
  // containers and `proxy` need the most memory.
  EXPECT_EQ(requests("multi-01"),
            (Resources{{"cpu", 96500}, {"memory", 464 * kGi + 320 * kMi}, {"nvidia.com/gpu", 4}}));
}

TEST(Dump, RequestsAgreeWithTheQuotaThatKueueBooked) {
  const ClusterRead read = ReadDump("after.json.gz");
  int compared = 0;
  for (const Workload& workload : read.cluster.workloads) {
    if (!workload.admission) continue;
    for (std::size_t i = 0; i < workload.pod_sets.size(); ++i) {
      const PodSetAssignment& booked = workload.admission->pod_set_assignments.at(i);
      EXPECT_EQ(Times(workload.pod_sets[i].pod_template.requests, booked.count.value()),
                booked.resource_usage)
          << workload.key.ToString();
      ++compared;
    }
  }
  EXPECT_EQ(compared, 49);
}

TEST(Dump, AdmittedAssignments) {
  const ClusterRead read = ReadDump("after.json.gz");
  std::set<std::string_view> hostnames;
  for (const Node& node : read.cluster.nodes) hostnames.insert(*node.labels.Find(kHostnameLabel));
  int assignments = 0;
  for (const Workload& workload : read.cluster.workloads) {
    if (!workload.admission) continue;
    for (const PodSetAssignment& admitted : workload.admission->pod_set_assignments) {
      if (!admitted.topology_assignment) continue;
      ++assignments;
      std::int32_t pods = 0;
      for (const TopologyDomainAssignment& domain : admitted.topology_assignment->domains) {
        EXPECT_TRUE(hostnames.contains(domain.values.at(0))) << domain.values[0];
        pods += domain.count;
      }
      EXPECT_EQ(pods, admitted.count) << workload.key.ToString();
    }
  }
  EXPECT_EQ(assignments, 47);
  EXPECT_EQ(Find(read.cluster, "partial-01").admission->pod_set_assignments[0].count, 7);
}

TEST(Dump, PodsOfTopologyAwareWorkloadsAreKnownByAnnotation) {  // R5.2
  const ClusterRead read = ReadDump("after.json.gz");
  const auto is_tas = [](const Pod& pod) {
    return pod.annotations.Contains("kueue.x-k8s.io/podset-required-topology") ||
           pod.annotations.Contains("kueue.x-k8s.io/podset-preferred-topology") ||
           pod.annotations.Contains("kueue.x-k8s.io/podset-unconstrained-topology") ||
           pod.annotations.Contains("kueue.x-k8s.io/podset-slice-required-topology") ||
           pod.annotations.Contains("kueue.x-k8s.io/podset-slice-required-topology-constraints");
  };
  EXPECT_EQ(std::count_if(read.cluster.pods.begin(), read.cluster.pods.end(), is_tas), 503);
}

// Kueue's own Workload of each Job is the judge of ReadJob.
TEST(Dump, JobsBecomeTheWorkloadsThatKueueMade) {
  InputLimit limit(kMostInputBytes);
  const auto text = ReadUnpacked(DumpPath("before.json.gz"), limit);
  JsonText dump(*text);
  ClusterDefaults defaults;
  defaults.workload_priority_classes = {{"prod", 1000}, {"research", 100}};
  std::map<std::string, Workload> workloads;  // by the Job's uid
  std::vector<Workload> jobs;
  for (const JsonValue item : Items(*Member(dump.root(), "items"))) {
    const std::string kind = TextMember(item, "kind", dump.context());
    if (kind == "Job") jobs.push_back(ReadJob(item, dump.context(), defaults));
    if (kind == "Workload") {
      Workload workload = ReadWorkload(item, dump.context(), defaults);
      workloads[workload.owners.at(0).uid] = std::move(workload);
    }
  }
  ASSERT_EQ(jobs.size(), 68u);
  for (const Workload& job : jobs) {
    SCOPED_TRACE(job.key.ToString());
    const Workload& made = workloads.at(job.uid);
    EXPECT_EQ(job.owners, made.owners);
    EXPECT_EQ(job.queue_name, made.queue_name);
    EXPECT_EQ(job.priority, made.priority);
    EXPECT_EQ(job.priority_class, made.priority_class);
    ASSERT_EQ(job.pod_sets.size(), made.pod_sets.size());
    PodSet pod_set = job.pod_sets[0];
    // Labels of the Job's own controller are not taken over.
    pod_set.pod_template.labels = made.pod_sets[0].pod_template.labels;
    EXPECT_EQ(pod_set, made.pod_sets[0]);
  }
}

}  // namespace
}  // namespace espalier::dump_test
