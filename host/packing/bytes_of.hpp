// Says how many bytes values take, for budgets of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace espalier {

// Returns the bytes of so many items in an array.
template <class T>
std::int64_t BytesOf(std::size_t items) {
  return static_cast<std::int64_t>(items * sizeof(T));
}

// Returns the bytes of a text, those of the object included.
inline std::int64_t BytesOf(const std::string& text) {
  return static_cast<std::int64_t>(sizeof(text) + text.size());
}

}  // namespace espalier
