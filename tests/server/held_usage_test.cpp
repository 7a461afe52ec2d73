// Holds as usage: every question about a state with a hold is answered as about one in which the
// same usage of leaves was loaded.
#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>

#include "espalier/v1/dispatch.pb.h"
#include "espalier/v1/scheduling.pb.h"
#include "espalier/v1/workloads.pb.h"
#include "host/model/kueue_keys.hpp"
#include "service/client/raw_call.hpp"
#include "service/wire/nested.hpp"
#include "service/wire/objects.hpp"
#include "service/wire/scheduling.hpp"
#include "tests/kueue/objects.hpp"
#include "tests/server/questions_fixture.hpp"

namespace espalier::held_usage_test {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::MethodDescriptor;

constexpr int kAsked = 7;  // pods; a rack of SmallCluster has room for 8

struct Question {
  std::string method;
  std::string request;

  friend void PrintTo(const Question& question, std::ostream* out) { *out << question.method; }
};

// What runs in two racks of which the first has room for 7 more pods, and the second for 3.
std::vector<AdmittedUsage> WhatRuns() {
  return {Running("a", {"host-4", "host-5"}), Running("b", {"host-6"}, 1),
          Running("c", {"host-3"}, 1)};
}

// A gang that takes the whole rest of the first rack, and what it uses there.
WorkloadRequest Held() { return MakeGang("held", 7); }
std::vector<FlavorLeafUsage> UsageOfHeld() {
  std::vector<FlavorLeafUsage> usage = Running("", {"host-0", "host-1", "host-2"}).usage;
  usage.push_back(Running("", {"host-3"}, 1).usage[0]);
  return usage;
}

WorkloadRequest GangOfTeam(const std::string& name, std::int32_t pods) {
  WorkloadRequest gang = MakeGang(name, pods);
  gang.key.namespace_ = "team";
  return gang;
}

Cluster Queues() {
  Cluster cluster;
  cluster.cluster_queues = {MakeQueue("queue", {"main"})};
  cluster.local_queues = {MakeLocalQueue("local", "queue")};
  return cluster;
}

void AddPlacements(std::vector<Question>& questions) {
  const v1::PlaceRequest place = MakePlaceRequest({GangOfTeam("asked", kAsked)});
  questions.push_back({"Placement/Place", place.SerializeAsString()});

  WorkloadRequest growing = GangOfTeam("a", 8);
  growing.pod_sets[0].topology_request->required = "block";
  growing.pod_sets[0].previous_assignment = OnHosts({{"host-4", 2}, {"host-5", 2}});
  v1::PlaceRequest replace = MakePlaceRequest({growing});
  (*replace.mutable_feature_gates())["ElasticJobsViaWorkloadSlicesWithTAS"] = true;
  questions.push_back({"Placement/Replace", replace.SerializeAsString()});

  v1::PlaceObjectsRequest objects;
  objects.set_mode(v1::PLACEMENT_MODE_NOMINATE);
  objects.set_guess_flavor(true);
  objects.set_objects(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: asked, namespace: team, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  parallelism: 7
  completions: 7
  template:
    metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack}}
    spec: {containers: [{name: main, resources: {requests: {cpu: 4}}}]}
)");
  questions.push_back({"Workloads/PlaceObjects", objects.SerializeAsString()});

  NestedRequest tree;
  tree.key = {"team", "asked"};
  tree.flavor = "main";
  tree.root.name = "tree";
  NestedGroup& group = tree.root.groups.emplace_back();
  group.name = "group";
  group.required = "rack";
  group.pods = NestedPodSet{{{"cpu", 4000}}, {}, kAsked, kAsked, 0};
  v1::PlaceNestedRequest nested;
  nested.set_mode(v1::PLACEMENT_MODE_NOMINATE);
  nested.set_profile(v1::PLACEMENT_PROFILE_ESPALIER);
  *nested.mutable_nested() = ToProto(std::vector{tree});
  questions.push_back({"Workloads/PlaceNested", nested.SerializeAsString()});

  v1::DispatchRequest dispatch;
  dispatch.add_states();
  *dispatch.mutable_workloads() = place.workloads();
  questions.push_back({"Dispatching/Dispatch", dispatch.SerializeAsString()});
}

// What the state says of workloads is not looked at; holds are.
void AddCycles(std::vector<Question>& questions) {
  Cluster cluster = Queues();
  for (const char* name : {"one", "other"}) {
    cluster.workloads.push_back(
        MakeWorkload(name, "local", {MakePodSet("main", 8, {{"cpu", 4000}}, Required("rack"))}));
  }
  v1::CycleRequest cycle = *ToProto(cluster);
  cycle.set_until_stable(true);
  cycle.set_now_seconds(0);
  questions.push_back({"Scheduling/Cycle", cycle.SerializeAsString()});

  Workload elastic =
      MakeWorkload("w", "local", {MakePodSet("main", 4, {{"cpu", 4000}}, Unconstrained())});
  elastic.annotations = {{std::string(kElasticJobAnnotation), "true"}};
  Admit(elastic, "queue", "main", OnHosts({{"host-4", 2}, {"host-5", 2}}));
  cluster.workloads = {elastic};
  v1::PlanResizeRequest resize;
  *resize.mutable_objects() = *ToProto(cluster);
  const auto& strings = resize.objects().strings();
  v1::PodSetCount& count = *resize.add_counts();
  count.set_name(
      static_cast<std::uint32_t>(std::ranges::find(strings, "main") - strings.begin() + 1));
  count.set_count(16);
  questions.push_back({"Scheduling/PlanResize", resize.SerializeAsString()});
}

void AddQuestions(std::vector<Question>& questions) {
  const v1::WorkloadBatch asked = *ToProto(std::vector{GangOfTeam("asked", kAsked)});
  const v1::Victims victims = VictimsNamed({"a", "b"});

  v1::WhatIfRequest what_if;
  *what_if.mutable_workloads() = asked;
  *what_if.mutable_victims() = victims;
  what_if.set_placements(true);
  for (int i = 0; i < 2; ++i) what_if.add_question_workloads(0);
  for (const std::uint32_t offset : {0, 0, 2}) what_if.add_victim_offsets(offset);
  for (const std::uint32_t victim : {0, 1}) what_if.add_question_victims(victim);
  questions.push_back({"Questions/WhatIf", what_if.SerializeAsString()});

  v1::FindVictimsRequest find;
  *find.mutable_workloads() = asked;
  *find.mutable_victims() = victims;
  questions.push_back({"Questions/FindVictims", find.SerializeAsString()});
  find.set_cheapest(true);
  questions.push_back({"Questions/FindVictims", find.SerializeAsString()});

  v1::AtlasRequest atlas;
  *atlas.mutable_workloads() = asked;
  questions.push_back({"Questions/Atlas", atlas.SerializeAsString()});

  v1::CountGangsRequest count;
  *count.mutable_shapes() = asked;
  count.set_domains(true);
  questions.push_back({"Questions/CountGangs", count.SerializeAsString()});

  v1::ExplainRequest explain;
  *explain.mutable_workloads() = asked;
  questions.push_back({"Questions/Explain", explain.SerializeAsString()});

  Workload proposed = MakeWorkload("asked", "local", {MakePodSet("main", 2, {{"cpu", 4000}})});
  Admit(proposed, "queue", "main", OnHosts({{"host-0", 2}}));
  v1::ValidateRequest validate;
  WorkloadTablesWriter tables(validate);
  *validate.add_workloads() = ToProto(proposed, tables);
  questions.push_back({"Questions/Validate", validate.SerializeAsString()});

  v1::DrainRequest drain;
  for (const char* node : {"host-4", "host-5", "host-6"}) drain.add_nodes(node);
  *drain.mutable_workloads() = *ToProto(std::vector{GangOfTeam("a", 4)});
  questions.push_back({"Questions/Drain", drain.SerializeAsString()});

  v1::DefragmentRequest defragment;
  defragment.set_level(std::string(kHostnameLabel));
  defragment.set_most_moves(1);
  *defragment.mutable_workloads() = *ToProto(std::vector{GangOfTeam("b", 1)});
  questions.push_back({"Questions/Defragment", defragment.SerializeAsString()});

  v1::ReplayRequest replay;
  *replay.mutable_workloads() = asked;
  questions.push_back({"Questions/Replay", replay.SerializeAsString()});
}

std::vector<Question> AllQuestions() {
  std::vector<Question> questions;
  AddPlacements(questions);
  AddCycles(questions);
  AddQuestions(questions);
  return questions;
}

// Clears the positions of states in a message.
void ClearPositions(Message& message) {
  const auto& reflection = *message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const auto* field : fields) {
    if (field->message_type() == nullptr || field->is_map()) continue;
    if (field->message_type() == v1::StatePosition::descriptor()) {
      reflection.ClearField(&message, field);
    } else if (field->is_repeated()) {
      for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
        ClearPositions(*reflection.MutableRepeatedMessage(&message, field, i));
      }
    } else {
      ClearPositions(*reflection.MutableMessage(&message, field));
    }
  }
}

// Returns all that a server answers as text, without the positions, which are each server's own.
std::string Ask(const TestServer& server, const Question& question) {
  std::string method = "espalier.v1." + question.method;
  const RawAnswer answer =
      CallRaw(server.channel, method, {question.request}, std::chrono::minutes(1));
  EXPECT_TRUE(answer.status.ok()) << method << ": " << answer.status.error_message();
  std::ranges::replace(method, '/', '.');
  const auto* descriptor = DescriptorPool::generated_pool()->FindMethodByName(method);
  std::string text;
  for (const std::string& bytes : answer.messages) {
    const std::unique_ptr<Message> message(
        MessageFactory::generated_factory()->GetPrototype(descriptor->output_type())->New());
    EXPECT_TRUE(message->ParseFromString(bytes)) << method;
    ClearPositions(*message);
    text += message->DebugString() + '\n';
  }
  return text;
}

// Returns the id of the hold.
std::string Hold(TestServer& server) {
  v1::PlaceRequest request = MakePlaceRequest({Held()}, v1::PLACEMENT_MODE_SEQUENTIAL);
  request.set_commit(true);
  request.set_hold_seconds(86'400);
  v1::PlaceResponse response;
  const grpc::Status status = server.Place(request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response.hold_ids(0);
}

class HeldUsage : public testing::TestWithParam<Question> {};

TEST_P(HeldUsage, IsUsageOfLeavesForEveryQuestion) {
  const Question& question = GetParam();
  TestServer free;
  ASSERT_TRUE(free.Load(SmallCluster(2), nullptr, "", WhatRuns()).ok());
  const std::string of_free = Ask(free, question);

  TestServer used;
  ClusterStateInput input = SmallCluster(2);
  if (question.method.starts_with("Scheduling/")) {
    for (const FlavorLeafUsage& leaf : UsageOfHeld()) {
      input.non_tas_usage.push_back({leaf.leaf, leaf.usage});
    }
  } else {
    input.tas_usage = UsageOfHeld();
  }
  ASSERT_TRUE(used.Load(input, nullptr, "", WhatRuns()).ok());

  const std::string id = Hold(free);
  EXPECT_EQ(Ask(free, question), Ask(used, question));
  EXPECT_NE(Ask(free, question), of_free) << "the question does not tell them apart";
  grpc::ClientContext context;
  v1::ReleaseHoldsRequest release;
  release.add_ids(id);
  v1::ReleaseHoldsResponse released;
  ASSERT_TRUE(free.placement->ReleaseHolds(&context, release, &released).ok());
  EXPECT_EQ(Ask(free, question), of_free);
}

INSTANTIATE_TEST_SUITE_P(Of, HeldUsage, testing::ValuesIn(AllQuestions()), [](const auto& info) {
  std::string name = info.param.method;
  std::ranges::replace(name, '/', '_');
  return name + "_" + std::to_string(info.index);
});

// A method that is added to the schema has to be asked above too.
TEST(HeldUsageQuestions, AreOfEveryMethodThatAnswersOnAState) {
  std::vector<std::string> asked;
  for (const Question& question : AllQuestions()) asked.push_back(question.method);
  for (const char* service : {"Questions", "Dispatching", "Scheduling", "Placement", "Workloads"}) {
    const auto* descriptor =
        DescriptorPool::generated_pool()->FindServiceByName(std::string("espalier.v1.") + service);
    ASSERT_NE(descriptor, nullptr) << service;
    for (int i = 0; i < descriptor->method_count(); ++i) {
      const MethodDescriptor& method = *descriptor->method(i);
      if (method.name().ends_with("Holds")) continue;  // of holds themselves
      EXPECT_THAT(asked, testing::Contains(std::string(service) + "/" + method.name()));
    }
  }
}

}  // namespace
}  // namespace espalier::held_usage_test
