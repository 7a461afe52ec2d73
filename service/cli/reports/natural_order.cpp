#include "service/cli/reports/natural_order.hpp"

#include <algorithm>
#include <cstring>

namespace espalier {

bool NaturalOrder::operator()(const std::string& a, const std::string& b) const {
  return ::strverscmp(a.c_str(), b.c_str()) < 0;
}

bool NaturalPathOrder::operator()(const std::vector<std::string>& a,
                                  const std::vector<std::string>& b) const {
  return std::ranges::lexicographical_compare(a, b, NaturalOrder());
}

}  // namespace espalier
