// Fields of what work waits for: queues, flavors, checks and topologies.
#pragma once

#include "host/readers/fields/object_fields.hpp"

namespace espalier::fields {

inline constexpr Field kLevelFields[] = {{"nodeLabel"}};
inline constexpr KnownFields kLevel(kLevelFields);

inline constexpr Field kTopologySpecFields[] = {{"levels", &kLevel}};
inline constexpr KnownFields kTopologySpec(kTopologySpecFields);

inline constexpr Field kTopologyFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kTopologySpec}, {"status"}};
inline constexpr KnownFields kTopology(kTopologyFields);

inline constexpr Field kFlavorSpecFields[] = {
    {"nodeLabels"}, {"nodeTaints", &kTaint}, {"tolerations", &kToleration}, {"topologyName"}};
inline constexpr KnownFields kFlavorSpec(kFlavorSpecFields);

inline constexpr Field kFlavorFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kFlavorSpec}, {"status"}};
inline constexpr KnownFields kFlavor(kFlavorFields);

inline constexpr Field kQuotaFields[] = {
    {"name"}, {"nominalQuota"}, {"borrowingLimit"}, {"lendingLimit"}};
inline constexpr KnownFields kQuota(kQuotaFields);

inline constexpr Field kFlavorQuotaFields[] = {{"name"}, {"resources", &kQuota}};
inline constexpr KnownFields kFlavorQuota(kFlavorQuotaFields);

inline constexpr Field kResourceGroupFields[] = {{"coveredResources"}, {"flavors", &kFlavorQuota}};
inline constexpr KnownFields kResourceGroup(kResourceGroupFields);

inline constexpr Field kBorrowFields[] = {{"policy"}, {"maxPriorityThreshold"}};
inline constexpr KnownFields kBorrow(kBorrowFields);

inline constexpr Field kPreemptionFields[] = {
    {"withinClusterQueue"}, {"reclaimWithinCohort"}, {"borrowWithinCohort", &kBorrow}};
inline constexpr KnownFields kPreemption(kPreemptionFields);

inline constexpr Field kStrategyRuleFields[] = {{"name"}, {"onFlavors"}};
inline constexpr KnownFields kStrategyRule(kStrategyRuleFields);

inline constexpr Field kStrategyFields[] = {{"admissionChecks", &kStrategyRule}};
inline constexpr KnownFields kStrategy(kStrategyFields);

inline constexpr Field kSelectorFields[] = {{"matchLabels"}, {"matchExpressions", &kRequirement}};
inline constexpr KnownFields kSelector(kSelectorFields);

inline constexpr Field kFungibilityFields[] = {
    {"whenCanBorrow"}, {"whenCanPreempt"}, {"preference"}};
inline constexpr KnownFields kFungibility(kFungibilityFields);

inline constexpr Field kFairSharingFields[] = {{"weight"}};
inline constexpr KnownFields kFairSharing(kFairSharingFields);

inline constexpr Field kClusterQueueSpecFields[] = {
    {"resourceGroups", &kResourceGroup},
    {"cohort"},
    {"cohortName"},
    {"queueingStrategy"},
    {"namespaceSelector", &kSelector},
    {"flavorFungibility", &kFungibility},
    {"preemption", &kPreemption},
    {"admissionChecks"},
    {"admissionChecksStrategy", &kStrategy},
    {"stopPolicy"},
    {"fairSharing", &kFairSharing},
    {"admissionScope"},
    {"concurrentAdmission"},
};
inline constexpr KnownFields kClusterQueueSpec(kClusterQueueSpecFields);

inline constexpr Field kClusterQueueFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kClusterQueueSpec}, {"status"}};
inline constexpr KnownFields kClusterQueue(kClusterQueueFields);

inline constexpr Field kLocalQueueSpecFields[] = {
    {"clusterQueue"}, {"stopPolicy"}, {"fairSharing", &kFairSharing}};
inline constexpr KnownFields kLocalQueueSpec(kLocalQueueSpecFields);

inline constexpr Field kLocalQueueFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kLocalQueueSpec}, {"status"}};
inline constexpr KnownFields kLocalQueue(kLocalQueueFields);

inline constexpr Field kCheckSpecFields[] = {
    {"controllerName"}, {"parameters"}, {"retryDelayMinutes"}};
inline constexpr KnownFields kCheckSpec(kCheckSpecFields);

inline constexpr Field kCheckStatusFields[] = {{"conditions", &kCondition}};
inline constexpr KnownFields kCheckStatus(kCheckStatusFields);

inline constexpr Field kCheckFields[] = {{"apiVersion"},
                                         {"kind"},
                                         {"metadata", &kMetadata},
                                         {"spec", &kCheckSpec},
                                         {"status", &kCheckStatus}};
inline constexpr KnownFields kCheck(kCheckFields);

inline constexpr Field kWorkloadPriorityClassFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"value"}, {"description"}};
inline constexpr KnownFields kWorkloadPriorityClass(kWorkloadPriorityClassFields);

inline constexpr Field kKaiQuotaFields[] = {{"quota"}, {"limit"}, {"overQuotaWeight"}};
inline constexpr KnownFields kKaiQuota(kKaiQuotaFields);

inline constexpr Field kKaiResourcesFields[] = {
    {"cpu", &kKaiQuota}, {"memory", &kKaiQuota}, {"gpu", &kKaiQuota}};
inline constexpr KnownFields kKaiResources(kKaiResourcesFields);

inline constexpr Field kKaiQueueSpecFields[] = {
    {"displayName"}, {"parentQueue"},       {"resources", &kKaiResources},
    {"priority"},    {"preemptMinRuntime"}, {"reclaimMinRuntime"}};
inline constexpr KnownFields kKaiQueueSpec(kKaiQueueSpecFields);

inline constexpr Field kKaiQueueFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kKaiQueueSpec}, {"status"}};
inline constexpr KnownFields kKaiQueue(kKaiQueueFields);

}  // namespace espalier::fields
