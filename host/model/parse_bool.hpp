// Reads booleans as Kubernetes components do in flags and annotations.
#pragma once

#include <optional>
#include <string_view>

namespace espalier {

// Returns true for 1 t T TRUE true True, false for 0 f F FALSE false False, and nullopt for
// anything else.
inline std::optional<bool> ParseBool(std::string_view text) {
  for (const std::string_view yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

}  // namespace espalier
