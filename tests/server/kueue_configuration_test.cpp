// Kueue's Configuration as a part of a loaded state.
#include <map>

#include "espalier/v1/dispatch.grpc.pb.h"
#include "espalier/v1/scheduling.grpc.pb.h"
#include "espalier/v1/workloads.grpc.pb.h"
#include "fallback_cpu/cpu_backend.hpp"
#include "host/kueue/cycle/scheduling_cycle.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/readers/cluster_files.hpp"
#include "service/client/remote_engine.hpp"
#include "service/wire/scheduling.hpp"
#include "tests/kueue/objects.hpp"
#include "tests/server/small_cluster.hpp"
#include "tests/server/test_server.hpp"

namespace espalier::kueue_configuration_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kExcluding = R"(
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
resources: {excludeResourcePrefixes: [example.com/]}
)";

std::string WithGates(const std::string& gates) {
  return "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfeatureGates: {" + gates +
         "}\n";
}

class LoadedConfigurations : public testing::Test {
 protected:
  grpc::Status Load(const ClusterStateInput& input, const std::string& configuration,
                    TestServer& server, const std::string& state_name = "") {
    grpc::ClientContext context;
    v1::LoadStateResponse response;
    const auto writer = server.cluster_state->LoadState(&context, &response);
    ToChunks(
        input, [&](const v1::LoadStateRequest& chunk) { return writer->Write(chunk); }, state_name,
        {}, configuration);
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    warnings_ = {response.warnings().begin(), response.warnings().end()};
    return status;
  }
  grpc::Status Load(const std::string& configuration) {
    return Load(SmallCluster(), configuration, server_);
  }

  grpc::Status Update(const std::string& configuration) {
    v1::UpdateStateRequest request;
    *request.mutable_base() = server_.Summary().state();
    request.set_set_kueue_configuration(configuration);
    grpc::ClientContext context;
    v1::UpdateStateResponse response;
    return server_.cluster_state->UpdateState(&context, request, &response);
  }

  // Asks with a gate that needs ElasticJobsViaWorkloadSlices on.
  static grpc::Status PlaceElastic(TestServer& server) {
    v1::PlaceRequest request = MakePlaceRequest({MakeGang("a", 1)});
    (*request.mutable_feature_gates())["ElasticJobsViaWorkloadSlicesWithTAS"] = true;
    return server.Place(request);
  }

  TestServer server_;
  std::vector<std::string> warnings_;
};

TEST_F(LoadedConfigurations, SayWhatQuotaLooksAt) {
  Cluster cluster = MakeCluster();
  for (Node& node : cluster.nodes) node.allocatable.Set("example.com/rdma", 2);
  for (const std::string name : {"one", "two", "three"}) {
    cluster.workloads.push_back(MakeWorkload(
        name, "gpu",
        {MakePodSet("main", 4, {{"gpu", 1}, {"example.com/rdma", 1}}, Required(kRack))}));
  }
  const ClusterStateInput input = [&] {
    ClusterStateInput made = BuildClusterStateInput(cluster, {});
    made.flavors = cluster.flavors;
    return made;
  }();
  const auto cycle = [&](v1::CycleResponse& response) {
    v1::CycleRequest request = *ToProto(cluster);
    request.set_until_stable(true);
    request.set_now_seconds(0);
    grpc::ClientContext context;
    return v1::Scheduling::NewStub(server_.channel)->Cycle(&context, request, &response);
  };
  const auto here = [&](const std::string& configuration) {
    Cluster with = cluster;
    if (!configuration.empty()) {
      with.configuration = ReadClusterText("f", configuration)->cluster.configuration;
    }
    return RunSchedulingCycles(std::move(with), Engine(MakeCpuBackend(1), {}),
                               {.until_stable = true, .admissibility = {.now_seconds = 0}});
  };
  for (const std::string configuration : {"", kExcluding}) {
    ASSERT_TRUE(Load(input, configuration, server_).ok());
    v1::CycleResponse response;
    const grpc::Status status = cycle(response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    WorkBudget budget(std::int64_t{1} << 30);
    const auto there = FromProto(response, budget);
    ASSERT_TRUE(there) << there.error().message;
    EXPECT_EQ(there->decisions, here(configuration)->decisions);
    const auto assumed =
        std::ranges::count(there->decisions, DecisionStatus::kAssumed, &Decision::status);
    // Two racks have four devices each, which nodes still look at.
    EXPECT_EQ(assumed, configuration.empty() ? 0 : 2);
  }
}

TEST_F(LoadedConfigurations, ArePartOfTheState) {
  ASSERT_TRUE(Load("").ok());
  const auto without = server_.Summary();
  EXPECT_THAT(without.kueue_configuration(), IsEmpty());
  ASSERT_TRUE(Update(kExcluding).ok());
  const auto with = server_.Summary();
  EXPECT_EQ(with.state().generation(), 2u);
  EXPECT_THAT(with.kueue_configuration(),
              HasSubstr(R"("excludeResourcePrefixes":["example.com/"])"));
  EXPECT_NE(with.checksum(), without.checksum());
  // It stays while other things change.
  v1::UpdateStateRequest request;
  *request.mutable_base() = with.state();
  grpc::ClientContext context;
  v1::UpdateStateResponse response;
  ASSERT_TRUE(server_.cluster_state->UpdateState(&context, request, &response).ok());
  EXPECT_EQ(server_.Summary().kueue_configuration(), with.kueue_configuration());
  ASSERT_TRUE(Update("").ok());
  EXPECT_EQ(server_.Summary().checksum(), without.checksum());
  // A load replaces everything.
  ASSERT_TRUE(Load(kExcluding).ok());
  EXPECT_EQ(server_.Summary().checksum(), with.checksum());
  ASSERT_TRUE(Load("").ok());
  EXPECT_THAT(server_.Summary().kueue_configuration(), IsEmpty());
}

TEST_F(LoadedConfigurations, GiveTheGatesOfCallsThatNameNone) {
  ASSERT_TRUE(Load("").ok());
  EXPECT_TRUE(PlaceElastic(server_).ok());
  ASSERT_TRUE(Load(WithGates("ElasticJobsViaWorkloadSlices: false")).ok());
  EXPECT_THAT(PlaceElastic(server_).error_message(),
              HasSubstr("ElasticJobsViaWorkloadSlices is off but required by "
                        "ElasticJobsViaWorkloadSlicesWithTAS"));
  // Gates that the server's own command line names win.
  TestServer named({.named_gates = "ElasticJobsViaWorkloadSlices=true"});
  ASSERT_TRUE(Load(SmallCluster(), WithGates("ElasticJobsViaWorkloadSlices: false"), named).ok());
  EXPECT_TRUE(PlaceElastic(named).ok());
}

TEST_F(LoadedConfigurations, SayWhatIsWrongWithThem) {
  ASSERT_TRUE(Load("").ok());
  const auto error = [&](const std::string& configuration) {
    const grpc::Status status = Load(configuration);
    EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
    return status.error_message();
  };
  EXPECT_THAT(
      error("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
            "resources: {quotaCheckStrategy: Most}\n"),
      HasSubstr("kueue_configuration: Configuration: resources.quotaCheckStrategy: there is "
                "no such strategy, got \"Most\""));
  EXPECT_THAT(error("kind: Node\n"), HasSubstr("kueue_configuration: "));
  EXPECT_THAT(error("{}"), HasSubstr("kueue_configuration: "));
  EXPECT_THAT(error(std::string((std::size_t{1} << 20) + 1, ' ')), HasSubstr("at most 1048576"));
  EXPECT_THAT(
      error(WithGates("TopologyAwareScheduling: false")),
      HasSubstr("kueue_configuration: featureGates: feature gate TopologyAwareScheduling is "
                "off but required by"));
  EXPECT_EQ(server_.Summary().state().generation(), 1u) << "nothing was loaded";
  EXPECT_EQ(Update("kind: Node\n").error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(Update("kind: Node\n").error_message(), HasSubstr("set_kueue_configuration: "));

  ASSERT_TRUE(Load(WithGates("TASBalancedPlacemnt: true, LocalQueueMetrics: true")).ok());
  EXPECT_THAT(warnings_,
              ElementsAre(HasSubstr("feature gate LocalQueueMetrics is not known here"),
                          HasSubstr("feature gate TASBalancedPlacemnt is not known here, and not "
                                    "honoured; did you mean TASBalancedPlacement?")));
}

// Each of several states is asked by the gates of its own Configuration; those of a call win.
TEST_F(LoadedConfigurations, SayHowEachStateIsDispatchedTo) {
  ClusterStateInput uneven = SmallCluster(1);
  uneven.nodes[0].allocatable.Set("cpu", 8000);
  uneven.nodes[1].allocatable.Set("cpu", 12000);
  for (const std::size_t i : {2, 3}) uneven.nodes[i].allocatable.Set("cpu", 16000);
  const std::string off = WithGates("TASProfileMixed: false");
  ASSERT_TRUE(Load(uneven, "", server_, "a-mixed").ok());
  ASSERT_TRUE(Load(uneven, off, server_, "b-off").ok());
  WorkloadRequest gang = MakeGang("a", 5);
  TopologyRequest& topology = *gang.pod_sets[0].topology_request;
  topology.required.reset();
  topology.unconstrained = true;
  // The hosts with the least room are filled, or that with the most, and then one in part (R9.6).
  const auto left_over = [&](bool with_gate) {
    v1::DispatchRequest request;
    *request.mutable_workloads() = *ToProto(std::vector<WorkloadRequest>{gang});
    if (with_gate) (*request.mutable_feature_gates())["TASProfileMixed"] = false;
    grpc::ClientContext context;
    v1::DispatchResponse response;
    const grpc::Status status =
        v1::Dispatching::NewStub(server_.channel)->Dispatch(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    std::map<std::string, std::int64_t> found;
    for (const v1::StateFit& fit : response.workloads(0).fits()) {
      found[response.states(static_cast<int>(fit.state())).state_name()] =
          fit.pod_sets(0).left_over();
    }
    return found;
  };
  using LeftOver = std::map<std::string, std::int64_t>;
  EXPECT_EQ(left_over(false), (LeftOver{{"a-mixed", 0}, {"b-off", 1}}));
  EXPECT_EQ(left_over(true), (LeftOver{{"a-mixed", 1}, {"b-off", 1}}));
}

TEST_F(LoadedConfigurations, SayWhichJobsAreManaged) {
  const std::string job = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: team, labels: {kueue.x-k8s.io/queue-name: q}}
spec: {template: {spec: {containers: [{name: main, resources: {requests: {cpu: 4}}}]}}}
)";
  const auto place = [&](const std::string& objects) {
    v1::PlaceObjectsRequest request;
    request.set_mode(v1::PLACEMENT_MODE_SEQUENTIAL);
    request.set_objects(objects);
    request.set_guess_flavor(true);
    grpc::ClientContext context;
    v1::PlaceObjectsResponse response;
    EXPECT_TRUE(
        v1::Workloads::NewStub(server_.channel)->PlaceObjects(&context, request, &response).ok());
    EXPECT_EQ(response.workloads_size(), 1);
    return response;
  };
  const std::string jobs_off =
      "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
      "integrations: {frameworks: [pod]}\n";
  ASSERT_TRUE(Load("").ok());
  EXPECT_EQ(place(job).workloads(0).outcome(), v1::OBJECT_OUTCOME_PLACED);
  const std::string not_managed = "Kueue does not manage this Job: integrations.frameworks";
  // That of the objects counts where the state has none.
  EXPECT_THAT(place(job + "---\n" + jobs_off).workloads(0).reason(), HasSubstr(not_managed));
  ASSERT_TRUE(Load(jobs_off).ok());
  EXPECT_THAT(place(job).workloads(0).reason(), HasSubstr(not_managed));
  EXPECT_EQ(place(job).workloads(0).outcome(), v1::OBJECT_OUTCOME_WAITING);
  const auto both = place(job + "---\n" + kExcluding);
  EXPECT_THAT(both.workloads(0).reason(), HasSubstr(not_managed));
  EXPECT_THAT(both.warnings(), ElementsAre(HasSubstr("does not count: the state has one")));
}

}  // namespace
}  // namespace espalier::kueue_configuration_test
