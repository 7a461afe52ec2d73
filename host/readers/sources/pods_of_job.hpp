// Reads counts of a JobSpec, which Jobs and what is made of Jobs have.
#pragma once

#include <cstdint>

#include "host/readers/json_fields.hpp"

namespace espalier {

// Returns how many pods run at once: `parallelism`, but never more than the completions.
std::int32_t PodsOfJob(JsonValue job_spec, const ReadContext& context);

// Returns whether the pods have completion indexes; `by_default` when the spec does not say.
// Reports a mode that there is not.
bool IsIndexed(JsonValue job_spec, bool by_default, const ReadContext& context);

// Returns whether as many pods run at once as have to complete.
bool RunsAllAtOnce(JsonValue job_spec, const ReadContext& context);

}  // namespace espalier
