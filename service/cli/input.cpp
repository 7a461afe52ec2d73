#include "service/cli/input.hpp"

#include <optional>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "service/cli/progress_bar.hpp"
#include "service/cli/standard_output.hpp"

namespace espalier {
namespace {

void TellAbout(const ClusterRead& read, bool verbose) {
  if (!read.facts.skipped.empty()) Tell(SkippedLine(read.facts));
  const std::size_t warnings = read.diagnostics.warning_count();
  if (verbose) {
    Tell(SpeedLine(read.facts));
    if (warnings > 0) Tell("warnings about the input:\n" + read.diagnostics.RenderWarnings());
  } else if (warnings > 0) {
    Tell(fmt::format("{} warning{} about the input; --verbose shows them", warnings,
                     warnings == 1 ? "" : "s"));
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
  command.add_flag("-v,--verbose", options.verbose, "Tell sizes, times and every warning");
}

Result<ClusterRead> ReadInput(const InputOptions& options, bool keep_errors) {
  std::optional<ProgressBar> bar;
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

Result<ObjectKey> ParseWorkloadName(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size()) {
    return BadInput(
        fmt::format("--workload: \"{}\" is no workload; want NAMESPACE/NAME", Excerpt(text)));
  }
  return ObjectKey{text.substr(0, slash), text.substr(slash + 1)};
}

}  // namespace espalier
