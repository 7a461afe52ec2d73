#include "service/server/method_permissions.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <google/protobuf/descriptor.h>

namespace espalier {
namespace {

using enum Permission;

constexpr auto kMethods = std::to_array<MethodPermission>({
    {"espalier.v1.ClusterState/LoadState", kWriteState},
    {"espalier.v1.ClusterState/UpdateState", kWriteState},
    {"espalier.v1.ClusterState/UnloadState", kWriteState},
    {"espalier.v1.ClusterState/GetStateSummary", kRead},
    {"espalier.v1.ClusterState/ListLeaves", kRead},
    {"espalier.v1.ClusterState/ListStates", kRead},
    {"espalier.v1.ClusterState/ReadState", kRead},
    {"espalier.v1.Dispatching/Dispatch", kPlace},
    {"espalier.v1.MultiKueue/PlanFlow", kPlace},
    // A hold needs `commit` to be set.
    {"espalier.v1.Placement/Place", kPlace, "commit", kCommit},
    {"espalier.v1.Placement/Replace", kPlace, "commit", kCommit},
    {"espalier.v1.Placement/ConfirmHolds", kCommit, "update", kWriteState},
    {"espalier.v1.Placement/ReleaseHolds", kCommit},
    {"espalier.v1.Placement/ExtendHolds", kCommit},
    {"espalier.v1.Placement/ListHolds", kRead},
    {"espalier.v1.Questions/Atlas", kPlace},
    {"espalier.v1.Questions/CountGangs", kPlace},
    {"espalier.v1.Questions/Defragment", kPlace},
    {"espalier.v1.Questions/Drain", kPlace},
    {"espalier.v1.Questions/Explain", kPlace},
    {"espalier.v1.Questions/FindVictims", kPlace},
    {"espalier.v1.Questions/Replay", kPlace},
    {"espalier.v1.Questions/Validate", kPlace},
    {"espalier.v1.Questions/WhatIf", kPlace},
    {"espalier.v1.Scheduling/Cycle", kPlace},
    {"espalier.v1.Scheduling/PlanResize", kPlace},
    {"espalier.v1.Server/Info", kRead},
    {"espalier.v1.Server/Status", kRead},
    {"espalier.v1.Ungating/Ungate", kPlace},
    {"espalier.v1.Workloads/PlaceNested", kPlace, "commit", kCommit},
    {"espalier.v1.Workloads/PlaceObjects", kPlace, "commit", kCommit},
});

}  // namespace

std::span<const MethodPermission> MethodPermissions() { return kMethods; }

const MethodPermission* FindMethodPermission(std::string_view method) {
  const auto found = std::ranges::find(kMethods, method, &MethodPermission::method);
  return found == kMethods.end() ? nullptr : &*found;
}

bool HasFieldOf(const MethodPermission& row, const google::protobuf::Message& request) {
  if (row.field.empty()) return false;
  const google::protobuf::FieldDescriptor* field =
      request.GetDescriptor()->FindFieldByName(std::string(row.field));
  // One that is not there would let everybody through.
  return field == nullptr || request.GetReflection()->HasField(request, field);
}

}  // namespace espalier
