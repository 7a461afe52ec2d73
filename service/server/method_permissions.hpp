// Declares what permissions each method needs. The only place that says it.
#pragma once

#include <span>
#include <string_view>

#include <google/protobuf/message.h>

#include "host/model/access_rules.hpp"

namespace espalier {

// The prefix of gRPC's paths of all methods of espalier.v1, and of no other service.
inline constexpr std::string_view kMethodPaths = "/espalier.v1.";

struct MethodPermission {
  std::string_view method;  // espalier.v1.Placement/Place
  Permission needs;
  // A request in which this field is set needs `field_needs` too; empty: none does.
  std::string_view field = {};
  Permission field_needs = Permission::kRead;
};

// Returns the rows of all methods of espalier.v1.
std::span<const MethodPermission> MethodPermissions();

// Returns the row of a method, or null.
const MethodPermission* FindMethodPermission(std::string_view method);

// Returns whether a request has the field of `row` set.
bool HasFieldOf(const MethodPermission& row, const google::protobuf::Message& request);

}  // namespace espalier
