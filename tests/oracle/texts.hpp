// Section 18: the texts of a placement that does not fit.
#pragma once

#include <cstdint>
#include <string>

#include "tests/oracle/counts.hpp"

namespace espalier::oracle {

// Returns the text of R18.4 to R18.6. `level` is the level at which CHOOSE failed (R10.11).
std::string NotFitText(const Problem& problem, const Tree& tree, std::size_t level,
                       std::int64_t fit, std::int64_t total);

}  // namespace espalier::oracle
