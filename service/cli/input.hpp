// Reads the input files of a command and reports on them.
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
  bool with_owned_jobs = false;  // as in ReadOptions
  Trees trees = Trees::kNone;    // as in ReadOptions
  bool verbose = false;
};

// Declares --max-input, in bytes; sets the default.
void AddMaxInputOption(CLI::App& command, std::uint64_t& max_input);

// Declares FILES, --max-input, --strict and --verbose; `options` must outlive the parse.
void AddInputOptions(CLI::App& command, InputOptions& options);

// Reads the files, adds the pods that DaemonSets are about to have, and shows a progress bar when
// that takes long. Skipped kinds, warnings and, when verbose, sizes and speed go to standard error.
// `keep_errors` is as in ReadOptions.
Result<ClusterRead> ReadInput(const InputOptions& options, bool keep_errors = false);

// Returns what is wrong with a value of --workload, which is NAMESPACE/NAME or NAME; "" when
// nothing is.
std::string CheckWorkloadName(const std::string& text);

// Returns the workload that a value of --workload names by its own name or that of the job that
// owns it; without a namespace, in any. One that has finished is meant where no other one is.
// Errors (kNotFound) name what is near it, or all that match.
Result<ObjectKey> FindWorkload(const Cluster& cluster, const std::string& text);

// Returns the same; where all that match are slices of one job, the newest that holds quota, or the
// newest where none does.
Result<ObjectKey> FindSlice(const Cluster& cluster, const std::string& text);

}  // namespace espalier
