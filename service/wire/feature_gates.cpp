#include "service/wire/feature_gates.hpp"

#include "host/kueue/elastic/resize_plan.hpp"

namespace espalier {

Result<FeatureGates> ApplyFeatureGates(const FeatureGateMap& values, FeatureGates defaults) {
  for (const auto& [name, value] : values) {
    if (auto set = SetFeatureGate(defaults, name, value); !set) {
      return BadInput("feature_gates: " + set.error().message);
    }
  }
  if (auto checked = CheckFeatureGateDependencies(defaults); !checked) {
    return BadInput("feature_gates: " + checked.error().message);
  }
  return defaults;
}

FeatureGates ResizeDefaults(const FeatureGateMap& values, const FeatureGates& defaults) {
  return values.contains("ElasticJobsViaWorkloadSlicesWithTAS") ? defaults : ResizeGates(defaults);
}

void WriteFeatureGates(const FeatureGates& gates, FeatureGateMap& values) {
  for (const std::string_view name : FeatureGateNames()) {
    FeatureGates with = gates;
    values[std::string(name)] = SetFeatureGate(with, name, true).has_value() && with == gates;
  }
}

}  // namespace espalier
