// Kueue's Configuration as it was loaded with a state.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/model/kueue_configuration.hpp"
#include "host/model/result.hpp"
#include "host/model/work_budget.hpp"

namespace espalier {

struct LoadedConfiguration {
  KueueConfiguration configuration;
  FeatureGates gates;                 // of calls about the state, where they name none
  std::vector<std::string> warnings;  // what of it is not honoured
};
using SharedConfiguration = std::shared_ptr<const LoadedConfiguration>;  // null: none

// Reads a field of a request: the Configuration, or the ConfigMap that holds it, as JSON or YAML.
// `flag` is the value of the server's --feature-gates, which wins. Returns null for an empty text.
// Errors: kBadInput with the field for what cannot be read.
Result<SharedConfiguration> ReadConfiguration(const std::string& text, const std::string& flag,
                                              WorkBudget& budget);

// Returns the gates of a call about a state of this Configuration that names none.
const FeatureGates& GatesOf(const SharedConfiguration& configuration,
                            const FeatureGates& of_server);

}  // namespace espalier
