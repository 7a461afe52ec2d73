#include "host/readers/device_charges.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/model/go_texts.hpp"
#include "host/model/kueue_keys.hpp"
#include "host/readers/effective_requests.hpp"
#include "host/readers/kueue_configuration.hpp"
#include "host/readers/object_metadata.hpp"

namespace espalier {
namespace {

constexpr std::string_view kIntegration = "KueueDRAIntegration";
constexpr std::string_view kExtendedResource = "KueueDRAIntegrationExtendedResource";
constexpr std::string_view kReject = "KueueDRARejectWorkloadsWhenDRADisabled";

// Reads the requests of one claim, up to the first that Kueue does not count.
class RequestReader {
 public:
  explicit RequestReader(const ReadContext& context) : context_(context) {}

  ClaimedDevices Run(JsonValue devices) {
    std::size_t number = 0;
    ReadList(devices, "requests", context_, [&](JsonValue request) {
      if (claimed_.problem.empty()) Read(request, fmt::format("devices.requests[{}]", number++));
      return 0;
    });
    if (!claimed_.problem.empty()) claimed_.count_of_class.clear();
    return std::move(claimed_);
  }

 private:
  void Read(JsonValue request, const std::string& field) {
    if (Member(request, "firstAvailable")) {
      return Refuse(field, Quoted("null"), "FirstAvailable device selection is not supported");
    }
    const auto exactly = ObjectMember(request, "exactly", context_);
    // v1beta1 has no `exactly`.
    if (!exactly && !Member(request, "deviceClassName")) {
      return Refuse(field, Quoted("null"), "Exactly must be set if FirstAvailable is nil");
    }
    ReadExactly(exactly.value_or(request), exactly ? field + ".exactly" : field);
  }

  void ReadExactly(JsonValue request, const std::string& field) {
    if (const auto selectors = ArrayMember(request, "selectors", context_)) {
      claimed_.has_selectors = claimed_.has_selectors || selectors->size() > 0;
    }
    if (BoolMember(request, "adminAccess", context_) == true) return;  // it takes no device away
    const std::string mode = TextMember(request, "allocationMode", context_);
    if (mode == "All") {
      return Refuse(field + ".allocationMode", Quoted(mode),
                    "AllocationMode 'All' is not supported");
    }
    if (!mode.empty() && mode != "ExactCount") {
      return Refuse(field + ".allocationMode", Quoted(mode),
                    "unsupported allocation mode: " + mode);
    }
    const std::int64_t given = Int64Member(request, "count", context_).value_or(0);
    if (given < 0) {  // the API server's words
      return Refuse(field + ".count", std::to_string(given), "must be greater than zero");
    }
    const std::string name = TextMember(request, "deviceClassName", context_);
    if (name.empty()) return;
    std::int64_t& count = claimed_.count_of_class[name];
    count = SaturatingAdd(count, given == 0 ? 1 : given);
  }

  void Refuse(std::string field, std::string value, std::string problem) {
    claimed_.problem_field = std::move(field);
    claimed_.problem_value = std::move(value);
    claimed_.problem = std::move(problem);
  }

  const ReadContext& context_;
  ClaimedDevices claimed_;
};

bool IsOn(const KueueConfiguration& configuration, std::string_view gate) {
  const auto found = configuration.feature_gates.find(std::string(gate));
  return found == configuration.feature_gates.end() || found->second;
}

const DeviceClassMapping* MappingOf(const std::string& device_class,
                                    const KueueConfiguration& configuration) {
  const auto found =
      std::ranges::find_if(configuration.device_classes, [&](const DeviceClassMapping& mapping) {
        return std::ranges::find(mapping.device_classes, device_class) !=
               mapping.device_classes.end();
      });
  return found == configuration.device_classes.end() ? nullptr : &*found;
}

void Charge(const std::string& resource, Amount count, Resources& devices) {
  Amount& amount = devices[resource];
  amount = SaturatingAdd(amount, SaturatingMultiply(count, resource == "cpu" ? 1000 : 1));
}

// Tells the claims that are for devices from those for a place that is understood.
struct DeviceClaims {
  const ResourceClaims& claims;
  bool levels_count;

  bool Has(const Workload& workload, const PodResourceClaim& claim) const {
    if (!levels_count) return true;
    const ClaimedPlace* place =
        claims.Find(workload.key.namespace_, claim.claim, claim.claim_template);
    return place == nullptr || !place->problem.empty();
  }

  bool HasAny(const Workload& workload) const {
    return std::ranges::any_of(workload.pod_sets, [&](const PodSet& pod_set) {
      return std::ranges::any_of(pod_set.pod_template.resource_claims,
                                 [&](const auto& claim) { return Has(workload, claim); });
    });
  }
};

// Charges the pod sets of one workload after the other.
class Charger {
 public:
  Charger(const ClusterDefaults& defaults, const KueueConfiguration& configuration,
          DeviceClaims claims)
      : defaults_(defaults), configuration_(configuration), claims_(claims) {}

  // Returns why Kueue refuses the workload; "" when it does not.
  std::string Run(Workload& workload) const {
    if (!IsOn(configuration_, kIntegration)) {
      for (PodSet& pod_set : workload.pod_sets) pod_set.pod_template.device_backed = {};
      const bool refused = IsOn(configuration_, kReject) && claims_.HasAny(workload);
      return refused
                 ? "Workload uses DRA resources but the KueueDRAIntegration feature gate is not "
                   "enabled"
                 : "";
    }
    if (std::string why = WhyNoClaims(workload); !why.empty()) return why;
    for (std::size_t i = 0; i < workload.pod_sets.size(); ++i) {
      PodSet& pod_set = workload.pod_sets[i];
      for (std::size_t j = 0; j < pod_set.pod_template.resource_claims.size(); ++j) {
        const PodResourceClaim& claim = pod_set.pod_template.resource_claims[j];
        if (claim.claim_template.empty() || !claims_.Has(workload, claim)) continue;
        const std::string field =
            fmt::format("spec.podSets[{}].template.spec.resourceClaims[{}]", i, j);
        std::string why =
            ChargeTemplate(workload.key.namespace_, claim.claim_template, field, pod_set);
        if (!why.empty()) return why;
      }
    }
    for (PodSet& pod_set : workload.pod_sets) ChargeDeviceBacked(pod_set.pod_template);
    return "";
  }

  // Returns why Kueue refuses the claims that the workload names, whatever is mapped; "" when it
  // names none.
  std::string WhyNoClaims(const Workload& workload) const {
    for (const PodSet& pod_set : workload.pod_sets) {
      for (const PodResourceClaim& claim : pod_set.pod_template.resource_claims) {
        if (claim.claim.empty() || !claims_.Has(workload, claim)) continue;
        return "KueueDRAIntegration feature does not support use of resource claims";
      }
    }
    return "";
  }

 private:
  std::string ChargeTemplate(const std::string& name_space, const std::string& name,
                             const std::string& field, PodSet& pod_set) const {
    const auto found = defaults_.claimed_devices.find({name_space, name});
    if (found == defaults_.claimed_devices.end()) {
      return fmt::format(
          "{}: Internal error: failed to get claim spec for ResourceClaimTemplate {} in podset {}: "
          "resourceclaimtemplates.resource.k8s.io {} not found",
          field, name, pod_set.name, Quoted(name));
    }
    const ClaimedDevices& claimed = found->second;
    if (!claimed.problem.empty()) {
      return fmt::format("{}.{}: Invalid value: {}: ResourceClaimTemplate {}: {}", field,
                         claimed.problem_field, claimed.problem_value, name, claimed.problem);
    }
    for (const auto& [device_class, count] : claimed.count_of_class) {
      const DeviceClassMapping* mapping = MappingOf(device_class, configuration_);
      if (mapping == nullptr) {
        return fmt::format(
            "{}.resourceClaimTemplateName: Not found: {}", field,
            Quoted(fmt::format("DeviceClass {} is not mapped in DRA configuration for podset {}",
                               device_class, pod_set.name)));
      }
      if (mapping->has_sources) return CountedBySources(field, device_class, *mapping);
      Charge(mapping->resource, count, pod_set.pod_template.devices);
    }
    return "";
  }

  // Says that what a counter or a capacity asks for is not known here, so that no verdict would be
  // right.
  static std::string CountedBySources(const std::string& field, const std::string& device_class,
                                      const DeviceClassMapping& mapping) {
    return fmt::format(
        "{}: what quota counts of DeviceClass {} as {} is said by ResourceSlices (sources of its "
        "mapping in Kueue's Configuration), which are not read",
        field, Excerpt(device_class), Excerpt(mapping.resource));
  }

  void ChargeDeviceBacked(PodTemplate& pods) const {
    if (!IsOn(configuration_, kExtendedResource)) pods.device_backed = {};
    for (const auto& [resource, amount] : pods.device_backed) {
      const DeviceClassMapping* mapping =
          MappingOf(defaults_.class_of_resource.find(resource)->second.name, configuration_);
      Charge(mapping == nullptr ? std::string(resource) : mapping->resource, amount, pods.devices);
    }
  }

  const ClusterDefaults& defaults_;
  const KueueConfiguration& configuration_;
  const DeviceClaims claims_;
};

}  // namespace

ClaimedDevices ReadClaimedDevices(JsonValue claim_template, const ReadContext& context) {
  auto spec = ObjectMember(claim_template, "spec", context);
  if (spec) spec = ObjectMember(*spec, "spec", context);
  const auto devices = spec ? ObjectMember(*spec, "devices", context) : std::nullopt;
  return devices ? RequestReader(context).Run(*devices) : ClaimedDevices();
}

Resources DeviceBackedRequests(JsonValue pod_spec, const ReadContext& context,
                               const ClusterDefaults& defaults, const NamespaceLimits* limits) {
  if (defaults.class_of_resource.empty()) return {};
  const auto read = [&](std::string_view list, const auto& add) {
    QuantityMap all;
    ReadList(pod_spec, list, context, [&](JsonValue container) {
      const ContainerResources resources =
          CompletedResources(container, context, limits == nullptr ? nullptr : &limits->containers);
      for (const auto& [resource, quantity] : resources.requests) {
        if (!defaults.class_of_resource.contains(resource) || quantity == Quantity()) continue;
        add(all[resource], quantity);
      }
      return 0;
    });
    return all;
  };
  QuantityMap most = read("initContainers", [](Quantity& highest, const Quantity& quantity) {
    highest = std::max(highest, quantity);
  });
  const QuantityMap sums =
      read("containers", [](Quantity& sum, const Quantity& quantity) { sum += quantity; });
  for (const auto& [resource, quantity] : sums) {
    Quantity& highest = most[resource];
    highest = std::max(highest, quantity);
  }
  return ToCanonical(most);
}

void ChargeDevices(const ClusterDefaults& defaults, bool levels_count, Cluster& cluster,
                   Diagnostics& diagnostics) {
  const DeviceClaims claims{defaults.claims, levels_count};
  const DeviceClaims beside_levels{defaults.claims, true};
  const KueueConfiguration by_default{};
  const Workload* uncounted = nullptr;
  for (Workload& workload : cluster.workloads) {
    if (HasCondition(workload, "Finished") || workload.queue_name.empty()) continue;
    if (!workload.refusal.empty()) continue;
    if (cluster.configuration) {
      workload.refusal = Charger(defaults, *cluster.configuration, claims).Run(workload);
      continue;
    }
    // Quota knows what those hold that run; elastic ones may be asked for again.
    const bool is_asked_for = !HasCondition(workload, "QuotaReserved") ||
                              workload.annotations.Find(kElasticJobAnnotation) != nullptr;
    if (uncounted == nullptr && is_asked_for && beside_levels.HasAny(workload)) {
      uncounted = &workload;
    }
    for (PodSet& pod_set : workload.pod_sets) pod_set.pod_template.device_backed = {};
    workload.refusal = Charger(defaults, by_default, claims).WhyNoClaims(workload);
  }
  if (uncounted == nullptr) return;
  diagnostics.AddWarning(
      {.file = {},
       .object = "Workload " + uncounted->key.ToString(),
       .field = {},
       .value = {},
       .problem = "its pods claim devices, which quota counts by resources.deviceClassMappings of "
                  "Kueue's Configuration; that is not in the input, so that quota counts none",
       .expected = fmt::format("ConfigMap {} of Kueue among the files, or --kueue-config",
                               kConfigurationName)});
}

}  // namespace espalier
