// Kubernetes resource quantities, kept exactly until they become canonical amounts (R1.8).
#pragma once

#include <string>
#include <string_view>

#include "host/model/resources.hpp"
#include "host/model/result.hpp"

namespace espalier {

// A signed decimal number with nine digits after the point. Parsing rounds finer fractions away
// from zero to the next 10^-9 (the smallest quantity Kubernetes keeps), and limits numbers to +-1.7
// * 10^29, far outside every int64 amount.
class Quantity {
 public:
  __extension__ using Nanos = __int128;

  constexpr Quantity() = default;
  static constexpr Quantity FromNanos(Nanos nanos) { return Quantity(nanos); }
  static constexpr Quantity FromWhole(std::int64_t units) {
    return Quantity(Nanos{units} * 1'000'000'000);
  }

  constexpr Nanos nanos() const { return nanos_; }

  // Adds exactly, except that a sum outside the range stays at its limit.
  Quantity& operator+=(const Quantity& other);
  friend Quantity operator+(Quantity a, const Quantity& b) { return a += b; }
  friend constexpr bool operator==(const Quantity&, const Quantity&) = default;
  friend constexpr auto operator<=>(const Quantity&, const Quantity&) = default;

 private:
  explicit constexpr Quantity(Nanos nanos) : nanos_(nanos) {}
  Nanos nanos_ = 0;
};

// Reads the whole Kubernetes grammar: a signed decimal number (`5`, `.5`, `5.`, `-0.25`) and then
// nothing, one of n u m k M G T P E, one of Ki Mi Gi Ti Pi Ei, or an exponent (`e3`, `E-2`). A bare
// `E` is exa. Binary quantities stop at the int64 maximum, as in Kubernetes. Errors say what
// is wrong with the text, without quoting it.
Result<Quantity> ParseQuantity(std::string_view text);

// Returns the amount that the engine computes with: thousandths for `cpu`, whole units for every
// other resource. A remainder is rounded away from zero; values outside int64 stay at its limits
// (R1.8).
Amount Canonical(const Quantity& quantity, std::string_view resource_name);

}  // namespace espalier
