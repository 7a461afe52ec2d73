// espalier snapshot: saves everything of a cluster that the other commands read.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/model/excerpt.hpp"
#include "host/readers/kueue_configuration.hpp"
#include "host/readers/object_index.hpp"
#include "host/readers/redaction.hpp"
#include "service/cli/bench/child_process.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/terminal/output_file.hpp"
#include "service/cli/terminal/progress_bar.hpp"
#include "service/cli/terminal/report_error.hpp"
#include "service/cli/terminal/standard_output.hpp"

namespace espalier {
namespace {

constexpr const char* kConfigMap = "configmap";  // of which that of Kueue's manager alone is saved

struct SnapshotOptions {
  std::string context;
  std::string file;  // empty: standard output
  bool redact = false;
};

constexpr const char* kSnapshotExamples = R"(Examples:
  Save the cluster that kubectl talks to, and ask where its pending workloads would go:
    espalier snapshot -o cluster.json.gz
    espalier place cluster.json.gz

  Another cluster, without a file:
    espalier snapshot --context staging | espalier place -

  For a bug report, with numbers in the place of names:
    espalier snapshot --redact -o cluster.json.gz

It runs `kubectl get TYPE -A -o json` for every type that is read and changes nothing. A type that
the cluster does not have is left out and reported on standard error. Of ConfigMaps that of Kueue's
manager alone is saved, kueue-manager-config, which holds its Configuration; where it has another
name, give it to the other commands with --kueue-config.

--redact replaces names, namespaces, label values and other texts by numbers that are in the same
order, so that the answers stay the same. Field names, label keys, resources, amounts, times and uids
stay, as do names that mean something to Kueue or to an operator, such as default and worker;
commands, environments, messages and annotations of others are left out.

Exit codes: 0 done; 2 wrong command line; 3 the file cannot be made, or kubectl prints what is not
JSON; 4 kubectl cannot be started or fails, or output lost; 5 internal error.)";

bool IsMissingType(std::string_view errors) {
  return errors.find("the server doesn't have a resource type") != errors.npos ||
         errors.find("could not find the requested resource") != errors.npos;
}

std::string_view Trimmed(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);  // npos + 1 is 0
}

// Returns what kubectl prints, a text for each type that the cluster has. Errors: kUnavailable when
// kubectl cannot be started or fails.
Result<std::vector<std::string>> Fetch(const SnapshotOptions& options) {
  std::vector<std::string> types = TypesThatAreRead();
  types.emplace_back(kConfigMap);
  std::vector<std::string> texts;
  std::vector<std::string> missing;
  ProgressBar progress("fetching", types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    progress.Update(i);
    std::vector<std::string> words = {"kubectl", "get", types[i], "-A", "-o", "json"};
    if (types[i] == kConfigMap) {
      words.insert(words.end(),
                   {"--field-selector", fmt::format("metadata.name={}", kConfigurationName)});
    }
    if (!options.context.empty()) words.insert(words.end(), {"--context", options.context});
    Result<ChildResult> child = RunChild(words);
    if (!child) {
      return tl::unexpected(
          Error{child.error().error_class, child.error().message + "; want kubectl on the PATH"});
    }
    if (child->exit_code == 0) {
      texts.push_back(std::move(child->output));
    } else if (IsMissingType(child->errors)) {
      missing.push_back(types[i]);
    } else {
      return tl::unexpected(
          Error{ErrorClass::kUnavailable,
                fmt::format("`{}` failed with exit code {}: {}",
                            Excerpt(fmt::format("{}", fmt::join(words, " "))), child->exit_code,
                            Excerpt(Trimmed(child->errors), 1000))});
    }
  }
  if (!missing.empty()) Tell(fmt::format("not in this cluster: {}", fmt::join(missing, ", ")));
  return texts;
}

Result<void> Redact(std::vector<std::string>& texts) {
  const ProgressBar progress("redacting");
  Redaction redaction;
  for (const std::string& text : texts) {
    if (auto added = redaction.Add(text); !added) return added;
  }
  for (std::string& text : texts) {
    Result<std::string> redacted = redaction.Write(text);
    if (!redacted) return tl::unexpected(redacted.error());
    text = *std::move(redacted) + "\n";
  }
  return {};
}

Result<void> Save(const std::vector<std::string>& texts, const std::string& path) {
  if (path.empty()) {
    for (const std::string& text : texts) WriteOutput(text);
    return {};
  }
  Result<OutputFile> file = OutputFile::Create(path);
  if (!file) return tl::unexpected(file.error());
  for (const std::string& text : texts) file->Write(text);
  return file->Close();
}

ExitCode RunSnapshot(const SnapshotOptions& options) {
  Result<std::vector<std::string>> texts = Fetch(options);
  if (!texts) return ReportError(texts.error());
  if (options.redact) {
    if (auto redacted = Redact(*texts); !redacted) return ReportError(redacted.error());
  }
  const Result<void> saved = Save(*texts, options.file);
  return saved ? kExitOk : ReportError(saved.error());
}

}  // namespace

void AddSnapshotCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<SnapshotOptions>();
  CLI::App* snapshot = app.add_subcommand(
      "snapshot", "Save everything of a cluster that the other commands read, with kubectl");
  snapshot->footer(kSnapshotExamples);
  snapshot->add_option("-o,--output", options->file,
                       "File to write, packed where it ends in .gz; else standard output");
  snapshot->add_option("--context", options->context, "Of kubectl; else its current one");
  snapshot->add_flag("--redact", options->redact, "Write numbers in the place of names");
  snapshot->callback([options, &exit_code] { exit_code = RunSnapshot(*options); });
}

}  // namespace espalier
