// espalier validate-objects: which rules of Kueue's webhooks and schemas do objects break?
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "host/kueue/validation.hpp"
#include "host/readers/slice_constraints.hpp"
#include "service/cli/commands.hpp"
#include "service/cli/input.hpp"
#include "service/cli/object_writer.hpp"
#include "service/cli/report_error.hpp"
#include "service/cli/standard_output.hpp"
#include "service/cli/terminal.hpp"
#include "service/cli/text_table.hpp"

namespace espalier {
namespace {

struct ValidateObjectsOptions {
  InputOptions input;
  std::string feature_gates;
  std::string output = "table";  // or wide, json
  std::string color = "auto";
};

constexpr const char* kExamples = R"(Examples:
  Would Kueue accept these objects?
    espalier validate-objects topology.yaml flavors.yaml job.yaml

  And those of a cluster, for instance before an upgrade turns a gate on?
    kubectl get topologies,resourceflavors,workloads,jobs -A -o json |
      espalier validate-objects - --feature-gates TASMultiLayerTopology=true

  In a pipeline:
    espalier validate-objects manifests/ -o json | jq -r '.violations[] | .object + ": " + .message'

Checked are Topologies, ResourceFlavors, Workloads and the topology annotations of Jobs. What cannot
be read, in objects of any kind, is listed too.

Exit codes: 0 no violation; 1 some; 2 wrong command line; 3 a file cannot be read;
4 no memory, or output lost; 5 internal error.)";

constexpr std::size_t kLongestValueShown = 60;  // bytes, in the table

// A violation and the file of its object.
struct Found {
  std::string file;
  Violation violation;
};

// The Job that stands for a Workload of its own name and uid, as it does when the input has no
// Workload for it.
bool IsReadFromJob(const Workload& workload) {
  return workload.owners.size() == 1 && workload.owners[0].kind == "Job" &&
         workload.owners[0].name == workload.key.name && workload.owners[0].uid == workload.uid;
}

// Names the Job and its field where the Workload is made of one.
void NameJobs(const Cluster& cluster, std::vector<Found>& found) {
  constexpr std::string_view kTemplate = "spec.podSets[0].template";
  std::map<std::string, std::string> jobs;  // by title of the Workload
  for (const Workload& workload : cluster.workloads) {
    const std::string name = workload.key.ToString();
    if (IsReadFromJob(workload)) jobs["Workload " + name] = "Job " + name;
  }
  for (auto& [file, violation] : found) {
    const auto job = jobs.find(violation.object);
    if (job == jobs.end()) continue;
    violation.object = job->second;
    if (violation.field.starts_with(kTemplate)) {
      violation.field.replace(0, kTemplate.size(), "spec.template");
    }
  }
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

// What reading found and the rules did not say already.
void AddUnreadable(const Diagnostics& diagnostics, std::vector<Found>& found) {
  const std::vector<Found> of_rules = found;
  for (const Diagnostic& error : diagnostics.errors()) {
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

std::string ViolationTable(const std::vector<Found>& found, const TextStyle& style) {
  if (found.empty()) return "No violations.\n";
  std::vector<TableRow> rows;
  for (const auto& [file, violation] : found) {
    rows.push_back({file, violation.object, violation.field.empty() ? "-" : violation.field,
                    Shortened(violation.value), violation.message});
  }
  return RenderTable({"FILE", "OBJECT", "FIELD", "VALUE", "MESSAGE"}, rows, style) +
         fmt::format("\n{} violation{}\n", found.size(), found.size() == 1 ? "" : "s");
}

std::string ViolationJson(const std::vector<Found>& found) {
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
  writer->EndMap();
  return writer->Finish();
}

ExitCode RunValidateObjects(const ValidateObjectsOptions& options) {
  const Result<FeatureGates> gates = ParseFeatureGates(options.feature_gates);
  if (!gates) {
    ReportError(gates.error());
    return kExitUsage;
  }
  const Result<ClusterRead> read = ReadInput(options.input, /*keep_errors=*/true);
  if (!read) return ReportError(read.error());
  const Diagnostics& diagnostics = read->diagnostics;
  if (std::ranges::any_of(diagnostics.errors(),
                          [](const Diagnostic& error) { return error.object.empty(); })) {
    return ReportError({ErrorClass::kBadInput, diagnostics.RenderErrors()});
  }
  std::vector<Found> found;
  for (Violation& violation : ValidateCluster(read->cluster, {*gates, ParseSliceConstraints})) {
    const auto place = read->places.find(violation.object);
    found.push_back({place == read->places.end() ? "" : place->second, std::move(violation)});
  }
  NameJobs(read->cluster, found);
  AddUnreadable(diagnostics, found);
  const TextStyle style = OutputStyle(options.color, options.output == "wide");
  WriteOutput(options.output == "json" ? ViolationJson(found) : ViolationTable(found, style));
  if (const std::size_t more = diagnostics.error_count() - diagnostics.errors().size(); more > 0) {
    Tell(fmt::format("and {} more values that cannot be read", more));
  }
  return found.empty() ? kExitOk : kExitNo;
}

}  // namespace

void AddValidateObjectsCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ValidateObjectsOptions>();
  CLI::App* validate = app.add_subcommand(
      "validate-objects", "List what Kueue's webhooks and schemas would refuse, and why");
  validate->footer(kExamples);

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
