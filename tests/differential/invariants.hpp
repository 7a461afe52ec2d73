// Declares what must hold for every answer, whatever the right one is.
#pragma once

#include <optional>
#include <string>

#include "tests/differential/instance.hpp"

namespace espalier::differential {

// Returns what the answer breaks, or nothing: assignments are in strict path order with positive
// counts and survive encoding and decoding; unless the request is elastic, a replacement or may be
// balanced, all pods but the remainder of a slice are placed, no leaf is filled beyond what it has
// left, slices are whole and required domains are kept.
std::optional<std::string> BrokenInvariant(const Instance& instance, const WorkloadAnswer& answer);

}  // namespace espalier::differential
