// Stands for what is left out of the answer because of its errors: a workload that waits, with the
// reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "host/gangs/gang_workload.hpp"
#include "host/readers/json_fields.hpp"
#include "host/readers/object_index.hpp"

namespace espalier {

// Returns the bytes that a workload takes, and one unit that is made of it, texts aside.
std::int64_t BytesOf(const GangWorkload& workload);

// Puts the reason in the place of what a workload asks for; changes nothing where it is "".
void LeaveOut(const std::string& why, GangWorkload& workload);

// Returns a workload that stands for an object of this apiVersion and kind. Findings about it are
// said already: those of `context` are to be dropped.
GangWorkload LeftOutObject(JsonValue object, std::string_view version, std::string_view kind,
                           const ReadContext& context, const std::string& why);

// Returns a workload that stands for an object of a kind that is not known but asks for pods: it is
// named, and not placed.
GangWorkload UnknownObject(const SourceObject& source_object, const ReadContext& context);

// Returns a workload that stands for a pod.
GangWorkload LeftOutPod(const Pod& pod, const std::string& why);

}  // namespace espalier
