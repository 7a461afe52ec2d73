// Makes a failing instance small enough to read.
#pragma once

#include <functional>

#include "tests/differential/instance.hpp"

namespace espalier::differential {

// Takes parts away, one after the other, as long as `still_fails` holds; `instance` must fail. The
// result cannot lose any single part more.
Instance Shrink(Instance instance, const std::function<bool(const Instance&)>& still_fails);

}  // namespace espalier::differential
