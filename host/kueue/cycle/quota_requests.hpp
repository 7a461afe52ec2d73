// Computes what quota counts of the requests of a pod, as Kueue's Configuration says (R30.6). Nodes
// hold the pod's own requests, whatever quota counts.
#pragma once

#include "host/model/kueue_configuration.hpp"
#include "host/model/resources.hpp"
#include "host/model/workload.hpp"

namespace espalier {

// Returns what quota counts of one pod. Resources of an excluded prefix are left out first; then
// each transformation whose input is requested adds its outputs, times the input and times the
// request of its multiplier where there is one, and leaves the input out unless it retains it.
// Outputs of one name add up exactly, and count 0 where they are negative together; an amount is
// rounded up once, and one outside of int64 stays at its limit. Null: Kueue's defaults, by which
// quota counts what is requested.
Resources QuotaRequests(const Resources& requests, const KueueConfiguration* configuration);

// Returns the same of a pod of this template that requests so much: what stands for devices is
// counted as those, and claimed devices besides (R30.7).
Resources QuotaRequests(const PodTemplate& pods, const Resources& requests,
                        const KueueConfiguration* configuration);

}  // namespace espalier
