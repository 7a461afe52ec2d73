// Text from outside in messages that a person reads.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace espalier {

// The most of a text from outside that a message repeats, in bytes.
inline constexpr std::size_t kMaxExcerptBytes = 200;

// Returns `text` with every control character (C0, C1 and DEL) and every byte that is no UTF-8
// written as \n, \r, \t or \xHH, so that it can neither steer a terminal nor forge a line of a log.
// Escaping twice changes nothing, as backslashes stay as they are.
std::string EscapeControls(std::string_view text);

// Returns EscapeControls of `text`, cut to at most `limit` bytes between two characters; "..." at
// its end, within the limit, says that there was more. `limit` is at least 3.
std::string Excerpt(std::string_view text, std::size_t limit = kMaxExcerptBytes);

}  // namespace espalier
