// Random damage to sound messages.
#pragma once

#include <random>
#include <string>

namespace espalier::attack {

using Random = std::mt19937_64;

// Returns the request `sound` of `method` with one to four things wrong: fields that hold another
// value, are missing or repeated, or bytes that no longer are the message's.
std::string Mutated(const std::string& method, const std::string& sound, Random& random);

}  // namespace espalier::attack
