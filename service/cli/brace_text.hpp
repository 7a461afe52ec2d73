// Many names in few words, as a shell would write them.
#pragma once

#include <span>
#include <string>

namespace espalier {

// {"rack-1", "rack-2"} -> "rack-{1,2}"; three or more consecutive numbers become a range:
// "rack-{01..16}". The order is kept, repeated neighbours count once, one name stays as it is, none
// gives "". At most `limit` members or ranges are written out; then comes how many were left out:
// "rack-{1,5,9,+13 more}".
std::string BraceText(std::span<const std::string> names, std::size_t limit = 8);

}  // namespace espalier
