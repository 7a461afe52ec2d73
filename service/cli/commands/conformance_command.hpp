// Implements `espalier conformance`: runs recorded cases through the engine and prints where its
// answers differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "host/readers/input_bytes.hpp"
#include "service/cli/options/backend_options.hpp"

namespace espalier {

struct ConformanceCommandOptions {
  std::vector<std::string> files;
  BackendOptions backend{.name = "cpu"};
  std::string filter;  // regular expression searched for in a case's name; empty: all
  std::size_t max_differences = 20;
  std::uint64_t max_input = kMostInputBytes;  // bytes
};

// Prints differences to `out` with "N passed, M failed" as the last line, and reports files that
// cannot be read on standard error. Returns an ExitCode.
int RunConformanceCommand(const ConformanceCommandOptions& options, std::ostream& out);

}  // namespace espalier
