// The order in which people expect names: r2 before r10.
#pragma once

#include <string>
#include <vector>

namespace espalier {

// Orders numbers within names by their value.
struct NaturalOrder {
  bool operator()(const std::string& a, const std::string& b) const;
};

// Orders paths by their first names, then by their second ones, and so on.
struct NaturalPathOrder {
  bool operator()(const std::vector<std::string>& a, const std::vector<std::string>& b) const;
};

}  // namespace espalier
