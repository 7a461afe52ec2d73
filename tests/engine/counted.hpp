// Counts of jobs as values that can be compared.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "host/engine/backend.hpp"

namespace espalier {

// What a job's decisions read: counts of leaves only where they read them all.
struct Counted {
  std::vector<StoredCount> pods;
  std::vector<StoredCount> slices;
  std::vector<StoredCount> pods_with_leader;
  std::vector<StoredCount> slices_with_leader;
  std::vector<std::uint8_t> leaders;

  bool operator==(const Counted&) const = default;
};

inline Counted CountedOf(const PlacementJob& job, const CountsView& counts) {
  const TreeView tree = job.state->snapshot().tree();
  const std::int32_t size = NeedsLeaves(job) ? tree.domain_count() : tree.LevelBegin(tree.lowest());
  const auto copied = [&]<class T>(const T* array) {
    return array == nullptr ? std::vector<T>() : std::vector<T>(array, array + size);
  };
  return {copied(counts.pods), copied(counts.slices), copied(counts.pods_with_leader),
          copied(counts.slices_with_leader), copied(counts.leaders)};
}

// Returns what a back end counts for each job, visiting it once.
inline std::vector<Counted> CountEach(Backend& backend, std::span<const PlacementJob> jobs) {
  std::vector<Counted> counted(jobs.size());
  std::vector<std::atomic<int>> visits(jobs.size());
  backend.CountEach(jobs, {}, [&](std::size_t i, const CountsView& counts) {
    ++visits[i];
    counted[i] = CountedOf(jobs[i], counts);
  });
  for (std::size_t i = 0; i < jobs.size(); ++i) EXPECT_EQ(visits[i], 1) << "job " << i;
  return counted;
}

// Returns the same, counted leaf by leaf.
inline std::vector<Counted> CountOneByOne(const Backend& backend,
                                          std::span<const PlacementJob> jobs) {
  std::vector<Counted> counted;
  for (const PlacementJob& job : jobs) {
    CountsStorage storage;
    backend.Backend::CountDomains(job, storage);
    counted.push_back(CountedOf(job, storage.View()));
  }
  return counted;
}

}  // namespace espalier
