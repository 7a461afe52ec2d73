// Labels and annotations of JobSet.
#pragma once

#include <string_view>

namespace espalier {

// Annotation of a JobSet and of its pods: the level of which each of its Jobs has a domain to
// itself.
inline constexpr std::string_view kExclusiveTopology =
    "alpha.jobset.sigs.k8s.io/exclusive-topology";
// Labels of every pod of a JobSet: one that tells its Job from all others, and its JobSet.
inline constexpr std::string_view kJobSetJobKey = "jobset.sigs.k8s.io/job-key";
inline constexpr std::string_view kJobSetName = "jobset.sigs.k8s.io/jobset-name";

}  // namespace espalier
