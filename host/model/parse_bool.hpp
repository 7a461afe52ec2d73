// Booleans in text, as Kubernetes components read them from flags and annotations.
#pragma once

#include <optional>
#include <string_view>

namespace espalier {

// 1 t T TRUE true True and 0 f F FALSE false False; anything else is absent.
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
