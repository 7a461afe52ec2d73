// Reads the metadata that every Kubernetes object has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/workload.hpp"
#include "host/readers/json_fields.hpp"

namespace espalier {

inline constexpr std::string_view kDefaultNamespace = "default";

// Reads namespace and name of an object that has a namespace, or the name of one that has none.
// Reports an absent name; one with a generateName is named after it (GeneratedName). The object may
// lack metadata altogether only by mistake.
ObjectKey ReadObjectKey(JsonValue object, const ReadContext& context);
std::string ReadObjectName(JsonValue object, const ReadContext& context);

// Returns the namespace in the metadata or, as clients assume, `default`.
std::string NamespaceOf(JsonValue metadata, const ReadContext& context);
std::vector<OwnerReference> ReadOwners(JsonValue metadata, const ReadContext& context);
std::vector<Condition> ReadConditions(JsonValue status, const ReadContext& context);

}  // namespace espalier
