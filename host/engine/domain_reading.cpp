#include "host/engine/domain_reading.hpp"

#include <algorithm>
#include <limits>

#include "kernels/decisions/fit_bound.hpp"
#include "kernels/decisions/roll_up.hpp"

namespace espalier {
namespace {

// The loops below have no branches, so that compilers make them loops over vectors.

// Returns how often domains that hold so many slices hold some of them.
Count SumTimes(std::span<const StoredCount> held, Count slices) {
  StoredCount most = 0;
  for (const StoredCount of_domain : held) most = std::max(most, of_domain);
  if (most < slices) return 0;
  const auto size = static_cast<double>(slices);
  Count times = 0;
  for (const StoredCount of_domain : held) times += TimesIn(of_domain, size);
  return times;
}

// Returns how many domains hold so many slices.
Count CountHolding(std::span<const StoredCount> held, StoredCount slices) {
  std::int32_t holding = 0;
  for (const StoredCount of_domain : held) holding += of_domain >= slices ? 1 : 0;
  return holding;
}

// Does the same, and marks these domains.
Count MarkHolding(std::span<const StoredCount> held, StoredCount slices, std::int32_t mark,
                  std::int32_t* marks) {
  std::int32_t holding = 0;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const bool holds = held[i] >= slices;
    const std::int32_t most = holds ? mark : std::numeric_limits<std::int32_t>::max();
    holding += holds ? 1 : 0;
    marks[i] = most < marks[i] ? most : marks[i];
  }
  return holding;
}

// Returns how often the domains of a level count, and marks those that do unless `marks` is null.
Count ReadLevel(const CountsView& counts, DomainRange domains, const DomainReading& reading,
                std::int32_t* marks) {
  const DomainQuestion& asked = reading.asked;
  if (counts.leaders != nullptr || (asked.repeatedly && marks != nullptr)) {
    Count held = 0;
    for (std::int32_t d = domains.begin; d < domains.end; ++d) {
      const Count times = TimesHeld(counts, d, asked);
      held += times;
      if (marks == nullptr || times == 0) continue;
      std::int32_t& mark = marks[d - domains.begin];
      mark = std::min(mark, reading.mark);
    }
    return held;
  }
  const std::span held(counts.slices + domains.begin, static_cast<std::size_t>(domains.size()));
  if (asked.repeatedly) return SumTimes(held, asked.slices);
  if (asked.leaders > 0 || asked.slices > kMaxStored) return 0;
  const auto slices = static_cast<StoredCount>(asked.slices);
  return marks == nullptr ? CountHolding(held, slices)
                          : MarkHolding(held, slices, reading.mark, marks);
}

Count SumSlices(const CountsView& counts, DomainRange domains) {
  if (counts.leaders == nullptr) return SumPods(counts.slices, domains);
  Count sum = 0;
  for (std::int32_t d = domains.begin; d < domains.end; ++d) {
    sum += SlicesEitherWay(MakeCandidate(counts, d));
  }
  return sum;
}

}  // namespace

std::span<const DomainReading> ReadingsOf(std::span<const DomainReading> readings,
                                          std::size_t job) {
  const auto first = std::ranges::lower_bound(readings, job, {}, &DomainReading::job);
  const auto last = std::find_if(first, readings.end(),
                                 [&](const DomainReading& reading) { return reading.job != job; });
  return {first, last};
}

void ReadDomains(const TreeView& tree, const CountsView& counts, const DomainReading& reading) {
  const DomainQuestion& asked = reading.asked;
  for (std::int32_t level = asked.first_level; level <= asked.last_level; ++level) {
    reading.held[level] = ReadLevel(counts, DomainsOf(tree, level), reading,
                                    level == asked.last_level ? reading.marks : nullptr);
  }
  if (reading.slices != nullptr) {
    *reading.slices = SumSlices(counts, DomainsOf(tree, asked.first_level));
  }
}

}  // namespace espalier
