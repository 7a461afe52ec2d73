// The input files of a command and what is told about them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "host/model/result.hpp"
#include "host/readers/cluster_files.hpp"

namespace espalier {

struct InputOptions {
  std::vector<std::string> files;
  std::uint64_t max_input = 0;  // bytes
  bool strict = false;
  bool verbose = false;
};

// Declares --max-input, in bytes; sets the default.
void AddMaxInputOption(CLI::App& command, std::uint64_t& max_input);

// Declares FILES, --max-input, --strict and --verbose; `options` outlives the parse.
void AddInputOptions(CLI::App& command, InputOptions& options);

// Reads the files, with a progress bar when that takes long. Skipped kinds, warnings and, when
// verbose, sizes and speed go to standard error. `keep_errors` as in ReadOptions.
Result<ClusterRead> ReadInput(const InputOptions& options, bool keep_errors = false);

// "team-a/train" -> {team-a, train}; the message of the error names --workload.
Result<ObjectKey> ParseWorkloadName(const std::string& text);

}  // namespace espalier
