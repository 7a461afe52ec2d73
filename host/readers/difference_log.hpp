// Reads the log of differences of espalier-bridge (docs/bridge.md): a JSON object a line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/model/result.hpp"
#include "host/model/workload.hpp"
#include "host/readers/diagnostics.hpp"
#include "host/readers/input_bytes.hpp"

namespace espalier {

// A decision about a pod set: an assignment, or why there is none; neither for a leader
// without an entry of its own.
struct LoggedPodSet {
  std::string name;
  std::string flavor;
  std::string reason;  // empty: it is placed
  std::optional<TopologyAssignment> assignment;
};

// A decision of another scheduler, and what was decided here instead.
struct LoggedDifference {
  std::string time;             // when both were compared, RFC 3339
  std::string reserved_at;      // when quota was reserved, RFC 3339
  std::string workload;         // namespace/name
  bool late = false;            // compared too late to know what was free when it was decided
  std::int64_t generation = 0;  // of the state that was asked
  std::vector<LoggedPodSet> chosen;
  std::vector<LoggedPodSet> here;
};

// Appends the differences in a file, plain or gzip, or standard input for `-`. A line that is wrong
// is left out and reported to `findings`, with the file and its number from 1. Errors: the file
// cannot be read, or is beyond the limit.
Result<void> ReadDifferenceLog(const std::string& path, InputLimit& limit,
                               std::vector<LoggedDifference>& differences, Diagnostics& findings);

}  // namespace espalier
