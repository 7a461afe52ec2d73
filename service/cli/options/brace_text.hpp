// Shortens lists of names with braces, as a shell writes them.
#pragma once

#include <span>
#include <string>

namespace espalier {

// Returns {"rack-1", "rack-2"} as "rack-{1,2}"; three or more consecutive numbers become a range:
// "rack-{01..16}". The order is kept, repeated neighbours count once, a single name stays as it is,
// no names give "". At most `limit` members or ranges are written out, followed by the number of
// those left out: "rack-{1,5,9,+13 more}".
std::string BraceText(std::span<const std::string> names, std::size_t limit = 8);

}  // namespace espalier
