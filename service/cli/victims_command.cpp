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
#include "host/engine/prefix_search.hpp"
#include "host/engine/victim_sets.hpp"
#include "host/kueue/certificate.hpp"
#include "host/kueue/cluster_input.hpp"
#include "host/kueue/preemption.hpp"
#include "host/kueue/quantity_text.hpp"
#include "host/model/excerpt.hpp"
#include "service/cli/commands.hpp"
#include "service/cli/counted.hpp"
#include "service/cli/question.hpp"
#include "service/cli/standard_output.hpp"

namespace espalier {
namespace {

struct VictimsOptions {
  QuestionOptions question;
  std::string workload;
  std::string policy;  // empty: the ClusterQueue's
  bool cheapest = false;
};

constexpr const char* kExamples = R"(Examples:
  Whom would Kueue preempt for it, by the policy of its ClusterQueue?
    espalier victims team-a/train cluster.json.gz

  And if the queue allowed more?
    espalier victims team-a/train cluster.json.gz --policy LowerOrNewerEqualPriority

  In which racks could room be made, and whom would each cost?
    espalier victims team-a/train cluster.json.gz --policy Any --cheapest

  Their names alone:
    espalier victims team-a/train cluster.json.gz -o json | jq -r '.victims[].workload'

Candidates are the admitted workloads of the same ClusterQueue that the policy allows and that use
what the workload asks for. As in Kueue, the evicted go first, then those of lower priority, then
those admitted last, until the workload fits; whoever need not go is put back. Quota is not looked
at, nor is borrowing from other queues.

Exit codes: 0 it fits, with or without victims; 1 not even without all candidates; 2 wrong command
line; 3 wrong input; 4 no GPU or memory, or output lost; 5 internal error.)";

// What a victim gives back, as people count it: "16 nvidia.com/gpu", or cpu without any device.
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
    auto asked = AskAbout(question_.cluster, question_.gates, options_.workload);
    if (!asked) return tl::unexpected(asked.error());
    asked_ = *std::move(asked);
    const Result<PreemptionPolicy> policy = Policy();
    if (!policy) return tl::unexpected(policy.error());
    const ClusterLookup lookup(question_.cluster);
    candidates_ = PreemptionCandidates(question_.cluster, *asked_.workload, asked_.request,
                                       asked_.cluster_queue, *policy);
    for (const VictimSlices& slices : candidates_) {
      const Workload& workload = question_.cluster.workloads[slices.front()];
      victims_.push_back(
          {workload.key, VictimOf(question_.cluster, slices, lookup), workload.priority});
    }
    if (options_.cheapest) return RunCheapest();
    auto found = FindFirst();
    if (!found) return tl::unexpected(found.error());
    found_ = *std::move(found);
    if (options_.question.output == "table") {
      PrintTable();
    } else {
      PrintObject(options_.question.output, [&](ObjectWriter& out) { Write(out); });
    }
    return found_.fits && IsAsAsked(*asked_.workload, options_.question.input) ? kExitOk : kExitNo;
  }

 private:
  Result<ClusterState> BuildState() const {
    return ClusterState::Build(BuildClusterStateInput(question_.cluster, question_.gates));
  }

  Result<PrefixAnswer> FindFirst() const {
    if (question_.remote != nullptr) {
      return question_.remote->FindVictims(asked_.request, victims_, {}, question_.gates);
    }
    const auto state = BuildState();
    if (!state) return tl::unexpected(state.error());
    std::vector<Victim> victims;
    for (const RunningWorkload& running : victims_) victims.push_back(running.victim);
    return FindPrefix(question_.MakeEngine(), *state, asked_.request, victims);
  }

  Result<NamedVictimSets> FindCheapest() const {
    if (question_.remote != nullptr) {
      return question_.remote->FindCheapestVictims(asked_.request, victims_, question_.gates);
    }
    const auto state = BuildState();
    if (!state) return tl::unexpected(state.error());
    std::vector<PricedVictim> priced;
    for (const RunningWorkload& running : victims_) {
      priced.push_back({running.victim, running.priority});
    }
    auto sets = FindVictimSets(question_.MakeEngine(), *state, asked_.request, priced);
    if (!sets) return tl::unexpected(sets.error());
    NamedVictimSets named{sets->fits, {}};
    for (DomainVictims& domain : sets->domains) {
      std::vector<std::string> values;
      if (domain.domain.valid())
        values = state->Find(domain.flavor)->snapshot().Path(domain.domain);
      named.domains.push_back({std::move(values), std::move(domain.sets), domain.exact});
    }
    return named;
  }

  // For every domain, who it would cost at least.
  Result<ExitCode> RunCheapest() const {
    const auto sets = FindCheapest();
    if (!sets) return tl::unexpected(sets.error());
    const bool fits = sets->fits || !sets->domains.empty();
    if (options_.question.output == "table") {
      PrintSets(*sets);
      PrintNotHonoured();
    } else {
      PrintObject(options_.question.output, [&](ObjectWriter& out) { WriteSets(*sets, out); });
    }
    return fits && IsAsAsked(*asked_.workload, options_.question.input) ? kExitOk : kExitNo;
  }

  void PrintSets(const NamedVictimSets& sets) const {
    std::vector<const NamedDomainVictims*> domains;
    bool exact = true;
    for (const NamedDomainVictims& domain : sets.domains) {
      domains.push_back(&domain);
      exact = exact && domain.exact;
    }
    std::ranges::stable_sort(domains, {}, [](const NamedDomainVictims* domain) {
      const VictimSet& cheapest = domain->sets.front();
      return std::tuple(cheapest.priority, cheapest.victims.size(), cheapest.accelerators);
    });
    std::vector<TableRow> rows;
    for (const NamedDomainVictims* domain : domains) {
      for (const VictimSet& set : domain->sets) {
        std::vector<std::string> names;
        for (const std::size_t victim : set.victims) names.push_back(victims_[victim].victim.name);
        const std::string path = fmt::format("{}", fmt::join(domain->values, "/"));
        rows.push_back({path.empty() ? "anywhere" : path, std::to_string(set.priority),
                        std::to_string(set.victims.size()), std::to_string(set.accelerators),
                        TableCell(names)});
      }
    }
    if (!rows.empty()) {
      WriteOutput(
          RenderTable({"ROOM IN", "PRIORITY", "VICTIMS", "DEVICES", "WHO"}, rows, question_.style) +
          "\n");
    }
    if (sets.fits) {
      WriteOutput("It fits; nobody has to go.\n");
    } else if (rows.empty()) {
      WriteOutput(Summary() + "\n");
    } else {
      WriteOutput(fmt::format("{} of {}; {}\n", Counted(std::ssize(rows), "set"),
                              Counted(std::ssize(candidates_), "candidate"),
                              exact ? "there are no cheaper ones"
                                    : "where many could go the search was ended, and there may be "
                                      "cheaper ones"));
    }
  }

  void WriteSets(const NamedVictimSets& sets, ObjectWriter& out) const {
    WriteAsked(out);
    out.Key("fits");
    out.Flag(sets.fits);
    out.Key("domains");
    out.BeginList();
    for (const NamedDomainVictims& domain : sets.domains) {
      out.BeginMap();
      out.Key("domain");
      WriteTexts(domain.values, out);
      out.Key("exact");
      out.Flag(domain.exact);
      out.Key("sets");
      out.BeginList();
      for (const VictimSet& set : domain.sets) {
        out.BeginMap();
        out.Field("priority", set.priority);
        out.Field("devices", set.accelerators);
        std::vector<std::string> names;
        for (const std::size_t victim : set.victims) names.push_back(victims_[victim].victim.name);
        out.Key("victims");
        WriteTexts(names, out);
        out.EndMap();
      }
      out.EndList();
      out.EndMap();
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

  std::string Summary() const {
    if (found_.fits && found_.prefix == 0) return "It fits; nobody has to go.";
    const std::string of =
        fmt::format("{} in ClusterQueue {} by policy {}",
                    Counted(std::ssize(candidates_), "candidate"), asked_.cluster_queue, policy_);
    if (found_.fits) {
      return fmt::format("{} of {}", Counted(std::ssize(found_.targets), "victim"), of);
    }
    return fmt::format("It does not fit, not even without all of {}{}", of,
                       policy_ == "Never" ? "; --policy asks what another would allow" : "");
  }

  void PrintTable() const {
    const Cluster& cluster = question_.cluster;
    const NamesByFlavor names(cluster.flavors, cluster.topologies, cluster.nodes);
    if (!found_.targets.empty()) {
      std::vector<TableRow> rows;
      for (const std::size_t target : found_.targets) {
        std::vector<std::string> slices;
        for (const std::size_t i : candidates_[target]) {
          slices.push_back(cluster.workloads[i].key.ToString());
        }
        const std::int64_t priority = cluster.workloads[candidates_[target].front()].priority;
        rows.push_back({std::move(slices), std::to_string(priority),
                        std::to_string(PodSlotsOf(victims_[target].victim.usage)),
                        HeldText(victims_[target].victim)});
      }
      WriteOutput(RenderTable({"VICTIM", "PRIORITY", "PODS", "HOLDS"}, rows, question_.style) +
                  "\n");
    }
    WriteOutput(RenderTable({"WORKLOAD", found_.targets.empty() ? "PLACEMENT" : "THEN GOES TO"},
                            {{asked_.workload->key.ToString(), AnswerCell(found_.answer, names)}},
                            question_.style));
    WriteOutput("\n" + Summary() + "\n");
    PrintNotHonoured();
  }

  void PrintNotHonoured() const {
    for (const std::string& line : NotHonouredLines(*asked_.workload)) WriteOutput(line + "\n");
  }

  void WriteAsked(ObjectWriter& out) const {
    out.Field("workload", std::string_view(asked_.workload->key.ToString()));
    out.Field("clusterQueue", std::string_view(asked_.cluster_queue));
    out.Field("policy", std::string_view(policy_));
    out.Field("candidates", static_cast<std::int64_t>(candidates_.size()));
    WriteNotHonoured(*asked_.workload, out);
  }

  void Write(ObjectWriter& out) const {
    WriteAsked(out);
    out.Key("victims");
    out.BeginList();
    for (const std::size_t target : found_.targets) {
      const auto& workloads = question_.cluster.workloads;
      const VictimSlices& slices = candidates_[target];
      const Workload& workload = workloads[slices.front()];
      out.BeginMap();
      out.Field("workload", std::string_view(workload.key.ToString()));
      out.Field("uid", std::string_view(workload.uid));
      out.Field("priority", workload.priority);
      out.Field("pods", PodSlotsOf(victims_[target].victim.usage));
      if (slices.size() > 1) {
        std::vector<std::string> names;
        for (const std::size_t i : slices) names.push_back(workloads[i].key.ToString());
        out.Key("slices");
        WriteTexts(names, out);
      }
      out.EndMap();
    }
    out.EndList();
    out.Key("then");
    WriteAnswer(found_.answer, question_.gates, out);
  }

  const VictimsOptions& options_;
  const Question question_;
  AskedWorkload asked_;
  std::string policy_;
  std::vector<VictimSlices> candidates_;  // into the cluster's workloads
  std::vector<RunningWorkload> victims_;  // the candidates
  PrefixAnswer found_;
};

}  // namespace

void AddVictimsCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<VictimsOptions>();
  CLI::App* victims = app.add_subcommand(
      "victims", "Which admitted workloads would have to go for a workload to fit");
  victims->footer(kExamples);
  AddWorkloadArgument(*victims, options->workload);
  AddQuestionOptions(*victims, options->question);
  AddBackendOptions(*victims, options->question.backend);
  AddConnectOptions(*victims, options->question);
  victims
      ->add_option("--policy", options->policy,
                   "Who may be preempted, in place of what the ClusterQueue says:\n"
                   "Never, LowerPriority, LowerOrNewerEqualPriority, or Any")
      ->check(CLI::IsMember({"Never", "LowerPriority", "LowerOrNewerEqualPriority", "Any"}));
  victims->add_flag("--cheapest", options->cheapest,
                    "For every domain, the sets of victims of which none is cheaper: by the\n"
                    "highest priority, their number and the devices they hold");
  victims->callback([options, &exit_code] { exit_code = RunQuestion<Victims>(*options); });
}

}  // namespace espalier
