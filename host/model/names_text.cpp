#include "host/model/names_text.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {

std::string NamesText(std::span<const std::string> names, std::size_t most) {
  const auto shown = names.first(std::min(most, names.size()));
  const std::size_t more = names.size() - shown.size();
  return fmt::format("{}{}", fmt::join(shown, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

}  // namespace espalier
