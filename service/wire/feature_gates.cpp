#include "service/wire/feature_gates.hpp"

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

void WriteFeatureGates(const FeatureGates& gates, FeatureGateMap& values) {
  for (const std::string_view name : FeatureGateNames()) {
    FeatureGates with = gates;
    values[std::string(name)] = SetFeatureGate(with, name, true).has_value() && with == gates;
  }
}

}  // namespace espalier
