// Random damage to sound messages.
#pragma once

#include <string>

#include "tests/generated/random.hpp"

namespace espalier::attack {

// Returns the request `sound` of `method` with one to four things wrong: fields that hold another
// value, are missing or repeated, or bytes that no longer are the message's.
std::string Mutated(const std::string& method, const std::string& sound, Random& random);

}  // namespace espalier::attack
