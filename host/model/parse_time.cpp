#include "host/model/parse_time.hpp"

#include <charconv>
#include <chrono>
#include <system_error>

namespace espalier {
namespace {

// Reads `width` decimal digits at the front.
std::optional<int> TakeNumber(std::string_view& text, std::size_t width) {
  int number = 0;
  if (text.size() < width) return std::nullopt;
  const auto [end, code] = std::from_chars(text.data(), text.data() + width, number);
  if (code != std::errc{} || end != text.data() + width || number < 0) return std::nullopt;
  text.remove_prefix(width);
  return number;
}

bool TakeAny(std::string_view& text, std::string_view characters) {
  if (text.empty() || characters.find(text[0]) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<std::int64_t> ParseTime(std::string_view text) {
  const auto year = TakeNumber(text, 4);
  if (!year || !TakeAny(text, "-")) return std::nullopt;
  const auto month = TakeNumber(text, 2);
  if (!month || !TakeAny(text, "-")) return std::nullopt;
  const auto day = TakeNumber(text, 2);
  if (!day || !TakeAny(text, "Tt ")) return std::nullopt;
  const auto hour = TakeNumber(text, 2);
  if (!hour || *hour > 23 || !TakeAny(text, ":")) return std::nullopt;
  const auto minute = TakeNumber(text, 2);
  if (!minute || *minute > 59 || !TakeAny(text, ":")) return std::nullopt;
  const auto second = TakeNumber(text, 2);
  if (!second || *second > 60) return std::nullopt;
  if (TakeAny(text, ".")) {
    while (TakeAny(text, "0123456789")) {
    }
  }
  std::int64_t offset = 0;
  if (!TakeAny(text, "Zz")) {
    const bool west = text.starts_with('-');
    if (!TakeAny(text, "+-")) return std::nullopt;
    const auto hours = TakeNumber(text, 2);
    if (!hours || !TakeAny(text, ":")) return std::nullopt;
    const auto minutes = TakeNumber(text, 2);
    if (!minutes) return std::nullopt;
    offset = (*hours * 60 + *minutes) * (west ? -60 : 60);
  }
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!text.empty() || !date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return days * 86400 + *hour * 3600 + *minute * 60 + *second - offset;
}

}  // namespace espalier
