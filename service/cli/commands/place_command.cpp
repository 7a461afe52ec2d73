// espalier place: where would the pending workloads of a saved cluster go?
#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/engine/booked_usage.hpp"
#include "host/engine/engine.hpp"
#include "host/gangs/expand.hpp"
#include "host/kueue/elastic/owned_jobs.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/objects/node_participation.hpp"
#include "host/kueue/objects/running_gangs.hpp"
#include "host/kueue/planning/exclusive_domains.hpp"
#include "host/kueue/planning/placement_plan.hpp"
#include "host/kueue/planning/planned_answers.hpp"
#include "host/kueue/validation/pods_without_node.hpp"
#include "host/live/usage_by_key.hpp"
#include "host/model/excerpt.hpp"
#include "host/what_if/empty_nodes.hpp"
#include "service/backends/backends.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/commands/dispatch_clusters.hpp"
#include "service/cli/commands/place_options.hpp"
#include "service/cli/commands/state_of_server.hpp"
#include "service/cli/html_report/html_report.hpp"
#include "service/cli/options/backend_options.hpp"
#include "service/cli/options/input.hpp"
#include "service/cli/reports/cluster_picture.hpp"
#include "service/cli/reports/count_with_noun.hpp"
#include "service/cli/reports/dispatch_report.hpp"
#include "service/cli/reports/model_text.hpp"
#include "service/cli/reports/placement_report.hpp"
#include "service/cli/reports/reported_gangs.hpp"
#include "service/cli/terminal/progress_bar.hpp"
#include "service/cli/terminal/report_error.hpp"
#include "service/cli/terminal/standard_output.hpp"
#include "service/cli/terminal/terminal.hpp"
#include "service/client/remote_engine.hpp"
#include "service/client/remote_questions.hpp"

namespace espalier {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class PlaceRun {
 public:
  explicit PlaceRun(const PlaceOptions& options)
      : options_(options), style_(OutputStyle(options.color, options.output == "wide")) {}

  ExitCode Run() {
    InputOptions input = options_.input;
    if (!options_.connect.empty() && !options_.load) {
      auto of_state = ConfigurationOfState(options_.connect, options_.state, options_.tls);
      if (!of_state) return ReportError(of_state.error());
      input.of_state = *std::move(of_state);
    }
    input.with_owned_jobs = true;
    Result<ClusterRead> read = ReadInput(input);
    if (!read) return ReportError(read.error());
    std::vector<Workload>& workloads = read->cluster.workloads;
    for (const std::string& note : OtherSizes(read->owned_jobs, workloads, true)) Tell(note);
    HoldBackSurplus(read->owned_jobs, workloads);
    cluster_ = std::move(read->cluster);
    const Result<FeatureGates> gates = GatesOf(cluster_, options_.input.feature_gates);
    if (!gates) return ReportError(gates.error());
    gates_ = *gates;
    if (!options_.workload.empty()) {
      Result<ObjectKey> workload = FindWorkload(cluster_, options_.workload);
      if (!workload) return ReportError(workload.error());
      only_ = *std::move(workload);
    }
    if (options_.show_model) return ShowModel(*read);
    TellGangNotes(read->gang_workloads);
    if (options_.load) gangs_ = std::move(read->gang_workloads);
    if (const Result<void> connected = Connect(); !connected) {
      return ReportError(connected.error());
    }
    if (const auto known = CheckPictured(); !known) return ReportError(known.error());
    const std::string node_lines = asks_ ? state_lines_ : NodeLines(cluster_);
    // Planning looks at no node, and they are most of the memory: one copy of them is enough.
    std::vector<Node> nodes = std::exchange(cluster_.nodes, {});
    Result<PlacementPlan> plan = PlanPlacement(cluster_, {.gates = gates_,
                                                          .only = only_,
                                                          .simulate_empty = options_.simulate_empty,
                                                          .guess_flavor = options_.guess_flavor,
                                                          .tree_rules = Rules()});
    if (!plan) return ReportError(plan.error());
    plan->state.nodes = std::move(nodes);
    const Result<void> decided = Decide(*plan);
    if (!decided) return ReportError(decided.error());
    NotePodsWithoutNode(*plan);
    if (const Result<void> named = NameNodes(plan->state); !named) {
      return ReportError(named.error());
    }
    const PlacementReport report{
        cluster_,   plan->state,       plan->workloads,       planned_.answers,
        node_lines, planned_.verdicts, planned_.other_answers};
    Print(report);
    if (!options_.picture.empty()) PrintPicture(*plan);
    const OutcomeCounts counts = CountOutcomes(report);
    if (!options_.report.empty()) {
      const auto written = WriteReport(*std::move(plan), node_lines);
      if (!written) return ReportError(written.error());
    }
    const std::size_t not_as_asked =
        counts.not_as_asked + counts.left_behind + (counts.lost_pods > 0 ? 1 : 0);
    const std::size_t no = counts.not_placed + (options_.input.best_effort ? 0 : not_as_asked);
    return no == 0 ? kExitOk : kExitNo;
  }

 private:
  ExitCode ShowModel(ClusterRead& read) const {
    std::vector<GangWorkload> workloads;
    for (std::size_t i = 0; i < read.kueue_workloads && i < cluster_.workloads.size(); ++i) {
      workloads.push_back(FromKueueWorkload(cluster_.workloads[i]));
    }
    std::ranges::move(read.gang_workloads, std::back_inserter(workloads));
    if (only_) {
      std::erase_if(workloads, [&](const GangWorkload& one) { return !IsPartOf(*only_, one); });
    }
    WriteOutput(ModelText(workloads, options_.output, style_));
    return kExitOk;
  }

  // Returns whether what is placed under `key` is the workload or a part of it.
  static bool IsPartOf(const ObjectKey& key, const GangWorkload& workload) {
    return key.namespace_ == workload.head.key.namespace_ &&
           (key.name == workload.head.key.name ||
            key.name.starts_with(workload.head.key.name + "-"));
  }

  // Without --load the state of the server is asked, and the files only say what about.
  Result<void> Connect() {
    if (options_.connect.empty()) return {};
    Result<RemoteEngine> remote =
        RemoteEngine::Connect(options_.connect, kCallTimeout, options_.tls);
    if (!remote) return tl::unexpected(remote.error());
    remote_ = *std::move(remote);
    remote_->UseState(options_.state);
    Result<StateSummary> state = remote_->UseStateOfServer();
    if (state) {
      state_ = *std::move(state);
    } else if (!options_.load || state.error().error_class != ErrorClass::kNotFound) {
      return tl::unexpected(state.error());
    }
    if (options_.load) return {};
    asks_ = true;
    state_lines_ = StateLines(state_, options_.connect, cluster_);
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

  Result<void> Decide(PlacementPlan& plan) {
    auto planned = options_.connect.empty() ? DecideHere(plan) : DecideThere(plan);
    if (!planned) return tl::unexpected(planned.error());
    planned_ = *std::move(planned);
    return {};
  }

  Result<PlannedAnswers> DecideHere(PlacementPlan& plan) {
    std::optional<ProgressBar> packing(std::in_place, "packing");
    const Result<ClusterState> state = ClusterState::Build(plan.state);
    packing.reset();
    if (!state) return tl::unexpected(state.error());
    const std::size_t at_once = Mode() == PlacementMode::kNominate ? plan.workloads.size() : 1;
    const auto backend = MakeBackend(options_.backend.name, options_.backend.threads, at_once);
    if (!backend) return tl::unexpected(backend.error());
    const Engine engine(*backend, gates_);
    EmptyNodes empty(*state, plan.state, engine);
    const Nominate place = Timed([&](const std::vector<WorkloadRequest>& requests) {
      ClusterState scratch = state->Branch();
      ProgressBar progress("placing", requests.size());
      return Result<std::vector<WorkloadAnswer>>(engine.Place(
          scratch, requests, Mode(), [&](std::size_t done) { progress.Update(done); }));
    });
    const Nominate on_empty = [&](std::vector<WorkloadRequest> requests) {
      return empty.Nominate(std::move(requests));
    };
    auto planned = Answer(plan, place, on_empty);
    ReportDeviceFault(**backend);
    if (options_.input.verbose) Tell("decided on " + DescribeBackend(**backend));
    return planned;
  }

  Result<PlannedAnswers> DecideThere(PlacementPlan& plan) {
    if (options_.load) {
      if (auto loaded = Load(plan.state); !loaded) return tl::unexpected(loaded.error());
    }
    if (asks_) LeaveOutUnknownFlavors(plan);
    auto questions = RemoteQuestions::Connect(options_.connect, options_.state, gates_,
                                              kCallTimeout, options_.tls);
    if (!questions) return tl::unexpected(questions.error());
    return Answer(plan, Timed([this](const std::vector<WorkloadRequest>& requests) {
                    return remote_->Place(requests, Mode(), gates_);
                  }),
                  [&](const std::vector<WorkloadRequest>& requests) {
                    return (*questions)->NominateOnEmpty(requests);
                  });
  }

  Result<PlannedAnswers> Answer(PlacementPlan& plan, const Nominate& place,
                                const Nominate& on_empty) {
    if (options_.input.profile != "espalier") return AnswerPlan(plan, place, on_empty);
    return AnswerPlanApart(plan, cluster_, plan.state.nodes, Mode() == PlacementMode::kSequential,
                           place, on_empty);
  }

  // Pods that their domain has room for, and no node of it.
  void NotePodsWithoutNode(const PlacementPlan& plan) {
    PodsWithoutNode without(cluster_, plan.state.nodes);
    for (std::size_t i = 0; i < plan.workloads.size(); ++i) {
      const auto* request = std::get_if<WorkloadRequest>(&plan.workloads[i].plan);
      if (request == nullptr) continue;
      std::ranges::move(
          without.Find(*request, planned_.answers[i]),
          std::back_inserter(cluster_.workloads[plan.workloads[i].index].not_honoured));
    }
  }

  // A state is not asked about flavors that it does not have, but for the first of a workload.
  void LeaveOutUnknownFlavors(PlacementPlan& plan) const {
    std::set<std::string> left_out;
    const auto is_unknown = [&](const PodSetRequest& pod_set) {
      const bool known = std::ranges::any_of(
          state_.flavors, [&](const auto& flavor) { return flavor.name == pod_set.flavor; });
      if (!known) left_out.insert(pod_set.flavor);
      return !known;
    };
    for (PlannedWorkload& planned : plan.workloads) {
      std::erase_if(planned.others, [&](const WorkloadRequest& other) {
        return std::ranges::any_of(other.pod_sets, is_unknown);
      });
    }
    for (const std::string& flavor : left_out) {
      Tell(fmt::format("flavor {} is not tried: the state of {} does not have it", Excerpt(flavor),
                       options_.connect));
    }
  }

  Result<void> Load(const ClusterStateInput& input) {
    ClusterStateInput sent = input;
    const std::vector<AdmittedUsage> workloads = AdmittedIn(sent);
    // Nothing is placed on flavors without a topology, but queues of later questions name them.
    std::ranges::copy_if(cluster_.flavors, std::back_inserter(sent.flavors),
                         [](const ResourceFlavor& flavor) { return !flavor.topology_name; });
    const std::string configuration = cluster_.configuration ? cluster_.configuration->json : "";
    if (auto loaded = remote_->Load(sent, workloads, configuration); !loaded) return loaded;
    Tell(fmt::format("replaced the state of {} (generation {}, {}) by that of the files ({})",
                     options_.connect, state_.generation, CountWithNoun(state_.nodes, "node"),
                     CountWithNoun(static_cast<std::int64_t>(input.nodes.size()), "node")));
    return {};
  }

  // Says how long an answer took, where that is wanted.
  Nominate Timed(Nominate place) const {
    return [this, place = std::move(place)](std::vector<WorkloadRequest> requests) {
      const std::size_t asked = requests.size();
      const Clock::time_point start = Clock::now();
      auto answered = place(std::move(requests));
      if (answered && options_.input.verbose) {
        Tell(fmt::format("answered {} workloads in {:.1f} ms", asked, SecondsSince(start) * 1e3));
      }
      return answered;
    };
  }

  // Takes what admitted workloads and gangs whose pods run use from the state, by their keys.
  std::vector<AdmittedUsage> AdmittedIn(ClusterStateInput& state) const {
    if (gangs_.empty()) return TakeUsageByKey(cluster_, state);
    Cluster cluster = cluster_;
    cluster.nodes = std::move(state.nodes);
    AdmitRunningGangs(gangs_, TreesOf(options_.input.profile), cluster);
    state = BuildClusterStateInput(cluster, gates_);
    return TakeUsageByKey(cluster, state);
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

  // Returns what all that were placed use.
  std::vector<FlavorLeafUsage> Booked(const PlacementPlan& plan) const {
    std::vector<FlavorLeafUsage> booked;
    for (std::size_t i = 0; i < plan.workloads.size(); ++i) {
      const auto* request = std::get_if<WorkloadRequest>(&plan.workloads[i].plan);
      const WorkloadAnswer& answer = planned_.answers[i];
      if (request != nullptr && Fits(answer)) {
        std::ranges::move(BookedUsage(*request, answer), std::back_inserter(booked));
      }
    }
    return booked;
  }

  // Near misses are those on what is left once all that could be placed are.
  Result<void> WriteReport(PlacementPlan plan, const std::string& node_lines) const {
    std::ranges::move(Booked(plan), std::back_inserter(plan.state.tas_usage));
    const Result<ClusterState> state = ClusterState::Build(plan.state);
    if (!state) return tl::unexpected(state.error());
    const auto backend = MakeBackend("cpu", options_.backend.threads);
    if (!backend) return tl::unexpected(backend.error());
    const Engine engine(*backend, gates_);
    NearMissReader misses(*state, engine);
    HtmlReport report{.command = "espalier place",
                      .facts = node_lines,
                      .about = only_ ? only_->ToString() : "",
                      .state = std::move(plan.state),
                      .gangs = {}};
    if (!options_.simulate_empty) report.gangs = RunningGangs(cluster_);
    const NamesByFlavor names(report.state.flavors, report.state.topologies, {});
    for (std::size_t i = 0; i < plan.workloads.size(); ++i) {
      report.gangs.push_back(GangOf(plan.workloads[i], planned_.answers[i], names, misses));
    }
    return WriteHtmlReport(std::move(report), options_.report);
  }

  ReportedGang GangOf(const PlannedWorkload& planned, const WorkloadAnswer& answer,
                      const NamesByFlavor& names, NearMissReader& misses) const {
    const auto* request = std::get_if<WorkloadRequest>(&planned.plan);
    ReportedGang gang =
        WaitingGang(cluster_.workloads[planned.index], planned.cluster_queue, request, names);
    switch (OutcomeOf(planned, answer)) {
      case Outcome::kPlaced:
        gang.state = ReportedGang::State::kPlaced;
        gang.status = "placed" + GuessText(planned);
        gang.pod_sets = PlacedPodSets(*request, answer, names);
        break;
      case Outcome::kNothingToPlace:
        gang.state = ReportedGang::State::kPlaced;
        gang.status = ReasonOf(planned, answer);
        break;
      case Outcome::kNotPlaced:
        gang.status = "not placed";
        gang.reasons.push_back(ReasonOf(planned, answer));
        if (request != nullptr) misses.Read(*request, gang);
        break;
    }
    return gang;
  }

  void PrintPicture(const PlacementPlan& plan) const {
    const std::vector<FlavorLeafUsage> booked = Booked(plan);
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

  NestedProfile Rules() const {
    return options_.input.profile == "kep5732" ? NestedProfile::kKep5732 : NestedProfile::kEspalier;
  }

  const PlaceOptions& options_;
  FeatureGates gates_;
  TextStyle style_;
  std::optional<ObjectKey> only_;
  Cluster cluster_;
  std::vector<GangWorkload> gangs_;  // of the files, to be loaded
  PlannedAnswers planned_;
  std::optional<RemoteEngine> remote_;
  StateSummary state_;       // of the server, before this
  bool asks_ = false;        // about the state of the server
  std::string state_lines_;  // what it holds, where it is asked
};

int RunDispatch(const PlaceOptions& options) {
  const auto clusters = ParseClusterFiles(options.clusters);
  if (!clusters) {
    ReportError(Error{clusters.error().error_class, "--cluster: " + clusters.error().message});
    return kExitUsage;
  }
  const auto dispatched = DispatchWorkloads({.input = options.input,
                                             .clusters = *clusters,
                                             .workload = options.workload,
                                             .simulate_empty = options.simulate_empty,
                                             .guess_flavor = options.guess_flavor,
                                             .backend = options.backend,
                                             .connect = options.connect,
                                             .tls = options.tls,
                                             .states = options.state});
  if (!dispatched) return ReportError(dispatched.error());
  if (options.output == "json") {
    WriteOutput(DispatchObject(*dispatched, *MakeJsonWriter()));
  } else if (options.output == "yaml") {
    WriteOutput(DispatchObject(*dispatched, *MakeYamlWriter()));
  } else {
    WriteOutput(DispatchTable(*dispatched, OutputStyle(options.color, options.output == "wide")));
  }
  return CountFitting(*dispatched) == dispatched->workloads.size() ? kExitOk : kExitNo;
}

int RunPlace(const PlaceOptions& options) {
  if (const auto named = ParseFeatureGates(options.input.feature_gates); !named) {
    ReportError(named.error());
    return kExitUsage;
  }
  if (!options.clusters.empty() || AsksManyStates(options)) return RunDispatch(options);
  return PlaceRun(options).Run();
}

}  // namespace

void AddPlaceCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<PlaceOptions>();
  CLI::App* place = app.add_subcommand(
      "place", "Show where every pending workload of a saved cluster would go, or why it cannot");
  AddPlaceOptions(*place, *options);
  place->callback([options, place, &exit_code] {
    CheckPlaceOptions(*place, *options);
    exit_code = RunPlace(*options);
  });
}

}  // namespace espalier
