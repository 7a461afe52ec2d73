#include "service/cli/reports/amount_text.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

// 57435 -> "57,435"; one digit after the point below ten, where there is any.
std::string Grouped(double number, bool exact) {
  std::string digits = fmt::format("{:.{}f}", number, exact ? 1 : 0);
  if (digits.ends_with(".0")) digits.resize(digits.size() - 2);
  const std::size_t point = digits.find('.');
  std::size_t at = point == digits.npos ? digits.size() : point;
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  while (at > first + 3) digits.insert(at -= 3, 1, ',');
  return digits;
}

bool IsBytes(std::string_view resource) {
  return resource == "memory" || resource == "ephemeral-storage" ||
         resource.starts_with("hugepages-");
}

}  // namespace

std::string AmountsText(std::string_view resource, Amount used, Amount total) {
  constexpr std::array<const char*, 7> kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  constexpr double kMilli = 1000;
  constexpr double kFew = 100;  // below, a digit after the point says something
  double unit = 1;
  std::string name = Excerpt(resource);
  if (resource == "cpu") {
    unit = kMilli;
    name = "cores";
  } else if (IsBytes(resource)) {
    std::size_t power = 0;
    while (power + 1 < kUnits.size() && static_cast<double>(total) >= 1024 * unit) {
      unit *= 1024;
      ++power;
    }
    name = fmt::format("{} of {}", kUnits[power], name);
  }
  const double amount = static_cast<double>(total) / unit;
  const bool exact = unit > 1 && amount < kFew;
  return fmt::format("{} of {} {}", Grouped(static_cast<double>(used) / unit, exact),
                     Grouped(amount, exact), name);
}

}  // namespace espalier
