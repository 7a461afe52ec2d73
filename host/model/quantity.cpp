#include "host/model/quantity.hpp"

#include <charconv>
#include <iterator>
#include <limits>
#include <optional>

#include "host/model/ascii.hpp"
#include "host/model/quantity_text.hpp"

namespace espalier {
namespace {

using Nanos = Quantity::Nanos;

// Symmetric, so that negation is always defined.
constexpr Nanos kMaxNanos = static_cast<Nanos>((static_cast<unsigned __int128>(1) << 127) - 1);
constexpr int kNanoDigits = 9;

Nanos MultiplyAdd(Nanos value, Nanos factor, Nanos summand) {
  Nanos result = 0;
  if (__builtin_mul_overflow(value, factor, &result) ||
      __builtin_add_overflow(result, summand, &result)) {
    return kMaxNanos;
  }
  return result;
}

// The digits of a number without its sign: `whole`.`fraction`.
struct Digits {
  std::string_view whole;
  std::string_view fraction;

  std::size_t size() const { return whole.size() + fraction.size(); }
  char at(std::size_t i) const { return i < whole.size() ? whole[i] : fraction[i - whole.size()]; }
};

// ceil(digits * 10^exponent) in nanos.
Nanos ScaleDecimal(const Digits& digits, std::int64_t exponent) {
  // This many digits stand before the point once the number is counted in nanos.
  const std::int64_t kept = static_cast<std::int64_t>(digits.whole.size()) + kNanoDigits + exponent;
  Nanos value = 0;
  bool rest = false;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const int digit = digits.at(i) - '0';
    if (static_cast<std::int64_t>(i) < kept) {
      value = MultiplyAdd(value, 10, digit);
    } else {
      rest = rest || digit != 0;
    }
  }
  if (value != 0) {
    const std::int64_t missing = kept - static_cast<std::int64_t>(digits.size());
    for (std::int64_t i = 0; i < missing && value < kMaxNanos; ++i) {
      value = MultiplyAdd(value, 10, 0);
    }
  }
  return rest ? MultiplyAdd(value, 1, 1) : value;
}

// ceil(digits * 2^shift) in nanos, at most the int64 maximum in whole units.
Nanos ScaleBinary(const Digits& digits, int shift) {
  constexpr Nanos kNanosPerUnit = 1'000'000'000;
  const Nanos multiplier = (Nanos{1} << shift) * kNanosPerUnit;  // below 2^90
  Nanos whole = 0;
  for (const char c : digits.whole) whole = MultiplyAdd(whole, 10, c - '0');
  // From the last digit on, so that dropped remainders only matter as "there was a rest".
  Nanos fraction = 0;
  bool rest = false;
  for (std::size_t i = digits.fraction.size(); i > 0; --i) {
    const Nanos sum = (digits.fraction[i - 1] - '0') * multiplier + fraction;
    fraction = sum / 10;
    rest = rest || sum % 10 != 0;
  }
  const Nanos value = MultiplyAdd(whole, multiplier, fraction + (rest ? 1 : 0));
  constexpr Nanos kMaxBinary = std::numeric_limits<std::int64_t>::max() * kNanosPerUnit;
  return value < kMaxBinary ? value : kMaxBinary;
}

// The factor that a suffix stands for: 10^decimal or 2^binary.
struct Scale {
  std::int64_t decimal = 0;
  int binary = 0;
};

std::optional<Scale> FindScale(std::string_view suffix) {
  constexpr std::string_view kSmall = "num";     // 10^-9, 10^-6, 10^-3
  constexpr std::string_view kLarge = "kMGTPE";  // 10^3 .. 10^18
  constexpr std::string_view kBinary = "KMGTPE";
  if (suffix.empty()) return Scale{};
  if (suffix.size() == 1) {
    if (const auto at = kSmall.find(suffix[0]); at != std::string_view::npos) {
      return Scale{.decimal = static_cast<std::int64_t>(at) * 3 - 9};
    }
    if (const auto at = kLarge.find(suffix[0]); at != std::string_view::npos) {
      return Scale{.decimal = static_cast<std::int64_t>(at) * 3 + 3};
    }
    return std::nullopt;
  }
  if (suffix.size() == 2 && suffix[1] == 'i') {
    const auto at = kBinary.find(suffix[0]);
    if (at == std::string_view::npos) return std::nullopt;
    return Scale{.binary = static_cast<int>(at) * 10 + 10};
  }
  if (suffix[0] != 'e' && suffix[0] != 'E') return std::nullopt;
  std::string_view exponent = suffix.substr(1);
  if (exponent[0] == '+') exponent.remove_prefix(1);
  if (exponent.empty() || exponent[0] == '+') return std::nullopt;
  std::int32_t parsed = 0;
  const auto [end, code] =
      std::from_chars(exponent.data(), exponent.data() + exponent.size(), parsed);
  if (code != std::errc{} || end != exponent.data() + exponent.size()) return std::nullopt;
  return Scale{.decimal = parsed};
}

std::string_view TakeDigits(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && IsDigit(text[n])) ++n;
  const std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  return digits;
}

// The suffix of a multiple of 10^exponent; nullopt where Kubernetes has none.
std::optional<std::string_view> DecimalSuffix(int exponent) {
  constexpr std::string_view kSuffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  if (exponent < -9 || exponent > 18) return std::nullopt;
  return kSuffixes[exponent / 3 + 3];
}

void AppendNumber(Nanos number, std::string& text) {
  std::string digits;
  const bool negative = number < 0;
  do {
    const auto digit = static_cast<int>(number % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
    number /= 10;
  } while (number != 0);
  if (negative) text += '-';
  text.append(digits.rbegin(), digits.rend());
}

// Writes a whole number of units as the largest power of 1024 of which it is a multiple.
std::string BinaryText(Nanos units) {
  constexpr std::string_view kSuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  std::size_t step = 0;
  while (units % 1024 == 0 && step + 1 < std::size(kSuffixes)) {
    units /= 1024;
    ++step;
  }
  std::string text;
  AppendNumber(units, text);
  return text.append(kSuffixes[step]);
}

// Writes with the largest power of 1000 of which it is a multiple, as a suffix or an exponent.
std::string DecimalText(Nanos nanos, bool with_exponent) {
  int exponent = -9;
  while (nanos % 1000 == 0 && (with_exponent || exponent < 18)) {
    nanos /= 1000;
    exponent += 3;
  }
  std::string text;
  AppendNumber(nanos, text);
  if (!with_exponent) return text.append(DecimalSuffix(exponent).value_or(""));
  return exponent == 0 ? text : text + "e" + std::to_string(exponent);
}

}  // namespace

Quantity& Quantity::operator+=(const Quantity& other) {
  if (__builtin_add_overflow(nanos_, other.nanos_, &nanos_)) {
    nanos_ = other.nanos_ > 0 ? kMaxNanos : -kMaxNanos;
  }
  return *this;
}

Result<Quantity> ParseQuantity(std::string_view text) {
  if (text.empty()) return BadInput("it is empty");
  const bool negative = text[0] == '-';
  if (negative || text[0] == '+') text.remove_prefix(1);
  Digits digits;
  digits.whole = TakeDigits(text);
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    digits.fraction = TakeDigits(text);
  }
  if (digits.size() == 0) return BadInput("it does not start with a number");
  const std::optional<Scale> scale = FindScale(text);
  if (!scale) return BadInput("the suffix is not one that Kubernetes knows");
  const Nanos nanos = scale->binary != 0 ? ScaleBinary(digits, scale->binary)
                                         : ScaleDecimal(digits, scale->decimal);
  return Quantity::FromNanos(negative ? -nanos : nanos);
}

Result<std::string> CanonicalText(std::string_view text) {
  const Result<Quantity> quantity = ParseQuantity(text);
  if (!quantity) return tl::unexpected(quantity.error());
  constexpr Nanos kNanosPerUnit = 1'000'000'000;
  const Nanos nanos = quantity->nanos();
  if (nanos == 0) return "0";
  const std::size_t suffix = text.find_first_not_of("+-.0123456789");
  const std::string_view rest = suffix == text.npos ? "" : text.substr(suffix);
  const bool is_small = nanos > -1024 * kNanosPerUnit && nanos < 1024 * kNanosPerUnit;
  if (rest.ends_with('i') && !is_small) {
    const Nanos up = nanos % kNanosPerUnit > 0 ? 1 : nanos % kNanosPerUnit < 0 ? -1 : 0;
    return BinaryText(nanos / kNanosPerUnit + up);
  }
  return DecimalText(nanos, rest.size() > 1 && !rest.ends_with('i'));
}

Amount Canonical(const Quantity& quantity, std::string_view resource_name) {
  const Nanos divisor = resource_name == "cpu" ? 1'000'000 : 1'000'000'000;
  Nanos amount = quantity.nanos() / divisor;
  const Nanos rest = quantity.nanos() % divisor;
  if (rest > 0) ++amount;
  if (rest < 0) --amount;
  constexpr Nanos kMax = std::numeric_limits<Amount>::max();
  constexpr Nanos kMin = std::numeric_limits<Amount>::min();
  if (amount > kMax) return std::numeric_limits<Amount>::max();
  if (amount < kMin) return std::numeric_limits<Amount>::min();
  return static_cast<Amount>(amount);
}

}  // namespace espalier
