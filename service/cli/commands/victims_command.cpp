// espalier victims: whom would it cost to make room for a workload?
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/engine/assignments.hpp"
#include "host/kueue/cycle/preemption.hpp"
#include "host/kueue/cycle/room_holders.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/objects/quantity_text.hpp"
#include "host/kueue/validation/certificate.hpp"
#include "host/model/excerpt.hpp"
#include "host/what_if/prefix_search.hpp"
#include "host/what_if/victim_sets.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/commands/question.hpp"
#include "service/cli/commands/victims_of_all.hpp"
#include "service/cli/html_report/html_report.hpp"
#include "service/cli/reports/count_with_noun.hpp"
#include "service/cli/terminal/standard_output.hpp"

namespace espalier {
namespace {

struct VictimsOptions {
  QuestionOptions question;
  bool all = false;    // workloads that wait
  std::string report;  // file; empty: none
  std::string workload;
  std::string policy;  // empty: the ClusterQueue's
  bool cheapest = false;
  bool any_queue = false;                  // whoever holds room, also pods outside of Kueue
  std::optional<std::int64_t> pods_below;  // absent: the workload's priority
};

constexpr const char* kVictimsExamples = R"(Examples:
  Whom would Kueue preempt for it, by the policy of its ClusterQueue?
    espalier victims team-a/train cluster.json.gz

  And if the queue allowed more?
    espalier victims team-a/train cluster.json.gz --policy LowerOrNewerEqualPriority

  In which racks could room be made, and whom would each cost?
    espalier victims team-a/train cluster.json.gz --policy Any --cheapest

  In which racks is room made most cheaply, whoever holds it, and would Kueue do so?
    espalier victims team-a/train cluster.json.gz --any-queue

  For every workload that waits: in how many racks is room, and up to which priority would all have
  to go for more? The same as a picture, for a browser:
    espalier victims --all cluster.json.gz
    espalier victims --all cluster.json.gz --report atlas.html

  Their names alone:
    espalier victims team-a/train cluster.json.gz -o json | jq -r '.victims[].workload'

Candidates are the admitted workloads of the same ClusterQueue that the policy allows and that use
what the workload asks for. As in Kueue, the evicted go first, then those of lower priority, then
those admitted last, until the workload fits; whoever need not go is put back. Quota is not looked
at, nor is borrowing from other queues.

With --any-queue candidates are the admitted workloads of all queues, of any priority unless --policy
says otherwise, and pods outside of Kueue of a lower priority; those of DaemonSets stay. BY KUEUE names
the rules of the queue by which Kueue would preempt all of a set (withinClusterQueue, and
reclaimWithinCohort from queues that use more than their nominal quota), or says why it would not.
borrowWithinCohort, parents of cohorts and fair sharing are not looked at.

With --all nobody is chosen: whole priorities go, the lowest first, of the admitted workloads of all
queues that the files or the server know, and room is all that counts, neither quota nor what a queue
may preempt. A domain is one of the level that a workload requires or, where it requires none,
prefers. NOW counts the domains that hold all of it as they are, LOWER those that do once all of a
lower priority than its own are gone, NEVER those that never do. GO says who goes at least for it to
be placed: nobody, or all of a priority up to this one. That is the highest priority that --cheapest
tells for the same domain at best.

Exit codes: 0 it fits, with or without victims; 1 not even without all candidates, with --all for any
workload, or without --best-effort not as it asks; 2 wrong command line; 3 wrong input;
4 no GPU or memory, or output lost; 5 internal error.)";

// Returns what a victim gives back, as people count it: "16 nvidia.com/gpu", or cpu without any
// device; "-" for nothing.
std::string HeldText(const Victim& victim) {
  Resources held;
  for (const FlavorLeafUsage& entry : victim.usage) AddTo(held, entry.usage);
  std::string text;
  for (const auto& [resource, amount] : held) {
    if (resource.find('/') == std::string::npos || amount == 0) continue;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", QuantityText(resource, amount), resource);
  }
  const Amount* cpu = held.Find("cpu");
  if (text.empty() && cpu != nullptr) text = QuantityText("cpu", *cpu) + " cpu";
  return text.empty() ? "-" : text;
}

class Victims {
 public:
  Victims(const VictimsOptions& options, Question question)
      : options_(options), question_(std::move(question)) {}

  Result<ExitCode> Run() {
    auto asked = FindWorkloadToPlace(question_, question_.cluster, options_.workload);
    if (!asked) return tl::unexpected(asked.error());
    asked_ = *std::move(asked);
    if (!asked_.refusal.empty()) {
      PrintRefusal(question_, asked_, options_.question.output);
      return kExitNo;
    }
    workload_ = *asked_.workload;
    asked_.workload = &workload_;
    if (options_.any_queue) return RunAnyQueue();
    const Result<PreemptionPolicy> policy = Policy();
    if (!policy) return tl::unexpected(policy.error());
    for (const WorkloadRequest* request : asked_.Choices()) AddChoice(*request, *policy);
    if (options_.cheapest) return RunCheapest();
    for (OnFlavors& choice : choices_) {
      auto found = question_.asked->FindVictims(*choice.request, choice.victims);
      if (!found && IsNotTried(asked_, *choice.request, found.error())) continue;
      if (!found) return tl::unexpected(found.error());
      choice.found = *std::move(found);
      if (choice.found.fits && choice.found.prefix == 0) break;  // nobody has to go
    }
    best_ = &BestOf(choices_);
    NotePodsWithoutNode(question_.cluster, *best_->request, best_->found.answer, workload_);
    if (options_.question.output == "table") {
      PrintTable();
    } else {
      PrintObject(options_.question.output, [&](ObjectWriter& out) { Write(out); });
    }
    return best_->found.fits && IsAsAsked(*asked_.workload, options_.question.input) ? kExitOk
                                                                                     : kExitNo;
  }

 private:
  // A request on some of the flavors that the queue tries, and what was found on them.
  struct OnFlavors {
    const WorkloadRequest* request = nullptr;
    std::vector<VictimSlices> candidates;  // into the cluster's workloads
    std::vector<RunningWorkload> victims;  // the candidates
    PrefixAnswer found;
    NamedVictimSets sets;
    std::vector<RoomHolder> holders = {};  // with --any-queue, the victims
  };

  // Returns the first with room for it as it is, or else the first where victims make room, or the
  // first.
  static const OnFlavors& BestOf(const std::vector<OnFlavors>& choices) {
    const auto rank = [](const OnFlavors& choice) {
      if (!choice.found.fits) return 2;
      return choice.found.prefix == 0 ? 0 : 1;
    };
    return *std::ranges::min_element(choices, {}, rank);
  }

  void AddChoice(const WorkloadRequest& request, PreemptionPolicy policy) {
    const ClusterLookup lookup(question_.cluster);
    OnFlavors& choice = choices_.emplace_back();
    choice.request = &request;
    choice.candidates = PreemptionCandidates(question_.cluster, *asked_.workload, request,
                                             asked_.cluster_queue, policy);
    for (const VictimSlices& slices : choice.candidates) {
      const Workload& workload = question_.cluster.workloads[slices.front()];
      choice.victims.push_back(
          {workload.key, VictimOf(question_.cluster, slices, lookup), workload.priority});
    }
  }

  // Tells the flavors of a choice where there are several.
  std::string On(const OnFlavors& choice) const {
    return choices_.size() > 1 ? "on " + FlavorsText(*choice.request) : "";
  }

  // Finds the cheapest victims among all who hold room, in whatever queue and outside of Kueue.
  Result<ExitCode> RunAnyQueue() {
    const Cluster& cluster = question_.cluster;
    policy_ = options_.policy.empty() ? "Any" : options_.policy;
    const RoomHolderOptions options{
        .policy = ParsePreemptionPolicy(policy_).value_or(PreemptionPolicy::kAny),
        .pods_below = options_.pods_below.value_or(asked_.workload->priority)};
    const RoomHolders room = FindRoomHolders(cluster, *asked_.workload, options, question_.gates);
    if (room.pods_elsewhere > 0 && question_.backend == nullptr) {
      Tell(fmt::format("{} of the files cannot go here: on no node that is known of a flavor",
                       CountWithNoun(static_cast<std::int64_t>(room.pods_elsewhere), "pod")));
    }
    if (auto supposed = question_.asked->Suppose(PodsAsUsage(room)); !supposed) {
      return tl::unexpected(supposed.error());
    }
    for (const WorkloadRequest* request : asked_.Choices()) {
      OnFlavors& choice = choices_.emplace_back();
      choice.request = request;
      choice.holders = room.holders;
      for (const RoomHolder& holder : room.holders) {
        choice.victims.push_back({holder.key, holder.victim, holder.priority});
        choice.candidates.push_back(holder.slices);
      }
    }
    return RunCheapest();
  }

  // The pods that may go, in the place of what nodes have less by them.
  static ProposedChange PodsAsUsage(const RoomHolders& room) {
    ProposedChange change;
    for (const NodeUsage& node : room.pods_on_nodes) {
      change.delta.set_non_tas_usage.push_back({node.node, Times(node.usage, -1)});
    }
    if (room.pods_on_leaves.empty()) return change;
    AdmittedUsage pods;
    pods.key.name = "pods outside of Kueue";  // no workload can have this name
    pods.usage = room.pods_on_leaves;
    change.delta.set_workloads.push_back(std::move(pods));
    return change;
  }

  // Returns the rules of Kueue by which all of a set would be preempted; or why not, after "no: ".
  std::string ByKueue(const OnFlavors& choice, const VictimSet& set) const {
    const ClusterQueue* queue = ClusterLookup(question_.cluster).Queue(asked_.cluster_queue);
    if (queue == nullptr) return "no: its ClusterQueue is not in the input";
    std::vector<const RoomHolder*> holders;
    for (const std::size_t victim : set.victims) holders.push_back(&choice.holders[victim]);
    return PreemptionRules(question_.cluster, *asked_.workload, *choice.request, *queue)
        .RulesFor(holders);
  }

  // For every domain, who it would cost at least.
  Result<ExitCode> RunCheapest() {
    bool fits = false;
    for (OnFlavors& choice : choices_) {
      auto sets = question_.asked->FindCheapestVictims(*choice.request, choice.victims);
      if (!sets && IsNotTried(asked_, *choice.request, sets.error())) continue;
      if (!sets) return tl::unexpected(sets.error());
      choice.sets = *std::move(sets);
      fits = fits || choice.sets.fits || !choice.sets.domains.empty();
    }
    if (options_.question.output == "table") {
      PrintSets();
      PrintNotHonoured();
    } else {
      PrintObject(options_.question.output, [&](ObjectWriter& out) { WriteSets(out); });
    }
    return fits && IsAsAsked(*asked_.workload, options_.question.input) ? kExitOk : kExitNo;
  }

  // The flavors on which it fits as it is; null: there are none.
  const OnFlavors* FitsAsItIs() const {
    const auto fits =
        std::ranges::find_if(choices_, [](const OnFlavors& choice) { return choice.sets.fits; });
    return fits == choices_.end() ? nullptr : &*fits;
  }

  // A domain with room once some are gone, and whose flavors it is on.
  struct Room {
    const OnFlavors* choice = nullptr;
    const NamedDomainVictims* domain = nullptr;
  };

  std::string RoomText(const Room& room) const {
    std::string path = fmt::format("{}", fmt::join(room.domain->values, "/"));
    if (path.empty()) path = "anywhere";
    return choices_.size() > 1 ? fmt::format("{} {}", path, On(*room.choice)) : path;
  }

  void PrintSets() const {
    std::vector<Room> rooms;
    bool exact = true;
    for (const OnFlavors& choice : choices_) {
      for (const NamedDomainVictims& domain : choice.sets.domains) {
        rooms.push_back({&choice, &domain});
        exact = exact && domain.exact;
      }
    }
    std::ranges::stable_sort(rooms, {}, [](const Room& room) {
      const VictimSet& cheapest = room.domain->sets.front();
      return std::tuple(cheapest.priority, cheapest.victims.size(), cheapest.accelerators);
    });
    std::vector<TableRow> rows;
    for (const Room& room : rooms) {
      for (const VictimSet& set : room.domain->sets) {
        TableRow& row = rows.emplace_back(TableRow{RoomText(room), std::to_string(set.priority),
                                                   std::to_string(set.victims.size()),
                                                   std::to_string(set.accelerators)});
        if (options_.any_queue) row.emplace_back(ByKueue(*room.choice, set));
        row.emplace_back(WhoOf(*room.choice, set));
      }
    }
    const OnFlavors* fits = FitsAsItIs();
    if (fits != nullptr) {
      const std::string on = On(*fits);
      WriteOutput(fmt::format("It fits{}{}; nobody has to go.\n", on.empty() ? "" : " ", on));
      return;
    }
    if (rows.empty()) {
      WriteOutput(Summary(choices_.front()) + "\n");
      return;
    }
    TableRow header = {"ROOM IN", "PRIORITY", "VICTIMS", "DEVICES"};
    if (options_.any_queue) header.emplace_back("BY KUEUE");
    header.emplace_back("WHO");
    WriteOutput(RenderTable(header, rows, question_.style) + "\n");
    WriteOutput(fmt::format("{} of {}; {}\n", CountWithNoun(std::ssize(rows), "set"),
                            CountWithNoun(Candidates(), "candidate"),
                            exact ? "there are no cheaper ones"
                                  : "where many could go the search was ended, and there may be "
                                    "cheaper ones"));
  }

  // The most of any choice.
  std::int64_t Candidates() const {
    std::int64_t most = 0;
    for (const OnFlavors& choice : choices_) most = std::max(most, std::ssize(choice.candidates));
    return most;
  }

  static std::vector<std::string> NamesOf(const OnFlavors& choice, const VictimSet& set) {
    std::vector<std::string> names;
    for (const std::size_t victim : set.victims) {
      names.push_back(choice.victims[victim].victim.name);
    }
    return names;
  }

  // Names, with --any-queue those of their queues too.
  std::vector<std::string> WhoOf(const OnFlavors& choice, const VictimSet& set) const {
    std::vector<std::string> names = NamesOf(choice, set);
    for (std::size_t i = 0; options_.any_queue && i < names.size(); ++i) {
      const RoomHolder& holder = choice.holders[set.victims[i]];
      if (!holder.cluster_queue.empty()) names[i] += " of " + holder.cluster_queue;
    }
    return names;
  }

  void WriteSets(ObjectWriter& out) const {
    WriteAsked(Candidates(), out);
    out.Key("fits");
    out.Flag(FitsAsItIs() != nullptr);
    out.Key("domains");
    out.BeginList();
    for (const OnFlavors& choice : choices_) {
      if (FitsAsItIs() != nullptr) break;
      for (const NamedDomainVictims& domain : choice.sets.domains) {
        out.BeginMap();
        if (choices_.size() > 1) {
          out.Field("flavor", std::string_view(FlavorsText(*choice.request)));
        }
        out.Field("domain", domain.values);
        out.Key("exact");
        out.Flag(domain.exact);
        out.Key("sets");
        out.BeginList();
        for (const VictimSet& set : domain.sets) {
          out.BeginMap();
          out.Field("priority", set.priority);
          out.Field("devices", set.accelerators);
          if (options_.any_queue) {
            out.Field("byKueue", std::string_view(ByKueue(choice, set)));
          }
          out.Field("victims", NamesOf(choice, set));
          out.EndMap();
        }
        out.EndList();
        out.EndMap();
      }
    }
    out.EndList();
  }

  Result<PreemptionPolicy> Policy() {
    policy_ = options_.policy;
    if (policy_.empty()) {
      const ClusterQueue* queue = ClusterLookup(question_.cluster).Queue(asked_.cluster_queue);
      if (queue != nullptr) policy_ = queue->within_cluster_queue;
      if (policy_.empty()) policy_ = "Never";
    }
    if (const auto policy = ParsePreemptionPolicy(policy_)) return *policy;
    return BadInput(
        fmt::format("ClusterQueue {}: spec.preemption.withinClusterQueue is {}; want "
                    "Never, LowerPriority or LowerOrNewerEqualPriority",
                    Excerpt(asked_.cluster_queue), Excerpt(policy_)));
  }

  std::string Summary(const OnFlavors& choice) const {
    const std::string on = On(choice).empty() ? "" : " " + On(choice);
    if (choice.found.fits && choice.found.prefix == 0) {
      return fmt::format("It fits{}; nobody has to go.", on);
    }
    const std::string where = options_.any_queue ? "in all queues and outside of Kueue"
                                                 : "in ClusterQueue " + asked_.cluster_queue;
    const std::string of =
        fmt::format("{} {} by policy {}", CountWithNoun(std::ssize(choice.candidates), "candidate"),
                    where, policy_);
    if (choice.found.fits) {
      return fmt::format("{} of {}{}", CountWithNoun(std::ssize(choice.found.targets), "victim"),
                         of, on);
    }
    return fmt::format("It does not fit, not even without all of {}{}{}", of,
                       choices_.size() > 1 ? " on any of its flavors" : "",
                       policy_ == "Never" ? "; --policy asks what another would allow" : "");
  }

  void PrintTable() const {
    const Cluster& cluster = question_.cluster;
    const NamesByFlavor names(cluster.flavors, cluster.topologies, cluster.nodes);
    const PrefixAnswer& found = best_->found;
    if (!found.targets.empty()) {
      std::vector<TableRow> rows;
      for (const std::size_t target : found.targets) {
        const VictimSlices& of_job = best_->candidates[target];
        const Victim& victim = best_->victims[target].victim;
        std::vector<std::string> slices;
        for (const std::size_t i : of_job) slices.push_back(cluster.workloads[i].key.ToString());
        const std::int64_t priority = cluster.workloads[of_job.front()].priority;
        rows.push_back({std::move(slices), std::to_string(priority),
                        std::to_string(PodSlotsOf(victim.usage)), HeldText(victim)});
      }
      WriteOutput(RenderTable({"VICTIM", "PRIORITY", "PODS", "HOLDS"}, rows, question_.style) +
                  "\n");
    }
    WriteOutput(RenderTable({"WORKLOAD", found.targets.empty() ? "PLACEMENT" : "THEN GOES TO"},
                            {{asked_.workload->key.ToString(), AnswerCell(found.answer, names)}},
                            question_.style));
    WriteOutput("\n" + Summary(*best_) + "\n");
    PrintNotHonoured();
  }

  void PrintNotHonoured() const {
    for (const std::string& line : NotHonouredLines(*asked_.workload)) WriteOutput(line + "\n");
  }

  void WriteAsked(std::int64_t candidates, ObjectWriter& out) const {
    out.Field("workload", std::string_view(asked_.workload->key.ToString()));
    out.Field("clusterQueue", std::string_view(asked_.cluster_queue));
    out.Field("policy", std::string_view(policy_));
    out.Field("candidates", candidates);
    WriteNotHonoured(*asked_.workload, out);
  }

  void Write(ObjectWriter& out) const {
    WriteAsked(std::ssize(best_->candidates), out);
    if (choices_.size() > 1) out.Field("flavor", std::string_view(FlavorsText(*best_->request)));
    out.Key("victims");
    out.BeginList();
    for (const std::size_t target : best_->found.targets) {
      const auto& workloads = question_.cluster.workloads;
      const VictimSlices& slices = best_->candidates[target];
      const Workload& workload = workloads[slices.front()];
      out.BeginMap();
      out.Field("workload", std::string_view(workload.key.ToString()));
      out.Field("uid", std::string_view(workload.uid));
      out.Field("priority", workload.priority);
      out.Field("pods", PodSlotsOf(best_->victims[target].victim.usage));
      if (slices.size() > 1) {
        std::vector<std::string> names;
        for (const std::size_t i : slices) names.push_back(workloads[i].key.ToString());
        out.Field("slices", names);
      }
      out.EndMap();
    }
    out.EndList();
    out.Key("then");
    WriteAnswer(best_->found.answer, question_.gates, out);
  }

  const VictimsOptions& options_;
  const Question question_;
  WorkloadToPlace asked_;
  Workload workload_;  // that is asked about
  std::string policy_;
  std::vector<OnFlavors> choices_;
  const OnFlavors* best_ = nullptr;  // of `choices_`
};

// Checks what goes with --all, and what without. With it, what was taken for WORKLOAD is the first
// of FILES.
void CheckVictims(VictimsOptions& options) {
  std::vector<std::string>& files = options.question.input.files;
  if (options.all) {
    if (!options.workload.empty()) files.insert(files.begin(), std::move(options.workload));
    if (files.empty()) throw CLI::RequiredError("FILES");
    return;
  }
  if (options.workload.empty()) throw CLI::RequiredError("WORKLOAD, or --all,");
  if (const std::string problem = CheckWorkloadName(options.workload); !problem.empty()) {
    throw CLI::ValidationError("WORKLOAD", problem);
  }
  if (files.empty()) throw CLI::RequiredError("FILES");
}

}  // namespace

void AddVictimsCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<VictimsOptions>();
  CLI::App* victims = app.add_subcommand(
      "victims", "Which admitted workloads would have to go for a workload to fit");
  victims->footer(kVictimsExamples);
  victims->add_option("WORKLOAD", options->workload,
                      "A pending workload: NAMESPACE/NAME or NAME, its own or its job's; none\n"
                      "with --all");
  AddQuestionOptions(*victims, options->question);
  victims->get_option("FILES")->required(false);
  AddBackendOptions(*victims, options->question.backend);
  AddConnectOptions(*victims, options->question);
  CLI::Option* all = victims->add_flag(
      "--all", options->all,
      "For every workload that waits, and every domain of its level: up to which\n"
      "priority all would have to go for it to fit");
  AddReportOption(*victims, options->report);
  victims->get_option("--report")->needs(all);
  victims
      ->add_option("--policy", options->policy,
                   "Who may be preempted, in place of what the ClusterQueue says:\n"
                   "Never, LowerPriority, LowerOrNewerEqualPriority, or Any")
      ->check(CLI::IsMember({"Never", "LowerPriority", "LowerOrNewerEqualPriority", "Any"}))
      ->excludes(all);
  victims
      ->add_flag("--cheapest", options->cheapest,
                 "For every domain, the sets of victims of which none is cheaper: by the\n"
                 "highest priority, their number and the devices they hold")
      ->excludes(all);
  victims
      ->add_flag("--any-queue", options->any_queue,
                 "In which domains room is made most cheaply, whoever holds it: workloads of all\n"
                 "queues, and pods outside of Kueue; and whether Kueue would preempt them")
      ->excludes(all);
  victims
      ->add_option("--pods-below", options->pods_below,
                   "With --any-queue: pods outside of Kueue below this priority may go;\n"
                   "by default below the workload's")
      ->needs("--any-queue");
  victims->callback([options, &exit_code] {
    CheckVictims(*options);
    if (options->all) {
      exit_code = RunQuestion<VictimsOfAll>(
          VictimsOfAllOptions{.question = options->question, .report = options->report});
    } else {
      exit_code = RunQuestion<Victims>(*options);
    }
  });
}

}  // namespace espalier
