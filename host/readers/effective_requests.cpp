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

void ReplaceByPodLevel(JsonValue pod_spec, const ReadContext& context,
                       const NamespaceLimits* limits, PodOrigin origin, QuantityMap& total) {
  if (origin == PodOrigin::kWrapped || !ObjectMember(pod_spec, "resources", context)) return;
  const ContainerResources of_pod =
      CompletedResources(pod_spec, context, limits == nullptr ? nullptr : &limits->pods, origin);
  for (const auto& [name, quantity] : of_pod.requests) {
    if (HasPodLevel(name) || origin == PodOrigin::kOfGangApi) {
      total.Set(name, quantity);
    } else {
      context.Warn(*Member(pod_spec, "resources"),
                   fmt::format("{} of a pod as a whole is not known, and not honoured", name),
                   "cpu, memory or hugepages, or the resource in a container");
    }
  }
}

QuantityMap Overhead(JsonValue pod_spec, const ReadContext& context,
                     const ClusterDefaults& defaults, PodOrigin origin) {
  if (Member(pod_spec, "overhead")) return ReadNonNegative(pod_spec, "overhead", context);
  if (origin == PodOrigin::kWrapped) return {};
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

const NamespaceLimits* ClusterDefaults::LimitsOf(std::string_view name_space) const {
  const auto found = limit_ranges.find(name_space);
  return found == limit_ranges.end() ? nullptr : &found->second;
}

std::optional<std::int64_t> ClusterDefaults::PriorityOf(std::string_view priority_class) const {
  const auto found = priority_classes.find(priority_class);
  if (found == priority_classes.end()) return std::nullopt;
  return found->second;
}

ContainerResources CompletedResources(JsonValue parent, const ReadContext& context,
                                      const LimitRangeOf* defaults, PodOrigin origin) {
  ContainerResources completed;
  if (const auto resources = ObjectMember(parent, "resources", context)) {
    completed.requests = ReadNonNegative(*resources, "requests", context);
    completed.limits = ReadNonNegative(*resources, "limits", context);
  }
  if (origin == PodOrigin::kPod) FillGaps(completed.requests, completed.limits);
  if (defaults != nullptr) {
    FillGaps(completed.requests, defaults->default_requests);
    FillGaps(completed.limits, defaults->default_limits);
  }
  FillGaps(completed.requests, completed.limits);
  return completed;
}

Resources EffectiveRequests(JsonValue pod_spec, const ReadContext& context,
                            const ClusterDefaults& defaults, const NamespaceLimits* limits,
                            PodOrigin origin) {
  const QuantityMap requests = PodRequests(pod_spec, context, defaults, limits, origin);
  if (requests.size() > kMaxRequestedResources) {
    context.Error(pod_spec, fmt::format("it requests {} resources", requests.size()),
                  fmt::format("at most {}", kMaxRequestedResources));
    return {};
  }
  return ToCanonical(requests);
}

QuantityMap PodRequests(JsonValue pod_spec, const ReadContext& context,
                        const ClusterDefaults& defaults, const NamespaceLimits* limits,
                        PodOrigin origin) {
  const LimitRangeOf* of_containers = limits == nullptr ? nullptr : &limits->containers;
  QuantityMap total;
  const auto requests_of = [&](JsonValue container) {
    return CompletedResources(container, context, of_containers, origin).requests;
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
                         origin != PodOrigin::kWrapped &&
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
  ReplaceByPodLevel(pod_spec, context, limits, origin, total);
  Add(total, Overhead(pod_spec, context, defaults, origin));
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
  NamespaceLimits& limits = defaults.limit_ranges[name_space];
  const auto read_limit = [&](JsonValue limit) {
    const std::string type = TextMember(limit, "type", context);
    if (type != "Container" && type != "Pod") {
      if (type != "PersistentVolumeClaim" && type.find('/') == std::string::npos) {
        context.Warn(Member(limit, "type").value_or(limit),
                     "there is no such type of limits: they are not honoured", "Container or Pod");
      }
      return false;
    }
    LimitRangeOf& of = type == "Pod" ? limits.pods : limits.containers;
    const QuantityMap min = ReadNonNegative(limit, "min", context);
    const QuantityMap max = ReadNonNegative(limit, "max", context);
    RaiseTo(of.min, min);
    LowerTo(of.max, max);
    QuantityMap default_limits = ReadNonNegative(limit, "default", context);
    QuantityMap default_requests = ReadNonNegative(limit, "defaultRequest", context);
    if (type == "Container") {
      // Kubernetes fills the default limit from `max`, and the default request from the default
      // limit and then from `min`.
      FillGaps(default_limits, max);
      FillGaps(default_requests, default_limits);
      FillGaps(default_requests, min);
    }
    FillGaps(of.default_limits, default_limits);
    FillGaps(of.default_requests, default_requests);
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
