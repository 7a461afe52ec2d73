// espalier place: where would the pending workloads of a saved cluster go?
#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/engine/engine.hpp"
#include "host/kueue/node_participation.hpp"
#include "host/kueue/placement_plan.hpp"
#include "host/model/excerpt.hpp"
#include "service/backends/backends.hpp"
#include "service/cli/address_option.hpp"
#include "service/cli/backend_options.hpp"
#include "service/cli/cluster_picture.hpp"
#include "service/cli/commands.hpp"
#include "service/cli/counted.hpp"
#include "service/cli/input.hpp"
#include "service/cli/placement_report.hpp"
#include "service/cli/progress_bar.hpp"
#include "service/cli/report_error.hpp"
#include "service/cli/standard_output.hpp"
#include "service/cli/state_of_server.hpp"
#include "service/cli/terminal.hpp"
#include "service/client/remote_engine.hpp"

namespace espalier {
namespace {

// --picture without a resource: the one that matters most.
constexpr const char* kChooseResource = "auto";

struct PlaceOptions {
  InputOptions input;
  std::string mode = "sequential";  // or nominate
  std::string profile = "kueue";
  std::string feature_gates;
  BackendOptions backend;
  std::string output = "table";  // or wide, json, yaml
  std::string color = "auto";
  std::string workload;
  std::string connect;  // address of a server; empty: decide here
  bool load = false;    // make the files the state of the server
  std::string picture;  // a resource, kChooseResource, or empty for no picture
  bool simulate_empty = false;
  bool guess_flavor = false;
};

constexpr const char* kExamples = R"(Examples:
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

  How full would the racks be?
    espalier place cluster.json.gz --picture
    espalier place cluster.json.gz --picture=cpu

  Ask a running server about the state that it holds; nothing is changed there:
    espalier place queues.json --connect unix:/run/espalier/espalier.sock

  Replace the state of a server by that of the files, and ask; the output is as without a server:
    espalier place cluster.json.gz --connect unix:/tmp/espalier.sock --load

Workloads are taken by priority, then age, then uid. A stopped queue counts as open, and quota is
not looked at: the question is where pods would go, not whose turn it is.

Exit codes: 0 all placed; 1 some not; 2 wrong command line; 3 wrong input;
4 no server, GPU or memory, or output lost; 5 internal error.)";

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The device that most requests ask for, as devices are what racks are bought for; cpu without one.
std::string MostRequestedDevice(const PlacementPlan& plan) {
  std::map<std::string, std::size_t> requests;
  for (const PlannedWorkload& workload : plan.workloads) {
    const auto* request = std::get_if<WorkloadRequest>(&workload.plan);
    if (request == nullptr) continue;
    for (const PodSetRequest& pod_set : request->pod_sets) {
      for (const auto& [resource, amount] : pod_set.requests) {
        if (resource.find('/') != std::string::npos && amount > 0) ++requests[resource];
      }
    }
  }
  const auto most =
      std::ranges::max_element(requests, {}, [](const auto& entry) { return entry.second; });
  return most == requests.end() ? "cpu" : most->first;
}

class PlaceRun {
 public:
  PlaceRun(const PlaceOptions& options, FeatureGates gates)
      : options_(options),
        gates_(gates),
        style_(OutputStyle(options.color, options.output == "wide")) {}

  ExitCode Run() {
    Result<ClusterRead> read = ReadInput(options_.input);
    if (!read) return ReportError(read.error());
    cluster_ = std::move(read->cluster);
    if (!options_.workload.empty()) {
      Result<ObjectKey> workload = FindWorkload(cluster_, options_.workload);
      if (!workload) return ReportError(workload.error());
      only_ = *std::move(workload);
    }
    if (const Result<void> connected = Connect(); !connected) {
      return ReportError(connected.error());
    }
    if (const auto known = CheckPictured(); !known) return ReportError(known.error());
    Result<PlacementPlan> plan = PlanPlacement(cluster_, {.gates = gates_,
                                                          .only = only_,
                                                          .simulate_empty = options_.simulate_empty,
                                                          .guess_flavor = options_.guess_flavor});
    if (!plan) return ReportError(plan.error());
    const Result<std::vector<WorkloadAnswer>> answers = Decide(*plan);
    if (!answers) return ReportError(answers.error());
    if (const Result<void> named = NameNodes(plan->state); !named) {
      return ReportError(named.error());
    }
    const PlacementReport report{cluster_, plan->state, plan->workloads, *answers,
                                 asks_ ? StateLine(state_, options_.connect) : NodeLines(cluster_)};
    Print(report);
    if (!options_.picture.empty()) PrintPicture(*plan, *answers);
    return CountOutcomes(report).not_placed == 0 ? kExitOk : kExitNo;
  }

 private:
  // Without --load the state of the server is asked, and the files only say what about.
  Result<void> Connect() {
    if (options_.connect.empty()) return {};
    Result<RemoteEngine> remote = RemoteEngine::Connect(options_.connect);
    if (!remote) return tl::unexpected(remote.error());
    remote_ = *std::move(remote);
    Result<RemoteState> state = remote_->UseStateOfServer();
    if (!state) return tl::unexpected(state.error());
    state_ = *std::move(state);
    if (options_.load) return {};
    asks_ = true;
    const auto notes = MatchToState(state_, options_.connect, cluster_);
    if (!notes) return tl::unexpected(notes.error());
    for (const std::string& note : *notes) Tell(note);
    return {};
  }

  // The nodes that answers name are those of the state that was asked.
  Result<void> NameNodes(ClusterStateInput& state) {
    if (!asks_) return {};
    Result<std::vector<Node>> nodes = NodesOfState(state_, *remote_);
    if (!nodes) return tl::unexpected(nodes.error());
    state.nodes = *std::move(nodes);
    return {};
  }

  // One answer per planned workload; those that were not asked have an empty one.
  Result<std::vector<WorkloadAnswer>> Decide(const PlacementPlan& plan) {
    std::vector<WorkloadRequest> requests;
    std::vector<std::size_t> asked;
    for (std::size_t i = 0; i < plan.workloads.size(); ++i) {
      const auto* request = std::get_if<WorkloadRequest>(&plan.workloads[i].plan);
      if (request == nullptr) continue;
      requests.push_back(*request);
      asked.push_back(i);
    }
    const Clock::time_point start = Clock::now();
    Result<std::vector<WorkloadAnswer>> answered = options_.connect.empty()
                                                       ? DecideHere(plan.state, requests)
                                                       : DecideThere(plan.state, requests);
    if (!answered) return answered;
    if (options_.input.verbose) {
      Tell(fmt::format("answered {} workloads in {:.1f} ms", requests.size(),
                       SecondsSince(start) * 1e3));
    }
    std::vector<WorkloadAnswer> answers(plan.workloads.size());
    for (std::size_t i = 0; i < asked.size(); ++i) answers[asked[i]] = std::move((*answered)[i]);
    return answers;
  }

  Result<std::vector<WorkloadAnswer>> DecideHere(
      const ClusterStateInput& input, const std::vector<WorkloadRequest>& requests) const {
    std::optional<ProgressBar> packing(std::in_place, "packing");
    Result<ClusterState> state = ClusterState::Build(input);
    packing.reset();
    if (!state) return tl::unexpected(state.error());
    const std::size_t at_once = Mode() == PlacementMode::kNominate ? requests.size() : 1;
    const auto backend = MakeBackend(options_.backend.name, options_.backend.threads, at_once);
    if (!backend) return tl::unexpected(backend.error());
    const Engine engine(*backend, gates_);
    ProgressBar progress("placing", requests.size());
    auto answers =
        engine.Place(*state, requests, Mode(), [&](std::size_t done) { progress.Update(done); });
    ReportDeviceFault(**backend);
    if (options_.input.verbose) {
      Tell("decided on " + DescribeBackend(**backend));
    }
    return answers;
  }

  Result<std::vector<WorkloadAnswer>> DecideThere(const ClusterStateInput& input,
                                                  const std::vector<WorkloadRequest>& requests) {
    if (options_.load) {
      if (const Result<void> loaded = remote_->Load(input); !loaded) {
        return tl::unexpected(loaded.error());
      }
      Tell(fmt::format("replaced the state of {} (generation {}, {}) by that of the files ({})",
                       options_.connect, state_.generation, Counted(state_.nodes, "node"),
                       Counted(static_cast<std::int64_t>(input.nodes.size()), "node")));
    }
    return remote_->Place(requests, Mode(), gates_);
  }

  void Print(const PlacementReport& report) const {
    for (const std::string& note : NotesOf(report)) Tell(note);
    if (options_.output == "table") {
      WriteOutput(PlacementTable(report, Detail::kShort, style_));
    } else if (options_.output == "wide") {
      WriteOutput(PlacementTable(report, Detail::kFull, style_));
    } else {
      const auto writer = options_.output == "json" ? MakeJsonWriter() : MakeYamlWriter();
      WritePlacementObjects(report, gates_, *writer);
      WriteOutput(writer->Finish());
      Tell(report.nodes);
    }
  }

  // The resource to draw must be on some node.
  Result<void> CheckPictured() const {
    if (options_.picture.empty() || options_.picture == kChooseResource) return {};
    std::set<std::string> known;
    for (const Node& node : cluster_.nodes) {
      for (const auto& [resource, amount] : node.allocatable) known.insert(resource);
    }
    if (known.contains(options_.picture)) return {};
    return tl::unexpected(Error{ErrorClass::kNotFound,
                                fmt::format("--picture: no node has {}; there are {}",
                                            Excerpt(options_.picture), fmt::join(known, ", "))});
  }

  void PrintPicture(const PlacementPlan& plan, const std::vector<WorkloadAnswer>& answers) const {
    std::vector<FlavorLeafUsage> booked;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const auto* request = std::get_if<WorkloadRequest>(&plan.workloads[i].plan);
      if (request == nullptr || answers[i].FirstFailure() != nullptr) continue;
      std::ranges::move(BookedUsage(*request, answers[i]), std::back_inserter(booked));
    }
    const std::string resource =
        options_.picture == kChooseResource ? MostRequestedDevice(plan) : options_.picture;
    for (const ResourceFlavor& flavor : plan.state.flavors) {
      const std::string picture =
          RenderPicture(UsageByRack(plan.state, booked, flavor.name, resource), flavor.name,
                        resource, only_.has_value(), style_);
      if (!picture.empty()) WriteOutput("\n" + picture);
    }
  }

  PlacementMode Mode() const {
    return options_.mode == "nominate" ? PlacementMode::kNominate : PlacementMode::kSequential;
  }

  const PlaceOptions& options_;
  FeatureGates gates_;
  TextStyle style_;
  std::optional<ObjectKey> only_;
  Cluster cluster_;
  std::optional<RemoteEngine> remote_;
  RemoteState state_;  // of the server, before this
  bool asks_ = false;  // about the state of the server
};

int RunPlace(const PlaceOptions& options) {
  const Result<FeatureGates> gates = ParseFeatureGates(options.feature_gates);
  if (!gates) {
    ReportError(gates.error());
    return kExitUsage;
  }
  return PlaceRun(options, *gates).Run();
}

}  // namespace

void AddPlaceCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<PlaceOptions>();
  CLI::App* place = app.add_subcommand(
      "place", "Show where every pending workload of a saved cluster would go, or why it cannot");
  place->footer(kExamples);

  AddInputOptions(*place, options->input);
  place
      ->add_option("--mode", options->mode,
                   "sequential: a placed workload takes its room from those after it;\n"
                   "nominate: each on its own")
      ->check(CLI::IsMember({"sequential", "nominate"}))
      ->capture_default_str();
  place->add_option("--profile", options->profile, "Rules to decide by")
      ->check(CLI::IsMember({"kueue"}))
      ->capture_default_str();
  place->add_option("--feature-gates", options->feature_gates,
                    "Kueue's gates that change a decision: Name=true,Other=false");
  AddBackendOptions(*place, options->backend);
  place
      ->add_option("-o,--output", options->output,
                   "table; wide: with hosts by name; json, yaml: status fields for scripts")
      ->check(CLI::IsMember({"table", "wide", "json", "yaml"}))
      ->capture_default_str();
  place
      ->add_option("--workload", options->workload,
                   "Only this one: NAMESPACE/NAME or NAME, of the Workload or of its job")
      ->check(CLI::Validator(CheckWorkloadName, "NAME"));
  place->add_flag("--simulate-empty", options->simulate_empty,
                  "As if no admitted workload used anything");
  place->add_flag("--guess-flavor", options->guess_flavor,
                  "Where a workload's queue is not in the input, take the only flavor that has a\n"
                  "topology; every line that rests on it says so");
  place->add_flag("--picture{auto}", options->picture,
                  "Draw how full zones, blocks and racks are before and after;\n"
                  "--picture=RESOURCE counts that resource instead of the device most asked for");
  AddColorOption(*place, options->color);
  place
      ->add_option("--connect", options->connect,
                   "Ask the server at unix:PATH or HOST:PORT about the state that it holds;\n"
                   "nodes and pods of the files are not looked at")
      ->check(IsAddress());
  place->add_flag("--load", options->load,
                  "With --connect: replace the state of the server by that of the files first");

  place->callback([options, &exit_code] {
    if (!options->picture.empty() && options->output != "table" && options->output != "wide") {
      throw CLI::ValidationError("--picture", "goes with --output table or wide");
    }
    if (!options->picture.empty() && options->mode == "nominate") {
      throw CLI::ValidationError(
          "--picture", "needs --mode sequential: in nominate mode the workloads do not add up");
    }
    if (options->load && options->connect.empty()) {
      throw CLI::ValidationError("--load", "goes with --connect");
    }
    if (!options->picture.empty() && !options->connect.empty() && !options->load) {
      throw CLI::ValidationError("--picture",
                                 "is drawn from the files: with --connect it needs --load");
    }
    exit_code = RunPlace(*options);
  });
}

}  // namespace espalier
