// Reads the input files of a command and reports on them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "host/engine/feature_gates.hpp"
#include "host/model/result.hpp"
#include "host/readers/cluster_files.hpp"

namespace espalier {

struct InputOptions {
  std::vector<std::string> files;
  std::uint64_t max_input = 0;  // bytes
  bool strict = false;
  bool with_owned_jobs = false;  // as in ReadOptions
  bool names_inactive = false;   // the command itself names workloads that are not active
  std::optional<std::int64_t> now_seconds = {};  // as in ReadOptions
  std::string profile = "kueue";  // or espalier, kep5732: which gang workloads are placed as trees
  bool best_effort = false;       // what is placed otherwise than it asks counts as placed
  bool verbose = false;
  std::string feature_gates;  // value of --feature-gates (GatesOf)
  std::string kueue_config;  // file of --kueue-config; empty: the Configuration of the input counts
  // The Configuration of a server's state, in the place of that of the input; null: none.
  std::shared_ptr<const KueueConfiguration> of_state = nullptr;
};

// Returns which gang workloads are placed as trees with a profile.
Trees TreesOf(const std::string& profile);

// Declares --max-input, in bytes; sets the default.
void AddMaxInputOption(CLI::App& command, std::uint64_t& max_input);

// Declares FILES, --max-input, --kueue-config, --strict and --verbose; `options` must outlive the
// parse.
void AddInputOptions(CLI::App& command, InputOptions& options);

// Declares --profile with these values, and --best-effort.
void AddProfileOptions(CLI::App& command, InputOptions& options,
                       const std::vector<std::string>& profiles = {"kueue", "espalier"});

// Returns the line "not as asked: ..." for each requirement that a workload is placed against.
std::vector<std::string> NotHonouredLines(const Workload& workload);

// Returns whether a workload that has a place has one that it asks for, as far as the options want.
bool IsAsAsked(std::span<const std::string> not_honoured, const InputOptions& options);
bool IsAsAsked(const Workload& workload, const InputOptions& options);

// Reads the files, adds the pods that DaemonSets are about to have, and shows a progress bar when
// that takes long. Skipped kinds, what is left out, warnings and, when verbose, sizes and speed go
// to standard error. With `on_job`, which is as in ReadOptions, errors are kept; without it,
// objects that are wrong are left out and, in profile kueue, jobs that Kueue's webhooks refuse are
// workloads that are refused.
Result<ClusterRead> ReadInput(const InputOptions& options,
                              const std::function<void(const JobObject&)>& on_job = {});

// Returns the gates that a command decides by: those that `text`, the value of --feature-gates,
// names, then those that Kueue's Configuration names, then Kueue's defaults. Gates of the
// Configuration that are not known go to standard error, once. Errors (kBadInput): a gate is on
// whose parent is off.
Result<FeatureGates> GatesOf(const Cluster& cluster, const std::string& text);

// Returns kExitNo in place of kExitOk where ReadInput left an object out: not all was answered.
int CountLeftOut(int exit_code);

// Tells the first notes of gang workloads on standard error, and how many more there are.
void TellGangNotes(const std::vector<GangWorkload>& workloads);

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
