// Labels and annotations by which Kueue's objects and the pods and jobs that it manages are marked,
// as far as more than one file reads them.
#pragma once

#include <string_view>

namespace espalier {

inline constexpr std::string_view kKueuePrefix = "kueue.x-k8s.io/";  // of all

// Labels and annotations of jobs.
inline constexpr std::string_view kQueueNameLabel = "kueue.x-k8s.io/queue-name";
inline constexpr std::string_view kDefaultLocalQueue = "default";  // of jobs that name none
inline constexpr std::string_view kPrebuiltWorkload = "kueue.x-k8s.io/prebuilt-workload-name";
inline constexpr std::string_view kElasticJobAnnotation = "kueue.x-k8s.io/elastic-job";
inline constexpr std::string_view kMinParallelismAnnotation = "kueue.x-k8s.io/job-min-parallelism";

// Annotations of pod templates (R20.11).
inline constexpr std::string_view kRequiredTopology = "kueue.x-k8s.io/podset-required-topology";
inline constexpr std::string_view kPreferredTopology = "kueue.x-k8s.io/podset-preferred-topology";
inline constexpr std::string_view kUnconstrainedTopology =
    "kueue.x-k8s.io/podset-unconstrained-topology";
inline constexpr std::string_view kSliceRequiredTopology =
    "kueue.x-k8s.io/podset-slice-required-topology";
inline constexpr std::string_view kSliceSize = "kueue.x-k8s.io/podset-slice-size";
inline constexpr std::string_view kSliceTopologyConstraints =
    "kueue.x-k8s.io/podset-slice-required-topology-constraints";
inline constexpr std::string_view kPodSetGroupName = "kueue.x-k8s.io/podset-group-name";

// Labels and annotations of pods.
inline constexpr std::string_view kManagedLabel = "kueue.x-k8s.io/managed";
inline constexpr std::string_view kPodSetLabel = "kueue.x-k8s.io/podset";
inline constexpr std::string_view kWorkloadAnnotation = "kueue.x-k8s.io/workload";
// Names the first workload of a chain of slices, on its successors and on the pods of all.
inline constexpr std::string_view kSliceNameAnnotation = "kueue.x-k8s.io/workload-slice-name";
inline constexpr std::string_view kPodIndexOffsetAnnotation = "kueue.x-k8s.io/pod-index-offset";
inline constexpr std::string_view kPodGroupTotalCount = "kueue.x-k8s.io/pod-group-total-count";

// Annotations of Workloads: the counts that a worker's job asks its manager for, a JSON object of
// counts by pod set; the slices that are counted in their parent, by uid or, without one, by name.
inline constexpr std::string_view kScaleRequestAnnotation = "kueue.x-k8s.io/scale-request";
inline constexpr std::string_view kFoldedSlicesAnnotation = "kueue.x-k8s.io/folded-workload-slices";

}  // namespace espalier
