// The quantity grammar and its canonical amounts (R1.8).
#include <limits>

#include "host/kueue/objects/quantity_text.hpp"
#include "host/model/quantity.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace espalier::fuzz {
namespace {

// Returns what the amount must be: rounded away from zero, kept inside int64.
Amount ExpectedAmount(Quantity::Nanos nanos, Quantity::Nanos unit) {
  Quantity::Nanos amount = nanos / unit;
  if (nanos % unit != 0) amount += nanos < 0 ? -1 : 1;
  if (amount > std::numeric_limits<Amount>::max()) return std::numeric_limits<Amount>::max();
  if (amount < std::numeric_limits<Amount>::min()) return std::numeric_limits<Amount>::min();
  return static_cast<Amount>(amount);
}

}  // namespace

void RunOne(std::string_view bytes) {
  const auto quantity = ParseQuantity(bytes);
  const std::string text(bytes);
  if (!quantity) {
    Expect(!quantity.error().message.empty(), "an error says what is wrong", text);
    return;
  }
  const bool is_signed = text[0] == '-' || text[0] == '+';
  if (!is_signed) {
    const auto negative = ParseQuantity("-" + text);
    Expect(negative && negative->nanos() == -quantity->nanos(), "a minus negates", text);
  }
  const Amount cpu = Canonical(*quantity, "cpu");
  const Amount memory = Canonical(*quantity, "memory");
  Expect(cpu == ExpectedAmount(quantity->nanos(), 1'000'000), "cpu counts in thousandths", text);
  Expect(memory == ExpectedAmount(quantity->nanos(), 1'000'000'000), "others count whole", text);
  Expect(*quantity + *quantity >= *quantity || quantity->nanos() < 0, "a sum is no less", text);

  for (const std::string_view resource : {"cpu", "memory", "nvidia.com/gpu"}) {
    const Amount amount = Canonical(*quantity, resource);
    // -8Ei stops one short of it, as in Kubernetes.
    if (amount == std::numeric_limits<Amount>::min()) continue;
    const std::string printed = QuantityText(resource, amount);
    const auto reread = ParseQuantity(printed);
    Expect(reread && Canonical(*reread, resource) == amount, "a printed amount reads back",
           printed);
  }
}

}  // namespace espalier::fuzz
