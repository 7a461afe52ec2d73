#include "service/cli/input.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

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
  Result<ClusterRead> read = ReadClusterFiles(
      options.files,
      {.strict = options.strict, .keep_errors = keep_errors, .max_input = options.max_input},
      [&](std::string_view phase, std::uint64_t done, std::uint64_t total) {
        if (current != phase) bar.emplace(current = phase, total);
        bar->Update(done);
      });
  bar.reset();
  if (read) TellAbout(*read, options.verbose);
  return read;
}

std::string CheckWorkloadName(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (!text.empty() && slash != 0 && slash + 1 != text.size()) return "";
  return fmt::format("\"{}\" is not a workload; want NAMESPACE/NAME or NAME", Excerpt(text));
}

Result<ObjectKey> FindWorkload(const Cluster& cluster, const std::string& text) {
  const std::size_t slash = text.find('/');
  const bool any_namespace = slash == std::string::npos;
  const std::string name_space = any_namespace ? "" : text.substr(0, slash);
  const std::string name = any_namespace ? text : text.substr(slash + 1);
  std::vector<ObjectKey> found;
  std::vector<std::string_view> names;
  for (const Workload& workload : cluster.workloads) {
    if (!any_namespace && workload.key.namespace_ != name_space) continue;
    const auto owned = std::ranges::find_if(workload.owners, [&](const OwnerReference& owner) {
      return owner.controller && owner.name == name;
    });
    if (workload.key.name == name) {
      if (!any_namespace) return workload.key;
      found.push_back(workload.key);
    } else if (owned != workload.owners.end()) {
      found.push_back(workload.key);
    }
    names.push_back(workload.key.name);
    for (const OwnerReference& owner : workload.owners) names.push_back(owner.name);
  }
  if (found.size() == 1) return found[0];
  std::string problem = fmt::format("workload {} is not in the input", Excerpt(text));
  if (!found.empty()) {
    constexpr std::size_t kMostShown = 5;
    problem = fmt::format("{} workloads are named {}:", found.size(), Excerpt(text));
    for (std::size_t i = 0; i < std::min(kMostShown, found.size()); ++i) {
      problem += fmt::format("{} {}", i == 0 ? "" : ",", Excerpt(found[i].ToString()));
    }
    if (found.size() > kMostShown) problem += " and others";
    problem += "; want one of them with its namespace";
  } else if (const std::string_view nearest = NearestName(name, names); !nearest.empty()) {
    problem += fmt::format("; there is {}", Excerpt(nearest));
  }
  return tl::unexpected(Error{ErrorClass::kNotFound, std::move(problem)});
}

}  // namespace espalier
