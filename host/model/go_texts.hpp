// Reads values of texts as Go does, with the words of its errors.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "host/model/result.hpp"

namespace espalier {

// Returns a decimal integer. Error (kBadInput): the message of strconv's function of that name.
Result<std::int64_t> ParseGoInt(std::string_view function, std::string_view text,
                                std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                                std::int64_t most = std::numeric_limits<std::int64_t>::max());

// Returns a boolean in the same way, as strconv.ParseBool reads it.
Result<bool> ParseGoBool(std::string_view text);

// Returns the text in quotes, as %q prints it.
std::string Quoted(std::string_view text);

}  // namespace espalier
