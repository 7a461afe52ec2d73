#include "service/cli/commands/question.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/gangs/placement_units.hpp"
#include "host/kueue/elastic/owned_jobs.hpp"
#include "host/kueue/objects/assignment_encoding.hpp"
#include "host/kueue/objects/running_gangs.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/kueue/planning/drain.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/names_text.hpp"
#include "host/model/nearest_name.hpp"
#include "host/questions/local_questions.hpp"
#include "service/backends/backends.hpp"
#include "service/cli/commands/state_of_server.hpp"
#include "service/cli/options/address_option.hpp"
#include "service/cli/options/tls_options.hpp"
#include "service/cli/reports/admission_writer.hpp"
#include "service/cli/reports/count_with_noun.hpp"
#include "service/cli/terminal/standard_output.hpp"
#include "service/client/remote_engine.hpp"
#include "service/client/remote_questions.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostDomainLines = 6;   // of where a pod set goes
constexpr std::size_t kMostNamedInError = 5;  // in an error

tl::unexpected<Error> NotFound(std::string message) {
  return tl::unexpected(Error{ErrorClass::kNotFound, std::move(message)});
}

Result<std::vector<std::size_t>> FindNode(const Cluster& cluster, const std::string& name) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < cluster.nodes.size(); ++i) {
    if (cluster.nodes[i].name == name) return std::vector{i};
    names.push_back(cluster.nodes[i].name);
  }
  const std::string_view nearest = NearestName(name, names);
  return NotFound(fmt::format("node {} is not in the input; {}", Excerpt(name),
                              nearest.empty() ? "want a node, or LEVEL=VALUE such as rack=r05"
                                              : fmt::format("there is {}", Excerpt(nearest))));
}

// The levels of a topology from the coarsest to the named one; empty: it has none of that name.
std::vector<std::string> LevelsTo(const Topology& topology, const std::string& level) {
  const TopologyNames names(topology, {});
  for (std::size_t i = 0; i < topology.levels.size(); ++i) {
    if (topology.levels[i] != level && names.LevelName(topology.levels[i]) != level) continue;
    return {topology.levels.begin(), topology.levels.begin() + static_cast<std::ptrdiff_t>(i) + 1};
  }
  return {};
}

// Values of the levels on a node joined with slashes; empty: it lacks one.
std::string PathOf(const Node& node, const std::vector<std::string>& levels) {
  std::string path;
  for (const std::string& level : levels) {
    const std::string* value = node.labels.Find(level);
    if (value == nullptr) return {};
    path += (path.empty() ? "" : "/") + *value;
  }
  return path;
}

bool IsEndOf(const std::string& path, const std::string& end) {
  return path == end || path.ends_with("/" + end);
}

Result<void> Connect(const QuestionOptions& options, Question& question) {
  Result<RemoteEngine> engine = RemoteEngine::Connect(options.connect, kCallTimeout, options.tls);
  if (!engine) return tl::unexpected(engine.error());
  engine->UseState(options.state);
  const Result<StateSummary> state = engine->UseStateOfServer();
  if (!state) return tl::unexpected(state.error());
  const auto notes = MatchToState(*state, options.connect, question.cluster);
  if (!notes) return tl::unexpected(notes.error());
  for (const std::string& note : *notes) Tell(note);
  if (options.needs_nodes && question.cluster.nodes.empty()) {
    Result<std::vector<Node>> nodes = NodesOfState(*state, *engine);
    if (!nodes) return tl::unexpected(nodes.error());
    question.cluster.nodes = *std::move(nodes);
    question.why_not_nodes = WhyNotNodes(*state, options.connect);
  }
  auto remote = RemoteQuestions::Connect(options.connect, options.state, question.gates,
                                         kCallTimeout, options.tls);
  if (!remote) return tl::unexpected(remote.error());
  question.asked = *std::move(remote);
  return {};
}

}  // namespace

void AddConnectOptions(CLI::App& command, QuestionOptions& options) {
  CLI::Option* connect =
      command
          .add_option("--connect", options.connect,
                      "Ask the server at unix:PATH or HOST:PORT about the state that it holds;\n"
                      "the files say what is asked, and who runs")
          ->check(IsAddress());
  AddTlsOptions(command, connect, options.tls);
  command
      .add_option("--state", options.state,
                  "With --connect: the server's state of that name instead of the one without")
      ->needs(connect);
}

void AddWorkloadArgument(CLI::App& command, std::string& workload) {
  command
      .add_option("WORKLOAD", workload,
                  "A pending workload: NAMESPACE/NAME or NAME, its own or its job's")
      ->required()
      ->check(CLI::Validator(CheckWorkloadName, "NAME"));
}

void AddQuestionOptions(CLI::App& command, QuestionOptions& options) {
  AddInputOptions(command, options.input);
  AddProfileOptions(command, options.input);
  const auto check_gates = [](const std::string& text) {
    const auto gates = ParseFeatureGates(text);
    return gates ? std::string() : gates.error().message;
  };
  command
      .add_option("--feature-gates", options.input.feature_gates,
                  "Kueue's gates that change a decision: Name=true,Other=false")
      ->check(CLI::Validator(check_gates, "GATES"));
  command.add_option("-o,--output", options.output, "table; json, yaml: for scripts")
      ->check(CLI::IsMember({"table", "json", "yaml"}))
      ->capture_default_str();
  AddColorOption(command, options.color);
}

Result<Question> ReadQuestion(const QuestionOptions& options) {
  InputOptions input = options.input;
  if (!options.connect.empty()) {
    auto of_state = ConfigurationOfState(options.connect, options.state, options.tls);
    if (!of_state) return tl::unexpected(of_state.error());
    input.of_state = *std::move(of_state);
  }
  input.with_owned_jobs = true;
  Result<ClusterRead> read = ReadInput(input);
  if (!read) return tl::unexpected(read.error());
  HoldBackSurplus(read->owned_jobs, read->cluster.workloads);
  const Result<FeatureGates> gates = GatesOf(read->cluster, input.feature_gates);
  if (!gates) return tl::unexpected(gates.error());
  if (options.moves_gangs) {
    AdmitRunningGangs(read->gang_workloads, TreesOf(options.input.profile), read->cluster);
  }
  Question question{.cluster = std::move(read->cluster),
                    .asked = nullptr,
                    .backend = nullptr,
                    .gates = *gates,
                    .style = OutputStyle(options.color, false),
                    .keeps_domains = options.input.profile == "espalier",
                    .why_not_nodes = {}};
  if (!options.connect.empty()) {
    if (auto connected = Connect(options, question); !connected) {
      return tl::unexpected(connected.error());
    }
    return question;
  }
  auto backend = MakeBackend(options.backend.name, options.backend.threads, 1);
  if (!backend) return tl::unexpected(backend.error());
  question.backend = *std::move(backend);
  auto asked = LocalQuestions::Open(question.cluster, question.MakeEngine());
  if (!asked) return tl::unexpected(asked.error());
  question.asked = *std::move(asked);
  return question;
}

Result<std::shared_ptr<Questions>> AskedAt(const Question& question, const Cluster& moment) {
  if (question.backend == nullptr) return question.asked;
  auto asked = LocalQuestions::Open(moment, question.MakeEngine());
  if (!asked) return tl::unexpected(asked.error());
  return *std::move(asked);
}

Result<WorkloadToPlace> FindWorkloadToPlace(const Question& question, const Cluster& cluster,
                                            const std::string& workload) {
  const Result<ObjectKey> key = FindWorkload(cluster, workload);
  if (!key) return tl::unexpected(key.error());
  Result<PlacementPlan> plan = PlanPlacement(cluster, {.gates = question.gates, .only = *key});
  if (!plan) return tl::unexpected(plan.error());
  PlannedWorkload& planned = plan->workloads.front();
  const auto cannot = [&](const std::string& why) {
    return BadInput(fmt::format("workload {}: {}", Excerpt(key->ToString()), why));
  };
  WorkloadToPlace asked{.workload = &cluster.workloads[planned.index],
                        .cluster_queue = planned.cluster_queue,
                        .request = {},
                        .others = {},
                        .fewer = std::nullopt,
                        .closed = {}};
  if (const auto* refused = std::get_if<RefusedWorkload>(&planned.plan)) {
    asked.refusal = refused->reason;
    return asked;
  }
  if (const auto* nothing = std::get_if<NothingToPlace>(&planned.plan)) {
    return cannot(nothing->reason);
  }
  if (question.keeps_domains) asked.closed = KeepApart(*plan, cluster, cluster.nodes).front();
  asked.request = std::get<WorkloadRequest>(std::move(planned.plan));
  asked.others = std::move(planned.others);
  asked.fewer = std::move(planned.fewer);
  return asked;
}

void PrintRefusal(const Question& question, const WorkloadToPlace& asked,
                  const std::string& format) {
  const std::string key = asked.workload->key.ToString();
  if (format == "table") {
    WriteOutput(RenderTable({"", key}, {{"NOW", {"not placed: " + asked.refusal, Color::kBad}}},
                            question.style));
    return;
  }
  PrintObject(format, [&](ObjectWriter& out) {
    out.Field("workload", std::string_view(key));
    out.Key("fits");
    out.Flag(false);
    out.Field("reason", std::string_view(asked.refusal));
  });
}

std::vector<const WorkloadRequest*> WorkloadToPlace::Choices() const {
  std::vector<const WorkloadRequest*> choices = {&request};
  for (const WorkloadRequest& other : others) choices.push_back(&other);
  return choices;
}

bool IsNotTried(const WorkloadToPlace& asked, const WorkloadRequest& request, const Error& error) {
  if (error.error_class != ErrorClass::kNotFound || &request == &asked.request) return false;
  Tell(fmt::format("{} is not tried: {}", FlavorsText(request), error.message));
  return true;
}

void NotePodsWithoutNode(const Cluster& cluster, const WorkloadRequest& request,
                         const WorkloadAnswer& answer, Workload& workload) {
  std::ranges::move(PodsWithoutNode(cluster, cluster.nodes).Find(request, answer),
                    std::back_inserter(workload.not_honoured));
}

void NoteMove(PodsWithoutNode& without, const WorkloadRequest& request,
              const WorkloadAnswer& answer, Workload& workload) {
  if (!Fits(answer)) return;
  if (!request.tree) SayWhatSlicesLeaveOut(workload);
  std::ranges::move(without.Find(request, answer), std::back_inserter(workload.not_honoured));
}

void NoteAdmission(PodsWithoutNode& without, Workload& workload) {
  if (!HasReservation(workload)) return;
  std::ranges::move(without.Find(workload, workload.admission->pod_set_assignments),
                    std::back_inserter(workload.not_honoured));
}

TableCell AnswerCell(const WorkloadAnswer& answer, const NamesByFlavor& names) {
  const bool several = answer.pod_sets.size() > 1;
  const auto prefix = [&](const PodSetAnswer& pod_set) {
    return several ? pod_set.name + ": " : std::string();
  };
  if (const PodSetAnswer* failed = answer.FirstFailure()) {
    return {"does not fit: " + prefix(*failed) + failed->failure->reason, Color::kBad};
  }
  std::vector<std::string> lines;
  for (const PodSetAnswer& pod_set : answer.pod_sets) {
    if (!pod_set.assignment) continue;
    auto domains = DomainLines(*pod_set.assignment, names.Of(pod_set.flavor), Detail::kShort,
                               kMostDomainLines);
    for (std::size_t i = 0; i < domains.size(); ++i) {
      lines.push_back((i == 0 ? prefix(pod_set) : std::string(several ? 2 : 0, ' ')) + domains[i]);
    }
  }
  if (lines.empty()) lines.emplace_back("fits");
  if (answer.tree && answer.tree->status == NestedStatus::kPlacedInPart) {
    lines.push_back("in part: " + answer.tree->reason);
  }
  return lines;
}

void WriteNotHonoured(const Workload& workload, ObjectWriter& out) {
  if (workload.not_honoured.empty()) return;
  out.Field("notHonoured", workload.not_honoured);
}

void WriteAnswer(const WorkloadAnswer& answer, const FeatureGates& gates, ObjectWriter& out) {
  out.BeginMap();
  out.Key("fits");
  out.Flag(Fits(answer));
  if (answer.tree && answer.tree->status == NestedStatus::kPlacedInPart) {
    out.Field("inPart", std::string_view(answer.tree->reason));
  }
  out.Key("podSets");
  out.BeginList();
  for (const PodSetAnswer& pod_set : answer.pod_sets) {
    out.BeginMap();
    out.Field("name", std::string_view(pod_set.name));
    if (!pod_set.flavor.empty()) out.Field("flavor", std::string_view(pod_set.flavor));
    if (pod_set.failure) out.Field("reason", std::string_view(pod_set.failure->reason));
    if (pod_set.assignment) {
      out.Key("topologyAssignment");
      WriteTopologyAssignment(*pod_set.assignment, gates, out);
    }
    out.EndMap();
  }
  out.EndList();
  out.EndMap();
}

void PrintObject(const std::string& format, const std::function<void(ObjectWriter&)>& write) {
  const auto writer = format == "json" ? MakeJsonWriter() : MakeYamlWriter();
  writer->BeginMap();
  write(*writer);
  writer->EndMap();
  WriteOutput(writer->Finish());
}

Result<void> CheckNodes(const Question& question) {
  if (question.why_not_nodes.empty()) return {};
  return BadInput(question.why_not_nodes);
}

Result<std::vector<std::size_t>> FindNodes(const Cluster& cluster, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return FindNode(cluster, text);
  const std::string level = text.substr(0, equals);
  const std::string value = text.substr(equals + 1);
  std::map<std::string, std::vector<std::size_t>> found;  // by path
  std::vector<std::string> known;                         // names of levels
  for (const Topology& topology : cluster.topologies) {
    const TopologyNames names(topology, {});
    for (const std::string& key : topology.levels) known.push_back(names.LevelName(key));
    const std::vector<std::string> levels = LevelsTo(topology, level);
    if (levels.empty()) continue;
    for (std::size_t i = 0; i < cluster.nodes.size(); ++i) {
      const std::string path = PathOf(cluster.nodes[i], levels);
      if (!path.empty() && IsEndOf(path, value)) found[path].push_back(i);
    }
    if (found.size() == 1) return std::move(found.begin()->second);
    if (found.empty()) {
      return NotFound(fmt::format("no node has {}={}", Excerpt(level), Excerpt(value)));
    }
    std::vector<std::string> paths;
    for (const auto& [path, nodes] : found) paths.push_back(Excerpt(path));
    return BadInput(fmt::format(
        "{}={} is in {} places: {}; want one of them, as {}={}", Excerpt(level), Excerpt(value),
        found.size(), NamesText(paths, kMostNamedInError), Excerpt(level), paths.front()));
  }
  return NotFound(fmt::format("no topology has a level {}; there are {}", Excerpt(level),
                              known.empty() ? "none" : NamesText(known, kMostNamedInError)));
}

std::string OtherPodsLine(const Question& question, const Cluster& cluster,
                          std::span<const std::size_t> nodes) {
  if (question.backend == nullptr) {
    Tell("other pods on drained nodes: those of the files; a server does not know them one by one");
  }
  const OtherPods others = OtherPodsOn(cluster, nodes);
  std::string line;
  if (others.ending > 0) {
    line =
        fmt::format("{}, which {} too (to where is not looked at)",
                    CountWithNoun(others.ending, "other pod"), others.ending == 1 ? "goes" : "go");
  }
  if (others.lasting > 0) {
    line += fmt::format("{}{} of DaemonSets or of the nodes themselves", line.empty() ? "" : "; ",
                        CountWithNoun(others.lasting, "pod"));
  }
  return line.empty() ? "" : "also there: " + line + "\n";
}

void WriteOtherPods(const Cluster& cluster, std::span<const std::size_t> nodes, ObjectWriter& out) {
  const OtherPods others = OtherPodsOn(cluster, nodes);
  out.Field("otherPods", others.ending);
  out.Field("daemonPods", others.lasting);
}

}  // namespace espalier
