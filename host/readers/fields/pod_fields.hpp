// Fields of Pods and of their templates.
#pragma once

#include "host/readers/fields/object_fields.hpp"

namespace espalier::fields {

inline constexpr Field kResourcesFields[] = {{"limits"}, {"requests"}, {"claims"}};
inline constexpr KnownFields kResources(kResourcesFields);

inline constexpr Field kContainerFields[] = {
    {"command", kInPods},
    {"args", kInPods},
    {"ports", kInBoundPods},
    {"env", kInPods},
    {"envFrom", kInPods},
    {"volumeMounts", kInPods},
    {"volumeDevices", kInPods},
    {"livenessProbe", kInPods},
    {"readinessProbe", kInPods},
    {"startupProbe", kInPods},
    {"lifecycle", kInPods},
    {"securityContext", kInPods},
    {"name"},
    {"image"},
    {"workingDir"},
    {"resources", &kResources},
    {"resizePolicy"},
    {"restartPolicy"},
    {"restartPolicyRules"},
    {"terminationMessagePath"},
    {"terminationMessagePolicy"},
    {"imagePullPolicy"},
    {"stdin"},
    {"stdinOnce"},
    {"tty"},
};
inline constexpr KnownFields kContainer(kContainerFields);

inline constexpr Field kPreferredFields[] = {{"weight"}, {"preference", &kTerm}};
inline constexpr KnownFields kPreferred(kPreferredFields);

inline constexpr Field kNodeAffinityFields[] = {
    {"requiredDuringSchedulingIgnoredDuringExecution", &kRequired},
    {"preferredDuringSchedulingIgnoredDuringExecution", &kPreferred},
};
inline constexpr KnownFields kNodeAffinity(kNodeAffinityFields);

inline constexpr Field kAffinityFields[] = {
    {"nodeAffinity", &kNodeAffinity}, {"podAffinity"}, {"podAntiAffinity"}};
inline constexpr KnownFields kAffinity(kAffinityFields);

inline constexpr Field kPodSpecFields[] = {
    {"containers", &kContainer},
    {"initContainers", &kContainer},
    {"volumes", kInBoundPodsOrIfEmpty},
    {"ephemeralContainers"},
    {"nodeSelector"},
    {"tolerations", &kToleration},
    {"affinity", &kAffinity},
    {"overhead"},
    {"resources", &kResources},
    {"runtimeClassName"},
    {"priorityClassName"},
    {"priority"},
    {"schedulingGates", &kNamed},
    {"nodeName"},
    {"restartPolicy"},
    {"terminationGracePeriodSeconds"},
    {"activeDeadlineSeconds"},
    {"dnsPolicy"},
    {"dnsConfig"},
    {"serviceAccountName"},
    {"serviceAccount"},
    {"automountServiceAccountToken"},
    {"hostNetwork"},
    {"hostPID"},
    {"hostIPC"},
    {"hostUsers"},
    {"hostname"},
    {"hostnameOverride"},
    {"hostAliases"},
    {"subdomain"},
    {"setHostnameAsFQDN"},
    {"shareProcessNamespace"},
    {"securityContext"},
    {"imagePullSecrets"},
    {"schedulerName"},
    {"preemptionPolicy"},
    {"readinessGates"},
    {"enableServiceLinks"},
    {"topologySpreadConstraints"},
    {"os"},
    {"resourceClaims"},
    {"workload"},
    {"workloadRef"},
    {"schedulingGroup"},
};
inline constexpr KnownFields kPodSpec(kPodSpecFields);

inline constexpr Field kTemplateFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kPodSpec}};
inline constexpr KnownFields kTemplate(kTemplateFields);

inline constexpr Field kPodStatusFields[] = {
    {"phase"},
    {"conditions", &kCondition, kInPods},
    {"containerStatuses", kInPods},
    {"initContainerStatuses", kInPods},
    {"message"},
    {"reason"},
    {"nominatedNodeName"},
    {"hostIP"},
    {"hostIPs"},
    {"podIP"},
    {"podIPs"},
    {"startTime"},
    {"ephemeralContainerStatuses"},
    {"qosClass"},
    {"resize"},
    {"resources"},
    {"allocatedResources"},
    {"resourceClaimStatuses"},
    {"extendedResourceClaimStatus"},
    {"observedGeneration"},
};
inline constexpr KnownFields kPodStatus(kPodStatusFields);

inline constexpr Field kPodFields[] = {{"apiVersion"},
                                       {"kind"},
                                       {"metadata", &kMetadata},
                                       {"spec", &kPodSpec},
                                       {"status", &kPodStatus}};
inline constexpr KnownFields kPod(kPodFields);

}  // namespace espalier::fields
