#include "service/cli/commands/place_options.hpp"

#include <utility>

#include <fmt/format.h>

#include "service/cli/html_report/html_report.hpp"
#include "service/cli/options/address_option.hpp"
#include "service/cli/options/tls_options.hpp"
#include "service/cli/terminal/terminal.hpp"

namespace espalier {
namespace {

constexpr const char* kPlaceOptionsExamples = R"(Examples:
  Save a cluster, and see where every pending workload would go:
    espalier snapshot -o cluster.json.gz
    espalier place cluster.json.gz

  Many files or folders, plain or gzip, JSON or YAML; - is standard input:
    espalier place nodes.json.gz queues/ job.yaml
    kubectl get ... -o json | espalier place -

  Why does one workload not fit, and would it fit on an empty cluster?
    espalier place cluster.json.gz --workload team-a/job-train-1f2e3
    espalier place cluster.json.gz --workload team-a/job-train-1f2e3 --simulate-empty

  Everything for a script:
    espalier place cluster.json.gz -o json | jq '.items[] | select(.status.admission)'

  No queues at hand? Take the only flavor that has a topology, and be told where that is a guess:
    espalier place nodes.json job.yaml --guess-flavor

  What was understood of a JobSet, a LeaderWorkerSet, a Workload of scheduling.k8s.io, ...?
    espalier place manifests/ --show-model -o yaml

  Place replicas, ranks and groups inside groups as they ask, each level of them:
    espalier place cluster.json.gz manifests/ --profile espalier

  How full would the racks be?
    espalier place cluster.json.gz --picture
    espalier place cluster.json.gz --picture=cpu

  The whole cluster in a browser, with every gang, and why each of the others waits:
    espalier place cluster.json.gz --report cluster.html

  Ask a running server about the state that it holds; nothing is changed there:
    espalier place queues.json --connect unix:/run/espalier/espalier.sock

  Replace the state of a server by that of the files, and ask; the output is as without a server:
    espalier place cluster.json.gz --connect unix:/tmp/espalier.sock --load

  Which of several clusters can hold the workloads now, and how well?
    espalier place jobs.yaml --cluster east=east.json.gz --cluster west=west.json.gz

  The same of the states that a server holds by name, from files that have queues and flavors:
    espalier place jobs.yaml queues.yaml --connect HOST:PORT --state east,west

Workloads are taken by priority, then age, then uid. A stopped queue counts as open, and quota is
not looked at: the question is where pods would go, not whose turn it is.

Exit codes: 0 all placed; 1 some not; 2 wrong command line; 3 wrong input;
4 no server, GPU or memory, or output lost; 5 internal error.)";

}  // namespace

bool AsksManyStates(const PlaceOptions& options) {
  return options.state.find(',') != std::string::npos;
}

void AddPlaceOptions(CLI::App& place, PlaceOptions& options) {
  place.footer(kPlaceOptionsExamples);

  AddInputOptions(place, options.input);
  place
      .add_option("--mode", options.mode,
                  "sequential: a placed workload takes its room from those after it;\n"
                  "nominate: each on its own")
      ->check(CLI::IsMember({"sequential", "nominate"}))
      ->capture_default_str();
  AddProfileOptions(place, options.input, {"kueue", "espalier", "kep5732"});
  place.add_option("--feature-gates", options.input.feature_gates,
                   "Kueue's gates that change a decision: Name=true,Other=false");
  AddBackendOptions(place, options.backend);
  place
      .add_option("-o,--output", options.output,
                  "table; wide: with hosts by name; json, yaml: status fields for scripts")
      ->check(CLI::IsMember({"table", "wide", "json", "yaml"}))
      ->capture_default_str();
  place
      .add_option("--workload", options.workload,
                  "Only this one: NAMESPACE/NAME or NAME, of the Workload or of its job")
      ->check(CLI::Validator(CheckWorkloadName, "NAME"));
  place.add_flag("--simulate-empty", options.simulate_empty,
                 "As if no admitted workload used anything");
  place.add_flag("--guess-flavor", options.guess_flavor,
                 "Where a workload's queue is not in the input, take the only flavor that has a\n"
                 "topology; every line that rests on it says so");
  place.add_flag("--show-model", options.show_model,
                 "Print what was understood of every workload instead of placing it: gangs,\n"
                 "ranks, shapes of pods and topology requests; -o json and yaml for scripts");
  place.add_flag("--picture{auto}", options.picture,
                 "Draw how full zones, blocks and racks are before and after;\n"
                 "--picture=RESOURCE counts that resource instead of the device most asked for");
  AddReportOption(place, options.report);
  AddColorOption(place, options.color);
  CLI::Option* connect =
      place
          .add_option("--connect", options.connect,
                      "Ask the server at unix:PATH or HOST:PORT about the state that it holds;\n"
                      "nodes of the files only tell why nodes are left out, pods are not looked at")
          ->check(IsAddress());
  AddTlsOptions(place, connect, options.tls);
  place.add_option("--state", options.state,
                   "With --connect: the server's state of that name instead of the one without;\n"
                   "NAME,NAME,...: answer which of them can hold each workload, as --cluster does");
  place.add_flag("--load", options.load,
                 "With --connect: replace the state of the server by that of the files first");
  CLI::Option* cluster = place.add_option(
      "--cluster", options.clusters,
      "NAME=FILE, several times for several clusters, or files of one: answer which of them can\n"
      "hold each workload of FILES on its own; NAME= is a cluster of which nothing is known");
  cluster->allow_extra_args(false);
  for (const char* other : {"--connect", "--picture", "--show-model", "--mode"}) {
    cluster->excludes(place.get_option(other));
  }
}

void CheckPlaceOptions(const CLI::App& place, const PlaceOptions& options) {
  // Trees, and where each workload goes, are of one state.
  const bool asks_many = !options.clusters.empty() || AsksManyStates(options);
  const char* many = options.clusters.empty() ? "several states" : "--cluster";
  if (asks_many && options.input.profile != "kueue") {
    throw CLI::ValidationError(
        "--profile", fmt::format("{} does not go with {}, which are asked by Kueue's rules",
                                 options.input.profile, many));
  }
  if (asks_many && !options.report.empty()) {
    throw CLI::ValidationError("--report", fmt::format("does not go with {}", many));
  }
  if (!options.picture.empty() && options.output != "table" && options.output != "wide") {
    throw CLI::ValidationError("--picture", "goes with --output table or wide");
  }
  for (const auto& [flag, given] : {std::pair("--picture", !options.picture.empty()),
                                    std::pair("--report", !options.report.empty())}) {
    if (!given) continue;
    if (options.mode == "nominate") {
      throw CLI::ValidationError(
          flag, "needs --mode sequential: in nominate mode the workloads do not add up");
    }
    if (!options.connect.empty() && !options.load) {
      throw CLI::ValidationError(flag, "is drawn from the files: with --connect it needs --load");
    }
  }
  if (!options.report.empty() && options.show_model) {
    throw CLI::ValidationError("--report", "does not go with --show-model, which places nothing");
  }
  if (!options.state.empty() && options.connect.empty()) {
    throw CLI::ValidationError("--state", "goes with --connect");
  }
  if (options.load && options.connect.empty()) {
    throw CLI::ValidationError("--load", "goes with --connect");
  }
  if (AsksManyStates(options)) {
    for (const char* other : {"--load", "--picture", "--show-model", "--mode"}) {
      if (place.count(other) == 0) continue;
      throw CLI::ValidationError(other, "does not go with several states");
    }
  }
}

}  // namespace espalier
