// Kueue's Configuration as it was loaded with a state.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/model/kueue_configuration.hpp"

namespace espalier {

struct LoadedConfiguration {
  KueueConfiguration configuration;
  FeatureGates gates;                 // of calls about the state, where they name none
  std::vector<std::string> warnings;  // what of it is not honoured
};
using SharedConfiguration = std::shared_ptr<const LoadedConfiguration>;  // null: none

// Returns the gates of a call about a state of this Configuration that names none.
inline const FeatureGates& GatesOf(const SharedConfiguration& configuration,
                                   const FeatureGates& of_server) {
  return configuration == nullptr ? of_server : configuration->gates;
}

}  // namespace espalier
