#include "tests/attack/sound_questions.hpp"

#include <stdexcept>

#include "espalier/v1/dispatch.pb.h"
#include "espalier/v1/questions.pb.h"
#include "espalier/v1/server.pb.h"
#include "espalier/v1/ungating.pb.h"
#include "espalier/v1/workloads.pb.h"
#include "tests/attack/client.hpp"
#include "tests/attack/messages.hpp"

namespace espalier::attack {
namespace {

v1::WorkloadBatch SoundGangs() {
  v1::PlaceRequest request;
  request.ParseFromString(SoundRequest(kPlace));
  return request.workloads();
}

v1::WhatIfRequest SoundWhatIf() {
  v1::WhatIfRequest request;
  *request.mutable_workloads() = SoundGangs();
  request.add_strings("host-000002");
  request.add_drained_nodes(1);
  for (std::uint32_t i = 0; i < 2; ++i) {
    request.add_question_workloads(i);
    request.add_question_drained(0);
  }
  for (const std::uint32_t offset : {0, 1, 2}) request.add_drained_offsets(offset);
  request.set_placements(true);
  return request;
}

v1::ValidateRequest SoundValidate() {
  v1::UngateRequest admitted;
  admitted.ParseFromString(SoundRequest(kUngate));
  v1::ValidateRequest request;
  *request.mutable_strings() = admitted.strings();
  *request.mutable_resources() = admitted.resources();
  *request.mutable_topology_requests() = admitted.topology_requests();
  *request.mutable_assignments() = admitted.assignments();
  *request.add_workloads() = admitted.workload();
  return request;
}

v1::PlaceObjectsRequest SoundObjects() {
  v1::PlaceObjectsRequest request;
  request.set_mode(v1::PLACEMENT_MODE_SEQUENTIAL);
  request.set_guess_flavor(true);
  request.set_objects(R"(apiVersion: batch/v1
kind: Job
metadata: {name: job, namespace: team, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  parallelism: 3
  completions: 3
  template:
    metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack}}
    spec: {containers: [{name: main, resources: {requests: {cpu: 4}}}]}
)");
  return request;
}

// Two groups of three pods, each in a rack, in one block.
v1::PlaceNestedRequest SoundNested() {
  v1::PlaceNestedRequest request;
  request.set_mode(v1::PLACEMENT_MODE_SEQUENTIAL);
  request.set_profile(v1::PLACEMENT_PROFILE_ESPALIER);
  v1::NestedBatch& nested = *request.mutable_nested();
  const auto add = [&](const std::string& text) {
    *nested.add_strings() = text;
    return static_cast<std::uint32_t>(nested.strings_size());
  };
  v1::ResourceVector& pod = *nested.add_resources();
  pod.add_names(add("cpu"));
  pod.add_amounts(4000);
  nested.add_shapes()->set_requests(1);
  nested.add_flavors(add("main"));
  for (const std::uint32_t offset : {0, 2}) nested.add_group_offsets(offset);
  nested.add_group_names(add("tree"));
  nested.add_group_names(add("replica"));
  nested.add_required(add("block"));
  nested.add_required(add("rack"));
  const auto add_rows = [](auto& column, int of_root, int of_child) {
    column.Add(of_root);
    column.Add(of_child);
  };
  nested.add_group_children(1);
  nested.add_group_children(0);
  add_rows(*nested.mutable_copies(), 1, 2);
  nested.add_pods(0);
  nested.add_pods(1);
  add_rows(*nested.mutable_min_counts(), 0, 3);
  add_rows(*nested.mutable_max_counts(), 0, 3);
  return request;
}

}  // namespace

std::string SoundQuestion(const std::string& method) {
  if (method == kWhatIf) return SoundWhatIf().SerializeAsString();
  if (method == kFindVictims) {
    v1::FindVictimsRequest request;
    *request.mutable_workloads() = SoundGangs();
    request.add_drained_nodes("host-000002");
    return request.SerializeAsString();
  }
  if (method == kAtlas) {
    v1::AtlasRequest request;
    *request.mutable_workloads() = SoundGangs();
    return request.SerializeAsString();
  }
  if (method == kCountGangs) {
    v1::CountGangsRequest request;
    *request.mutable_shapes() = SoundGangs();
    request.add_levels("rack");
    request.set_domains(true);
    return request.SerializeAsString();
  }
  if (method == kExplain) {
    v1::ExplainRequest request;
    *request.mutable_workloads() = SoundGangs();
    return request.SerializeAsString();
  }
  if (method == kValidate) return SoundValidate().SerializeAsString();
  if (method == kDrain) {
    v1::DrainRequest request;
    request.add_nodes("host-000001");
    return request.SerializeAsString();
  }
  if (method == kDispatch) {
    v1::DispatchRequest request;
    request.add_states();
    *request.mutable_workloads() = SoundGangs();
    return request.SerializeAsString();
  }
  if (method == kPlaceObjects) return SoundObjects().SerializeAsString();
  if (method == kPlaceNested) return SoundNested().SerializeAsString();
  if (method == kServerStatus) {
    v1::ServerStatusRequest request;
    request.set_with_use(true);
    return request.SerializeAsString();
  }
  throw std::invalid_argument(method);
}

}  // namespace espalier::attack
