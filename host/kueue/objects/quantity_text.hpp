// Formats canonical amounts as Kubernetes prints them.
#pragma once

#include <string>
#include <string_view>

#include "host/model/resources.hpp"

namespace espalier {

// Returns the shortest exact form of an amount in canonical units (R1.8): 1500 of cpu is "1500m",
// 960000 is "960"; memory, ephemeral-storage and hugepages-* use Ki to Ei, all others k to E.
std::string QuantityText(std::string_view resource, Amount amount);

}  // namespace espalier
