// espalier validate-objects: which rules of Kueue's webhooks and schemas do objects break?
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/readers/sources/job_object.hpp"
#include "host/webhooks/job_webhooks.hpp"
#include "host/webhooks/object_rules.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/options/input.hpp"
#include "service/cli/reports/count_with_noun.hpp"
#include "service/cli/reports/object_writer.hpp"
#include "service/cli/terminal/report_error.hpp"
#include "service/cli/terminal/standard_output.hpp"
#include "service/cli/terminal/terminal.hpp"
#include "service/cli/terminal/text_table.hpp"

namespace espalier {
namespace {

struct ValidateObjectsOptions {
  InputOptions input;
  std::string feature_gates;
  std::string output = "table";  // or wide, json
  std::string color = "auto";
};

constexpr const char* kValidateObjectsExamples = R"(Examples:
  Would Kueue accept these objects?
    espalier validate-objects topology.yaml flavors.yaml job.yaml

  And those of a cluster, for instance before an upgrade turns a gate on?
    kubectl get topologies,resourceflavors,workloads,jobs -A -o json |
      espalier validate-objects - --feature-gates TASMultiLayerTopology=true

  In a pipeline:
    espalier validate-objects manifests/ -o json | jq -r '.violations[] | .object + ": " + .message'

Checked are Topologies, ResourceFlavors, Workloads, and each kind of job as its own webhook does; a
level that no Topology beside them has is named. What was looked at, and what was not, is counted.
What cannot be read, in objects of any kind, is listed too.

Exit codes: 0 no violation; 1 some; 2 wrong command line; 3 a file cannot be read;
4 no memory, or output lost; 5 internal error.)";

constexpr std::size_t kLongestValueShown = 60;  // bytes, in the table

// A violation and the file of its object.
struct Found {
  std::string file;
  Violation violation;
};

using Counts = std::map<std::string, std::size_t>;  // by kind

// Counts of the objects that Kueue's webhooks look at, and of other objects of the input.
struct Looked {
  Counts at;
  Counts past;
};

// Adds the levels of a workload's requests that no Topology beside it has.
void AddUnknownLevels(const Cluster& cluster, const Workload& workload, const std::string& title,
                      std::vector<Found>& found) {
  std::set<std::string> levels;
  for (const Topology& topology : cluster.topologies) {
    levels.insert(topology.levels.begin(), topology.levels.end());
  }
  if (levels.empty()) return;
  const auto check = [&](const PodSet& pod_set, const std::optional<std::string>& level,
                         const char* which) {
    if (!level || levels.contains(*level)) return;
    Violation violation{title, fmt::format("pod set {}: {}", pod_set.name, which), *level,
                        fmt::format("no Topology of the input has this level; there are {}",
                                    fmt::join(levels, ", "))};
    const bool is_known =
        std::ranges::any_of(found, [&](const Found& one) { return one.violation == violation; });
    if (!is_known) found.push_back({"", std::move(violation)});
  };
  for (const PodSet& pod_set : workload.pod_sets) {
    if (!pod_set.topology_request) continue;
    const TopologyRequest& request = *pod_set.topology_request;
    check(pod_set, request.required, "required topology");
    check(pod_set, request.preferred, "preferred topology");
    check(pod_set, request.slice_topology, "topology of slices");
    for (const SliceConstraint& constraint : request.slice_constraints) {
      check(pod_set, constraint.topology, "topology of slices");
    }
  }
}

// Adds what the webhook of the job's kind refuses.
void AddOfJob(const JobObject& job, const FeatureGates& gates, Looked& looked,
              std::vector<Found>& found) {
  if (!HasJobWebhook(job)) return;
  ++looked.at[JobKind(job)];
  const std::string file = JobPlace(job);
  for (Violation& violation : ValidateJob(job, gates))
    found.push_back({file, std::move(violation)});
}

// Adds what Kueue's webhook says of a Workload that it would make, which names the fields of that.
void AddOfMade(const Workload& made, const std::string& title, std::vector<Found>& found) {
  for (const std::string& line : made.webhook_errors) {
    const std::size_t end = line.find(": ");
    Violation violation{title, "its Workload: " + line.substr(0, end), "", line.substr(end + 2),
                        line};
    const bool is_known = std::ranges::any_of(  // of a replica before
        found, [&](const Found& one) { return one.violation == violation; });
    if (!is_known) found.push_back({"", std::move(violation)});
  }
}

// Adds what is wrong with the Workloads that Kueue would make, and the levels that these and
// those of the cluster ask for.
void AddOfWorkloads(const Cluster& cluster, std::span<const Workload> made_workloads,
                    std::vector<Found>& found) {
  for (const Workload& workload : cluster.workloads) {
    AddUnknownLevels(cluster, workload, "Workload " + workload.key.ToString(), found);
  }
  for (const Workload& made : made_workloads) {
    if (made.owners.empty()) continue;
    // An object that another one controls is that one's; its own reference comes last.
    const OwnerReference& object = made.owners.back();
    const std::string title =
        fmt::format("{} {}", object.kind, ObjectKey{made.key.namespace_, object.name}.ToString());
    AddOfMade(made, title, found);
    AddUnknownLevels(cluster, made, title, found);
  }
}

// Counts the kinds of objects; of jobs those that `looked.at` has already were looked at.
void CountKinds(const ReadFacts& facts, Looked& looked) {
  for (const auto& [kind, count] : facts.objects) {
    const bool is_checked = kind == "Topology" || kind == "ResourceFlavor" || kind == "Workload";
    if (is_checked) {
      looked.at[kind] = count;
      continue;
    }
    const auto at = looked.at.find(kind);
    const std::size_t seen = at == looked.at.end() ? 0 : at->second;
    if (count > seen) looked.past[kind] += count - seen;
  }
  for (const auto& [kind, count] : facts.skipped) looked.past[kind] += count;
}

std::string CountsText(const Counts& counts) {
  std::vector<std::string> texts;
  for (const auto& [kind, count] : counts) texts.push_back(fmt::format("{} {}", count, kind));
  return texts.empty() ? "nothing" : fmt::format("{}", fmt::join(texts, ", "));
}

// `field` is `outer` or lies in it.
bool LiesIn(std::string_view outer, std::string_view field) {
  if (outer.empty() || !field.starts_with(outer)) return false;
  return field.size() == outer.size() || field[outer.size()] == '.' || field[outer.size()] == '[';
}

// Texts without their quotes, as the rules give them.
std::string ValueOf(const Diagnostic& found) {
  const std::string& json = found.value;
  const bool quoted = json.size() > 1 && json.front() == '"' && json.back() == '"';
  return quoted ? json.substr(1, json.size() - 2) : json;
}

// Adds what reading found and the rules did not say already.
void AddUnreadable(const Diagnostics& diagnostics, std::vector<Found>& found) {
  const std::vector<Found> of_rules = found;
  for (const Diagnostic& error : diagnostics.errors()) {
    if (error.is_about_input) continue;
    if (std::ranges::any_of(of_rules, [&](const Found& one) {
          return one.violation.object == error.object && LiesIn(error.field, one.violation.field);
        })) {
      continue;
    }
    found.push_back(
        {error.file,
         {error.object, error.field, ValueOf(error),
          error.expected.empty() ? error.problem : error.problem + "; want " + error.expected}});
  }
}

std::string Shortened(std::string value) {
  if (value.size() > kLongestValueShown) {
    value.resize(kLongestValueShown);
    value += "...";
  }
  return value.empty() ? "-" : value;
}

std::string ViolationTable(const std::vector<Found>& found, const Looked& looked,
                           const TextStyle& style) {
  const std::string about = fmt::format("looked at: {}\nnot looked at: {}\n", CountsText(looked.at),
                                        CountsText(looked.past));
  if (found.empty()) {
    return (looked.at.empty() ? "Nothing to validate.\n" : "No violations.\n") + about;
  }
  std::vector<TableRow> rows;
  for (const auto& [file, violation] : found) {
    rows.push_back({file, violation.object, violation.field.empty() ? "-" : violation.field,
                    Shortened(violation.value), violation.message});
  }
  return RenderTable({"FILE", "OBJECT", "FIELD", "VALUE", "MESSAGE"}, rows, style) +
         fmt::format("\n{} violation{}\n", found.size(), found.size() == 1 ? "" : "s") + about;
}

void WriteCounts(const char* key, const Counts& counts, ObjectWriter& out) {
  out.Key(key);
  out.BeginMap();
  for (const auto& [kind, count] : counts) {
    out.Key(kind);
    out.Value(static_cast<std::int64_t>(count));
  }
  out.EndMap();
}

std::string ViolationJson(const std::vector<Found>& found, const Looked& looked) {
  const auto writer = MakeJsonWriter();
  writer->BeginMap();
  writer->Key("violations");
  writer->BeginList();
  for (const auto& [file, violation] : found) {
    writer->BeginMap();
    writer->Field("file", std::string_view(file));
    writer->Field("object", std::string_view(violation.object));
    writer->Field("field", std::string_view(violation.field));
    writer->Field("value", std::string_view(violation.value));
    writer->Field("message", std::string_view(violation.message));
    writer->EndMap();
  }
  writer->EndList();
  WriteCounts("lookedAt", looked.at, *writer);
  WriteCounts("notLookedAt", looked.past, *writer);
  writer->EndMap();
  return writer->Finish();
}

ExitCode RunValidateObjects(const ValidateObjectsOptions& options) {
  if (const auto named = ParseFeatureGates(options.feature_gates); !named) {
    ReportError(named.error());
    return kExitUsage;
  }
  Looked looked;
  std::vector<Found> of_jobs;
  std::optional<Result<FeatureGates>> gates_of_jobs;
  Result<ClusterRead> read = ReadInput(options.input, [&](const JobObject& job) {
    if (!gates_of_jobs) gates_of_jobs = GatesOf(job.cluster, options.feature_gates);
    if (*gates_of_jobs) AddOfJob(job, **gates_of_jobs, looked, of_jobs);
  });
  if (!read) return ReportError(read.error());
  const Result<FeatureGates> gates = GatesOf(read->cluster, options.feature_gates);
  if (!gates) return ReportError(gates.error());
  const Diagnostics& diagnostics = read->diagnostics;
  if (std::ranges::any_of(diagnostics.errors(),
                          [](const Diagnostic& error) { return error.object.empty(); })) {
    return ReportError({ErrorClass::kBadInput, diagnostics.RenderErrors()});
  }
  std::vector<Workload>& workloads = read->cluster.workloads;
  const auto first_made = workloads.begin() + static_cast<std::ptrdiff_t>(read->kueue_workloads);
  const std::vector<Workload> made(std::make_move_iterator(first_made),
                                   std::make_move_iterator(workloads.end()));
  workloads.erase(first_made, workloads.end());
  std::vector<Found> found;
  for (Violation& violation : ValidateCluster(read->cluster, *gates)) {
    found.push_back({"", std::move(violation)});
  }
  std::ranges::move(of_jobs, std::back_inserter(found));
  AddOfWorkloads(read->cluster, made, found);
  for (auto& [file, violation] : found) {
    const auto place = read->places.find(violation.object);
    if (file.empty() && place != read->places.end()) file = place->second;
  }
  CountKinds(read->facts, looked);
  AddUnreadable(diagnostics, found);
  const TextStyle style = OutputStyle(options.color, options.output == "wide");
  WriteOutput(options.output == "json" ? ViolationJson(found, looked)
                                       : ViolationTable(found, looked, style));
  for (const Diagnostic& error : diagnostics.errors()) {
    if (error.is_about_input) Tell("no violation, but " + ToString(error));
  }
  if (const std::size_t more = diagnostics.error_count() - diagnostics.errors().size(); more > 0) {
    Tell(fmt::format("and {} that cannot be read",
                     CountWithNoun(static_cast<std::int64_t>(more), "more value")));
  }
  return found.empty() ? kExitOk : kExitNo;
}

}  // namespace

void AddValidateObjectsCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ValidateObjectsOptions>();
  CLI::App* validate = app.add_subcommand(
      "validate-objects", "List what Kueue's webhooks and schemas would refuse, and why");
  validate->footer(kValidateObjectsExamples);

  AddInputOptions(*validate, options->input);
  validate->add_option("--feature-gates", options->feature_gates,
                       "Kueue's gates that change a rule: Name=true,Other=false");
  validate
      ->add_option("-o,--output", options->output,
                   "table; wide: whole messages on narrow terminals; json")
      ->check(CLI::IsMember({"table", "wide", "json"}))
      ->capture_default_str();
  AddColorOption(*validate, options->color);
  validate->callback([options, &exit_code] { exit_code = RunValidateObjects(*options); });
}

}  // namespace espalier
