// Computes what a pod takes from its node, as Kubernetes does (R20.4).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "host/model/resources.hpp"
#include "host/readers/device_charges.hpp"
#include "host/readers/json_fields.hpp"
#include "host/readers/resource_claims.hpp"

namespace espalier {

// Amounts that all LimitRanges of a namespace set together for one type.
struct LimitRangeOf {
  QuantityMap default_requests;  // for what has no request
  QuantityMap default_limits;
  QuantityMap min;
  QuantityMap max;
};

struct NamespaceLimits {
  LimitRangeOf containers;
  LimitRangeOf pods;  // its defaults are for pods with resources of their own
};

// A tier of Volcano's HyperNodes: a level of the topology that they are.
struct NetworkTier {
  std::int32_t number = 0;  // the finest is the least
  std::string name;         // as HyperNodes call it; empty: they do not
  std::string level;        // label key
};

// Values that pods and workloads get from other objects of the cluster when they do not set them.
struct ClusterDefaults {
  using Quantities = std::map<std::string, QuantityMap, std::less<>>;
  using Values = std::map<std::string, std::int64_t, std::less<>>;
  Quantities runtime_class_overhead;  // RuntimeClass -> overhead.podFixed
  std::map<std::string, NamespaceLimits, std::less<>> limit_ranges;  // by namespace
  std::set<std::string, std::less<>> namespaces_with_default_queue;  // a LocalQueue of that name
  Values workload_priority_classes;  // WorkloadPriorityClass -> value
  Values priority_classes;           // PriorityClass -> value
  // The value of the PriorityClass that is globalDefault, the lowest of several.
  std::optional<std::int64_t> default_priority;
  ResourceClaims claims;
  std::map<ObjectKey, ClaimedDevices> claimed_devices;  // of ResourceClaimTemplates
  // The DeviceClass that Kubernetes takes devices from, by the resource that stands for them
  // (spec.extendedResourceName).
  std::map<std::string, DeviceClass, std::less<>> class_of_resource;
  std::vector<NetworkTier> network_tiers;  // ascending

  // Returns what the LimitRanges of the namespace say; null when it has none.
  const NamespaceLimits* LimitsOf(std::string_view name_space) const;

  // Returns the value of a PriorityClass, if that is known.
  std::optional<std::int64_t> PriorityOf(std::string_view priority_class) const;
};

// The origin of a PodSpec of which Kueue makes a pod set.
enum class PodOrigin {
  kTemplate,        // a template of a job, all of which the Workload has
  kSpecOfTemplate,  // the same, but of its metadata nothing
  // A pod by itself, as kSpecOfTemplate. Its limits became missing requests when it was made,
  // before any LimitRange.
  kPod,
  // A template in an AppWrapper, of which Kueue knows neither resources of the pod as a whole, nor
  // RuntimeClass, nor init containers that restart.
  kWrapped,
  // A PodSpec of the gang API, which may ask for any resource for the pod as a whole.
  kOfGangApi,
};

// Adds one object of that kind to `defaults`, as do the next two. Of two LimitRanges of a namespace
// the one that is added first sets the defaults.
void ReadRuntimeClass(JsonValue object, const ReadContext& context, ClusterDefaults& defaults);
void ReadLimitRange(JsonValue object, const ReadContext& context, ClusterDefaults& defaults);
void ReadPriorityClass(JsonValue object, const ReadContext& context, ClusterDefaults& defaults);

// Returns the effective requests of a PodSpec in canonical units, without the `pods` slot. Amounts
// are added exactly and converted once.
//  * a container's request is that of a LimitRange where it has none, else its limit;
//  * containers and restartable init containers add up; init containers count one after the other,
//    each with the restartable ones before it;
//  * pod-level cpu, memory and hugepages-*, completed in the same way, replace the sums;
//  * overhead comes from the pod or else from its RuntimeClass.
// `limits` are those of the namespace (R30.4): null where it has none, and for pods, which had them
// applied when they were created.
//
// PodRequests returns the exact amounts of a PodSpec.
Resources EffectiveRequests(JsonValue pod_spec, const ReadContext& context,
                            const ClusterDefaults& defaults, const NamespaceLimits* limits,
                            PodOrigin origin = PodOrigin::kTemplate);
QuantityMap PodRequests(JsonValue pod_spec, const ReadContext& context,
                        const ClusterDefaults& defaults, const NamespaceLimits* limits,
                        PodOrigin origin = PodOrigin::kTemplate);

// Amounts that a container, or a pod as a whole, asks for and may use.
struct ContainerResources {
  QuantityMap requests;
  QuantityMap limits;
};

// Returns the resources of a container or a PodSpec, completed: first from the LimitRanges, which
// may be null, then requests from limits (R30.4); of a pod first requests from its own limits.
ContainerResources CompletedResources(JsonValue parent, const ReadContext& context,
                                      const LimitRangeOf* defaults,
                                      PodOrigin origin = PodOrigin::kTemplate);

// Returns the member's quantities; reports negative ones, which the API server refuses.
QuantityMap ReadNonNegative(JsonValue parent, std::string_view name, const ReadContext& context);

// Adds the entries of `defaults` whose resources `quantities` lacks.
void FillGaps(QuantityMap& quantities, const QuantityMap& defaults);

}  // namespace espalier
