// Reads Kueue's Configuration that is loaded with a state.
#pragma once

#include <string>

#include "host/live/loaded_configuration.hpp"
#include "host/model/result.hpp"
#include "host/model/work_budget.hpp"

namespace espalier {

// Reads a field of a request: the Configuration, or the ConfigMap that holds it, as JSON or YAML.
// `flag` is the value of the server's --feature-gates, which wins. Returns null for an empty text.
// Errors: kBadInput with the field for what cannot be read.
Result<SharedConfiguration> ReadConfiguration(const std::string& text, const std::string& flag,
                                              WorkBudget& budget);

// Adds what is not honoured of a Configuration, if there is one, to the warnings of a response.
template <class Response>
void AddWarnings(const SharedConfiguration& configuration, Response& response) {
  if (configuration == nullptr) return;
  for (const std::string& warning : configuration->warnings) response.add_warnings(warning);
}

}  // namespace espalier
