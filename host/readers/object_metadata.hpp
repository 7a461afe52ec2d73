// The metadata that every Kubernetes object has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/model/workload.hpp"
#include "host/readers/json_fields.hpp"

namespace espalier {

// Reports an absent name. The object may lack metadata altogether only by mistake.
ObjectKey ReadObjectKey(JsonValue object, const ReadContext& context);
std::string ReadObjectName(JsonValue object, const ReadContext& context);
std::vector<OwnerReference> ReadOwners(JsonValue metadata, const ReadContext& context);
std::vector<Condition> ReadConditions(JsonValue status, const ReadContext& context);

}  // namespace espalier
