// Runs recorded cases through the engine and reports which answers differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/result.hpp"
#include "host/readers/input_bytes.hpp"

namespace espalier {

class Backend;

struct ConformanceOptions {
  std::uint64_t max_input = kMostInputBytes;               // limit of all bytes read, unpacked
  std::function<std::shared_ptr<Backend>()> make_backend;  // called from several threads at once
  int threads = 0;  // 0: one per core; any number gives the same report
  // Selects the cases that are counted, by name; empty: all. A gang of a sequence has the name
  // "SEQUENCE/NUMBER". A line that cannot be read has no name and is always counted.
  std::function<bool(std::string_view)> filter;
};

struct CaseFailure {
  std::string file;
  std::size_t line = 0;  // 1 is the first
  std::string name;      // empty when the line cannot be read
  std::string difference;
  bool operator==(const CaseFailure&) const = default;
};

struct ConformanceReport {
  std::size_t passed = 0;
  std::size_t failed = 0;         // failing cases and lines that cannot be read
  std::vector<Error> unreadable;  // why files could not be run at all
};

// Runs all cases of the files. `on_failure` and `progress` (cases done so far) may be empty; they
// are called one at a time, in the order of files and lines, from any thread.
ConformanceReport RunConformance(const std::vector<std::string>& files,
                                 const ConformanceOptions& options,
                                 const std::function<void(const CaseFailure&)>& on_failure = {},
                                 const std::function<void(std::size_t)>& progress = {});

}  // namespace espalier
