// Reads the files of a cluster into its model, for `espalier place FILES...`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/gangs/gang_workload.hpp"
#include "host/gangs/placement_units.hpp"
#include "host/model/cluster.hpp"
#include "host/model/daemon_set.hpp"
#include "host/model/result.hpp"
#include "host/model/work_budget.hpp"
#include "host/readers/diagnostics.hpp"
#include "host/readers/input_bytes.hpp"

namespace espalier {

struct JobObject;

struct ReadOptions {
  bool strict = false;  // report warnings as errors
  // Leave an object that is wrong out alone and answer the rest: without `strict`, and where the
  // answer of all others does not depend on it. Diagnostics::left_out() names what is left out; of
  // what describes a gang there is a workload all the same, which is refused with the reason.
  bool leave_out = false;
  // Also read jobs that a Workload in the input stands for.
  bool with_owned_jobs = false;
  // Return what could be read together with the errors, and the places of objects that Kueue
  // validates.
  bool keep_errors = false;
  // The gang workloads that are placed as trees, each as one unit. With kNone each job is read as
  // Kueue reads it (R30.1).
  Trees trees = Trees::kNone;
  // Called with each object of a kind that Kueue makes Workloads of, one at a time, for what
  // Kueue's webhooks say of it.
  std::function<void(const JobObject&)> on_job = {};
  // Takes pods that hold room for nothing off their nodes where the time that their gang has to be
  // scheduled has passed by then, in Unix seconds; absent: they stay.
  std::optional<std::int64_t> now_seconds = {};
  // Maximum of all bytes read, unpacked; objects may take four times as much memory.
  std::uint64_t max_input = kMostInputBytes;
  // Bytes of a JSON text that are parsed at a time, or 0 for all of it; the result does not depend
  // on it.
  std::size_t piece_bytes = std::size_t{1} << 18;  // a parsed piece fits a cache
  // Charged for texts and objects instead of the bound on objects above, and must outlive the
  // reading; null: none. The error is why it was stopped, if it was, and kExhausted for input
  // above `max_input`.
  WorkBudget* budget = nullptr;
  // Kueue's Configuration, in the place of one that the input has; null: that of the input. Must
  // outlive the reading.
  const KueueConfiguration* configuration = nullptr;
};

// Counts and times of one reading.
struct ReadFacts {
  std::size_t files = 0;
  std::uint64_t bytes = 0;                     // JSON and YAML text, unpacked
  std::map<std::string, std::size_t> objects;  // kind -> number of objects read
  std::map<std::string, std::size_t> skipped;  // kind -> number of objects not used here
  std::vector<std::string> skipped_files;      // found in a folder, without Kubernetes objects
  double load_seconds = 0;                     // reading files and unpacking gzip
  double parse_seconds = 0;                    // parsing text to JSON
  double convert_seconds = 0;                  // converting JSON to the model
};

// Returns whether the input has a Configuration of Kueue, whether that counts or not.
bool HasConfiguration(const ReadFacts& facts);

// Returns a line such as "skipped: 10 Namespace, 3 Service", or "" when nothing was skipped.
std::string SkippedLine(const ReadFacts& facts);
// Returns a line with the files that were skipped, or "" when none was.
std::string SkippedFilesLine(const ReadFacts& facts);
// Returns a line such as "2 files, 12.3 MB, 1615 objects; parsed at 812 MB/s, read at 600 MB/s".
std::string SpeedLine(const ReadFacts& facts);

struct ClusterRead {
  // Its workloads are Kueue's own and, behind them, the units of `gang_workloads`: what is placed
  // of them, or Kueue makes of them, each with its object as owner.
  Cluster cluster;
  std::size_t kueue_workloads = 0;  // of the cluster's, those that are Kueue's own
  // All objects that describe gangs, whatever their kind, but for Kueue's own Workloads.
  std::vector<GangWorkload> gang_workloads;
  // With with_owned_jobs: jobs and other objects that a Kueue Workload in the cluster stands for.
  std::vector<GangWorkload> owned_jobs;
  std::vector<DaemonSet> daemon_sets;
  Diagnostics diagnostics;  // warnings, and errors with keep_errors
  ReadFacts facts;
  // The places of objects, as "Workload team/train" -> "queues.yaml, object 3", for Topologies,
  // ResourceFlavors and Workloads; filled with keep_errors only.
  std::map<std::string, std::string> places;
};

// Called from the reading thread with the current phase ("reading", "converting") and how much of
// it is done.
using ReadProgress =
    std::function<void(std::string_view phase, std::uint64_t done, std::uint64_t total)>;

// Reads files, folders (see ExpandPaths) and `-` for standard input. Each input is JSON or YAML,
// plain or gzip (detected by content), and holds one object, a List, or several of them one after
// the other. An error's message has a line for each finding, up to 100; input above the limit is an
// error of its own and ends the reading. The result does not depend on the number of threads.
Result<ClusterRead> ReadClusterFiles(const std::vector<std::string>& paths,
                                     const ReadOptions& options = {},
                                     const ReadProgress& progress = {});

// Reads one input that is in memory in the same way; `name` stands for the file in messages.
Result<ClusterRead> ReadClusterText(std::string name, std::string bytes,
                                    const ReadOptions& options = {});

}  // namespace espalier
