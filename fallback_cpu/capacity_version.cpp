#include "fallback_cpu/capacity_version.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "fallback_cpu/simd_implementation.hpp"

namespace espalier {
namespace {

// Counting all groups is sooner where more than one in this many differ in another branch.
constexpr std::size_t kWorthRebasing = 2;

// Writes to `groups` those of the changes that are listed since then, and returns how many. Returns
// -1 where changes are not listed that far back.
std::int32_t FindListed(const GroupStamps& stamps, Stamp since, const StoredCount* pods,
                        std::int32_t* groups) {
  thread_local std::vector<std::uint64_t> changed;  // by chunk; clear between calls
  const std::size_t chunks = stamps.of_group().size() / GroupStamps::kChunk + 1;
  changed.resize(std::max(changed.size(), chunks));
  if (!stamps.ForEachListedSince(
          since, [&](std::size_t chunk, std::uint64_t of_chunk) { changed[chunk] |= of_chunk; })) {
    return -1;
  }
  std::int32_t count = 0;
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    const auto first = static_cast<std::int32_t>(chunk * GroupStamps::kChunk);
    for (std::uint64_t left = std::exchange(changed[chunk], 0); left != 0; left &= left - 1) {
      const std::int32_t group = first + std::countr_zero(left);
      groups[count] = group;
      // Not a branch: it would be guessed wrong, and the counts waited for one after the other.
      count += pods == nullptr || pods[group] > 0 ? 1 : 0;
    }
  }
  return count;
}

void AppendChanged(const GroupStamps& stamps, Stamp since, const StoredCount* pods,
                   std::vector<std::int32_t>& groups) {
  thread_local std::vector<std::int32_t> changed;
  changed.resize(
      std::max(changed.size(), stamps.of_group().size() + SimdImplementation::kReadAhead));
  const auto append = [&](std::int32_t count) {
    groups.insert(groups.end(), changed.begin(), changed.begin() + count);
  };
  const std::int32_t listed = FindListed(stamps, since, pods, changed.data());
  if (listed >= 0) return append(listed);
  stamps.ForRunsSince(since, [&](std::size_t begin, std::size_t end) {
    append(ActiveSimdImplementation().changed(
        stamps.of_group().data(), pods, static_cast<std::int32_t>(begin),
        static_cast<std::int32_t>(end), since, changed.data()));
  });
}

}  // namespace

std::optional<CapacityVersion> OnBranch(CapacityVersion of_parent, const PlacementJob& job) {
  // Stamps that are not final are those of the parent, which may go on changing them.
  if (!job.simulate_empty && !of_parent.stamps->frozen()) {
    if (of_parent.state != job.state->parent() || of_parent.at > job.state->branched_at()) {
      return std::nullopt;
    }
    of_parent.state = job.state->identity();
    of_parent.stamps = job.state->SharedStamps();
  }
  return of_parent;
}

bool AppendStale(const CapacityVersion& counted, const PlacementJob& job, const StoredCount* pods,
                 std::vector<std::int32_t>& groups) {
  const GroupStamps& now = StampsOf(job);
  if (counted.stamps.get() == &now) {
    AppendChanged(now, counted.at, pods, groups);
    return true;
  }
  const std::size_t all = now.of_group().size();
  if (counted.stamps->of_group().size() != all) return false;  // leaves came or went in between
  const std::size_t before = groups.size();
  now.ForEachDifference(*counted.stamps, counted.at, [&](std::size_t group) {
    groups.push_back(static_cast<std::int32_t>(group));
  });
  if ((groups.size() - before) * kWorthRebasing <= all) return true;
  groups.resize(before);
  return false;
}

}  // namespace espalier
