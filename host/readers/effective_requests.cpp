#include "host/readers/effective_requests.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "host/model/object_limits.hpp"
#include "host/readers/object_metadata.hpp"

namespace espalier {
namespace {

void Add(QuantityMap& total, const QuantityMap& quantities) {
  for (const auto& [name, quantity] : quantities) total[name] += quantity;
}

void RaiseTo(QuantityMap& highest, const QuantityMap& quantities) {
  for (const auto& [name, quantity] : quantities) {
    Quantity& slot = highest[name];
    slot = std::max(slot, quantity);
  }
}

void LowerTo(QuantityMap& lowest, const QuantityMap& quantities) {
  for (const auto& [name, quantity] : quantities) {
    const Quantity* found = lowest.Find(name);
    if (found == nullptr || quantity < *found) lowest.Set(name, quantity);
  }
}

bool HasPodLevel(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource.starts_with("hugepages-");
}

void ReplaceByPodLevel(JsonValue pod_spec, const ReadContext& context, QuantityMap& total) {
  const auto resources = ObjectMember(pod_spec, "resources", context);
  if (!resources) return;
  const QuantityMap requests = ReadNonNegative(*resources, "requests", context);
  for (const auto& [name, quantity] : requests) {
    if (HasPodLevel(name)) total.Set(name, quantity);
  }
  // A limit stands in only where neither the pod nor a container requests anything.
  for (const auto& [name, quantity] : ReadNonNegative(*resources, "limits", context)) {
    if (HasPodLevel(name) && !total.Contains(name)) total.Set(name, quantity);
  }
}

QuantityMap Overhead(JsonValue pod_spec, const ReadContext& context,
                     const ClusterDefaults& defaults) {
  if (Member(pod_spec, "overhead")) return ReadNonNegative(pod_spec, "overhead", context);
  const auto name = StringMember(pod_spec, "runtimeClassName", context);
  if (!name || name->empty()) return {};
  const auto it = defaults.runtime_class_overhead.find(*name);
  if (it != defaults.runtime_class_overhead.end()) return it->second;
  context.Warn(*Member(pod_spec, "runtimeClassName"),
               "this RuntimeClass is not in the input, so its pod overhead counts as 0",
               "the output of `kubectl get runtimeclasses -o json` among the files");
  return {};
}

}  // namespace

QuantityMap ReadNonNegative(JsonValue parent, std::string_view name, const ReadContext& context) {
  QuantityMap quantities = QuantitiesMember(parent, name, context);
  for (const auto& [resource, quantity] : quantities) {
    if (quantity < Quantity()) {
      context.Error(Member(*Member(parent, name), resource).value_or(parent), "it is negative",
                    "a quantity of 0 or more");
    }
  }
  return quantities;
}

void FillGaps(QuantityMap& quantities, const QuantityMap& defaults) {
  for (const auto& [name, quantity] : defaults) {
    if (!quantities.Contains(name)) quantities.Set(name, quantity);
  }
}

QuantityMap ContainerRequests(JsonValue container, const ReadContext& context,
                              const QuantityMap* container_defaults) {
  QuantityMap requests;
  if (const auto resources = ObjectMember(container, "resources", context)) {
    requests = ReadNonNegative(*resources, "requests", context);
    FillGaps(requests, ReadNonNegative(*resources, "limits", context));
  }
  if (container_defaults != nullptr) FillGaps(requests, *container_defaults);
  return requests;
}

Resources EffectiveRequests(JsonValue pod_spec, const ReadContext& context,
                            const ClusterDefaults& defaults,
                            const QuantityMap* container_defaults) {
  const QuantityMap requests = PodRequests(pod_spec, context, defaults, container_defaults);
  if (requests.size() > kMaxRequestedResources) {
    context.Error(pod_spec, fmt::format("it requests {} resources", requests.size()),
                  fmt::format("at most {}", kMaxRequestedResources));
    return {};
  }
  return ToCanonical(requests);
}

QuantityMap PodRequests(JsonValue pod_spec, const ReadContext& context,
                        const ClusterDefaults& defaults, const QuantityMap* container_defaults) {
  QuantityMap total;
  const auto requests_of = [&](JsonValue container) {
    return ContainerRequests(container, context, container_defaults);
  };
  for (const QuantityMap& requests : ReadList(pod_spec, "containers", context, requests_of)) {
    Add(total, requests);
  }
  struct InitContainer {
    QuantityMap requests;
    bool restartable;
  };
  const auto read_init_container = [&](JsonValue container) {
    return InitContainer{requests_of(container),
                         StringMember(container, "restartPolicy", context) == "Always"};
  };
  QuantityMap side;  // restartable init containers seen so far: they keep running
  QuantityMap highest;
  for (const InitContainer& init :
       ReadList(pod_spec, "initContainers", context, read_init_container)) {
    if (init.restartable) {
      Add(total, init.requests);
      Add(side, init.requests);
      RaiseTo(highest, side);
    } else {
      QuantityMap candidate = init.requests;
      Add(candidate, side);
      RaiseTo(highest, candidate);
    }
  }
  RaiseTo(total, highest);
  ReplaceByPodLevel(pod_spec, context, total);
  Add(total, Overhead(pod_spec, context, defaults));
  return total;
}

void ReadRuntimeClass(JsonValue object, const ReadContext& context, ClusterDefaults& defaults) {
  const auto metadata = ObjectMember(object, "metadata", context);
  if (!metadata) return context.Missing(object, "metadata", "the object's metadata");
  QuantityMap fixed;
  if (const auto overhead = ObjectMember(object, "overhead", context)) {
    fixed = ReadNonNegative(*overhead, "podFixed", context);
  }
  defaults.runtime_class_overhead.emplace(RequiredText(*metadata, "name", context),
                                          std::move(fixed));
}

void ReadLimitRange(JsonValue object, const ReadContext& context, ClusterDefaults& defaults) {
  const auto spec = ObjectMember(object, "spec", context);
  if (!spec) return;
  const auto metadata = ObjectMember(object, "metadata", context);
  const std::string name_space = metadata ? NamespaceOf(*metadata, context) : "";
  LimitRangeBounds& bounds = defaults.limit_ranges[name_space];
  QuantityMap& container_requests = defaults.container_default_requests[name_space];
  const auto read_limit = [&](JsonValue limit) {
    const std::string type = TextMember(limit, "type", context);
    if (type != "Container" && type != "Pod") return false;
    const bool of_pods = type == "Pod";
    const QuantityMap min = ReadNonNegative(limit, "min", context);
    const QuantityMap max = ReadNonNegative(limit, "max", context);
    RaiseTo(of_pods ? bounds.pod_min : bounds.container_min, min);
    LowerTo(of_pods ? bounds.pod_max : bounds.container_max, max);
    if (of_pods) return true;
    // Kubernetes fills the default limit from `max`, and the default request from the default
    // limit and then from `min`.
    QuantityMap limits = ReadNonNegative(limit, "default", context);
    FillGaps(limits, max);
    FillGaps(container_requests, ReadNonNegative(limit, "defaultRequest", context));
    FillGaps(container_requests, limits);
    FillGaps(container_requests, min);
    FillGaps(bounds.container_default_limits, limits);
    return true;
  };
  ReadList(*spec, "limits", context, read_limit);
}

void ReadPriorityClass(JsonValue object, const ReadContext& context, ClusterDefaults& defaults) {
  const auto metadata = ObjectMember(object, "metadata", context);
  if (!metadata) return context.Missing(object, "metadata", "the object's metadata");
  const std::int64_t value = Int64Member(object, "value", context).value_or(0);
  defaults.priority_classes.emplace(RequiredText(*metadata, "name", context), value);
  if (BoolMember(object, "globalDefault", context) == true) {
    defaults.default_priority = std::min(defaults.default_priority.value_or(value), value);
  }
}

}  // namespace espalier
