// Finds the pods of what an AppWrapper wraps, as Kueue does.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "host/readers/sources/source_reader.hpp"

namespace espalier {

// Pods of one template in a component.
struct WrappedPods {
  JsonValue pod_template;
  std::int32_t count = 1;
  PodIndex index = {};
};

// Returns the pods of a component: of the pod sets that it declares, or else those of the kinds
// that Kueue knows. Says to `note` of which pods Kueue takes no account.
std::vector<WrappedPods> ReadWrappedPods(JsonValue component, const ReadContext& context,
                                         const std::function<void(std::string)>& note);

// Follows a path such as "template.spec.groups[0].template" from `value` to an object.
std::optional<JsonValue> FollowPath(JsonValue value, std::string_view path);

}  // namespace espalier
