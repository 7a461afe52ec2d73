// Makes the pods of a Ray head as they will be, which is more than their template says (R30.3).
#pragma once

#include <optional>
#include <string_view>

#include "host/readers/sources/made_objects.hpp"
#include "host/readers/sources/source_reader.hpp"

namespace espalier {

// The container of KubeRay's that submits a RayJob, as JSON.
inline constexpr std::string_view kRaySubmitter =
    R"({"name":"ray-job-submitter","resources":{"requests":{"cpu":"500m","memory":"200Mi"},)"
    R"("limits":{"cpu":"1","memory":"1Gi"}}})";

// Returns whether the cluster recovers from Redis, so that KubeRay cleans up there at its end.
// `object` is the RayCluster, or what makes it.
bool RecoversFromRedis(JsonValue object, JsonValue cluster);

// Returns the template of the head's pods with what is added to `pods`: the container of the
// autoscaler; that of the submitter where it runs `with_submitter`; and, as Kueue counts the
// clean-up in Redis, at least its requests in the Ray container. Nullopt when it is as it is.
std::optional<JsonValue> MadeHead(JsonValue object, JsonValue cluster, JsonValue pods,
                                  bool with_submitter, const ReadContext& context,
                                  MadeObjects& made);

}  // namespace espalier
