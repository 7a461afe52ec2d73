// Holds a schema to an earlier one: what would an old client or server no longer understand?
#pragma once

#include <string>
#include <vector>

#include <google/protobuf/descriptor.h>

namespace espalier {

// Returns a line for everything of `before` that `after` has no longer, or has otherwise: messages,
// fields, enums and their values, services and their calls, and reserved numbers and names. What
// `after` has besides is no difference. A type may move between files. The
// lines are in the order of `before`.
std::vector<std::string> SchemaDifferences(
    const std::vector<const google::protobuf::FileDescriptor*>& before,
    const std::vector<const google::protobuf::FileDescriptor*>& after);

}  // namespace espalier
