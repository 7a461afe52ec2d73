// espalier.v1.Workloads over a connection: Kubernetes objects as bytes.
#include <zlib.h>

#include "espalier/v1/workloads.grpc.pb.h"
#include "fallback_cpu/nested_cpu.hpp"
#include "service/client/remote_engine.hpp"
#include "service/wire/nested.hpp"
#include "tests/server/small_cluster.hpp"
#include "tests/server/test_server.hpp"

namespace espalier::workloads_test {
namespace {

using testing::HasSubstr;

constexpr const char* kJobSet = R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train, namespace: team}
spec:
  replicatedJobs:
    - name: workers
      template:
        spec:
          parallelism: 4
          completions: 4
          template:
            metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack}}
            spec: {containers: [{name: main, resources: {requests: {cpu: 4}}}]}
)";

class PlaceObjects : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(server_.Load(SmallCluster()).ok()); }

  grpc::Status Call(const std::string& objects, v1::PlaceObjectsResponse& response,
                    v1::PlacementProfile profile = v1::PLACEMENT_PROFILE_UNSPECIFIED,
                    bool strict = false) {
    v1::PlaceObjectsRequest request;
    request.set_strict(strict);
    request.set_mode(v1::PLACEMENT_MODE_SEQUENTIAL);
    request.set_objects(objects);
    request.set_guess_flavor(true);
    request.set_profile(profile);
    grpc::ClientContext context;
    return v1::Workloads::NewStub(server_.channel)->PlaceObjects(&context, request, &response);
  }

  TestServer server_;
};

TEST_F(PlaceObjects, AnswersWhereTheirWorkloadsGo) {
  v1::PlaceObjectsResponse response;
  const grpc::Status status = Call(kJobSet, response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(response.workloads_size(), 1);
  EXPECT_EQ(response.workloads(0).name(), "train");
  EXPECT_EQ(response.workloads(0).outcome(), v1::OBJECT_OUTCOME_PLACED);
  ASSERT_EQ(response.workloads(0).pod_sets_size(), 1);
  EXPECT_EQ(response.workloads(0).pod_sets(0).name(), "workers");
  EXPECT_EQ(response.workloads(0).pod_sets(0).count(), 4);
  EXPECT_EQ(response.answers().outcomes_size(), 1);
}

// Nobody could create such jobs.
TEST_F(PlaceObjects, RefusesJobsThatKueuesWebhooksRefuse) {
  std::string two = kJobSet;
  const std::string one = "kueue.x-k8s.io/podset-required-topology: rack";
  two.replace(two.find(one), one.size(), one + ", kueue.x-k8s.io/podset-preferred-topology: rack");
  v1::PlaceObjectsResponse response;
  ASSERT_TRUE(Call(two, response).ok());
  ASSERT_EQ(response.workloads_size(), 1);
  EXPECT_EQ(response.workloads(0).outcome(), v1::OBJECT_OUTCOME_WAITING);
  EXPECT_THAT(response.workloads(0).reason(), HasSubstr("podset-preferred-topology"));
}

// W4.4: what pods wait for, and that it is placed as soon as that comes along.
TEST_F(PlaceObjects, SaysWhatItWaitsFor) {
  const std::string pods = R"(
apiVersion: v1
kind: Pod
metadata: {name: worker-0, namespace: team}
spec:
  workloadRef: {name: train, podGroup: workers}
  containers: [{name: main, resources: {requests: {cpu: 4}}}]
)";
  v1::PlaceObjectsResponse response;
  ASSERT_TRUE(Call(pods, response).ok());
  ASSERT_EQ(response.workloads_size(), 1);
  EXPECT_EQ(response.workloads(0).outcome(), v1::OBJECT_OUTCOME_WAITING);
  EXPECT_THAT(response.workloads(0).reason(), HasSubstr("Workload train is not in the input"));
  const std::string workload = R"(
---
apiVersion: scheduling.k8s.io/v1alpha1
kind: Workload
metadata: {name: train, namespace: team}
spec: {podGroups: [{name: workers, policy: {gang: {minCount: 1}}}]}
)";
  v1::PlaceObjectsResponse complete;
  ASSERT_TRUE(Call(pods + workload, complete).ok());
  ASSERT_EQ(complete.workloads_size(), 1);
  EXPECT_EQ(complete.workloads(0).name(), "train-workers");
  EXPECT_EQ(complete.workloads(0).outcome(), v1::OBJECT_OUTCOME_PLACED);
}

TEST(ObjectMemory, IsThatOfTheCall) {
  ServerOptions options;
  options.memory = std::int64_t{128} << 20;
  options.call_memory = std::int64_t{32} << 20;
  TestServer server(options);
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  const auto place = [&](const std::string& objects) {
    v1::PlaceObjectsRequest request;
    request.set_mode(v1::PLACEMENT_MODE_SEQUENTIAL);
    request.set_objects(objects);
    grpc::ClientContext context;
    v1::PlaceObjectsResponse response;
    return v1::Workloads::NewStub(server.channel)->PlaceObjects(&context, request, &response);
  };
  std::string objects;
  for (int i = 0; i < 40'000; ++i) objects += R"({"apiVersion":"v1","kind":"Pod"})";
  EXPECT_EQ(place(objects).error_code(), grpc::RESOURCE_EXHAUSTED);
  // A mebibyte of spaces packs to a kilobyte.
  std::string spaces(std::size_t{8} << 20, ' ');
  z_stream stream{};
  ASSERT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(spaces.size(), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(spaces.data());
  stream.avail_in = static_cast<uInt>(spaces.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  ASSERT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  const grpc::Status bomb = place(packed);
  EXPECT_EQ(bomb.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(bomb.error_message().find("objects: is larger than 1 MiB, unpacked;"), 0u)
      << bomb.error_message();
}

// One that is wrong hides none beside it, unless the call is to be strict.
TEST_F(PlaceObjects, WrongObjectsAreNamed) {
  const std::string objects = std::string(kJobSet) + R"(---
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: wrong, namespace: team}
spec: {replicatedJobs: [{name: 7}]}
)";
  const char* const what = "JobSet team/wrong: spec.replicatedJobs[0].name";
  v1::PlaceObjectsResponse response;
  const grpc::Status status = Call(objects, response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(response.workloads_size(), 2);
  EXPECT_EQ(response.workloads(0).outcome(), v1::OBJECT_OUTCOME_PLACED);
  EXPECT_EQ(response.workloads(1).name(), "wrong");
  EXPECT_EQ(response.workloads(1).outcome(), v1::OBJECT_OUTCOME_WAITING);
  EXPECT_THAT(response.workloads(1).reason(), HasSubstr(what));
  const grpc::Status strict =
      Call(objects, response, v1::PLACEMENT_PROFILE_UNSPECIFIED, /*strict=*/true);
  EXPECT_EQ(strict.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(strict.error_message(), HasSubstr(what));
}

constexpr const char* kReplicas = R"(
apiVersion: scheduling/v1alpha1
kind: Workload
metadata: {name: w, namespace: team}
spec:
  replicaMode: ReplicatedGangs
  replicas: 2
  topologyRequest: {required: block}
  gangGroups:
    - name: gg
      topologyRequest: {required: rack}
      eqGroups: [{count: 6, template: {resources: {requests: {cpu: 4}}}}]
)";

TEST_F(PlaceObjects, TreesByTheProfile) {
  v1::PlaceObjectsResponse flat;
  ASSERT_TRUE(Call(kReplicas, flat).ok());
  EXPECT_EQ(flat.workloads_size(), 2);
  EXPECT_FALSE(flat.workloads(0).is_nested());
  const std::string tree = std::string(kReplicas) + "---" + kJobSet;
  v1::PlaceObjectsResponse nested;
  const grpc::Status status = Call(tree, nested, v1::PLACEMENT_PROFILE_KEP5732);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(nested.workloads_size(), 2);
  EXPECT_EQ(nested.nested().workloads_size(), 2);
  EXPECT_TRUE(nested.workloads(0).is_nested());
  EXPECT_EQ(nested.workloads(0).outcome(), v1::OBJECT_OUTCOME_PLACED);
  EXPECT_EQ(nested.answers().outcomes_size(), 0);
}

// A rack is taken by each: the second time only what is left of the block is.
TEST_F(PlaceObjects, Commit) {
  v1::PlaceObjectsRequest request;
  request.set_mode(v1::PLACEMENT_MODE_SEQUENTIAL);
  request.set_objects(kReplicas);
  request.set_guess_flavor(true);
  request.set_profile(v1::PLACEMENT_PROFILE_ESPALIER);
  request.set_commit(true);
  const auto ask = [&] {
    grpc::ClientContext context;
    v1::PlaceObjectsResponse response;
    const grpc::Status status =
        v1::Workloads::NewStub(server_.channel)->PlaceObjects(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  };
  const v1::PlaceObjectsResponse first = ask();
  EXPECT_EQ(first.state().generation(), 1u);
  EXPECT_EQ(first.committed().generation(), 2u);
  const v1::PlaceObjectsResponse second = ask();
  EXPECT_EQ(second.committed().generation(), 3u);
  EXPECT_EQ(first.workloads(0).outcome(), v1::OBJECT_OUTCOME_PLACED);
  EXPECT_EQ(second.workloads(0).outcome(), v1::OBJECT_OUTCOME_PLACED);
  EXPECT_NE(first.nested().SerializeAsString(), second.nested().SerializeAsString());
  const v1::PlaceObjectsResponse third = ask();
  EXPECT_EQ(third.workloads(0).outcome(), v1::OBJECT_OUTCOME_NOT_PLACED);
  EXPECT_EQ(third.workloads(0).verdict(), v1::NESTED_STATUS_NOT_NOW);
}

// Six pods at two a host are more than a rack of four hosts holds with another two racks of them.
TEST_F(PlaceObjects, NotNowAndNeverAreTold) {
  const auto job = [](const std::string& name, int pods) {
    return "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name +
           ", namespace: team, labels: {kueue.x-k8s.io/queue-name: q}}\nspec: {parallelism: " +
           std::to_string(pods) + ", completions: " + std::to_string(pods) +
           ", template: {metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: "
           "block}}, spec: {containers: [{name: c, resources: {requests: {cpu: 4}}}]}}}\n";
  };
  v1::PlaceObjectsResponse response;
  const grpc::Status status =
      Call(job("a", 16) + job("b", 16) + job("c", 16) + job("d", 17), response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(response.workloads_size(), 4);
  EXPECT_EQ(response.workloads(1).outcome(), v1::OBJECT_OUTCOME_PLACED);
  EXPECT_EQ(response.workloads(1).verdict(), v1::NESTED_STATUS_UNSPECIFIED);
  EXPECT_EQ(response.workloads(2).verdict(), v1::NESTED_STATUS_NOT_NOW);
  EXPECT_EQ(response.workloads(3).verdict(), v1::NESTED_STATUS_NEVER);
}

TEST_F(PlaceObjects, ModeAndProfileAreChecked) {
  v1::PlaceObjectsResponse response;
  EXPECT_EQ(Call(kJobSet, response, static_cast<v1::PlacementProfile>(9)).error_message(),
            "profile: is 9; KUEUE (1), ESPALIER (2) or KEP5732 (3) expected");
  v1::PlaceObjectsRequest request;
  grpc::ClientContext context;
  const grpc::Status status =
      v1::Workloads::NewStub(server_.channel)->PlaceObjects(&context, request, &response);
  EXPECT_EQ(status.error_message(), "mode: is 0; NOMINATE (1) or SEQUENTIAL (2) expected");
}

// All that is wrong comes at once, each with its place.
TEST_F(PlaceObjects, AllErrorsComeInOneText) {
  v1::PlaceObjectsResponse response;
  const grpc::Status status = Call(
      "apiVersion: v1\nkind: Node\nmetadata: {name: [a]}\n---\napiVersion: v1\nkind: "
      "Node\nmetadata: {name: b}\nstatus: {allocatable: {cpu: much}}\n",
      response, v1::PLACEMENT_PROFILE_UNSPECIFIED, /*strict=*/true);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("objects, object 1"));
  EXPECT_THAT(status.error_message(), HasSubstr("objects, object 2"));
}

class PlaceNested : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(server_.Load(cluster_).ok()); }

  // Replicas of four pods in a rack each, in one block; a rack holds eight.
  static NestedRequest Nested(std::int32_t replicas) {
    NestedRequest request;
    request.key = {"team", "tree"};
    request.flavor = "main";
    request.root.name = "tree";
    request.root.required = "block";
    NestedGroup& replica = request.root.groups.emplace_back();
    replica.name = "replica";
    replica.copies = replica.min_copies = replicas;
    replica.required = "rack";
    replica.pods = NestedPodSet{{{"cpu", 4000}}, {}, 4, 4, 0};
    return request;
  }

  static WorkloadRequest Tree(std::int32_t replicas,
                              NestedProfile profile = NestedProfile::kEspalier) {
    WorkloadRequest request;
    NestedRequest nested = Nested(replicas);
    nested.profile = profile;
    request.key = nested.key;
    request.pod_sets = {{.name = "replica",
                         .flavor = "main",
                         .count = 4 * replicas,
                         .requests = nested.root.groups[0].pods->requests}};
    request.tree = std::move(nested);
    return request;
  }

  grpc::Status Call(const v1::PlaceNestedRequest& request) {
    v1::PlaceNestedResponse response;
    return Call(request, response);
  }

  grpc::Status Call(const v1::PlaceNestedRequest& request, v1::PlaceNestedResponse& response) {
    grpc::ClientContext context;
    return v1::Workloads::NewStub(server_.channel)->PlaceNested(&context, request, &response);
  }

  const ClusterStateInput cluster_ = SmallCluster();
  TestServer server_;
};

// The answers are those of the library, and the state stays as it was.
TEST_F(PlaceNested, TreesAmongOthersAreAnsweredByPlace) {
  auto remote = RemoteEngine::Connect(server_.server->addresses().at(0));
  ASSERT_TRUE(remote) << remote.error().message;
  ASSERT_TRUE(remote->UseStateOfServer());
  for (const PlacementMode mode : {PlacementMode::kSequential, PlacementMode::kNominate}) {
    for (const NestedProfile profile : {NestedProfile::kEspalier, NestedProfile::kKep5732}) {
      const std::vector<WorkloadRequest> requests = {Tree(3, profile),    MakeGang("flat", 8),
                                                     Tree(2, profile),    Tree(4, profile),
                                                     MakeGang("more", 8), Tree(5, profile)};
      const auto answers = remote->Place(requests, mode, FeatureGates());
      ASSERT_TRUE(answers) << answers.error().message;
      auto state = ClusterState::Build(cluster_);
      const Engine engine(MakeCpuBackend(1), FeatureGates());
      EXPECT_EQ(*answers, engine.Place(*state, requests, mode));
      EXPECT_TRUE((*answers)[0].tree);
    }
  }
  EXPECT_EQ(server_.Summary().state().generation(), 1u);
}

TEST_F(PlaceNested, TreesAreAnsweredOnTheNamedState) {
  const ClusterStateInput empty = SmallCluster(0);
  ASSERT_TRUE(server_.Load(empty, nullptr, "empty").ok());
  const std::vector<WorkloadRequest> requests = {Tree(3), MakeGang("flat", 8)};
  auto remote = RemoteEngine::Connect(server_.server->addresses().at(0));
  ASSERT_TRUE(remote) << remote.error().message;
  remote->UseState("empty");
  ASSERT_TRUE(remote->UseStateOfServer());
  const auto answers = remote->Place(requests, PlacementMode::kSequential, FeatureGates());
  ASSERT_TRUE(answers) << answers.error().message;
  auto state = ClusterState::Build(empty);
  const Engine engine(MakeCpuBackend(1), FeatureGates());
  EXPECT_EQ(*answers, engine.PlaceInOrder(*state, requests));
}

// Placements are booked, once: further calls are answered as if all had been asked at once.
TEST_F(PlaceNested, Commits) {
  const std::vector<WorkloadRequest> requests = {Tree(3), MakeGang("flat", 8), Tree(2)};
  auto state = ClusterState::Build(cluster_);
  const auto expected = Engine(MakeCpuBackend(1), FeatureGates()).PlaceInOrder(*state, requests);
  v1::PlaceNestedRequest request;
  request.set_mode(v1::PLACEMENT_MODE_SEQUENTIAL);
  request.set_profile(v1::PLACEMENT_PROFILE_ESPALIER);
  *request.mutable_nested() = ToProto(std::vector<NestedRequest>{Nested(3)});
  *request.mutable_flat() = *ToProto(std::vector<WorkloadRequest>{MakeGang("flat", 8)});
  request.add_is_nested(true);
  request.add_is_nested(false);
  request.set_commit(true);
  request.set_commit_token("first");
  EXPECT_EQ(Call(request).error_message(),
            "commit_token: needs `commit` and the `state` that is committed to");
  *request.mutable_state() = server_.Summary().state();
  v1::PlaceNestedResponse first;
  ASSERT_TRUE(Call(request, first).ok());
  EXPECT_EQ(first.committed().generation(), 2u);
  v1::PlaceNestedResponse again;
  ASSERT_TRUE(Call(request, again).ok());
  EXPECT_EQ(again.SerializeAsString(), first.SerializeAsString());
  EXPECT_EQ(server_.Summary().state().generation(), 2u);

  auto remote = RemoteEngine::Connect(server_.server->addresses().at(0));
  ASSERT_TRUE(remote) << remote.error().message;
  ASSERT_TRUE(remote->UseStateOfServer());
  const auto later = remote->Place({&requests[2], 1}, PlacementMode::kSequential, FeatureGates());
  ASSERT_TRUE(later) << later.error().message;
  EXPECT_EQ(later->at(0), expected.at(2));

  request.set_mode(v1::PLACEMENT_MODE_NOMINATE);
  request.clear_commit_token();
  EXPECT_EQ(Call(request).error_message(),
            "commit: nothing can be booked in mode NOMINATE; use SEQUENTIAL");
  request.set_mode(v1::PLACEMENT_MODE_SEQUENTIAL);
  EXPECT_EQ(Call(request).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(PlaceNested, WrongRequestsAreRefused) {
  v1::PlaceNestedRequest request;
  request.set_mode(v1::PLACEMENT_MODE_SEQUENTIAL);
  EXPECT_EQ(Call(request).error_message(),
            "profile: is 0, which has no trees; ESPALIER (2) or KEP5732 (3) expected");
  request.set_profile(v1::PLACEMENT_PROFILE_ESPALIER);
  EXPECT_TRUE(Call(request).ok()) << "nothing asked";
  NestedRequest elsewhere = Nested(1);
  elsewhere.flavor = "other";
  *request.mutable_nested() = ToProto(std::vector<NestedRequest>{Nested(1), elsewhere});
  EXPECT_EQ(Call(request).error_message(),
            "nested.flavors[1]: the state has no flavor \"other\" with a topology; it has main");
  *request.mutable_nested() = ToProto(std::vector<NestedRequest>{Nested(1)});
  EXPECT_TRUE(Call(request).ok()) << "the order is clear";
  *request.mutable_flat() = *ToProto(std::vector<WorkloadRequest>{MakeGang("flat", 8)});
  EXPECT_EQ(Call(request).error_message(),
            "is_nested: has 0 entries for 2 workloads, 1 nested and 1 flat; one each expected");
  request.add_is_nested(false);
  request.add_is_nested(false);
  EXPECT_EQ(Call(request).error_message(),
            "is_nested[1]: is false, but there are only 1 workloads of flat");
  request.mutable_state()->set_epoch(7);
  EXPECT_EQ(Call(request).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

}  // namespace
}  // namespace espalier::workloads_test
