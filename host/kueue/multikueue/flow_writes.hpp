// Makes the writes of the steps of a flow, and the counts that they write (W6).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/kueue/multikueue/multikueue_flow.hpp"
#include "host/model/workload.hpp"

namespace espalier {

inline constexpr const char* kManager = "manager";

// Returns a text such as "head=1, small-group=5".
std::string Text(const CountsByPodSet& counts);

// Returns the name of the field of an annotation.
std::string AnnotationField(std::string_view key);

// Returns the counts of the workload's pod sets.
CountsByPodSet CountsOf(const Workload& workload);

// Returns the counts with those of a request in their place; pod sets that they lack are ignored.
CountsByPodSet With(CountsByPodSet counts, const CountsByPodSet& request);

// Returns whether a request names a pod set of the workload.
bool NamesAny(const Workload& workload, const CountsByPodSet& request);

// Returns the names of the pod sets, in ascending order.
std::vector<std::string> NamesOf(const Workload& workload);

// Returns the workload with the counts of another, and all else as it is.
Workload WithCountsOf(Workload workload, const Workload& other);

// Returns the workload of that key, or null.
const Workload* Find(const std::vector<Workload>& workloads, const ObjectKey& key);

// Return writes of the scale request of a workload.
FlowWrite SetRequest(std::string cluster, const ObjectKey& workload, const CountsByPodSet& request);
FlowWrite ClearRequest(std::string cluster, const ObjectKey& workload);

// Returns a write of a workload, `workload` afterwards.
FlowWrite WriteWorkload(std::string cluster, Workload workload, std::string field,
                        std::string value);

// Returns a write of the counts that differ; `to` is the whole workload afterwards. It is one
// update of the object, whatever the number of its fields.
FlowWrite WriteCounts(const std::string& cluster, const Workload& from, Workload to);

// Returns a write of the manager's condition on whether slices per replica of a workload wait.
FlowWrite WriteResizing(Workload parent, bool waits);

// Returns a write by which a workload ends.
FlowWrite FinishWrite(const Workload& old, std::string cluster, const std::string& reason);

}  // namespace espalier
