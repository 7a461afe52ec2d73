// What questions about every domain read of counts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/decisions/domain_question.hpp"
#include "kernels/views.hpp"

namespace espalier {

// A number for each level.
using LevelCounts = std::array<Count, kMaxLevels>;

// Reads of the counts of one of a table of jobs what a question asks. Copies write to the same
// places.
struct DomainReading {
  std::size_t job = 0;  // index into the table
  DomainQuestion asked;
  // [levels] How often the domains of each level that is asked count, together.
  Count* held = nullptr;
  // What all domains of the first level hold, each with or without the leader, whatever is more;
  // null: not wanted.
  Count* slices = nullptr;
  // [domains of the last level] Those of domains that count become `mark` where they are more;
  // null: none.
  std::int32_t* marks = nullptr;
  std::int32_t mark = 0;
};

// Returns the readings of one job, of some in ascending order of their jobs.
std::span<const DomainReading> ReadingsOf(std::span<const DomainReading> readings, std::size_t job);

// Makes a reading of counts of the levels that it asks.
void ReadDomains(const TreeView& tree, const CountsView& counts, const DomainReading& reading);

}  // namespace espalier
