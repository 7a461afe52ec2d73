// Reads times as Kubernetes writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace espalier {

// Returns the Unix seconds of an RFC 3339 time; nullopt when the text is not one.
std::optional<std::int64_t> ParseTime(std::string_view text);

}  // namespace espalier
