// Tests that the pods of a real cluster, all gated again, go where a real Kueue sent them.
#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/kueue/objects/ungater.hpp"
#include "host/readers/cluster_files.hpp"

namespace espalier::dump_test {
namespace {

const Cluster& After() {
  static const Cluster cluster = [] {
    auto read = ReadClusterFiles({ESPALIER_SOURCE_DIR "/tests/data/dumps/after.json.gz"});
    if (!read) throw std::runtime_error(read.error().message);
    return std::move(read->cluster);
  }();
  return cluster;
}

// The hosts that the pods of Kueue's workloads were sent to.
std::map<ObjectKey, std::string> SentTo() {
  std::map<ObjectKey, std::string> hosts;
  for (const Pod& pod : After().pods) {
    const std::string* host = pod.node_selector.Find(kHostnameLabel);
    if (pod.annotations.Contains(kWorkloadAnnotation) && host) hosts[pod.key] = *host;
  }
  return hosts;
}

std::vector<Pod> GatedAgain() {
  std::vector<Pod> pods = After().pods;
  for (Pod& pod : pods) {
    if (!pod.annotations.Contains(kWorkloadAnnotation)) continue;
    pod.scheduling_gates.emplace_back(kTopologyGate);
    pod.node_selector.Erase(kHostnameLabel);
  }
  return pods;
}

// Pods of indexed Jobs; a Job that is not indexed numbers none.
std::set<ObjectKey> Indexed() {
  std::set<ObjectKey> indexed;
  for (const Pod& pod : After().pods) {
    if (pod.labels.Contains("batch.kubernetes.io/job-completion-index")) indexed.insert(pod.key);
  }
  return indexed;
}

TEST(UngateDump, EveryPodGoesWhereKueueSentIt) {
  const std::map<ObjectKey, std::string> sent = SentTo();
  const std::set<ObjectKey> indexed = Indexed();
  const std::vector<Pod> pods = GatedAgain();
  std::size_t ranked = 0;
  std::size_t others = 0;
  for (const Workload& workload : After().workloads) {
    const auto ungated = UngateWorkload(workload, pods);
    ASSERT_TRUE(ungated.has_value());
    bool by_rank = true;
    std::vector<std::string> ours;
    std::vector<std::string> recorded;
    for (const UngatedPod& pod : *ungated) {
      ASSERT_TRUE(sent.contains(pod.pod)) << pod.pod.ToString();
      by_rank &= indexed.contains(pod.pod);
      ours.push_back(pod.domain);
      recorded.push_back(sent.at(pod.pod));
    }
    (by_rank ? ranked : others) += ours.size();
    if (!by_rank) {  // any pods, with the same number per domain (R22.6)
      std::ranges::sort(ours);
      std::ranges::sort(recorded);
    }
    EXPECT_EQ(ours, recorded) << workload.key.ToString();
  }
  EXPECT_GT(ranked, 400U);
  EXPECT_EQ(ranked + others, sent.size());
}

}  // namespace
}  // namespace espalier::dump_test
