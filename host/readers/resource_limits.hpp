// Checks the limits that Kueue sets to the requests of pods (R21.14).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/readers/effective_requests.hpp"
#include "host/readers/json_fields.hpp"

namespace espalier {

// Returns Kueue's text when a request of a workload's pods is above its limit or, otherwise,
// outside of the bounds that LimitRanges set for the namespace; "" when all are valid. `pod_specs`
// has an entry for each pod set. Ignores what cannot be read, as EffectiveRequests reports it.
std::string ResourcesError(const std::vector<std::optional<JsonValue>>& pod_specs,
                           const ReadContext& context, const ClusterDefaults& defaults,
                           std::string_view name_space, PodOrigin origin = PodOrigin::kTemplate);

}  // namespace espalier
