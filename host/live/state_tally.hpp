// Follows the memory and the checksum of a state as its values change.
#pragma once

#include <cstdint>

#include "host/live/state_checksum.hpp"
#include "host/live/value_bytes.hpp"

namespace espalier {

// The sums over values of a state.
struct StateTally {
  std::int64_t bytes = 0;  // approximate
  std::uint64_t checksum = 0;

  template <class Value>
  void Add(const Value& value) {
    bytes += BytesOf(value);
    checksum += ChecksumOf(value);
  }
  template <class Value>
  void Remove(const Value& value) {
    bytes -= BytesOf(value);
    checksum -= ChecksumOf(value);
  }
};

}  // namespace espalier
