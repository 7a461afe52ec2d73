#include "host/kueue/objects/quantity_text.hpp"

#include <array>

#include <fmt/format.h>

namespace espalier {
namespace {

constexpr std::array<std::string_view, 7> kDecimal = {"", "k", "M", "G", "T", "P", "E"};
constexpr std::array<std::string_view, 7> kBinary = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

std::string WithSuffix(Amount value, Amount base, const std::array<std::string_view, 7>& suffixes) {
  std::size_t step = 0;
  while (value != 0 && value % base == 0 && step + 1 < suffixes.size()) {
    value /= base;
    ++step;
  }
  return fmt::format("{}{}", value, suffixes[step]);
}

bool IsBinary(std::string_view resource) {
  return resource == "memory" || resource == "ephemeral-storage" ||
         resource.starts_with("hugepages-");
}

}  // namespace

std::string QuantityText(std::string_view resource, Amount amount) {
  if (resource == "cpu") {
    if (amount % 1000 != 0) return fmt::format("{}m", amount);
    return WithSuffix(amount / 1000, 1000, kDecimal);
  }
  const bool small = amount > -1024 && amount < 1024;  // printed as decimals in either format
  if (IsBinary(resource) && !small) return WithSuffix(amount, 1024, kBinary);
  return WithSuffix(amount, 1000, kDecimal);
}

}  // namespace espalier
