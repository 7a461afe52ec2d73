// Prepares text from outside for messages that a person reads.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace espalier {

// The maximum of a text from outside that a message repeats, in bytes.
inline constexpr std::size_t kMaxExcerptBytes = 200;

// Returns `text` with every control character (C0, C1 and DEL) and every byte that is not UTF-8
// written as \n, \r, \t or \xHH, so that it can neither steer a terminal nor forge a line of a log.
// Escaping twice changes nothing more, as backslashes stay as they are.
std::string EscapeControls(std::string_view text);

// Returns EscapeControls of `text`, cut between two characters to at most `limit` bytes, including
// "..." at the end when something was cut. `limit` is at least 3.
std::string Excerpt(std::string_view text, std::size_t limit = kMaxExcerptBytes);

}  // namespace espalier
