// One seed: generate, ask both, compare, and say what went wrong in the fewest words.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tests/differential/instance.hpp"

namespace espalier::differential {

// Returns what is wrong with the engine's answer: a difference from the oracle or a broken
// invariant.
std::optional<std::string> Check(const Instance& instance, const std::shared_ptr<Backend>& backend);

// Returns nothing when the instance of this seed passes; else the seed, what is wrong, and the
// shrunk instance as a line of the form of the recorded cases with the oracle's answer.
std::optional<std::string> CheckSeed(std::uint64_t seed, const std::shared_ptr<Backend>& backend);

}  // namespace espalier::differential
