// Fields of parts that objects of many kinds have.
#pragma once

#include "host/readers/known_fields.hpp"

namespace espalier::fields {

using Field = KnownFields::Field;
using enum KnownFields::Unread;

inline constexpr Field kKueueKeyNames[] = {
    {"kueue.x-k8s.io/queue-name"},
    {"kueue.x-k8s.io/priority-class"},
    {"kueue.x-k8s.io/podset-required-topology"},
    {"kueue.x-k8s.io/podset-preferred-topology"},
    {"kueue.x-k8s.io/podset-unconstrained-topology"},
    {"kueue.x-k8s.io/podset-slice-required-topology"},
    {"kueue.x-k8s.io/podset-slice-required-topology-constraints"},
    {"kueue.x-k8s.io/podset-slice-size"},
    {"kueue.x-k8s.io/podset-group-name"},
    {"kueue.x-k8s.io/job-min-parallelism"},
    {"kueue.x-k8s.io/job-completions-equal-parallelism"},
    {"kueue.x-k8s.io/elastic-job"},
    {"kueue.x-k8s.io/max-exec-time-seconds"},
    {"kueue.x-k8s.io/pod-group-name"},
    {"kueue.x-k8s.io/pod-group-total-count"},
    {"kueue.x-k8s.io/pod-group-pod-index"},
    {"kueue.x-k8s.io/pod-group-pod-index-label"},
    {"kueue.x-k8s.io/pod-group-fast-admission"},
    {"kueue.x-k8s.io/pod-group-serving"},
    {"kueue.x-k8s.io/pod-index-offset"},
    {"kueue.x-k8s.io/podset"},
    {"kueue.x-k8s.io/workload"},
    {"kueue.x-k8s.io/tas"},
    {"kueue.x-k8s.io/job-uid"},
    {"kueue.x-k8s.io/prebuilt-workload-name"},
    {"kueue.x-k8s.io/is-group-workload"},
    {"kueue.x-k8s.io/local-queue-name"},
    {"kueue.x-k8s.io/cluster-queue-name"},
    {"kueue.x-k8s.io/retriable-in-group"},
    {"kueue.x-k8s.io/role-hash"},
    {"kueue.x-k8s.io/managed"},
    {"kueue.x-k8s.io/workload-slice-name"},
    {"kueue.x-k8s.io/workload-slice-replacement-for"},
};
inline constexpr KnownFields kLabels(kKueueKeyNames, KnownFields::Others::kLabels);

inline constexpr Field kOwnerFields[] = {{"apiVersion"}, {"kind"},       {"name"},
                                         {"uid"},        {"controller"}, {"blockOwnerDeletion"}};
inline constexpr KnownFields kOwner(kOwnerFields);

inline constexpr Field kConditionFields[] = {{"type"},
                                             {"status"},
                                             {"reason", kInNodes},
                                             {"message", kInNodes},
                                             {"lastHeartbeatTime", kInNodes},
                                             {"lastProbeTime"},
                                             {"lastTransitionTime", kInNodes},
                                             {"observedGeneration"}};
inline constexpr KnownFields kCondition(kConditionFields);

inline constexpr Field kNamedFields[] = {{"name"}};
inline constexpr KnownFields kNamed(kNamedFields);

inline constexpr Field kMetadataFields[] = {
    {"annotations", &kLabels, kInNodes},
    {"managedFields", kEverywhere},
    {"name"},
    {"generateName"},
    {"namespace"},
    {"labels", &kLabels},
    {"uid"},
    {"resourceVersion"},
    {"generation"},
    {"creationTimestamp"},
    {"deletionTimestamp"},
    {"deletionGracePeriodSeconds"},
    {"finalizers"},
    {"ownerReferences", &kOwner},
    {"selfLink"},
};
inline constexpr KnownFields kMetadata(kMetadataFields);

inline constexpr Field kTolerationFields[] = {
    {"key"}, {"operator"}, {"value"}, {"effect"}, {"tolerationSeconds"}};
inline constexpr KnownFields kToleration(kTolerationFields);

inline constexpr Field kTaintFields[] = {{"key"}, {"value"}, {"effect"}, {"timeAdded"}};
inline constexpr KnownFields kTaint(kTaintFields);

inline constexpr Field kRequirementFields[] = {{"key"}, {"operator"}, {"values"}};
inline constexpr KnownFields kRequirement(kRequirementFields);

inline constexpr Field kTermFields[] = {{"matchExpressions", &kRequirement},
                                        {"matchFields", &kRequirement}};
inline constexpr KnownFields kTerm(kTermFields);

inline constexpr Field kRequiredFields[] = {{"nodeSelectorTerms", &kTerm}};
inline constexpr KnownFields kRequired(kRequiredFields);

}  // namespace espalier::fields
