#include "tests/differential/check.hpp"

#include <fmt/format.h>

#include "tests/differential/generator.hpp"
#include "tests/differential/invariants.hpp"
#include "tests/differential/shrinker.hpp"

namespace espalier::differential {

std::optional<std::string> Check(const Instance& instance,
                                 const std::shared_ptr<Backend>& backend) {
  const WorkloadAnswer expected = AskOracle(instance);
  const WorkloadAnswer answer = AskEngine(instance, backend);
  if (auto difference = Difference(expected, answer)) return difference;
  return BrokenInvariant(instance, answer);
}

std::optional<std::string> CheckSeed(std::uint64_t seed, const std::shared_ptr<Backend>& backend) {
  const Instance instance = Generate(seed);
  if (!Check(instance, backend)) return std::nullopt;
  const Instance shrunk = Shrink(
      instance, [&](const Instance& smaller) { return Check(smaller, backend).has_value(); });
  return fmt::format("seed {}\n{}\n{}", seed, *Check(shrunk, backend),
                     CaseLine(fmt::format("seed-{}", seed), shrunk, AskOracle(shrunk)));
}

}  // namespace espalier::differential
