// Classes of ASCII characters, whatever the locale.
#pragma once

namespace espalier {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool IsAlphanumeric(char c) { return IsDigit(c) || IsLower(c) || IsUpper(c); }

}  // namespace espalier
