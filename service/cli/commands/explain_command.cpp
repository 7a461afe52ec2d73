// espalier explain: why does a workload wait, and what little would change that?
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/objects/node_participation.hpp"
#include "host/kueue/objects/quantity_text.hpp"
#include "host/kueue/validation/certificate.hpp"
#include "host/kueue/validation/ruled_out.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/commands/question.hpp"
#include "service/cli/html_report/html_report.hpp"
#include "service/cli/reports/certificate_text.hpp"
#include "service/cli/reports/placement_report.hpp"
#include "service/cli/reports/reported_gangs.hpp"
#include "service/cli/terminal/report_error.hpp"
#include "service/cli/terminal/standard_output.hpp"

namespace espalier {
namespace {

struct ExplainOptions {
  QuestionOptions question;
  std::string workload;
  std::string report;  // file; empty: none
};

constexpr const char* kExplainExamples = R"(Examples:
  Why is it not placed, and what is the smallest change?
    espalier explain team-a/train cluster.json.gz

  For a script: the nodes whose repair alone would do
    espalier explain team-a/train cluster.json.gz -o json | jq -r '.wouldFit.repaired[]'

  Where in the cluster is that?
    espalier explain team-a/train cluster.json.gz --report train.html

NEAREST is the domain that comes nearest to holding it, BINDS what is short there, RULED OUT what of
selector, affinity and taints keeps the pods from its nodes, LEFT OUT which nodes of the flavor take no
part. Each line of WOULD FIT is a change that was tried and that suffices alone. EVER tells what can
never be placed on these nodes from what only waits: an empty node has pods of DaemonSets alone. All
flavors that the queue would try are looked at, and of a workload that may be admitted in part fewer
pods. Quota is not.

Exit codes: 0 it fits; 1 it does not; 2 wrong command line; 3 wrong input;
4 no GPU or memory, or output lost; 5 internal error.)";

// A request on some of the flavors that the queue tries, and what was found on them.
struct OnFlavors {
  WorkloadRequest request;
  Certificate found;
  bool with_fewer = false;  // pods than the workload asks for

  bool fits() const { return found.fits; }
};

// Returns the first that fits, or else the first that empty nodes hold, of which that is not known,
// or the first.
const OnFlavors& BestOf(const std::vector<OnFlavors>& tried) {
  const auto rank = [](const OnFlavors& one) {
    if (one.found.fits) return 0;
    if (!one.found.never && !one.found.undecided) return 1;
    return one.found.undecided ? 2 : 3;
  };
  return *std::ranges::min_element(tried, {}, rank);
}

std::string EverText(const Certificate& found) {
  if (found.undecided) return "undecided: whether the nodes could hold it, were they empty";
  if (!found.never) return "yes, once enough of what runs has ended";
  if (!found.near_miss) return "never on these nodes: see NOW";
  const PodSetAnswer* failed = found.empty.FirstFailure();
  if (failed == nullptr || !failed->failure->shortfall) return "never on these nodes";
  return "never on these nodes: with nothing running, " + failed->failure->reason;
}

class Table {
 public:
  Table(const std::vector<OnFlavors>& tried, const WorkloadToPlace& asked,
        const NamesByFlavor& names)
      : tried_(tried),
        best_(BestOf(tried)),
        found_(best_.found),
        asked_(asked),
        names_(names),
        several_(!asked.others.empty()) {}

  std::string Render(const TextStyle& style) {
    TableCell now = AnswerCell(found_.answer, names_);
    if (several_) now.lines.front() = On(best_.request) + now.lines.front();
    if (best_.with_fewer) {
      now.lines.insert(now.lines.begin(),
                       fmt::format("with {} of {} pods, as its minimum allows:",
                                   PodsOf(best_.request), PodsOf(asked_.request)));
    }
    rows_.push_back({"NOW", std::move(now)});
    for (const std::string& line : NotHonouredLines(*asked_.workload)) {
      rows_.push_back({"", TableCell(line, Color::kBad)});
    }
    for (const OnFlavors& other : tried_) {
      if (&other == &best_) continue;
      TableCell cell = AnswerCell(other.found.answer, names_);
      cell.lines.front() = On(other.request) + cell.lines.front();
      rows_.push_back({"", std::move(cell)});
    }
    if (!found_.fits) {
      if (found_.near_miss) AddNearMiss(*found_.near_miss);
      if (const auto lines = LeftOutLines(found_.left_out); !lines.empty()) {
        rows_.push_back({"LEFT OUT", lines});
      }
      rows_.push_back({"WOULD FIT", Changes()});
      rows_.push_back({"EVER", Ever()});
    }
    return RenderTable({"", asked_.workload->key.ToString()}, rows_, style);
  }

 private:
  static std::string On(const WorkloadRequest& request) {
    return "on " + FlavorsText(request) + ": ";
  }

  void AddNearMiss(const NearMiss& miss) {
    rows_.push_back(
        {"NEAREST", NearMissText(miss, names_) + (found_.never ? "; with nothing running" : "")});
    rows_.push_back({"BINDS", BindingLines(miss)});
    if (const auto lines = RuledOutLines(miss); !lines.empty()) {
      rows_.push_back({"RULED OUT", lines});
    }
  }

  std::vector<std::string> Changes() const {
    std::vector<std::string> lines;
    for (const OnFlavors& one : tried_) {
      PossibleChanges changes = one.found.changes;
      changes.other_flavors.clear();
      for (const std::string& line : ChangeLines(changes, one.request, names_)) {
        lines.push_back(several_ ? On(one.request) + line : line);
      }
    }
    PossibleChanges flavors;  // of all that are tried the same
    flavors.other_flavors = found_.changes.other_flavors;
    std::erase_if(flavors.other_flavors, [&](const auto& flavor) { return IsTried(flavor); });
    std::ranges::move(ChangeLines(flavors, best_.request, names_), std::back_inserter(lines));
    if (lines.empty()) lines.emplace_back("no single change of these kinds is enough");
    return lines;
  }

  bool IsTried(const std::string& flavor) const {
    return std::ranges::any_of(asked_.Choices(), [&](const WorkloadRequest* request) {
      return std::ranges::any_of(request->pod_sets, [&](const PodSetRequest& pod_set) {
        return pod_set.flavor == flavor;
      });
    });
  }

  TableCell Ever() const {
    const bool only_one = !several_ || found_.never;  // the best is never: so are all
    TableCell cell = (only_one ? "" : On(best_.request)) + EverText(found_);
    if (found_.never) cell.color = Color::kBad;
    return cell;
  }

  const std::vector<OnFlavors>& tried_;
  const OnFlavors& best_;
  const Certificate& found_;
  const WorkloadToPlace& asked_;
  const NamesByFlavor& names_;
  const bool several_;
  std::vector<TableRow> rows_;
};

void WriteNearMiss(const NearMiss& miss, ObjectWriter& out) {
  out.Key("nearest");
  out.BeginMap();
  out.Field("podSet", std::string_view(miss.pod_set));
  out.Field("flavor", std::string_view(miss.flavor));
  out.Field("level", std::string_view(miss.level));
  out.Field("domain", miss.domain);
  out.Field("fit", miss.fit);
  out.Field("pods", miss.pods);
  out.Field("nodes", miss.nodes);
  out.Field("nodesWithRoom", miss.nodes_with_room);
  out.Field("nodesNotMatching", miss.nodes_not_matching);
  out.Key("binding");
  out.BeginList();
  for (const BindingResource& resource : miss.binding) {
    out.BeginMap();
    out.Field("resource", std::string_view(resource.resource));
    out.Field("missing", std::string_view(QuantityText(resource.resource, resource.missing)));
    out.Field("pods", resource.pods);
    out.EndMap();
  }
  out.EndList();
  out.Key("ruledOut");
  out.BeginList();
  for (const RuledOut& one : miss.ruled_out) {
    out.BeginMap();
    out.Field("by", std::string_view(one.by));
    out.Field("nodes", one.nodes);
    if (!one.remedy.empty()) out.Field("remedy", std::string_view(one.remedy));
    out.EndMap();
  }
  out.EndList();
  out.EndMap();
}

void WriteLeftOut(const std::vector<LeftOutNodes>& left_out, ObjectWriter& out) {
  out.Key("leftOut");
  out.BeginList();
  for (const LeftOutNodes& cause : left_out) {
    out.BeginMap();
    out.Field("cause", std::string_view(cause.cause));
    out.Field("nodes", cause.nodes);
    out.EndMap();
  }
  out.EndList();
}

void WriteChanges(const PossibleChanges& changes, ObjectWriter& out) {
  out.Key("wouldFit");
  out.BeginMap();
  out.Field("pods", std::int64_t{changes.fewer_pods});
  out.Field("requiredLevel", std::string_view(changes.coarser_level));
  out.Key("anywhere");
  out.Flag(changes.anywhere);
  out.Field("repaired", changes.repaired);
  out.Field("without", NamesOfGone(changes));
  out.Field("repairedTogether", changes.repaired_together);
  out.Key("labelled");
  out.BeginList();
  for (const LabelledNodes& labelled : changes.labelled) {
    out.BeginMap();
    out.Field("label", std::string_view(labelled.label));
    out.Field("value", std::string_view(labelled.value));
    out.Field("nodes", labelled.nodes);
    out.EndMap();
  }
  out.EndList();
  out.Field("sliceSize", std::int64_t{changes.slice_size});
  out.Key("requests");
  out.BeginList();
  for (const LowerRequest& lower : changes.lower_requests) {
    out.BeginMap();
    out.Field("resource", std::string_view(lower.resource));
    out.Field("atMost", std::string_view(QuantityText(lower.resource, lower.amount)));
    out.EndMap();
  }
  out.EndList();
  out.Field("withoutConstraint", changes.without);
  out.Field("tolerated", changes.tolerated);
  out.Field("flavors", changes.other_flavors);
  out.EndMap();
}

// The members that tell what was found on some flavors.
void WriteFound(const Certificate& found, const FeatureGates& gates, ObjectWriter& out) {
  out.Key("now");
  WriteAnswer(found.answer, gates, out);
  if (found.fits) return;
  out.Key("never");
  out.Flag(found.never);
  if (found.undecided) {
    out.Key("undecided");
    out.Flag(true);
  }
  if (found.near_miss) WriteNearMiss(*found.near_miss, out);
  WriteLeftOut(found.left_out, out);
  WriteChanges(found.changes, out);
}

void Write(const std::vector<OnFlavors>& tried, const WorkloadToPlace& asked,
           const FeatureGates& gates, ObjectWriter& out) {
  const OnFlavors& best = BestOf(tried);
  out.Field("workload", std::string_view(asked.workload->key.ToString()));
  out.Field("flavor", std::string_view(FlavorsText(best.request)));
  if (best.with_fewer) {
    out.Key("fewerPods");
    out.Flag(true);
  }
  WriteFound(best.found, gates, out);
  WriteNotHonoured(*asked.workload, out);
  if (tried.size() == 1) return;
  out.Key("otherFlavors");
  out.BeginList();
  for (const OnFlavors& other : tried) {
    if (&other == &best) continue;
    out.BeginMap();
    out.Field("flavor", std::string_view(FlavorsText(other.request)));
    WriteFound(other.found, gates, out);
    out.EndMap();
  }
  out.EndList();
}

Result<void> WriteReport(const std::vector<OnFlavors>& tried, const WorkloadToPlace& asked,
                         const Question& question, const std::string& file) {
  const Cluster& cluster = question.cluster;
  auto input = question.asked->ReadInput();
  if (!input) return tl::unexpected(input.error());
  const NamesByFlavor names(cluster.flavors, cluster.topologies, {});
  HtmlReport report{.command = "espalier explain",
                    .facts = NodeLines(cluster),
                    .about = asked.workload->key.ToString(),
                    .state = *std::move(input),
                    .gangs = RunningGangs(cluster)};
  const auto& [request, found, with_fewer] = BestOf(tried);
  ReportedGang& gang =
      report.gangs.emplace_back(WaitingGang(*asked.workload, asked.cluster_queue, &request, names));
  if (found.fits) {
    gang.state = ReportedGang::State::kPlaced;
    gang.status = with_fewer ? "would fit, with fewer pods" : "would fit";
    gang.pod_sets = PlacedPodSets(request, found.answer, names);
  } else {
    gang.reasons.push_back(found.answer.FirstFailure()->failure->reason);
    if (found.never) gang.reasons.emplace_back("never on these nodes, whatever ends");
    gang.nearest = found.near_miss;
    gang.nearest_when = found.never ? "with nothing running" : "now";
    gang.changes = ChangeLines(found.changes, request, names);
  }
  return WriteHtmlReport(std::move(report), file);
}

// Adds, where none of those that were tried holds a workload that may be admitted in part, how most
// of its pods are held (R21.11).
Result<void> TryFewer(const Question& question, const FewerPods& fewer,
                      std::vector<OnFlavors>& tried) {
  std::vector<const WorkloadRequest*> choices;
  for (const OnFlavors& one : tried) choices.push_back(&one.request);
  std::size_t holding = 0;  // the first of the requests that is held
  auto held =
      FindFewer(fewer, choices, [&](const std::vector<WorkloadRequest>& requests) -> Result<bool> {
        const auto answers = question.asked->Nominate(requests);
        if (!answers) return tl::unexpected(answers.error());
        const auto found = std::ranges::find_if(
            *answers, [](const WorkloadAnswer& answer) { return Fits(answer); });
        if (found == answers->end()) return false;
        holding = static_cast<std::size_t>(found - answers->begin());
        return true;
      });
  if (!held) return tl::unexpected(held.error());
  if (held->empty()) return {};
  auto found = question.asked->Explain((*held)[holding], {});
  if (!found) return tl::unexpected(found.error());
  tried.push_back({std::move((*held)[holding]), *std::move(found), true});
  return {};
}

// Tells what the pods require of nodes from the domains that they are kept out of, which are a part
// of their affinity: each is to suffice alone.
Result<void> TellAffinityApart(const Question& question, const WorkloadToPlace& asked,
                               const WorkloadRequest& request, Certificate& found) {
  std::vector<std::string>& without = found.changes.without;
  const auto is_affinity = [](const std::string& part) {
    return part.starts_with("required node affinity ");
  };
  if (request.tree || std::ranges::none_of(without, is_affinity)) return {};
  const std::string failed = found.answer.FirstFailure()->name;
  const auto pods_of = [&](WorkloadRequest& of) -> NodeAffinity& {
    return std::ranges::find(of.pod_sets, failed, &PodSetRequest::name)->pod_template.affinity;
  };
  WorkloadRequest let_in = request;
  LetIn(asked.closed, let_in);
  const auto own = pods_of(let_in).required;
  if (!own) return {};
  WorkloadRequest kept_out = let_in;
  pods_of(kept_out).required.reset();
  KeepOut(asked.closed, kept_out);
  const auto answers = question.asked->Nominate(std::vector{kept_out, let_in});
  if (!answers) return tl::unexpected(answers.error());
  std::erase_if(without, is_affinity);
  const auto add = [&](const auto& required) {
    without.push_back(PartsOf({.required_affinity = required}).front().without);
  };
  if (Fits(answers->at(0))) add(own);
  if (Fits(answers->at(1))) add(pods_of(kept_out).required);
  return {};
}

// Explains a request. On empty nodes nobody holds a domain that others are kept out of.
Result<Certificate> ExplainOne(const Question& question, const WorkloadToPlace& asked,
                               const WorkloadRequest& request,
                               std::optional<std::span<const RunningWorkload>> running) {
  auto found = question.asked->Explain(request, running);
  if (!found || found->fits || asked.closed.empty()) return found;
  if (auto told = TellAffinityApart(question, asked, request, *found); !told) {
    return tl::unexpected(told.error());
  }
  if (!found->never && !found->undecided) return found;
  WorkloadRequest let_in = request;
  LetIn(asked.closed, let_in);
  const auto on_empty = question.asked->NominateOnEmpty({&let_in, 1});
  if (!on_empty) return tl::unexpected(on_empty.error());
  if (Fits(on_empty->front())) found->never = found->undecided = false;
  return found;
}

// On each of the flavors that the queue tries, up to one that holds it.
Result<std::vector<OnFlavors>> ExplainEach(const Question& question, const WorkloadToPlace& asked) {
  const std::vector<RunningWorkload> running =
      RunningWorkloads(question.cluster, asked.request.key);
  std::optional<std::span<const RunningWorkload>> of_files;  // else all that are known
  if (!running.empty()) of_files = running;
  std::vector<OnFlavors> tried;
  for (const WorkloadRequest* request : asked.Choices()) {
    auto found = ExplainOne(question, asked, *request, of_files);
    if (!found && IsNotTried(asked, *request, found.error())) continue;
    if (!found) return tl::unexpected(found.error());
    tried.push_back({*request, *std::move(found)});
    if (tried.back().fits()) return tried;
  }
  if (asked.fewer) {
    if (auto held = TryFewer(question, *asked.fewer, tried); !held) {
      return tl::unexpected(held.error());
    }
  }
  return tried;
}

ExitCode RunExplain(const ExplainOptions& options) {
  const Result<Question> question = ReadQuestion(options.question);
  if (!question) return ReportError(question.error());
  const Cluster& cluster = question->cluster;
  auto asked = FindWorkloadToPlace(*question, cluster, options.workload);
  if (!asked) return ReportError(asked.error());
  if (!asked->refusal.empty()) {
    PrintRefusal(*question, *asked, options.question.output);
    return kExitNo;
  }
  const auto tried = ExplainEach(*question, *asked);
  if (!tried) return ReportError(tried.error());
  Workload workload = *asked->workload;
  const OnFlavors& best = BestOf(*tried);
  NotePodsWithoutNode(cluster, best.request, best.found.answer, workload);
  asked->workload = &workload;
  if (options.question.output == "table") {
    const NamesByFlavor names(cluster.flavors, cluster.topologies, cluster.nodes);
    WriteOutput(Table(*tried, *asked, names).Render(question->style));
  } else {
    PrintObject(options.question.output,
                [&](ObjectWriter& out) { Write(*tried, *asked, question->gates, out); });
  }
  if (!options.report.empty()) {
    const auto written = WriteReport(*tried, *asked, *question, options.report);
    if (!written) return ReportError(written.error());
  }
  const auto& tree = best.found.answer.tree;
  const bool whole = options.question.input.best_effort || !tree ||
                     tree->status != NestedStatus::kPlacedInPart ||
                     !LeavesBehind({*best.request.tree, *tree});
  const bool as_asked = IsAsAsked(*asked->workload, options.question.input);
  return best.fits() && whole && as_asked ? kExitOk : kExitNo;
}

}  // namespace

void AddExplainCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* explain = app.add_subcommand(
      "explain", "Why a workload is not placed, and which small changes would let it fit");
  explain->footer(kExplainExamples);
  AddWorkloadArgument(*explain, options->workload);
  AddQuestionOptions(*explain, options->question);
  AddReportOption(*explain, options->report);
  AddBackendOptions(*explain, options->question.backend);
  AddConnectOptions(*explain, options->question);
  explain->callback([options, &exit_code] { exit_code = RunExplain(*options); });
}

}  // namespace espalier
