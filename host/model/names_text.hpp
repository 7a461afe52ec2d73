// Lists names in a sentence.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace espalier {

// Returns the first `most` names, and how many more there are: "a, b and 3 more".
std::string NamesText(std::span<const std::string> names, std::size_t most);

}  // namespace espalier
