#include "host/readers/redaction_words.hpp"

#include <algorithm>
#include <set>

#include "host/model/kueue_keys.hpp"
#include "host/model/quantity.hpp"
#include "host/readers/sources/source_reader.hpp"
#include "host/readers/sources/spark_pods.hpp"

namespace espalier {
namespace {

using Words = std::set<std::string_view>;

Words WordsOf(std::string_view text) {
  Words words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    words.insert(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return words;
}

constexpr std::string_view kKaiTopology = "kai.scheduler/topology";  // the name of one
constexpr std::string_view kAppWrapperPrefix = "workload.codeflare.dev.appwrapper/";

}  // namespace

bool IsLeftOut(std::string_view field) {
  static const Words kWords = WordsOf(
      "managedFields imageID images command args env envFrom volumeMounts "
      "volumeDevices volumesAttached volumesInUse message addresses nodeInfo daemonEndpoints "
      "containerStatuses initContainerStatuses livenessProbe readinessProbe startupProbe lifecycle "
      "securityContext imagePullSecrets hostIP hostIPs podIP podIPs podCIDR podCIDRs "
      "providerID workingDir hostAliases dnsConfig description selfLink resourceVersion parameters "
      "runtimeHandlers config");
  return kWords.contains(field);
}

bool IsKeptField(std::string_view field) {
  static const Words kWords = WordsOf(
      "apiVersion kind uid type status reason phase operator effect key state nodeLabel "
      "creationTimestamp deletionTimestamp lastTransitionTime lastHeartbeatTime lastProbeTime "
      "startTime completionTime timeAdded requeueAt required preferred podSetSliceRequiredTopology "
      "topology topologyKey podIndexLabel subGroupIndexLabel coveredResources levels "
      "queueingStrategy stopPolicy withinClusterQueue reclaimWithinCohort whenCanBorrow "
      "whenCanPreempt policy controllerName completionMode restartPolicy priorityClassSource "
      "preemptionPolicy group imagePullPolicy terminationMessagePolicy dnsPolicy admissionMode "
      "delayedTopologyRequest qosClass apiGroup level mode gangMode replicaMode replicationMode "
      "rankMode reschedulingPolicy fieldPath podManagementPolicy startupPolicyOrder "
      "subGroupPolicyType mpiImplementation requiredTopologyLevel preferredTopologyLevel "
      "submissionMode path preemptibility rankFrom matchAttribute distinctAttribute driver "
      "allocationMode input strategy multiplyBy excludeResourcePrefixes quotaCheckStrategy "
      "frameworks externalFrameworks labelKeysToCopy extendedResourceName whenUnsatisfiable "
      "matchLabelKeys mismatchLabelKeys protocol");
  return kWords.contains(field);
}

bool IsKeptOfConfiguration(std::string_view field) {
  static const Words kWords = WordsOf(
      "apiVersion kind namespace manageJobsWithoutQueueName managedJobsNamespaceSelector "
      "integrations resources featureGates waitForPodsReady fairSharing admissionFairSharing");
  return kWords.contains(field);
}

bool IsOfKueueOrKai(std::string_view key) {
  return key.starts_with(kKueuePrefix) || key.starts_with(kKaiPrefix);
}

bool IsReadAnnotation(std::string_view key) {
  static const Words kWords = WordsOf(
      "pod-group-name priorityClassName gpu-fraction gpu-memory gpu-fraction-num-devices "
      "volcano.sh/task-spec ray.io/ft-enabled scheduling.k8s.io/workload "
      "leaderworkerset.sigs.k8s.io/size");
  return IsOfKueueOrKai(key) || key.starts_with(kAppWrapperPrefix) || kWords.contains(key) ||
         key.ends_with("/group-name") || key.ends_with("/exclusive-topology") ||
         key.ends_with("/subgroup-exclusive-topology");
}

bool IsKeptAnnotation(std::string_view key) {
  static const auto kEnds = {"topology",    "constraints", "size",       "count",
                             "offset",      "label",       "placement",  "preemptibility",
                             "parallelism", "min-member",  "num-devices"};
  return key != kKaiTopology &&
         std::ranges::any_of(kEnds, [&](std::string_view end) { return key.ends_with(end); });
}

bool HoldsLabels(std::string_view field) {
  static const Words kWords = WordsOf("labels nodeLabels nodeSelector matchLabels");
  return kWords.contains(field);
}

bool HoldsQuantities(std::string_view field) {
  static const Words kWords = WordsOf(
      "requests limits allocatable capacity overhead podFixed min max default defaultRequest "
      "maxLimitRequestRatio resourceUsage outputs");
  return kWords.contains(field);
}

bool IsQuantityField(std::string_view field) {
  static const Words kWords = WordsOf("nominalQuota borrowingLimit lendingLimit weight total");
  return kWords.contains(field);
}

bool IsQuantity(std::string_view text) {
  return ParseQuantity(text) ||
         (text.ends_with('B') && ParseQuantity(text.substr(0, text.size() - 1)));
}

bool IsSparkQuantity(std::string_view field, std::string_view text) {
  return std::ranges::any_of(kSparkQuantities, [&](const SparkQuantity& quantity) {
    return quantity.field == field && ParseQuantity(KubernetesText(quantity, text));
  });
}

bool IsCountLabel(std::string_view key) {
  static const Words kWords = WordsOf(
      "batch.kubernetes.io/job-completion-index apps.kubernetes.io/pod-index "
      "leaderworkerset.sigs.k8s.io/worker-index leaderworkerset.sigs.k8s.io/subgroup-index "
      "jobset.sigs.k8s.io/job-index training.kubeflow.org/replica-index "
      "kueue.x-k8s.io/pod-group-pod-index volcano.sh/task-index "
      "leaderworkerset.sigs.k8s.io/group-index pod-group.scheduling.sigs.k8s.io/min-available");
  return kWords.contains(key);
}

bool IsKnownName(std::string_view text) {
  static const Words kWords = WordsOf(
      "main head leader launcher master worker node gg rg template executor "
      "spark-kubernetes-driver spark-kubernetes-executor default default-queue root kube-system "
      "kueue-system hypernodes");
  static const auto kNumbered = {"gg-", "rg-", "template-"};
  const auto is_numbered = [&](std::string_view base) {
    return text.starts_with(base) && text.size() > base.size() &&
           text.find_first_not_of("0123456789", base.size()) == text.npos;
  };
  return kWords.contains(text) || std::ranges::any_of(kNumbered, is_numbered);
}

bool IsTrueOrFalse(std::string_view text) {
  const std::string lower = LowerCase(text);
  return lower == "true" || lower == "false";
}

bool IsInteger(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

}  // namespace espalier
