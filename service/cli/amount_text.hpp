// Amounts of resources in units that people read.
#pragma once

#include <string>
#include <string_view>

#include "host/model/resources.hpp"

namespace espalier {

// Returns "676 of 57,435 cores", "1.2 of 6.4 TiB of memory" or "8 of 2,389 nvidia.com/gpu" for
// amounts in canonical units (R1.8); `total` chooses the unit and how exact it is.
std::string AmountsText(std::string_view resource, Amount used, Amount total);

}  // namespace espalier
