// espalier.v1.Scheduling over a connection: the cycles of a server are those of this process.
#include "service/wire/scheduling.hpp"

#include "espalier/v1/scheduling.grpc.pb.h"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/readers/cluster_files.hpp"
#include "service/client/remote_engine.hpp"
#include "tests/kueue/objects.hpp"
#include "tests/server/test_server.hpp"
#include "tests/wire/object_samples.hpp"

namespace espalier::scheduling_test {
namespace {

// Returns what a controller loads: all flavors, and no usage of workloads, which travel with each
// call.
ClusterStateInput StateOf(const Cluster& cluster, const FeatureGates& gates = {}) {
  ClusterStateInput input = BuildClusterStateInput(cluster, gates);
  input.flavors = cluster.flavors;
  input.tas_usage.clear();
  return input;
}

// The queues of the real cluster are on hold.
SchedulingCyclesOptions OptionsOf(bool until_stable) {
  return {.until_stable = until_stable, .admissibility = {.release_stopped = true}};
}

SchedulingCyclesResult RunHere(const Cluster& cluster, const FeatureGates& gates,
                               bool until_stable) {
  const Engine engine(MakeCpuBackend(1), gates);
  auto result = RunSchedulingCycles(cluster, engine, OptionsOf(until_stable));
  EXPECT_TRUE(result) << result.error().message;
  return *std::move(result);
}

class RemoteCycles : public testing::Test {
 protected:
  void SetUp() override {
    auto connected = RemoteEngine::Connect(server_.server->addresses()[0]);
    ASSERT_TRUE(connected) << connected.error().message;
    remote_.emplace(*std::move(connected));
  }

  // Runs both ways, compares everything and returns the decisions.
  std::vector<Decision> ExpectSame(const Cluster& cluster, bool until_stable,
                                   const FeatureGates& gates = {}) {
    const auto loaded = remote_->Load(StateOf(cluster, gates));
    EXPECT_TRUE(loaded) << loaded.error().message;
    const auto there = remote_->RunSchedulingCycles(cluster, gates, OptionsOf(until_stable));
    if (!there) {
      ADD_FAILURE() << there.error().message;
      return {};
    }
    const SchedulingCyclesResult here = RunHere(cluster, gates, until_stable);
    EXPECT_EQ(there->decisions, here.decisions);
    EXPECT_EQ(there->cycles, here.cycles);
    EXPECT_EQ(there->notes, here.notes);
    return there->decisions;
  }

  TestServer server_;
  std::optional<RemoteEngine> remote_;
};

Cluster ReadDump(const std::string& name) {
  const std::string folder = std::string(ESPALIER_SOURCE_DIR) + "/tests/data/dumps/";
  auto read = ReadClusterFiles({folder + name, folder + "extra.json"});
  EXPECT_TRUE(read) << read.error().message;
  return std::move(read->cluster);
}

std::int64_t Count(const std::vector<Decision>& decisions, DecisionStatus status) {
  return std::ranges::count(decisions, status, &Decision::status);
}

TEST_F(RemoteCycles, DecideOnARealClusterAsHere) {
  const Cluster cluster = ReadDump("before.json.gz");
  EXPECT_EQ(Count(ExpectSame(cluster, true), DecisionStatus::kAssumed), 49);
  EXPECT_EQ(ExpectSame(cluster, false).size(), 2u);  // a head for each ClusterQueue
}

Cluster SmallQueues(int gangs) {
  Cluster cluster = MakeCluster();
  for (int i = 0; i < gangs; ++i) {
    cluster.workloads.push_back(MakeWorkload("gang-" + std::to_string(i), "gpu",
                                             {MakePodSet("main", 4, {{"gpu", 1}}, Required(kRack))},
                                             i));
  }
  return cluster;
}

// R21.14.
TEST_F(RemoteCycles, PassOverAsHere) {
  Cluster cluster = SmallQueues(3);
  cluster.cluster_queues[0].stop_policy = "Hold";
  ASSERT_TRUE(remote_->Load(StateOf(cluster)));
  for (const SchedulingCyclesOptions& options :
       {SchedulingCyclesOptions{.admissibility = {.now_seconds = 5}}, OptionsOf(true)}) {
    cluster.workloads[0].requeue_at_seconds = 5;
    cluster.workloads[1].resources_error = "resources validation failed: x";
    cluster.workloads[2].requeue_at_seconds = 6;
    const auto there = remote_->RunSchedulingCycles(cluster, {}, options);
    ASSERT_TRUE(there) << there.error().message;
    const Engine engine(MakeCpuBackend(1), {});
    const auto here = RunSchedulingCycles(cluster, engine, options);
    EXPECT_EQ(there->decisions, here->decisions);
    EXPECT_EQ(there->notes, here->notes);
  }
}

// R21.9: a node of every admitted workload fails; some find another, some are evicted.
TEST_F(RemoteCycles, ReplaceFailedNodesAsHere) {
  Cluster cluster = ReadDump("after.json.gz");
  for (Workload& workload : cluster.workloads) {
    if (!HasReservation(workload)) continue;
    const auto& assignment = workload.admission->pod_set_assignments.front().topology_assignment;
    if (assignment) workload.unhealthy_nodes = {assignment->domains.front().values.back()};
  }
  const std::vector<Decision> decisions = ExpectSame(cluster, true);
  EXPECT_GT(Count(decisions, DecisionStatus::kReplaced), 0);
  EXPECT_GT(Count(decisions, DecisionStatus::kEvicted), 0);
}

// Two nodes of each fail; profile espalier replaces them together.
TEST_F(RemoteCycles, ReplaceSeveralFailedNodesAsHere) {
  Cluster cluster = ReadDump("after.json.gz");
  for (Workload& workload : cluster.workloads) {
    if (!HasReservation(workload)) continue;
    const auto& assignment = workload.admission->pod_set_assignments.front().topology_assignment;
    if (!assignment) continue;
    workload.unhealthy_nodes = {assignment->domains.front().values.back(),
                                assignment->domains.back().values.back()};
  }
  ASSERT_TRUE(remote_->Load(StateOf(cluster)));
  SchedulingCyclesOptions options = OptionsOf(true);
  options.joint_replacement = true;
  const auto there = remote_->RunSchedulingCycles(cluster, {}, options);
  ASSERT_TRUE(there) << there.error().message;
  const auto here = RunSchedulingCycles(cluster, Engine(MakeCpuBackend(1), {}), options);
  EXPECT_EQ(there->decisions, here->decisions);
  // With the first alone each of several domains keeps a failed node.
  const auto alone = remote_->RunSchedulingCycles(cluster, {}, OptionsOf(true));
  EXPECT_NE(alone->decisions, there->decisions);
  EXPECT_GT(Count(there->decisions, DecisionStatus::kReplaced), 0);
}

TEST_F(RemoteCycles, TakeTheUsageOfPodsFromTheStateAndOfWorkloadsFromTheRequest) {
  const Cluster cluster = SmallQueues(1);
  ASSERT_EQ(Count(ExpectSame(cluster, false), DecisionStatus::kAssumed), 1);
  const Resources everything = {{"gpu", 1000}, {"cpu", 1'000'000}};

  ClusterStateInput input = StateOf(cluster);
  for (const Node& node : cluster.nodes) input.tas_usage.push_back({"gpu", node.name, everything});
  ASSERT_TRUE(remote_->Load(input));
  auto result = remote_->RunSchedulingCycles(cluster, {}, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(Count(result->decisions, DecisionStatus::kAssumed), 1);

  for (const Node& node : cluster.nodes) input.non_tas_usage.push_back({node.name, everything});
  ASSERT_TRUE(remote_->Load(input));
  result = remote_->RunSchedulingCycles(cluster, {}, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(Count(result->decisions, DecisionStatus::kNotAdmitted), 1);
}

TEST_F(RemoteCycles, LeaveTheStateAlone) {
  ExpectSame(SmallQueues(3), true);
  EXPECT_EQ(server_.Summary().state().generation(), 1u);
}

TEST_F(RemoteCycles, AreToldWhenTheStateIsAnother) {
  const Cluster cluster = SmallQueues(1);
  auto result = remote_->RunSchedulingCycles(cluster, {}, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().error_class, ErrorClass::kStale);
  ASSERT_TRUE(remote_->Load(StateOf(cluster)));
  ASSERT_TRUE(server_.Load(StateOf(cluster)).ok());
  result = remote_->RunSchedulingCycles(cluster, {}, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().error_class, ErrorClass::kStale);
}

class SchedulingService : public testing::Test {
 protected:
  grpc::Status Cycle(const v1::CycleRequest& request) {
    grpc::ClientContext context;
    return v1::Scheduling::NewStub(server_.channel)->Cycle(&context, request, &response_);
  }

  TestServer server_;
  v1::CycleResponse response_;
};

TEST_F(SchedulingService, WithoutAPositionDecidesOnTheCurrentState) {
  const Cluster cluster = SmallQueues(1);
  EXPECT_EQ(Cycle(*ToProto(cluster)).error_code(), grpc::FAILED_PRECONDITION);
  ASSERT_TRUE(server_.Load(StateOf(cluster)).ok());
  const grpc::Status status = Cycle(*ToProto(cluster));
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response_.state().generation(), 1u);
  EXPECT_EQ(response_.decisions_size(), 1);
}

TEST_F(SchedulingService, RefusesWhatIsWrongWithTheField) {
  ASSERT_TRUE(server_.Load(SmallCluster()).ok());
  v1::CycleRequest request;
  request.add_workloads()->set_name(7);
  EXPECT_EQ(Cycle(request).error_message(),
            "workloads[0].name: refers to row 7 of a table of 0; references are 0 to 0");
  request.Clear();
  (*request.mutable_feature_gates())["NoSuchGate"] = true;
  const grpc::Status status = Cycle(request);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), testing::HasSubstr("NoSuchGate"));
}

// A few bytes of a message each ask for ten thousand domains.
TEST(SchedulingMemory, WorkloadsThatShareAnAssignmentAreChargedEach) {
  ServerOptions options;
  options.memory = std::int64_t{256} << 20;
  options.call_memory = std::int64_t{64} << 20;
  TestServer server(options);
  Cluster cluster = SmallQueues(1);
  ASSERT_TRUE(server.Load(StateOf(cluster)).ok());
  Workload running =
      MakeWorkload("running", "gpu", {MakePodSet("main", 0, {{"gpu", 1}}, Unconstrained())});
  Admit(running, "gpu-queue", "gpu", OnHosts({{"a1", 0}}));
  TopologyAssignment& assignment =
      running.admission->pod_set_assignments[0].topology_assignment.Mutable();
  assignment.domains.assign(10'000, assignment.domains[0]);
  cluster.workloads.push_back(running);
  for (const int copies : {1, 200}) {
    v1::CycleRequest request = *ToProto(cluster);
    for (int i = 1; i < copies; ++i) {
      request.add_strings("copy-" + std::to_string(i));
      v1::Workload& copy = *request.add_workloads();
      copy = v1::Workload(request.workloads(request.workloads_size() - 2));
      copy.set_name(static_cast<std::uint32_t>(request.strings_size()));
    }
    v1::PlanResizeRequest resize;
    *resize.mutable_objects() = request;
    const auto stub = v1::Scheduling::NewStub(server.channel);
    grpc::ClientContext cycle_context;
    v1::CycleResponse cycled;
    const grpc::Status cycle = stub->Cycle(&cycle_context, request, &cycled);
    grpc::ClientContext resize_context;
    v1::PlanResizeResponse resized;
    const grpc::Status plan = stub->PlanResize(&resize_context, resize, &resized);
    const auto expected = copies == 1 ? grpc::OK : grpc::RESOURCE_EXHAUSTED;
    EXPECT_EQ(cycle.error_code(), expected) << cycle.error_message();
    EXPECT_EQ(plan.error_code(), expected) << plan.error_message();
  }
}

TEST_F(SchedulingService, KnowsTwoProfiles) {
  ASSERT_TRUE(server_.Load(SmallCluster()).ok());
  v1::CycleRequest request;
  request.set_profile(v1::PLACEMENT_PROFILE_KEP5732);
  const grpc::Status status = Cycle(request);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(),
              testing::HasSubstr("profile: is 3; KUEUE (1) or ESPALIER (2) expected"));
}

// Objects that refer to nothing, to others twice or to what is not there.
TEST_F(SchedulingService, SurvivesObjectsThatMakeNoSense) {
  ASSERT_TRUE(server_.Load(SmallCluster()).ok());
  Cluster cluster;
  cluster.cluster_queues.resize(2);
  cluster.cluster_queues[1].name = "other";
  cluster.cluster_queues[0].resource_groups = {{{"cpu", ""}, {{"main", {}}, {"main", {}}, {}}}, {}};
  cluster.cluster_queues[0].admission_checks = {"", ""};
  cluster.local_queues.resize(2);
  cluster.local_queues[1].key.name = "other";
  cluster.workloads.resize(3);
  for (Workload& workload : cluster.workloads) {
    workload.key.name =
        std::string(static_cast<std::size_t>(&workload - cluster.workloads.data()), 'w');
    workload.pod_sets.resize(2);
    workload.pod_sets[1].name = "other";
  }
  PodSet& huge = cluster.workloads[0].pod_sets[0];
  huge.count = std::numeric_limits<std::int32_t>::max();
  huge.min_count = 0;
  huge.pod_template.requests = {{"cpu", std::numeric_limits<Amount>::min()}, {"", 1}};
  huge.topology_request.emplace();
  cluster.workloads[0].pod_sets[1] = huge;
  cluster.workloads[0].pod_sets[1].name = "other";
  cluster.workloads[1].admission.emplace().pod_set_assignments.resize(2);
  cluster.workloads[1].admission->pod_set_assignments[1].name = "unknown";
  cluster.workloads[1].conditions = {{"QuotaReserved", "True", "", ""}};
  cluster.workloads[1].unhealthy_nodes = {""};
  cluster.workloads[2].conditions = {{"QuotaReserved", "True", "", ""}, {"Admitted", "True"}};
  auto request = *ToProto(cluster);
  request.set_until_stable(true);
  const grpc::Status status = Cycle(request);
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST_F(SchedulingService, AnswersRandomObjectsAsHere) {
  ClusterStateInput input = SmallCluster();
  for (int i = 0; i < 5; ++i) {
    input.flavors.push_back({"flavor-" + std::to_string(i), {}, {}, {}, std::nullopt});
    if (i % 2) input.flavors.back().topology_name = "tree";
  }
  ASSERT_TRUE(server_.Load(input).ok());
  std::size_t decisions = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    Cluster cluster = SampleCluster(seed);
    for (const Workload& workload : cluster.workloads) {
      if (cluster.cluster_queues.empty()) break;
      const ObjectKey key = {workload.key.namespace_, workload.queue_name};
      if (std::ranges::find(cluster.local_queues, key, &LocalQueue::key) !=
          cluster.local_queues.end()) {
        continue;
      }
      cluster.local_queues.push_back({key, cluster.cluster_queues.front().name, ""});
    }
    auto request = *ToProto(cluster);
    request.set_until_stable(true);
    request.set_release_stopped(true);
    request.set_now_seconds(0);
    const grpc::Status status = Cycle(request);
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status.error_message();
    WorkBudget budget(1 << 30);
    const auto there = FromProto(response_, budget);
    ASSERT_TRUE(there) << there.error().message;
    cluster.nodes = input.nodes;
    cluster.topologies = input.topologies;
    cluster.flavors = input.flavors;
    EXPECT_EQ(there->decisions, RunHere(cluster, {}, true).decisions) << "seed " << seed;
    decisions += there->decisions.size();
  }
  EXPECT_GT(decisions, 20u);
}

}  // namespace
}  // namespace espalier::scheduling_test
