// Handles numbers of a JSON text that the parser refuses because they fit neither 64 bits nor a
// double.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <simdjson.h>

namespace espalier {

// Returns the text with its integers beyond 64 bits written as doubles, and with numbers beyond the
// range of a double replaced by marks that UnreadableNumber recognizes. The rest is unchanged.
std::string MarkUnreadableNumbers(std::string_view text);

// Returns whether the whole text is a number whose magnitude is beyond that of any double.
bool IsOutOfRange(std::string_view text);

// Returns the number, as it was written, that this value replaces; nullopt when it replaces none.
std::optional<std::string_view> UnreadableNumber(simdjson::dom::element value);

}  // namespace espalier
