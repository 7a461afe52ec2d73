#include "host/readers/sources/managed_jobs.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "host/model/kueue_keys.hpp"
#include "host/model/label_selector.hpp"
#include "host/readers/kueue_configuration.hpp"
#include "host/readers/sources/left_out.hpp"
#include "host/readers/sources/source_reader.hpp"

namespace espalier {
namespace {

constexpr std::string_view kPod = "pod";
constexpr std::string_view kNamespaceName = "kubernetes.io/metadata.name";

// Integrations that turn that of pods on, as Kueue manages their pods.
constexpr std::array<std::string_view, 3> kOfPods = {
    "deployment", "leaderworkerset.x-k8s.io/leaderworkerset", "statefulset"};

// The integration that manages the objects of a kind; empty: Kueue has none.
std::string_view FrameworkOf(std::string_view group, std::string_view kind) {
  if (group == "batch" && kind == "CronJob") return FrameworkOf(group, "Job");  // which it makes
  if (group == "apps" && kind == "ReplicaSet") return kPod;
  const auto found = std::ranges::find_if(Frameworks(), [&](const Framework& framework) {
    return framework.group == group && framework.kind == kind;
  });
  return found == Frameworks().end() ? "" : found->name;
}

}  // namespace

ManagedJobs::ManagedJobs(const Cluster& cluster, const ClusterDefaults& defaults)
    : defaults_(defaults) {
  if (!cluster.configuration) return;
  configuration_ = &*cluster.configuration;
  frameworks_.insert(configuration_->frameworks.begin(), configuration_->frameworks.end());
  const auto is_on = [&](std::string_view name) { return frameworks_.contains(name); };
  if (std::ranges::any_of(kOfPods, is_on)) frameworks_.insert(kPod);
  for (const Namespace& name_space : cluster.namespaces) {
    namespaces_.emplace(name_space.name, &name_space);
  }
}

void ManagedJobs::Judge(std::string_view group, std::string_view kind,
                        GangWorkload& workload) const {
  if (configuration_ == nullptr || !workload.waits_for.empty() || workload.running) return;
  const std::string_view framework = FrameworkOf(group, kind);
  const bool is_for_another =
      !workload.head.queue_name.empty() && !workload.head.labels.Contains(kQueueNameLabel);
  if (framework.empty() || is_for_another) return;
  const std::string why = WhyNot(framework, group, kind, workload.head);
  if (why.empty()) return;
  LeaveOut(fmt::format("Kueue does not manage this {}: {}", kind, why), workload);
}

std::string ManagedJobs::WhyNot(std::string_view framework, std::string_view group,
                                std::string_view kind, Workload& head) const {
  // "Kind.version.group" of what another controller manages for Kueue.
  const bool is_external =
      std::ranges::any_of(configuration_->external_frameworks, [&](std::string_view name) {
        return name.starts_with(fmt::format("{}.", kind)) &&
               name.ends_with(fmt::format(".{}", group));
      });
  if (!is_external && !frameworks_.contains(framework)) {
    return fmt::format("integrations.frameworks of its Configuration does not have {}", framework);
  }
  if (!IsSelected(head.key.namespace_)) {
    return fmt::format(
        "managedJobsNamespaceSelector of its Configuration does not select "
        "namespace {}",
        head.key.namespace_);
  }
  if (!head.queue_name.empty()) return "";
  if (defaults_.namespaces_with_default_queue.contains(head.key.namespace_)) {
    head.queue_name = kDefaultLocalQueue;
    return "";
  }
  if (configuration_->manage_jobs_without_queue_name) return "";
  return fmt::format(
      "it has no label {}, and manageJobsWithoutQueueName of its Configuration is "
      "not set",
      kQueueNameLabel);
}

bool ManagedJobs::IsSelected(const std::string& name_space) const {
  const LabelSelector& selector = configuration_->managed_namespaces;
  if (const auto found = namespaces_.find(name_space); found != namespaces_.end()) {
    return Selects(selector, found->second->labels);
  }
  // Its name is a label that every namespace has; the others are not known.
  LabelSelector by_name;
  if (const std::string* name = selector.match_labels.Find(kNamespaceName)) {
    by_name.match_labels.Set(kNamespaceName, *name);
  }
  std::ranges::copy_if(selector.match_expressions, std::back_inserter(by_name.match_expressions),
                       [](const auto& requirement) { return requirement.key == kNamespaceName; });
  StringMap labels;
  labels.Set(kNamespaceName, name_space);
  return Selects(by_name, labels);
}

}  // namespace espalier
