// Computes what a pod takes from its node, as Kubernetes does (R20.4).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "host/model/resources.hpp"
#include "host/readers/json_fields.hpp"
#include "host/readers/resource_claims.hpp"

namespace espalier {

// The bounds that all LimitRanges of a namespace set together.
struct LimitRangeBounds {
  QuantityMap container_default_limits;  // for containers without limits
  QuantityMap container_min;
  QuantityMap container_max;
  QuantityMap pod_min;
  QuantityMap pod_max;
};

// Values that pods and workloads get from other objects of the cluster when they do not set them.
struct ClusterDefaults {
  using Quantities = std::map<std::string, QuantityMap, std::less<>>;
  using Values = std::map<std::string, std::int64_t, std::less<>>;
  Quantities runtime_class_overhead;      // RuntimeClass -> overhead.podFixed
  Quantities container_default_requests;  // namespace -> defaults of its LimitRanges
  std::map<std::string, LimitRangeBounds, std::less<>> limit_ranges;  // by namespace
  Values workload_priority_classes;  // WorkloadPriorityClass -> value
  Values priority_classes;           // PriorityClass -> value
  // The value of the PriorityClass that is globalDefault, the lowest of several.
  std::optional<std::int64_t> default_priority;
  ResourceClaims claims;
};

// Adds one object of that kind to `defaults`, as do the next two. Of two LimitRanges of a namespace
// the one that is added first sets the defaults.
void ReadRuntimeClass(JsonValue object, const ReadContext& context, ClusterDefaults& defaults);
void ReadLimitRange(JsonValue object, const ReadContext& context, ClusterDefaults& defaults);
void ReadPriorityClass(JsonValue object, const ReadContext& context, ClusterDefaults& defaults);

// Returns the effective requests of a PodSpec in canonical units, without the `pods` slot. Amounts
// are added exactly and converted once.
//  * a container's request is its limit where it has none;
//  * containers and restartable init containers add up; init containers count one after the other,
//    each with the restartable ones before it;
//  * pod-level cpu, memory and hugepages-* replace the sums;
//  * overhead comes from the pod or else from its RuntimeClass.
// `container_defaults` is what a container gets for a resource with neither request nor limit:
// null for pods, which had it filled in when they were created.
//
// PodRequests returns the exact amounts of a PodSpec, ContainerRequests those of one container.
Resources EffectiveRequests(JsonValue pod_spec, const ReadContext& context,
                            const ClusterDefaults& defaults, const QuantityMap* container_defaults);
QuantityMap PodRequests(JsonValue pod_spec, const ReadContext& context,
                        const ClusterDefaults& defaults, const QuantityMap* container_defaults);
QuantityMap ContainerRequests(JsonValue container, const ReadContext& context,
                              const QuantityMap* container_defaults);

// Returns the member's quantities; reports negative ones, which the API server refuses.
QuantityMap ReadNonNegative(JsonValue parent, std::string_view name, const ReadContext& context);

// Adds the entries of `defaults` whose resources `quantities` lacks.
void FillGaps(QuantityMap& quantities, const QuantityMap& defaults);

}  // namespace espalier
