// Formats amounts of resources in units that people read.
#pragma once

#include <string>
#include <string_view>

#include "host/model/resources.hpp"

namespace espalier {

// Returns the amount of a resource, or 0 when it is absent.
inline Amount AmountOf(const Resources& resources, std::string_view name) {
  const Amount* amount = resources.Find(name);
  return amount == nullptr ? 0 : *amount;
}

// Returns "676 of 57,435 cores", "1.2 of 6.4 TiB of memory" or "8 of 2,389 nvidia.com/gpu" for
// amounts in canonical units (R1.8); `total` chooses the unit and how exact it is.
std::string AmountsText(std::string_view resource, Amount used, Amount total);

}  // namespace espalier
