#include "fallback_cpu/counted_state.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "fallback_cpu/simd_implementation.hpp"

namespace espalier {
namespace {

// Where more than this part of the groups of another branch differ, counting all of them is sooner.
constexpr std::size_t kWorthRebasing = 2;

// Where there are fewer groups, looking at all stamps is sooner than going through a list of
// changes.
constexpr std::size_t kWorthListing = 2048;

// Appends the groups of the changes that are listed since then. Returns false where they are not.
bool AppendListed(const GroupStamps& stamps, Stamp since, const StoredCount* pods,
                  std::vector<std::int32_t>& groups) {
  constexpr std::size_t kBits = 64;
  thread_local std::vector<std::uint64_t> changed;  // by group; clear between calls
  changed.resize(std::max(changed.size(), stamps.of_group().size() / kBits + 1));
  groups.reserve(groups.size() + stamps.of_group().size());  // nothing fails from here on
  std::size_t first = changed.size();
  std::size_t last = 0;
  const bool listed = stamps.ForEachListedSince(since, [&](std::int32_t group) {
    const std::size_t word = static_cast<std::size_t>(group) / kBits;
    changed[word] |= std::uint64_t{1} << (static_cast<std::size_t>(group) % kBits);
    first = std::min(first, word);
    last = std::max(last, word);
  });
  for (std::size_t word = first; word <= last; ++word) {
    for (std::uint64_t left = std::exchange(changed[word], 0); left != 0; left &= left - 1) {
      const auto group = static_cast<std::int32_t>(word * kBits) + std::countr_zero(left);
      if (pods == nullptr || pods[group] > 0) groups.push_back(group);
    }
  }
  return listed;
}

void AppendChanged(const GroupStamps& stamps, Stamp since, const StoredCount* pods,
                   std::vector<std::int32_t>& groups) {
  if (stamps.of_group().size() >= kWorthListing && AppendListed(stamps, since, pods, groups)) {
    return;
  }
  thread_local std::vector<std::int32_t> changed;
  stamps.ForRunsSince(since, [&](std::size_t begin, std::size_t end) {
    changed.resize(std::max(changed.size(), end - begin + SimdImplementation::kReadAhead));
    const std::int32_t count = ActiveSimdImplementation().changed(
        stamps.of_group().data(), pods, static_cast<std::int32_t>(begin),
        static_cast<std::int32_t>(end), since, changed.data());
    groups.insert(groups.end(), changed.begin(), changed.begin() + count);
  });
}

}  // namespace

std::optional<CountedState> OnBranch(CountedState of_parent, const PlacementJob& job) {
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

bool AppendStale(const CountedState& counted, const PlacementJob& job, const StoredCount* pods,
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
