#include "host/readers/known_fields.hpp"

#include "host/readers/kueue_configuration.hpp"

namespace espalier {
namespace {

using Field = KnownFields::Field;

template <std::size_t kCount>
constexpr KnownFields Object(const Field (&fields)[kCount]) {
  return {fields, kCount};
}

constexpr Field kKueueKeyNames[] = {
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
constexpr KnownFields kLabels = {kKueueKeyNames, std::size(kKueueKeyNames), true};

constexpr Field kOwnerFields[] = {{"apiVersion"}, {"kind"},       {"name"},
                                  {"uid"},        {"controller"}, {"blockOwnerDeletion"}};
constexpr KnownFields kOwner = Object(kOwnerFields);

constexpr Field kConditionFields[] = {{"type"},
                                      {"status"},
                                      {"reason"},
                                      {"message"},
                                      {"lastHeartbeatTime"},
                                      {"lastProbeTime"},
                                      {"lastTransitionTime"},
                                      {"observedGeneration"}};
constexpr KnownFields kCondition = Object(kConditionFields);

constexpr Field kNamedFields[] = {{"name"}};
constexpr KnownFields kNamed = Object(kNamedFields);

constexpr Field kMetadataFields[] = {
    {"name"},
    {"generateName"},
    {"namespace"},
    {"labels", &kLabels},
    {"annotations", &kLabels},
    {"uid"},
    {"resourceVersion"},
    {"generation"},
    {"creationTimestamp"},
    {"deletionTimestamp"},
    {"deletionGracePeriodSeconds"},
    {"finalizers"},
    {"ownerReferences", &kOwner},
    {"managedFields"},
    {"selfLink"},
};
constexpr KnownFields kMetadata = Object(kMetadataFields);

constexpr Field kResourcesFields[] = {{"limits"}, {"requests"}, {"claims"}};
constexpr KnownFields kResources = Object(kResourcesFields);

constexpr Field kContainerFields[] = {
    {"name"},
    {"image"},
    {"command"},
    {"args"},
    {"workingDir"},
    {"ports"},
    {"env"},
    {"envFrom"},
    {"resources", &kResources},
    {"resizePolicy"},
    {"restartPolicy"},
    {"restartPolicyRules"},
    {"volumeMounts"},
    {"volumeDevices"},
    {"livenessProbe"},
    {"readinessProbe"},
    {"startupProbe"},
    {"lifecycle"},
    {"terminationMessagePath"},
    {"terminationMessagePolicy"},
    {"imagePullPolicy"},
    {"securityContext"},
    {"stdin"},
    {"stdinOnce"},
    {"tty"},
};
constexpr KnownFields kContainer = Object(kContainerFields);

constexpr Field kTolerationFields[] = {
    {"key"}, {"operator"}, {"value"}, {"effect"}, {"tolerationSeconds"}};
constexpr KnownFields kToleration = Object(kTolerationFields);

constexpr Field kTaintFields[] = {{"key"}, {"value"}, {"effect"}, {"timeAdded"}};
constexpr KnownFields kTaint = Object(kTaintFields);

constexpr Field kRequirementFields[] = {{"key"}, {"operator"}, {"values"}};
constexpr KnownFields kRequirement = Object(kRequirementFields);
constexpr Field kTermFields[] = {{"matchExpressions", &kRequirement},
                                 {"matchFields", &kRequirement}};
constexpr KnownFields kTerm = Object(kTermFields);
constexpr Field kRequiredFields[] = {{"nodeSelectorTerms", &kTerm}};
constexpr KnownFields kRequired = Object(kRequiredFields);
constexpr Field kPreferredFields[] = {{"weight"}, {"preference", &kTerm}};
constexpr KnownFields kPreferred = Object(kPreferredFields);
constexpr Field kNodeAffinityFields[] = {
    {"requiredDuringSchedulingIgnoredDuringExecution", &kRequired},
    {"preferredDuringSchedulingIgnoredDuringExecution", &kPreferred},
};
constexpr KnownFields kNodeAffinity = Object(kNodeAffinityFields);
constexpr Field kAffinityFields[] = {
    {"nodeAffinity", &kNodeAffinity}, {"podAffinity"}, {"podAntiAffinity"}};
constexpr KnownFields kAffinity = Object(kAffinityFields);

constexpr Field kPodSpecFields[] = {
    {"containers", &kContainer},
    {"initContainers", &kContainer},
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
    {"volumes"},
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
constexpr KnownFields kPodSpec = Object(kPodSpecFields);

constexpr Field kTemplateFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kPodSpec}};
constexpr KnownFields kTemplate = Object(kTemplateFields);

constexpr Field kPodStatusFields[] = {
    {"phase"},
    {"conditions", &kCondition},
    {"message"},
    {"reason"},
    {"nominatedNodeName"},
    {"hostIP"},
    {"hostIPs"},
    {"podIP"},
    {"podIPs"},
    {"startTime"},
    {"containerStatuses"},
    {"initContainerStatuses"},
    {"ephemeralContainerStatuses"},
    {"qosClass"},
    {"resize"},
    {"resources"},
    {"allocatedResources"},
    {"resourceClaimStatuses"},
    {"extendedResourceClaimStatus"},
    {"observedGeneration"},
};
constexpr KnownFields kPodStatus = Object(kPodStatusFields);

constexpr Field kJobStatusFields[] = {
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
constexpr KnownFields kJobStatus = Object(kJobStatusFields);

constexpr Field kJobSpecFields[] = {
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
constexpr KnownFields kJobSpec = Object(kJobSpecFields);

constexpr Field kLevelFields[] = {{"nodeLabel"}};
constexpr KnownFields kLevel = Object(kLevelFields);
constexpr Field kTopologySpecFields[] = {{"levels", &kLevel}};
constexpr KnownFields kTopologySpec = Object(kTopologySpecFields);

constexpr Field kFlavorSpecFields[] = {
    {"nodeLabels"}, {"nodeTaints", &kTaint}, {"tolerations", &kToleration}, {"topologyName"}};
constexpr KnownFields kFlavorSpec = Object(kFlavorSpecFields);

constexpr Field kQuotaFields[] = {{"name"}, {"nominalQuota"}, {"borrowingLimit"}, {"lendingLimit"}};
constexpr KnownFields kQuota = Object(kQuotaFields);
constexpr Field kFlavorQuotaFields[] = {{"name"}, {"resources", &kQuota}};
constexpr KnownFields kFlavorQuota = Object(kFlavorQuotaFields);
constexpr Field kResourceGroupFields[] = {{"coveredResources"}, {"flavors", &kFlavorQuota}};
constexpr KnownFields kResourceGroup = Object(kResourceGroupFields);
constexpr Field kBorrowFields[] = {{"policy"}, {"maxPriorityThreshold"}};
constexpr KnownFields kBorrow = Object(kBorrowFields);
constexpr Field kPreemptionFields[] = {
    {"withinClusterQueue"}, {"reclaimWithinCohort"}, {"borrowWithinCohort", &kBorrow}};
constexpr KnownFields kPreemption = Object(kPreemptionFields);
constexpr Field kStrategyRuleFields[] = {{"name"}, {"onFlavors"}};
constexpr KnownFields kStrategyRule = Object(kStrategyRuleFields);
constexpr Field kStrategyFields[] = {{"admissionChecks", &kStrategyRule}};
constexpr KnownFields kStrategy = Object(kStrategyFields);
constexpr Field kSelectorFields[] = {{"matchLabels"}, {"matchExpressions", &kRequirement}};
constexpr KnownFields kSelector = Object(kSelectorFields);
constexpr Field kFungibilityFields[] = {{"whenCanBorrow"}, {"whenCanPreempt"}, {"preference"}};
constexpr KnownFields kFungibility = Object(kFungibilityFields);
constexpr Field kFairSharingFields[] = {{"weight"}};
constexpr KnownFields kFairSharing = Object(kFairSharingFields);
constexpr Field kClusterQueueSpecFields[] = {
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
constexpr KnownFields kClusterQueueSpec = Object(kClusterQueueSpecFields);

constexpr Field kLocalQueueSpecFields[] = {
    {"clusterQueue"}, {"stopPolicy"}, {"fairSharing", &kFairSharing}};
constexpr KnownFields kLocalQueueSpec = Object(kLocalQueueSpecFields);

constexpr Field kCheckSpecFields[] = {{"controllerName"}, {"parameters"}, {"retryDelayMinutes"}};
constexpr KnownFields kCheckSpec = Object(kCheckSpecFields);
constexpr Field kCheckStatusFields[] = {{"conditions", &kCondition}};
constexpr KnownFields kCheckStatus = Object(kCheckStatusFields);

constexpr Field kConstraintFields[] = {{"topology"}, {"size"}};
constexpr KnownFields kConstraint = Object(kConstraintFields);
constexpr Field kTopologyRequestFields[] = {
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
constexpr KnownFields kTopologyRequest = {kTopologyRequestFields, std::size(kTopologyRequestFields),
                                          false, true};
constexpr Field kPodSetFields[] = {{"name"},
                                   {"count"},
                                   {"minCount"},
                                   {"template", &kTemplate},
                                   {"topologyRequest", &kTopologyRequest}};
constexpr KnownFields kPodSet = Object(kPodSetFields);
constexpr Field kPriorityRefFields[] = {{"group"}, {"kind"}, {"name"}};
constexpr KnownFields kPriorityRef = Object(kPriorityRefFields);
constexpr Field kWorkloadSpecFields[] = {
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
constexpr KnownFields kWorkloadSpec = Object(kWorkloadSpecFields);

constexpr Field kIndividualFields[] = {{"prefix"}, {"suffix"}, {"roots"}};
constexpr KnownFields kIndividual = Object(kIndividualFields);
constexpr Field kValuesFields[] = {{"universal"}, {"individual", &kIndividual}};
constexpr KnownFields kValues = Object(kValuesFields);
constexpr Field kPodCountsFields[] = {{"universal"}, {"individual"}};
constexpr KnownFields kPodCounts = Object(kPodCountsFields);
constexpr Field kSliceFields[] = {
    {"domainCount"}, {"valuesPerLevel", &kValues}, {"podCounts", &kPodCounts}};
constexpr KnownFields kSlice = Object(kSliceFields);
constexpr Field kDomainFields[] = {{"values"}, {"count"}};
constexpr KnownFields kDomain = Object(kDomainFields);
constexpr Field kGroupFields[] = {{"nodeLabels"}, {"count"}};
constexpr KnownFields kGroup = Object(kGroupFields);
constexpr Field kTopologyAssignmentFields[] = {
    {"levels"}, {"slices", &kSlice}, {"domains", &kDomain}, {"groups", &kGroup}};
constexpr KnownFields kTopologyAssignment = Object(kTopologyAssignmentFields);
constexpr Field kPodSetAssignmentFields[] = {{"name"},
                                             {"flavors"},
                                             {"resourceUsage"},
                                             {"count"},
                                             {"topologyAssignment", &kTopologyAssignment},
                                             {"delayedTopologyRequest"}};
constexpr KnownFields kPodSetAssignment = Object(kPodSetAssignmentFields);
constexpr Field kAdmissionFields[] = {{"clusterQueue"}, {"podSetAssignments", &kPodSetAssignment}};
constexpr KnownFields kAdmission = Object(kAdmissionFields);
constexpr Field kRequeueStateFields[] = {{"count"}, {"requeueAt"}};
constexpr KnownFields kRequeueState = Object(kRequeueStateFields);
constexpr Field kReclaimableFields[] = {{"name"}, {"count"}};
constexpr KnownFields kReclaimable = Object(kReclaimableFields);
constexpr Field kCheckStateFields[] = {
    {"name"},          {"state"},      {"lastTransitionTime"}, {"message"}, {"requeueAfterSeconds"},
    {"podSetUpdates"}, {"retryCount"},
};
constexpr KnownFields kCheckState = Object(kCheckStateFields);
constexpr Field kWorkloadStatusFields[] = {
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
constexpr KnownFields kWorkloadStatus = Object(kWorkloadStatusFields);

constexpr Field kNodeSpecFields[] = {
    {"podCIDR"},         {"podCIDRs"},     {"providerID"}, {"unschedulable"},
    {"taints", &kTaint}, {"configSource"}, {"externalID"},
};
constexpr KnownFields kNodeSpec = Object(kNodeSpecFields);
constexpr Field kNodeStatusFields[] = {
    {"capacity"},     {"allocatable"},      {"phase"},    {"conditions", &kCondition},
    {"addresses"},    {"daemonEndpoints"},  {"nodeInfo"}, {"images"},
    {"volumesInUse"}, {"volumesAttached"},  {"config"},   {"runtimeHandlers"},
    {"features"},     {"declaredFeatures"},
};
constexpr KnownFields kNodeStatus = Object(kNodeStatusFields);

constexpr Field kOverheadFields[] = {{"podFixed"}};
constexpr KnownFields kOverhead = Object(kOverheadFields);

constexpr Field kLimitFields[] = {
    {"type"}, {"max"}, {"min"}, {"default"}, {"defaultRequest"}, {"maxLimitRequestRatio"}};
constexpr KnownFields kLimit = Object(kLimitFields);
constexpr Field kLimitRangeSpecFields[] = {{"limits", &kLimit}};
constexpr KnownFields kLimitRangeSpec = Object(kLimitRangeSpecFields);

constexpr Field kNodeFields[] = {{"apiVersion"},
                                 {"kind"},
                                 {"metadata", &kMetadata},
                                 {"spec", &kNodeSpec},
                                 {"status", &kNodeStatus}};
constexpr Field kPodFields[] = {{"apiVersion"},
                                {"kind"},
                                {"metadata", &kMetadata},
                                {"spec", &kPodSpec},
                                {"status", &kPodStatus}};
constexpr Field kTopologyFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kTopologySpec}, {"status"}};
constexpr Field kFlavorFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kFlavorSpec}, {"status"}};
constexpr Field kClusterQueueFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kClusterQueueSpec}, {"status"}};
constexpr Field kLocalQueueFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kLocalQueueSpec}, {"status"}};
constexpr Field kCheckFields[] = {{"apiVersion"},
                                  {"kind"},
                                  {"metadata", &kMetadata},
                                  {"spec", &kCheckSpec},
                                  {"status", &kCheckStatus}};
constexpr Field kWorkloadPriorityClassFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"value"}, {"description"}};
constexpr Field kWorkloadFields[] = {{"apiVersion"},
                                     {"kind"},
                                     {"metadata", &kMetadata},
                                     {"spec", &kWorkloadSpec},
                                     {"status", &kWorkloadStatus}};
constexpr Field kJobFields[] = {{"apiVersion"},
                                {"kind"},
                                {"metadata", &kMetadata},
                                {"spec", &kJobSpec},
                                {"status", &kJobStatus}};
constexpr Field kRuntimeClassFields[] = {{"apiVersion"},           {"kind"},
                                         {"metadata", &kMetadata}, {"handler"},
                                         {"overhead", &kOverhead}, {"scheduling"}};
constexpr Field kLimitRangeFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kLimitRangeSpec}};
constexpr Field kPriorityClassFields[] = {
    {"apiVersion"},    {"kind"},        {"metadata", &kMetadata}, {"value"},
    {"globalDefault"}, {"description"}, {"preemptionPolicy"}};

constexpr Field kNamespaceFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec"}, {"status"}};

constexpr Field kDaemonSetSpecFields[] = {{"selector"},
                                          {"template", &kTemplate},
                                          {"updateStrategy"},
                                          {"minReadySeconds"},
                                          {"revisionHistoryLimit"}};
constexpr KnownFields kDaemonSetSpec = Object(kDaemonSetSpecFields);
constexpr Field kDaemonSetFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kDaemonSetSpec}, {"status"}};

constexpr Field kKaiQuotaFields[] = {{"quota"}, {"limit"}, {"overQuotaWeight"}};
constexpr KnownFields kKaiQuota = Object(kKaiQuotaFields);
constexpr Field kKaiResourcesFields[] = {
    {"cpu", &kKaiQuota}, {"memory", &kKaiQuota}, {"gpu", &kKaiQuota}};
constexpr KnownFields kKaiResources = Object(kKaiResourcesFields);
constexpr Field kKaiQueueSpecFields[] = {
    {"displayName"}, {"parentQueue"},       {"resources", &kKaiResources},
    {"priority"},    {"preemptMinRuntime"}, {"reclaimMinRuntime"}};
constexpr KnownFields kKaiQueueSpec = Object(kKaiQueueSpecFields);
constexpr Field kKaiQueueFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kKaiQueueSpec}, {"status"}};

constexpr Field kCelFields[] = {{"expression"}};
constexpr KnownFields kCel = Object(kCelFields);
constexpr Field kDeviceSelectorFields[] = {{"cel", &kCel}};
constexpr KnownFields kDeviceSelector = Object(kDeviceSelectorFields);
constexpr Field kExactlyFields[] = {
    {"deviceClassName"}, {"selectors", &kDeviceSelector}, {"allocationMode"}, {"count"}};
constexpr KnownFields kExactly = Object(kExactlyFields);
constexpr Field kDeviceRequestFields[] = {{"name"},
                                          {"exactly", &kExactly},
                                          {"firstAvailable", &kExactly},
                                          {"deviceClassName"},
                                          {"selectors", &kDeviceSelector},
                                          {"allocationMode"},
                                          {"count"}};
constexpr KnownFields kDeviceRequest = Object(kDeviceRequestFields);
constexpr Field kDeviceConstraintFields[] = {
    {"requests"}, {"matchAttribute"}, {"distinctAttribute"}};
constexpr KnownFields kDeviceConstraint = Object(kDeviceConstraintFields);
constexpr Field kDevicesFields[] = {
    {"requests", &kDeviceRequest}, {"constraints", &kDeviceConstraint}, {"config"}};
constexpr KnownFields kDevices = Object(kDevicesFields);
constexpr Field kClaimSpecFields[] = {{"devices", &kDevices}, {"controller"}};
constexpr KnownFields kClaimSpec = Object(kClaimSpecFields);
constexpr Field kClaimFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kClaimSpec}, {"status"}};
constexpr Field kClaimTemplateSpecFields[] = {{"metadata", &kMetadata}, {"spec", &kClaimSpec}};
constexpr KnownFields kClaimTemplateSpec = Object(kClaimTemplateSpecFields);
constexpr Field kClaimTemplateFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kClaimTemplateSpec}};
constexpr Field kDeviceClassSpecFields[] = {{"selectors", &kDeviceSelector},
                                            {"config"},
                                            {"suitableNodes", &kRequired},
                                            {"extendedResourceName"}};
constexpr KnownFields kDeviceClassSpec = Object(kDeviceClassSpecFields);
constexpr Field kDeviceClassFields[] = {
    {"apiVersion"}, {"kind"}, {"metadata", &kMetadata}, {"spec", &kDeviceClassSpec}};

constexpr Field kConfigMapFields[] = {{"apiVersion"}, {"kind"},       {"metadata", &kMetadata},
                                      {"data"},       {"binaryData"}, {"immutable"}};

struct KnownKind {
  KnownFields fields;
  std::string_view versions;
};

constexpr std::string_view kKueue = "kueue.x-k8s.io/v1beta1 kueue.x-k8s.io/v1beta2";
constexpr std::string_view kKueueFromAlpha =
    "kueue.x-k8s.io/v1alpha1 kueue.x-k8s.io/v1beta1 kueue.x-k8s.io/v1beta2";

constexpr std::string_view kResource =
    "resource.k8s.io/v1 resource.k8s.io/v1beta2 resource.k8s.io/v1beta1 resource.k8s.io/v1alpha3";

KnownKind KnownKindOf(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kNode:
      return {Object(kNodeFields), "v1"};
    case ObjectKind::kPod:
      return {Object(kPodFields), "v1"};
    case ObjectKind::kTopology:
      return {Object(kTopologyFields), kKueueFromAlpha};
    case ObjectKind::kResourceFlavor:
      return {Object(kFlavorFields), kKueue};
    case ObjectKind::kClusterQueue:
      return {Object(kClusterQueueFields), kKueue};
    case ObjectKind::kLocalQueue:
      return {Object(kLocalQueueFields), kKueue};
    case ObjectKind::kAdmissionCheck:
      return {Object(kCheckFields), kKueue};
    case ObjectKind::kWorkloadPriorityClass:
      return {Object(kWorkloadPriorityClassFields), kKueue};
    case ObjectKind::kWorkload:
      return {Object(kWorkloadFields), kKueue};
    case ObjectKind::kJob:
      return {Object(kJobFields), "batch/v1"};
    case ObjectKind::kNamespace:
      return {Object(kNamespaceFields), "v1"};
    case ObjectKind::kDaemonSet:
      return {Object(kDaemonSetFields), "apps/v1"};
    case ObjectKind::kKaiTopology:
      return {Object(kTopologyFields), "kai.scheduler/v1alpha1"};
    case ObjectKind::kKaiQueue:
      return {Object(kKaiQueueFields), "scheduling.run.ai/v2"};
    case ObjectKind::kHyperNode:  // its reader knows its fields, as does that of the next
      return {{}, "topology.volcano.sh/v1alpha1"};
    case ObjectKind::kVolcanoQueue:
      return {{}, "scheduling.volcano.sh/v1beta1"};
    case ObjectKind::kResourceClaim:
      return {Object(kClaimFields), kResource};
    case ObjectKind::kResourceClaimTemplate:
      return {Object(kClaimTemplateFields), kResource};
    case ObjectKind::kDeviceClass:
      return {Object(kDeviceClassFields), kResource};
    case ObjectKind::kConfigMap:
      return {Object(kConfigMapFields), "v1"};
    case ObjectKind::kKueueConfiguration:
      return {KnownConfigurationFields(),
              "config.kueue.x-k8s.io/v1beta2 config.kueue.x-k8s.io/v1beta1"};
    case ObjectKind::kRuntimeClass:
      return {Object(kRuntimeClassFields),
              "node.k8s.io/v1 node.k8s.io/v1beta1 node.k8s.io/v1alpha1"};
    case ObjectKind::kLimitRange:
      return {Object(kLimitRangeFields), "v1"};
    case ObjectKind::kPriorityClass:
      return {Object(kPriorityClassFields),
              "scheduling.k8s.io/v1 scheduling.k8s.io/v1beta1 scheduling.k8s.io/v1alpha1"};
  }
  return {};
}

}  // namespace

KnownFields KnownFieldsOf(ObjectKind kind) { return KnownKindOf(kind).fields; }

KnownFields KnownTemplateFields() { return kTemplate; }

std::string_view KnownVersionsOf(ObjectKind kind) { return KnownKindOf(kind).versions; }

}  // namespace espalier
