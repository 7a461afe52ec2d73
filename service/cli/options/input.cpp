#include "service/cli/options/input.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "host/kueue/elastic/job_slices.hpp"
#include "host/kueue/objects/daemon_pods.hpp"
#include "host/kueue/objects/unmapped_usage.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/names_text.hpp"
#include "host/model/nearest_name.hpp"
#include "host/webhooks/refused_jobs.hpp"
#include "service/cli/reports/count_with_noun.hpp"
#include "service/cli/terminal/exit_code.hpp"
#include "service/cli/terminal/progress_bar.hpp"
#include "service/cli/terminal/standard_output.hpp"

namespace espalier {
namespace {

bool objects_left_out = false;                          // of any input of this command
std::optional<KueueConfiguration> given_configuration;  // by --kueue-config, once it was read
std::set<std::string> told_gates;                       // what was told of unknown ones

void TellAbout(const ClusterRead& read, bool verbose) {
  if (!read.facts.skipped.empty()) Tell(SkippedLine(read.facts));
  if (!read.facts.skipped_files.empty()) Tell(SkippedFilesLine(read.facts));
  if (read.diagnostics.left_out_count() > 0) {
    Tell(fmt::format(
        "left out of the input, as wrong: {}\n{}",
        CountWithNoun(static_cast<std::int64_t>(read.diagnostics.left_out_count()), "object"),
        read.diagnostics.RenderLeftOut()));
  }
  const std::size_t warnings = read.diagnostics.warning_count();
  if (verbose) {
    Tell(SpeedLine(read.facts));
    if (warnings > 0) Tell("warnings about the input:\n" + read.diagnostics.RenderWarnings());
  } else if (warnings > 0) {
    Tell("warnings about the input:\n" + read.diagnostics.RenderDistinctWarnings());
  }
}

void TellUnmappedUsage(const Cluster& cluster) {
  constexpr std::size_t kMostTold = 20;
  const std::vector<std::string> sentences = UnmappedUsage(cluster);
  for (std::size_t i = 0; i < std::min(sentences.size(), kMostTold); ++i) Tell(sentences[i]);
  if (sentences.size() > kMostTold) {
    Tell(fmt::format("the same of {} more workloads", sentences.size() - kMostTold));
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

// The Configuration that counts in the place of that of the input; null: none does. That of
// --kueue-config is read once.
Result<const KueueConfiguration*> ConfigurationOf(const InputOptions& options) {
  if (options.kueue_config.empty()) return options.of_state.get();
  if (!given_configuration) {
    Result<ClusterRead> read = ReadClusterFiles(
        {options.kueue_config}, {.strict = options.strict, .max_input = options.max_input});
    if (!read) return tl::unexpected(read.error());
    if (!read->cluster.configuration) {
      return BadInput(
          fmt::format("--kueue-config: {} has no Configuration of Kueue; want one of "
                      "config.kueue.x-k8s.io, or the ConfigMap that holds it",
                      Excerpt(options.kueue_config)));
    }
    TellAbout(*read, options.verbose);
    given_configuration = std::move(read->cluster.configuration);
  }
  return &*given_configuration;
}

// Names Kueue's Workloads that wait for nothing until somebody sets them active. Some
// commands name theirs.
void TellInactive(const ClusterRead& read) {
  constexpr std::size_t kMostNamed = 5;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(read.kueue_workloads, read.cluster.workloads.size()); ++i) {
    const Workload& workload = read.cluster.workloads[i];
    if (!workload.active && LacksQuota(workload)) names.push_back(Excerpt(workload.key.ToString()));
  }
  if (names.empty()) return;
  Tell(fmt::format("{} {} not asked about, as spec.active is false: {}",
                   CountWithNoun(std::ssize(names), "workload"), names.size() == 1 ? "is" : "are",
                   NamesText(names, kMostNamed)));
}

}  // namespace

Trees TreesOf(const std::string& profile) {
  if (profile == "kep5732") return Trees::kAll;
  return profile == "espalier" ? Trees::kNested : Trees::kNone;
}

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
  command.add_option("--kueue-config", options.kueue_config,
                     "Kueue's Configuration, or the ConfigMap that holds it, in the place of one\n"
                     "among FILES: what quota looks at, feature gates, and which jobs are managed");
  command.add_flag("--strict", options.strict, "Treat warnings about the input as errors");
  command.add_flag("-v,--verbose", options.verbose,
                   "Tell sizes and times, and up to ten warnings of each kind");
}

void AddProfileOptions(CLI::App& command, InputOptions& options,
                       const std::vector<std::string>& profiles) {
  command
      .add_option("--profile", options.profile,
                  "Rules to decide by. kueue: those of Kueue; espalier: workloads that ask for\n"
                  "more than Kueue can say are placed as the trees that they are" +
                      std::string(profiles.size() > 2
                                      ? "; kep5732: all\nbut Kueue's own Workloads are, and only "
                                        "required levels count"
                                      : ""))
      ->check(CLI::IsMember(profiles))
      ->capture_default_str();
  command.add_flag("--best-effort", options.best_effort,
                   "Exit 0 also where a requirement of what is placed is not honoured, as Kueue\n"
                   "cannot; its row says so all the same");
}

std::vector<std::string> NotHonouredLines(const Workload& workload) {
  std::vector<std::string> lines;
  for (const std::string& text : workload.not_honoured) lines.push_back("not as asked: " + text);
  return lines;
}

bool IsAsAsked(std::span<const std::string> not_honoured, const InputOptions& options) {
  return options.best_effort || not_honoured.empty();
}

bool IsAsAsked(const Workload& workload, const InputOptions& options) {
  return IsAsAsked(workload.not_honoured, options);
}

Result<ClusterRead> ReadInput(const InputOptions& options,
                              const std::function<void(const JobObject&)>& on_job) {
  const bool keep_errors = on_job != nullptr;
  const auto configuration = ConfigurationOf(options);
  if (!configuration) return tl::unexpected(configuration.error());
  RefusedJobs refused;
  std::optional<FeatureGates> gates;  // wrong ones are told by the command
  std::function<void(const JobObject&)> look = on_job;
  if (!keep_errors && TreesOf(options.profile) == Trees::kNone) {
    look = [&](const JobObject& job) {
      if (!gates) gates = GatesOf(job.cluster, options.feature_gates).value_or(FeatureGates());
      refused.Look(job, *gates);
    };
  }
  std::optional<ProgressBar> bar(std::in_place, "reading");  // waiting for a pipe, too
  std::string current;
  Result<ClusterRead> read =
      ReadClusterFiles(options.files,
                       {.strict = options.strict,
                        .leave_out = !keep_errors,
                        .with_owned_jobs = options.with_owned_jobs,
                        .keep_errors = keep_errors,
                        .trees = TreesOf(options.profile),
                        .on_job = look,
                        .now_seconds = options.now_seconds,
                        .max_input = options.max_input,
                        .configuration = *configuration},
                       [&](std::string_view phase, std::uint64_t done, std::uint64_t total) {
                         if (current != phase) bar.emplace(current = phase, total);
                         bar->Update(done);
                       });
  bar.reset();
  if (read) {
    AddDaemonPods(read->daemon_sets, read->cluster);
    if (!keep_errors && TreesOf(options.profile) == Trees::kNone) refused.Refuse(read->cluster);
    if (read->diagnostics.left_out_count() > 0) objects_left_out = true;
    if (options.of_state != nullptr && options.kueue_config.empty() &&
        HasConfiguration(read->facts)) {
      Tell("the Configuration of Kueue that the server's state has counts, not that of the files");
    }
    TellAbout(*read, options.verbose);
    if (!keep_errors) TellUnmappedUsage(read->cluster);
    if (!keep_errors && !options.names_inactive) TellInactive(*read);
  }
  return read;
}

Result<FeatureGates> GatesOf(const Cluster& cluster, const std::string& text) {
  FeatureGates gates;
  const KueueConfiguration* configuration =
      cluster.configuration ? &*cluster.configuration : nullptr;
  if (configuration != nullptr) {
    for (const std::string& unknown : SetKnownFeatureGates(configuration->feature_gates, gates)) {
      const std::string line = fmt::format("{}: {}", configuration->place, unknown);
      if (told_gates.insert(line).second) Tell(line);
    }
  }
  Result<FeatureGates> named = ParseFeatureGates(text, gates);
  if (named || configuration == nullptr || configuration->feature_gates.empty()) return named;
  return BadInput(
      fmt::format("{} and --feature-gates: {}", configuration->place, named.error().message));
}

int CountLeftOut(int exit_code) {
  return objects_left_out && exit_code == kExitOk ? kExitNo : exit_code;
}

void TellGangNotes(const std::vector<GangWorkload>& workloads) {
  constexpr std::size_t kMostNotes = 20;
  std::size_t said = 0;
  std::size_t more = 0;
  for (const GangWorkload& workload : workloads) {
    for (const std::string& note : workload.notes) {
      if (note.ends_with("not looked at")) continue;  // NotesOf names each pod set
      if (said == kMostNotes) {
        ++more;
        continue;
      }
      ++said;
      Tell(fmt::format("workload {}: {}", Excerpt(workload.head.key.ToString()), note));
    }
  }
  if (more > 0) {
    Tell(fmt::format("and {}; --show-model has all of them", CountWithNoun(more, "more note")));
  }
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
