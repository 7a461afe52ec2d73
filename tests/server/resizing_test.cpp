// espalier.v1.Scheduling/PlanResize over a connection: as PlanResize in this process.
#include "service/wire/resizing.hpp"

#include "espalier/v1/scheduling.grpc.pb.h"
#include "host/kueue/elastic/workload_slices.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "service/client/remote_engine.hpp"
#include "service/wire/scheduling.hpp"
#include "tests/kueue/objects.hpp"
#include "tests/server/test_server.hpp"

namespace espalier::resizing_test {
namespace {

class RemoteResizes : public testing::Test {
 protected:
  void SetUp() override {
    Workload workload =
        MakeWorkload("w", "gpu", {MakePodSet("main", 4, {{"gpu", 1}}, Unconstrained())});
    workload.annotations = {{std::string(kElasticJobAnnotation), "true"}};
    Admit(workload, "gpu-queue", "gpu", OnHosts({{"a1", 1}, {"b1", 3}}));
    cluster_.workloads = {workload};
    cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 0, 10);
    auto remote = RemoteEngine::Connect(server_.server->addresses()[0]);
    ASSERT_TRUE(remote) << remote.error().message;
    ClusterStateInput input = BuildClusterStateInput(cluster_, {});
    input.flavors = cluster_.flavors;
    input.tas_usage.clear();
    ASSERT_TRUE(remote->Load(input));
  }

  v1::PlanResizeRequest Request(const std::string& pod_set, std::int64_t count) const {
    v1::PlanResizeRequest request;
    *request.mutable_objects() = *ToProto(cluster_);
    v1::PodSetCount& row = *request.add_counts();
    const auto& strings = request.objects().strings();
    const auto found = std::ranges::find(strings, pod_set);
    if (found == strings.end()) {
      request.mutable_objects()->add_strings(pod_set);
      row.set_name(static_cast<std::uint32_t>(request.objects().strings_size()));
    } else {
      row.set_name(static_cast<std::uint32_t>(found - strings.begin()) + 1);
    }
    row.set_count(count);
    return request;
  }

  grpc::Status Call(const v1::PlanResizeRequest& request) {
    grpc::ClientContext context;
    response_.Clear();
    return v1::Scheduling::NewStub(server_.channel)->PlanResize(&context, request, &response_);
  }

  Cluster cluster_ = MakeCluster();
  TestServer server_;
  v1::PlanResizeResponse response_;
};

// The owners of workloads tell the slices of one job from another job.
TEST_F(RemoteResizes, TellsTwoJobsApart_W5_5) {
  Workload other = cluster_.workloads[0];
  other.key.name = "other";
  Admit(other, "gpu-queue", "gpu", OnHosts({{"a2", 4}}));
  cluster_.workloads.push_back(other);
  for (Workload& workload : cluster_.workloads) {
    workload.owners = {{"batch/v1", "Job", workload.key.name, "uid-" + workload.key.name, true}};
  }
  const grpc::Status status = Call(Request("main", 5));
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response_.decision(), v1::RESIZE_DECISION_NEW_SLICE);
}

TEST_F(RemoteResizes, PlanAsHere) {
  const Engine engine(MakeCpuBackend(1), ResizeGates({}));
  for (const std::int64_t count : {1, 3, 4, 6, 10, 12}) {
    for (const auto mode : {v1::SLICE_MODE_REPLACEMENT, v1::SLICE_MODE_PER_REPLICA}) {
      for (const auto profile : {v1::RESIZE_PROFILE_KUEUE, v1::RESIZE_PROFILE_ESPALIER}) {
        v1::PlanResizeRequest request = Request("main", count);
        request.set_slice_mode(mode);
        request.set_profile(profile);
        const grpc::Status status = Call(request);
        ASSERT_TRUE(status.ok()) << status.error_message();
        const auto here = PlanResize(
            cluster_, engine,
            {{"team", "w"},
             {{"main", count}},
             mode == v1::SLICE_MODE_REPLACEMENT ? SliceMode::kReplacement : SliceMode::kPerReplica,
             profile == v1::RESIZE_PROFILE_KUEUE ? ResizeProfile::kKueue
                                                 : ResizeProfile::kEspalier});
        ASSERT_TRUE(here);
        v1::PlanResizeResponse want = *ToProto(*here);
        *want.mutable_state() = response_.state();
        EXPECT_EQ(response_.SerializeAsString(), want.SerializeAsString()) << count;
      }
    }
  }
}

TEST_F(RemoteResizes, NameWhatIsWrong) {
  EXPECT_EQ(Call(Request("mian", 3)).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Call(Request("mian", 3)).error_message(),
            "counts[0].name: is \"mian\"; the workload has the pod sets main");
  EXPECT_EQ(Call(Request("main", -1)).error_message(),
            "counts[0].count: is -1; 0 to 2147483647 pods expected");
  v1::PlanResizeRequest request = Request("main", 3);
  *request.add_counts() = request.counts(0);
  EXPECT_EQ(Call(request).error_message(),
            "counts[1].name: is \"main\", as that of counts[0]; each pod set once expected");
  request = Request("main", 3);
  request.mutable_objects()->set_profile(static_cast<v1::PlacementProfile>(99));
  EXPECT_EQ(Call(request).error_message(),
            "objects.profile: is 99; KUEUE (1) or ESPALIER (2) expected");
  request = Request("main", 3);
  request.mutable_objects()->mutable_workloads(0)->set_name(999);
  EXPECT_EQ(Call(request).error_message().find("objects.workloads[0].name: refers to row 999"), 0u)
      << Call(request).error_message();
  request = Request("main", 3);
  *request.mutable_objects()->add_workloads() = request.objects().workloads(0);
  EXPECT_EQ(Call(request).error_message(),
            "objects.workloads[1]: is team/w as workloads[0] is; send each workload once");
  request = Request("main", 3);
  request.set_workload(1);
  EXPECT_EQ(Call(request).error_message(), "workload: is 1; there are 1 workloads");
  request = Request("main", 3);
  request.set_profile(static_cast<v1::ResizeProfile>(7));
  EXPECT_EQ(Call(request).error_message(), "profile: is 7, which is no known profile");
  request = Request("main", 3);
  request.mutable_counts(0)->set_name(999);
  EXPECT_EQ(Call(request).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

// Each slice per replica has a copy of the template.
TEST_F(RemoteResizes, SlicesThatTakeTooMuchAreRefused) {
  ServerOptions options;
  options.memory = std::int64_t{64} << 20;
  options.call_memory = std::int64_t{16} << 20;
  TestServer server(options);
  ClusterStateInput input = BuildClusterStateInput(cluster_, {});
  input.flavors = cluster_.flavors;
  ASSERT_TRUE(server.Load(input).ok());
  cluster_.workloads[0].pod_sets[0].pod_template.labels = {{"large", std::string(100'000, 'x')}};
  v1::PlanResizeRequest request = Request("main", 1004);
  request.set_slice_mode(v1::SLICE_MODE_PER_REPLICA);
  grpc::ClientContext context;
  const grpc::Status status =
      v1::Scheduling::NewStub(server.channel)->PlanResize(&context, request, &response_);
  EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED) << status.error_message();
}

}  // namespace
}  // namespace espalier::resizing_test
