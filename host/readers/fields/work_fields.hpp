// Fields of objects that ask for Pods.
#pragma once

#include "host/readers/fields/object_fields.hpp"
#include "host/readers/fields/pod_fields.hpp"

namespace espalier::fields {

inline constexpr Field kJobStatusFields[] = {
    {"active"},
    {"ready"},
    {"succeeded"},
    {"failed"},
    {"terminating"},
    {"conditions", &kCondition},
    {"startTime"},
    {"completionTime"},
    {"completedIndexes"},
    {"failedIndexes"},
    {"uncountedTerminatedPods"},
};
inline constexpr KnownFields kJobStatus(kJobStatusFields);

inline constexpr Field kJobSpecFields[] = {
    {"parallelism"},
    {"completions"},
    {"completionMode"},
    {"template", &kTemplate},
    {"suspend"},
    {"backoffLimit"},
    {"backoffLimitPerIndex"},
    {"maxFailedIndexes"},
    {"activeDeadlineSeconds"},
    {"ttlSecondsAfterFinished"},
    {"podFailurePolicy"},
    {"podReplacementPolicy"},
    {"successPolicy"},
    {"selector"},
    {"manualSelector"},
    {"managedBy"},
};
inline constexpr KnownFields kJobSpec(kJobSpecFields);

inline constexpr Field kJobFields[] = {{"apiVersion"},
                                       {"kind"},
                                       {"metadata", &kMetadata},
                                       {"spec", &kJobSpec},
                                       {"status", &kJobStatus}};
inline constexpr KnownFields kJob(kJobFields);

inline constexpr Field kDaemonSetSpecFields[] = {{"selector"},
                                                 {"template", &kTemplate},
                                                 {"updateStrategy"},
                                                 {"minReadySeconds"},
                                                 {"revisionHistoryLimit"}};
inline constexpr KnownFields kDaemonSetSpec(kDaemonSetSpecFields);

inline constexpr Field kDaemonSetFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kDaemonSetSpec}, {"status"}};
inline constexpr KnownFields kDaemonSet(kDaemonSetFields);

inline constexpr Field kConstraintFields[] = {{"topology"}, {"size"}};
inline constexpr KnownFields kConstraint(kConstraintFields);

inline constexpr Field kTopologyRequestFields[] = {
    {"required"},
    {"preferred"},
    {"unconstrained"},
    {"podIndexLabel"},
    {"subGroupIndexLabel"},
    {"subGroupCount"},
    {"podSetGroupName"},
    {"podSetSliceRequiredTopology"},
    {"podSetSliceSize"},
    {"podsetSliceRequiredTopologyConstraints", &kConstraint},
    {"policy"},
    {"level"},
};
inline constexpr KnownFields kTopologyRequest(kTopologyRequestFields, KnownFields::Others::kMatter);

inline constexpr Field kPodSetFields[] = {{"name"},
                                          {"count"},
                                          {"minCount"},
                                          {"template", &kTemplate},
                                          {"topologyRequest", &kTopologyRequest}};
inline constexpr KnownFields kPodSet(kPodSetFields);

inline constexpr Field kPriorityRefFields[] = {{"group"}, {"kind"}, {"name"}};
inline constexpr KnownFields kPriorityRef(kPriorityRefFields);

inline constexpr Field kWorkloadSpecFields[] = {
    {"podSets", &kPodSet},
    {"queueName"},
    {"priorityClassRef", &kPriorityRef},
    {"priorityClassName"},
    {"priorityClassSource"},
    {"priority"},
    {"active"},
    {"maximumExecutionTimeSeconds"},
    {"preemptionGates"},
};
inline constexpr KnownFields kWorkloadSpec(kWorkloadSpecFields);

inline constexpr Field kIndividualFields[] = {{"prefix"}, {"suffix"}, {"roots"}};
inline constexpr KnownFields kIndividual(kIndividualFields);

inline constexpr Field kValuesFields[] = {{"universal"}, {"individual", &kIndividual}};
inline constexpr KnownFields kValues(kValuesFields);

inline constexpr Field kPodCountsFields[] = {{"universal"}, {"individual"}};
inline constexpr KnownFields kPodCounts(kPodCountsFields);

inline constexpr Field kSliceFields[] = {
    {"domainCount"}, {"valuesPerLevel", &kValues}, {"podCounts", &kPodCounts}};
inline constexpr KnownFields kSlice(kSliceFields);

inline constexpr Field kDomainFields[] = {{"values"}, {"count"}};
inline constexpr KnownFields kDomain(kDomainFields);

inline constexpr Field kGroupFields[] = {{"nodeLabels"}, {"count"}};
inline constexpr KnownFields kGroup(kGroupFields);

inline constexpr Field kTopologyAssignmentFields[] = {
    {"levels"}, {"slices", &kSlice}, {"domains", &kDomain}, {"groups", &kGroup}};
inline constexpr KnownFields kTopologyAssignment(kTopologyAssignmentFields);

inline constexpr Field kPodSetAssignmentFields[] = {{"name"},
                                                    {"flavors"},
                                                    {"resourceUsage"},
                                                    {"count"},
                                                    {"topologyAssignment", &kTopologyAssignment},
                                                    {"delayedTopologyRequest"}};
inline constexpr KnownFields kPodSetAssignment(kPodSetAssignmentFields);

inline constexpr Field kAdmissionFields[] = {{"clusterQueue"},
                                             {"podSetAssignments", &kPodSetAssignment}};
inline constexpr KnownFields kAdmission(kAdmissionFields);

inline constexpr Field kRequeueStateFields[] = {{"count"}, {"requeueAt"}};
inline constexpr KnownFields kRequeueState(kRequeueStateFields);

inline constexpr Field kReclaimableFields[] = {{"name"}, {"count"}};
inline constexpr KnownFields kReclaimable(kReclaimableFields);

inline constexpr Field kCheckStateFields[] = {
    {"name"},          {"state"},      {"lastTransitionTime"}, {"message"}, {"requeueAfterSeconds"},
    {"podSetUpdates"}, {"retryCount"},
};
inline constexpr KnownFields kCheckState(kCheckStateFields);

inline constexpr Field kWorkloadStatusFields[] = {
    {"admission", &kAdmission},
    {"requeueState", &kRequeueState},
    {"conditions", &kCondition},
    {"reclaimablePods", &kReclaimable},
    {"admissionChecks", &kCheckState},
    {"unhealthyNodes", &kNamed},
    {"resourceRequests"},
    {"accumulatedPastExecutionTimeSeconds"},
    {"accumulatedPastExexcutionTimeSeconds"},  // as it is spelled in Kueue
    {"schedulingStats"},
    {"nominatedClusterNames"},
    {"clusterName"},
};
inline constexpr KnownFields kWorkloadStatus(kWorkloadStatusFields);

inline constexpr Field kWorkloadFields[] = {{"apiVersion"},
                                            {"kind"},
                                            {"metadata", &kMetadata},
                                            {"spec", &kWorkloadSpec},
                                            {"status", &kWorkloadStatus}};
inline constexpr KnownFields kWorkload(kWorkloadFields);

}  // namespace espalier::fields
