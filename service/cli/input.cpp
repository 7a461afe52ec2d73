#include "service/cli/input.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "host/kueue/daemon_pods.hpp"
#include "host/kueue/job_slices.hpp"
#include "host/kueue/workload_status.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/nearest_name.hpp"
#include "service/cli/progress_bar.hpp"
#include "service/cli/standard_output.hpp"

namespace espalier {
namespace {

void TellAbout(const ClusterRead& read, bool verbose) {
  if (!read.facts.skipped.empty()) Tell(SkippedLine(read.facts));
  if (!read.facts.skipped_files.empty()) Tell(SkippedFilesLine(read.facts));
  const std::size_t warnings = read.diagnostics.warning_count();
  if (verbose) {
    Tell(SpeedLine(read.facts));
    if (warnings > 0) Tell("warnings about the input:\n" + read.diagnostics.RenderWarnings());
  } else if (warnings > 0) {
    Tell("warnings about the input:\n" + read.diagnostics.RenderDistinctWarnings());
  }
}

// NAMESPACE/NAME or NAME.
struct WorkloadName {
  explicit WorkloadName(const std::string& text) {
    const std::size_t slash = text.find('/');
    any_namespace = slash == std::string::npos;
    if (!any_namespace) name_space = text.substr(0, slash);
    name = any_namespace ? text : text.substr(slash + 1);
  }
  bool IsIn(const Workload& workload) const {
    return any_namespace || workload.key.namespace_ == name_space;
  }

  bool any_namespace = false;
  std::string name_space;
  std::string name;
};

// The workloads of that name, or of jobs of that name, as ascending indices; of several, those
// that have finished only where all have.
std::vector<std::size_t> WorkloadsNamed(const Cluster& cluster, const std::string& text) {
  const WorkloadName wanted(text);
  std::vector<std::size_t> found;
  std::vector<std::size_t> unfinished;
  for (std::size_t i = 0; i < cluster.workloads.size(); ++i) {
    const Workload& workload = cluster.workloads[i];
    if (!wanted.IsIn(workload)) continue;
    const bool is_own = workload.key.name == wanted.name;
    if (is_own && !wanted.any_namespace) return {i};
    const bool is_owned = std::ranges::any_of(workload.owners, [&](const OwnerReference& owner) {
      return owner.controller && owner.name == wanted.name;
    });
    if (!is_own && !is_owned) continue;
    found.push_back(i);
    if (!HasCondition(workload, kFinished)) unfinished.push_back(i);
  }
  return unfinished.empty() ? found : unfinished;
}

// The name of a workload or of a job that is near; empty: none is.
std::string NearestWorkload(const Cluster& cluster, const std::string& text) {
  const WorkloadName wanted(text);
  std::vector<std::string_view> names;
  for (const Workload& workload : cluster.workloads) {
    if (!wanted.IsIn(workload)) continue;
    names.push_back(workload.key.name);
    for (const OwnerReference& owner : workload.owners) names.push_back(owner.name);
  }
  return std::string(NearestName(wanted.name, names));
}

}  // namespace

void AddMaxInputOption(CLI::App& command, std::uint64_t& max_input) {
  max_input = DefaultMaxInput();
  command
      .add_option("--max-input", max_input,
                  "Most bytes to read in all, unpacked; 64MiB and the like are understood. By\n"
                  "default a sixteenth of the memory, at most 4 GiB")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 62));  // it takes -1 for 2^64 - 1
}

void AddInputOptions(CLI::App& command, InputOptions& options) {
  command.add_option("FILES", options.files, "Kubernetes objects: files, folders, or - for stdin")
      ->required();
  AddMaxInputOption(command, options.max_input);
  command.add_flag("--strict", options.strict, "Treat warnings about the input as errors");
  command.add_flag("-v,--verbose", options.verbose,
                   "Tell sizes and times, and up to ten warnings of each kind");
}

Result<ClusterRead> ReadInput(const InputOptions& options, bool keep_errors) {
  std::optional<ProgressBar> bar(std::in_place, "reading");  // waiting for a pipe, too
  std::string current;
  Result<ClusterRead> read =
      ReadClusterFiles(options.files,
                       {.strict = options.strict,
                        .with_owned_jobs = options.with_owned_jobs,
                        .keep_errors = keep_errors,
                        .trees = options.trees,
                        .max_input = options.max_input},
                       [&](std::string_view phase, std::uint64_t done, std::uint64_t total) {
                         if (current != phase) bar.emplace(current = phase, total);
                         bar->Update(done);
                       });
  bar.reset();
  if (read) {
    AddDaemonPods(read->daemon_sets, read->cluster);
    TellAbout(*read, options.verbose);
  }
  return read;
}

std::string CheckWorkloadName(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (!text.empty() && slash != 0 && slash + 1 != text.size()) return "";
  return fmt::format("\"{}\" is not a workload; want NAMESPACE/NAME or NAME", Excerpt(text));
}

Result<ObjectKey> FindWorkload(const Cluster& cluster, const std::string& text) {
  const std::vector<std::size_t> found = WorkloadsNamed(cluster, text);
  if (found.size() == 1) return cluster.workloads[found.front()].key;
  std::string problem = fmt::format("workload {} is not in the input", Excerpt(text));
  if (!found.empty()) {
    constexpr std::size_t kMostShown = 5;
    problem = fmt::format("{} workloads are named {}:", found.size(), Excerpt(text));
    for (std::size_t i = 0; i < std::min(kMostShown, found.size()); ++i) {
      const ObjectKey& key = cluster.workloads[found[i]].key;
      problem += fmt::format("{} {}", i == 0 ? "" : ",", Excerpt(key.ToString()));
    }
    if (found.size() > kMostShown) problem += " and others";
    problem += "; want one of them with its namespace";
  } else if (const std::string nearest = NearestWorkload(cluster, text); !nearest.empty()) {
    problem += fmt::format("; there is {}", Excerpt(nearest));
  }
  return tl::unexpected(Error{ErrorClass::kNotFound, std::move(problem)});
}

Result<ObjectKey> FindSlice(const Cluster& cluster, const std::string& text) {
  const std::vector<Workload>& workloads = cluster.workloads;
  const std::vector<std::size_t> found = WorkloadsNamed(cluster, text);
  if (found.size() < 2) return FindWorkload(cluster, text);
  const std::vector<std::size_t> slices = SlicesOf(found.front(), workloads);
  if (!std::ranges::includes(slices, found)) return FindWorkload(cluster, text);
  const std::vector<std::size_t> chain = UnfinishedOf(slices, workloads).chain;
  if (chain.empty()) return FindWorkload(cluster, text);
  const auto holds = std::find_if(chain.rbegin(), chain.rend(),
                                  [&](std::size_t i) { return HasReservation(workloads[i]); });
  return workloads[holds == chain.rend() ? chain.back() : *holds].key;
}

}  // namespace espalier
