// Interprets the phase of a pod.
#pragma once

#include "host/model/workload.hpp"

namespace espalier {

// Returns whether the pod runs no more and needs nothing of its node.
inline bool HasEnded(const Pod& pod) { return pod.phase == "Succeeded" || pod.phase == "Failed"; }

}  // namespace espalier
