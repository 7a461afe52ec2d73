#include <limits>

#include "host/conformance/case_file.hpp"
#include "host/conformance/case_json.hpp"
#include "host/readers/kubernetes_objects.hpp"

namespace espalier {
namespace {

// Gates that turn a kind of job on, which is all that they do.
bool IsOfIntegration(std::string_view gate) { return gate.ends_with("Integration"); }

FeatureGates ReadJobGates(JsonValue root, const ReadContext& context) {
  FeatureGates gates;
  const auto object = ObjectMember(root, "featureGates", context);
  if (!object) return gates;
  for (const auto [name, value] : Fields(*object)) {
    bool on = false;
    if (value.get(on) != simdjson::SUCCESS) {
      context.Error(value, "it is not true or false", "true or false");
    } else if (const auto set = SetFeatureGate(gates, name, on); !set && !IsOfIntegration(name)) {
      context.Error(value, set.error().message, "a known feature gate");
    }
  }
  return gates;
}

// A pod set as Kueue made it, with its requests as they became effective.
PodSet ReadMadePodSet(JsonValue object, const ReadContext& context) {
  PodSet pod_set;
  pod_set.name = TextMember(object, "name", context);
  constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
  pod_set.count = Int32Member(object, "count", context, kLeast).value_or(0);
  pod_set.min_count = Int32Member(object, "minCount", context);
  if (const auto request = ObjectMember(object, "topologyRequest", context)) {
    pod_set.topology_request = ReadTopologyRequest(*request, context);
  }
  PodTemplate& pods = pod_set.pod_template;
  pods.requests = ResourcesMember(object, "perPodRequests", context);
  pods.node_selector = TextMapMember(object, "nodeSelector", context);
  pods.tolerations = ReadTolerations(object, "tolerations", context);
  if (const auto affinity = ObjectMember(object, "affinity", context)) {
    pods.affinity = ReadNodeAffinity(*affinity, context);
  }
  return pod_set;
}

}  // namespace

JobCase ReadJobCase(JsonValue root, const ReadContext& context) {
  CheckMembers(root, {"kind", "id", "featureGates", "job", "others", "expect"}, context);
  JobCase read;
  read.gates = ReadJobGates(root, context);
  read.objects = simdjson::minify(RequiredObject(root, "job", context));
  for (const JsonValue other : Items(root, "others", context)) {
    read.objects += '\n';
    read.objects += simdjson::minify(other);
  }
  const JsonValue expect = RequiredObject(root, "expect", context);
  CheckMembers(expect,
               {"defaulted", "defaultedByObject", "jobErrors", "jobErrorsByObject", "workload",
                "workloadCount", "workloadNames", "workloadErrors", "inadmissible",
                "reconcileError", "warningEvents", "pod", "podDefaulted", "podErrors"},
               context);
  read.job_errors = TextListMember(expect, "jobErrors", context);
  // The pods that are made of an accepted object may still be refused.
  for (std::string& error : TextListMember(expect, "podErrors", context)) {
    read.job_errors.push_back(std::move(error));
  }
  read.reconcile_error = TextMember(expect, "reconcileError", context);
  const auto made = ObjectMember(expect, "workload", context);
  if (!made) return read;
  read.workloads =
      static_cast<std::size_t>(Int32Member(expect, "workloadCount", context).value_or(1));
  read.workload.pod_sets = ReadList(*made, "podSets", context, [&](JsonValue pod_set) {
    return ReadMadePodSet(pod_set, context);
  });
  read.workload.priority = Int64Member(*made, "priority", context).value_or(0);
  read.workload.queue_name = TextMember(*made, "queueName", context);
  read.workload.webhook_errors = TextListMember(expect, "workloadErrors", context);
  read.workload.resources_error = TextMember(expect, "inadmissible", context);
  return read;
}

}  // namespace espalier
