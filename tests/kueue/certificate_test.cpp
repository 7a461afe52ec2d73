#include "host/kueue/validation/certificate.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "tests/engine/requests.hpp"
#include "tests/generated/clusters.hpp"
#include "tests/questions/explain_in.hpp"

namespace espalier::certificate_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two racks of two hosts with four accelerators each; `old` holds all of a and b, `new` two of c.
class CertificateTest : public testing::Test {
 protected:
  CertificateTest() {
    for (const char* path : {"r1/a", "r1/b", "r2/c", "r2/d"}) {
      cluster_.nodes.push_back(HostNode(path, {{"gpu", 4}, {"pods", 10}}));
    }
    cluster_.topologies = {{"default", {"rack", std::string(kHostnameLabel)}}};
    cluster_.flavors.resize(1);
    cluster_.flavors[0].name = "tas";
    cluster_.flavors[0].topology_name = "default";
    Add("old", 1, {{"a", 4}, {"b", 4}});
    Add("new", 0, {{"c", 2}});
  }

  void Add(const std::string& name, std::int64_t priority,
           std::vector<std::pair<std::string, std::int32_t>> hosts) {
    Workload workload;
    workload.key = {"team", name};
    workload.priority = priority;
    PodSet& pod_set = workload.pod_sets.emplace_back();
    pod_set.name = "main";
    pod_set.pod_template.requests = {{"gpu", 1}};
    workload.admission = Admission{"queue",
                                   {{.name = "main",
                                     .flavors = {{"gpu", "tas"}},
                                     .topology_assignment = OnHosts(std::move(hosts))}}};
    workload.conditions = {{.type = "QuotaReserved", .status = "True"}};
    cluster_.workloads.push_back(workload);
  }

  Certificate Ask(const WorkloadRequest& request) const {
    const auto backend = MakeCpuBackend(1);
    return ExplainIn(cluster_, request, Engine(backend, {})).value();
  }

  Cluster cluster_;
};

TEST_F(CertificateTest, OfWhatFitsThereIsNothingToSay) {
  const Certificate found = Ask(MakeWorkload({MakePodSet(6, Required("rack"))}));
  EXPECT_TRUE(found.fits);
  EXPECT_FALSE(found.near_miss);
}

TEST_F(CertificateTest, NamesTheNearestDomainAndWhatBinds) {
  const Certificate found = Ask(MakeWorkload({MakePodSet(8, Required("rack"))}));
  EXPECT_FALSE(found.fits);
  EXPECT_FALSE(found.never);
  const NearMiss& miss = *found.near_miss;
  EXPECT_EQ(miss.level, "rack");
  EXPECT_THAT(miss.domain, ElementsAre("r2"));
  EXPECT_EQ(miss.fit, 6);
  EXPECT_EQ(miss.pods, 8);
  EXPECT_EQ(miss.nodes, 2);
  EXPECT_EQ(miss.nodes_with_room, 2);
  ASSERT_EQ(miss.binding.size(), 1u);
  EXPECT_EQ(miss.binding[0].resource, "gpu");
  EXPECT_EQ(miss.binding[0].missing, 2);
  EXPECT_EQ(miss.binding[0].pods, 6);
  EXPECT_EQ(found.changes.fewer_pods, 6);
  EXPECT_THAT(found.changes.gone, ElementsAre(ObjectKey{"team", "new"}, ObjectKey{"team", "old"}));
  EXPECT_FALSE(found.changes.anywhere);
}

TEST_F(CertificateTest, ACoarserLevelOrNone) {
  const Certificate found =
      Ask(MakeWorkload({MakePodSet(5, Required(std::string(kHostnameLabel)))}));
  EXPECT_EQ(found.changes.coarser_level, "rack");
  EXPECT_EQ(found.changes.fewer_pods, 4);
  cluster_.workloads.resize(1);
  cluster_.workloads[0].admission->pod_set_assignments[0].topology_assignment =
      OnHosts({{"a", 2}, {"c", 2}});
  EXPECT_TRUE(Ask(MakeWorkload({MakePodSet(7, Required("rack"))})).changes.anywhere);
}

TEST_F(CertificateTest, ARepairedNode) {
  cluster_.workloads.resize(1);
  cluster_.nodes[2].ready = false;
  cluster_.nodes[3].unschedulable = true;
  cluster_.nodes[3].taints = {{"node.kubernetes.io/unschedulable", "", "NoSchedule"}};
  const Certificate found = Ask(MakeWorkload({MakePodSet(4, Required("rack"))}));
  EXPECT_THAT(found.changes.repaired, ElementsAre("c", "d"));
  EXPECT_THAT(Ask(MakeWorkload({MakePodSet(8, Required("rack"))})).changes.repaired, IsEmpty());
}

TEST_F(CertificateTest, NeverIsToldFromNotNow) {
  const Certificate found = Ask(MakeWorkload({MakePodSet(9, Required("rack"))}));
  EXPECT_TRUE(found.never);
  EXPECT_THAT(Texts(found.empty),
              ElementsAre("main -> topology \"default\" allows to fit only 8 out of 9 pod(s)"));
  EXPECT_EQ(found.near_miss->fit, 8) << "where nothing runs";
  EXPECT_TRUE(Ask(MakeWorkload({MakePodSet(1, Required("block"))})).never);
}

bool FitsOn(const Cluster& cluster, const WorkloadRequest& request) {
  const auto state = ClusterState::Build(BuildClusterStateInput(cluster, {}));
  const Engine engine(MakeCpuBackend(1), {});
  return engine.NominateOne(*state, request).FirstFailure() == nullptr;
}

// Every single change of a kind is tried on a cluster of its own.
class EveryChange : public CertificateTest {
 protected:
  void Randomize(Random& random) {
    cluster_.workloads.clear();
    std::vector<std::pair<std::string, std::int32_t>> left = {
        {"a", 4}, {"b", 4}, {"c", 4}, {"d", 4}};
    for (int w = 0; w < 5; ++w) {
      std::vector<std::pair<std::string, std::int32_t>> on;
      for (auto& [host, free] : left) {
        if (free == 0 || random.Below(3) != 0) continue;
        on.emplace_back(host, 1 + static_cast<std::int32_t>(random.Below(2)) % free);
        free -= on.back().second;
      }
      if (!on.empty()) Add(fmt::format("w{}", w), static_cast<std::int64_t>(random.Below(3)), on);
    }
    for (Node& node : cluster_.nodes) {
      node.ready = random.Below(6) != 0;
      node.unschedulable = random.Below(6) == 0;
    }
  }

  void CheckGone(const WorkloadRequest& request, const Certificate& found) const {
    std::vector<std::pair<std::int64_t, ObjectKey>> gone;
    for (std::size_t w = 0; w < cluster_.workloads.size(); ++w) {
      Cluster without = cluster_;
      without.workloads.erase(without.workloads.begin() + static_cast<std::ptrdiff_t>(w));
      if (!FitsOn(without, request)) continue;
      gone.emplace_back(cluster_.workloads[w].priority, cluster_.workloads[w].key);
    }
    std::ranges::sort(gone);
    std::vector<ObjectKey> keys;
    for (const auto& [priority, key] : gone) keys.push_back(key);
    EXPECT_EQ(found.changes.gone, keys);
  }

  void CheckRepaired(const WorkloadRequest& request, const Certificate& found) const {
    std::vector<std::string> repaired;
    for (std::size_t n = 0; n < cluster_.nodes.size(); ++n) {
      Cluster with = cluster_;
      if (with.nodes[n].ready && !with.nodes[n].unschedulable) continue;
      with.nodes[n].ready = true;
      with.nodes[n].unschedulable = false;
      if (FitsOn(with, request)) repaired.push_back(with.nodes[n].name);
    }
    EXPECT_EQ(found.changes.repaired, repaired);
  }

  void CheckRequest(WorkloadRequest request, const Certificate& found) const {
    std::int32_t most = 0;
    const std::int32_t count = request.pod_sets[0].count;
    for (std::int32_t pods = 1; pods < count; ++pods) {
      request.pod_sets[0].count = pods;
      if (FitsOn(cluster_, request)) most = pods;
    }
    EXPECT_EQ(found.changes.fewer_pods, most);
    request.pod_sets[0].count = count;
    TopologyRequest& topology = *request.pod_sets[0].topology_request;
    bool coarser = false;
    if (topology.required == std::string(kHostnameLabel)) {
      topology.required = "rack";
      coarser = FitsOn(cluster_, request);
    }
    EXPECT_EQ(found.changes.coarser_level, coarser ? "rack" : "");
    const bool required = topology.required.has_value();
    topology = Unconstrained();
    EXPECT_EQ(found.changes.anywhere, required && !coarser && FitsOn(cluster_, request));
  }
};

TEST_F(EveryChange, IsTried) {
  int refused = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    Randomize(random);
    const TopologyRequest topologies[] = {Required("rack"), Required(std::string(kHostnameLabel)),
                                          Unconstrained()};
    const WorkloadRequest request = MakeWorkload(
        {MakePodSet(static_cast<std::int32_t>(1 + random.Below(10)), topologies[random.Below(3)])});
    const Certificate found = Ask(request);
    ASSERT_EQ(found.fits, FitsOn(cluster_, request));
    if (found.fits || !found.near_miss) continue;
    ++refused;
    CheckGone(request, found);
    CheckRepaired(request, found);
    CheckRequest(request, found);
    Cluster empty = cluster_;
    empty.workloads.clear();
    EXPECT_EQ(found.never, !FitsOn(empty, request));
  }
  EXPECT_GT(refused, 150);
}

}  // namespace
}  // namespace espalier::certificate_test
