// espalier what-if: would a workload fit if others were gone, nodes drained or objects added?
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/cycle/preemption.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/kueue/planning/drain.hpp"
#include "host/kueue/validation/certificate.hpp"
#include "host/live/cluster_difference.hpp"
#include "host/model/excerpt.hpp"
#include "host/what_if/prefix_search.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/commands/question.hpp"
#include "service/cli/reports/count_with_noun.hpp"
#include "service/cli/terminal/standard_output.hpp"

namespace espalier {
namespace {

struct WhatIfOptions {
  QuestionOptions question;
  std::string workload;
  std::vector<std::string> without;
  std::vector<std::string> drain;
  std::vector<std::string> add;
};

constexpr const char* kWhatIfExamples = R"(Examples:
  Would it fit if these were gone, and which of them have to go?
    espalier what-if team-a/train cluster.json.gz --without team-b/eval,team-c/sweep

  Would it still fit if a node or a whole rack were drained?
    espalier what-if team-a/train cluster.json.gz --drain gpu-17
    espalier what-if team-a/train cluster.json.gz --drain rack=block-2/r05

  If more nodes, or larger ones, were there? Objects of the same kind and name are replaced.
    espalier what-if team-a/train cluster.json.gz --add new-nodes.yaml

  For a script:
    espalier what-if team-a/train cluster.json.gz --without team-b/eval -o json | jq .then.fits

Of pods that are expected to grow (maxTemplate), it is said besides whether they fit at their
largest; the exit code is that of their size now.

Workloads are taken away in the order given, until it fits; then each, from the last but one to the
first, is put back where it need not go. Quota is not looked at: the question is where pods would go.

Exit codes: 0 it fits then; 1 it does not; 2 wrong command line; 3 wrong input;
4 no GPU or memory, or output lost; 5 internal error.)";

// Puts objects in the place of those of the same name, and the others behind the last.
template <class Object, class Key>
void Merge(std::vector<Object>& into, std::vector<Object> objects, Key Object::*key) {
  for (Object& object : objects) {
    const auto same = std::ranges::find(into, object.*key, key);
    if (same == into.end()) {
      into.push_back(std::move(object));
    } else {
      *same = std::move(object);
    }
  }
}

void Merge(Cluster& cluster, Cluster added) {
  Merge(cluster.nodes, std::move(added.nodes), &Node::name);
  Merge(cluster.pods, std::move(added.pods), &Pod::key);
  Merge(cluster.topologies, std::move(added.topologies), &Topology::name);
  Merge(cluster.flavors, std::move(added.flavors), &ResourceFlavor::name);
  Merge(cluster.cluster_queues, std::move(added.cluster_queues), &ClusterQueue::name);
  Merge(cluster.local_queues, std::move(added.local_queues), &LocalQueue::key);
  Merge(cluster.workloads, std::move(added.workloads), &Workload::key);
}

// Returns what is added apart from what would change the answer: the pending workloads, with the
// queues.
Cluster PendingOf(const Cluster& added) {
  Cluster pending;
  std::ranges::copy_if(added.workloads, std::back_inserter(pending.workloads), IsPending);
  pending.local_queues = added.local_queues;
  pending.cluster_queues = added.cluster_queues;
  return pending;
}

class WhatIf {
 public:
  WhatIf(const WhatIfOptions& options, Question question)
      : options_(options), question_(std::move(question)) {}

  Result<ExitCode> Run() {
    if (auto changed = Change(); !changed) return tl::unexpected(changed.error());
    if (auto answered = AnswerNow(); !answered) return tl::unexpected(answered.error());
    if (auto answered = AnswerThen(); !answered) return tl::unexpected(answered.error());
    if (options_.question.output == "table") {
      PrintTable();
    } else {
      PrintObject(options_.question.output, [&](ObjectWriter& out) { Write(out); });
    }
    return found_.fits && IsAsAsked(workload_, options_.question.input) ? kExitOk : kExitNo;
  }

 private:
  // Makes `changed_` of the cluster, but for the workloads that are to go.
  Result<void> Change() {
    Cluster& cluster = question_.cluster;
    changed_ = cluster;
    if (!options_.add.empty()) {
      InputOptions input = options_.question.input;
      input.files = options_.add;
      if (cluster.configuration) {
        input.of_state = std::make_shared<const KueueConfiguration>(*cluster.configuration);
      }
      Result<ClusterRead> added = ReadInput(input);
      if (!added) return tl::unexpected(added.error());
      Cluster pending = PendingOf(added->cluster);
      Merge(changed_, std::move(added->cluster));
      change_ = ChangeBetween(cluster, changed_, question_.gates);
      Merge(cluster, std::move(pending));
    }
    for (const std::string& text : options_.drain) {
      if (auto checked = CheckNodes(question_); !checked) return checked;
      const auto nodes = FindNodes(changed_, text);
      if (!nodes) return tl::unexpected(nodes.error());
      drained_.insert(drained_.end(), nodes->begin(), nodes->end());
    }
    std::ranges::sort(drained_);
    drained_.erase(std::unique(drained_.begin(), drained_.end()), drained_.end());
    if (auto hit = FindHit(); !hit) return hit;
    Cordon(changed_, drained_);
    return {};
  }

  // Finds who has pods on the nodes that are drained, and adds these nodes to the change.
  Result<void> FindHit() {
    std::set<std::string_view> known;
    for (const Node& node : question_.cluster.nodes) known.insert(node.name);
    std::vector<std::string> known_drained;
    for (const std::size_t index : drained_) {
      const std::string& name = changed_.nodes[index].name;
      if (known.contains(name)) known_drained.push_back(name);
      // One that comes, comes drained.
      const auto same = std::ranges::find(change_.delta.upsert_nodes, name, &Node::name);
      if (same == change_.delta.upsert_nodes.end()) {
        change_.drained.push_back(name);
      } else {
        same->unschedulable = true;
      }
    }
    for (const WorkloadOnNodes& there : WorkloadsOn(changed_, drained_)) {
      hit_.insert(changed_.workloads[there.index].key);
    }
    if (known_drained.empty()) return {};
    const auto answer = question_.asked->Drain(known_drained, {});
    if (!answer) return tl::unexpected(answer.error());
    for (const HitWorkload& workload : answer->hits) hit_.insert(workload.key);
    return {};
  }

  Result<void> AnswerNow() {
    const auto asked = FindWorkloadToPlace(question_, question_.cluster, options_.workload);
    if (!asked) return tl::unexpected(asked.error());
    workload_ = *asked->workload;
    key_ = workload_.key;
    if (!asked->refusal.empty()) {
      now_ = RefusalOf(*asked);
      return {};
    }
    for (const WorkloadRequest* request : asked->Choices()) {
      auto answer = question_.asked->NominateOne(*request);
      if (!answer && IsNotTried(*asked, *request, answer.error())) continue;
      if (!answer) return tl::unexpected(answer.error());
      const bool fits = Fits(*answer);
      if (!fits && request != &asked->request) continue;  // the first one's reason is told
      now_ = *std::move(answer);
      now_on_ = OnText(*asked, *request);
      if (fits) break;
    }
    return {};
  }

  static WorkloadAnswer RefusalOf(const WorkloadToPlace& asked) {
    PodSetAnswer refused;
    refused.failure = PlacementFailure{.reason = asked.refusal, .shortfall = std::nullopt};
    return {.pod_sets = {std::move(refused)}, .tree = {}};
  }

  // Tells the flavors of a request where the queue tries several.
  static std::string OnText(const WorkloadToPlace& asked, const WorkloadRequest& request) {
    return asked.others.empty() ? "" : "on " + FlavorsText(request) + ": ";
  }

  // Answers on the first flavors that hold it as they are then, or else on the first for which
  // victims have to go, or on the first.
  Result<PrefixAnswer> FindOnAny(const WorkloadToPlace& asked,
                                 const std::vector<RunningWorkload>& victims,
                                 std::string& on) const {
    std::optional<PrefixAnswer> best;
    for (const WorkloadRequest* request : asked.Choices()) {
      auto found = question_.asked->FindVictims(*request, victims);
      if (!found && IsNotTried(asked, *request, found.error())) continue;
      if (!found) return found;
      const bool fits_at_once = found->fits && found->prefix == 0;
      if (!best || fits_at_once || (found->fits && !best->fits)) {
        best = *std::move(found);
        on = OnText(asked, *request);
      }
      if (fits_at_once) break;
    }
    return *std::move(best);
  }

  Result<void> AnswerThen() {
    const auto asked = FindWorkloadToPlace(question_, changed_, key_.ToString());
    if (!asked) return tl::unexpected(asked.error());
    if (!asked->refusal.empty()) {
      found_.answer = RefusalOf(*asked);
      return {};
    }
    const auto victims = Victims();
    if (!victims) return tl::unexpected(victims.error());
    if (auto supposed = question_.asked->Suppose(change_); !supposed) return supposed;
    auto found = FindOnAny(*asked, *victims, then_on_);
    if (!found) return tl::unexpected(found.error());
    found_ = *std::move(found);
    for (const WorkloadRequest* request : asked->Choices()) {
      if (then_on_ != OnText(*asked, *request)) continue;
      NotePodsWithoutNode(changed_, *request, found_.answer, workload_);
    }
    for (std::size_t i = 0; i < victims->size(); ++i) {
      const bool goes = std::ranges::find(found_.targets, i) != found_.targets.end();
      for (const std::size_t slice : going_[i]) {
        (goes ? must_go_ : may_stay_).push_back(changed_.workloads[slice].key.ToString());
      }
    }
    return AnswerAtLargest(*victims);
  }

  // The same once the pods have grown to the largest size that is expected of them (W1.5).
  Result<void> AnswerAtLargest(const std::vector<RunningWorkload>& victims) {
    const auto grows = std::ranges::find(changed_.workloads, key_, &Workload::key);
    bool any = false;
    for (PodSet& pod_set : grows->pod_sets) {
      if (!pod_set.max_requests) continue;
      any = true;
      Resources& requests = pod_set.pod_template.requests;
      for (const auto& [resource, amount] : *pod_set.max_requests) {
        const std::int64_t* now = requests.Find(resource);
        requests.Set(resource, now == nullptr ? amount : std::max(*now, amount));
      }
    }
    if (!any) return {};
    const auto asked = FindWorkloadToPlace(question_, changed_, key_.ToString());
    if (!asked) return tl::unexpected(asked.error());
    auto found = FindOnAny(*asked, victims, largest_on_);
    if (!found) return tl::unexpected(found.error());
    at_largest_ = *std::move(found);
    return {};
  }

  // All slices of a job go with the one that is named (W5.5).
  Result<std::vector<RunningWorkload>> Victims() {
    const ClusterLookup lookup(changed_);
    const std::vector<VictimSlices> jobs = RunningJobs(changed_, key_);
    std::set<std::size_t> named;
    std::vector<RunningWorkload> victims;
    for (const std::string& name : options_.without) {
      const Result<ObjectKey> key = FindSlice(changed_, name);
      if (!key) return tl::unexpected(key.error());
      const Workload* workload = lookup.FindWorkload(*key);
      if (!HasReservation(*workload)) {
        return BadInput(
            fmt::format("--without {}: it is not admitted, so nothing is free without it",
                        Excerpt(key->ToString())));
      }
      const auto index = static_cast<std::size_t>(workload - changed_.workloads.data());
      const auto job = std::ranges::find_if(jobs, [&](const VictimSlices& slices) {
        return std::ranges::find(slices, index) != slices.end();
      });
      if (job == jobs.end()) {
        return BadInput(fmt::format(
            "--without {}: it is a slice of the job of {}, which cannot go to make room for itself",
            Excerpt(key->ToString()), Excerpt(key_.ToString())));
      }
      // Another slice of the job goes already; the same one twice is an error of FindPrefix.
      if (named.insert(index).second && std::ranges::find(going_, *job) != going_.end()) continue;
      going_.push_back(*job);
      victims.push_back({changed_.workloads[job->front()].key, VictimOf(changed_, *job, lookup),
                         workload->priority});
    }
    return victims;
  }

  void PrintTable() const {
    const NamesByFlavor names(changed_.flavors, changed_.topologies, changed_.nodes);
    const auto cell = [&](const WorkloadAnswer& answer, const std::string& on) {
      TableCell shown = AnswerCell(answer, names);
      shown.lines.front() = on + shown.lines.front();
      return shown;
    };
    std::vector<TableRow> rows = {{"now", cell(now_, now_on_)},
                                  {"then", cell(found_.answer, then_on_)}};
    if (at_largest_) {
      rows.push_back({"then, at its largest", cell(at_largest_->answer, largest_on_)});
    }
    WriteOutput(RenderTable({"WHEN", "WHERE " + key_.ToString() + " GOES"}, rows, question_.style));
    std::string lines;
    for (const std::string& line : NotHonouredLines(workload_)) lines += line + "\n";
    if (!drained_.empty()) {
      lines += fmt::format("drained: {}, with pods of {}{}\n",
                           CountWithNoun(std::ssize(drained_), "node"),
                           CountWithNoun(std::ssize(hit_), "admitted workload"),
                           hit_.empty() ? "" : " (espalier drain says where they would go)");
      lines += OtherPodsLine(question_, changed_, drained_);
    }
    if (!options_.without.empty()) lines += WithoutLine();
    if (!lines.empty()) WriteOutput("\n" + lines);
  }

  std::string WithoutLine() const {
    const auto victims = std::ssize(going_);
    if (!found_.fits) return fmt::format("not even without all {} of them\n", victims);
    if (found_.prefix == 0) return "nobody has to go\n";
    return fmt::format("once the first {} of {} are gone; of these, must go: {}\n", found_.prefix,
                       victims, fmt::join(must_go_, ", "));
  }

  void Write(ObjectWriter& out) const {
    out.Field("workload", std::string_view(key_.ToString()));
    out.Key("now");
    WriteAnswer(now_, question_.gates, out);
    out.Key("then");
    WriteAnswer(found_.answer, question_.gates, out);
    if (at_largest_) {
      out.Key("thenAtLargest");
      WriteAnswer(at_largest_->answer, question_.gates, out);
    }
    WriteNotHonoured(workload_, out);
    if (!drained_.empty()) WriteDrained(out);
    if (options_.without.empty()) return;
    out.Key("without");
    out.BeginMap();
    out.Field("prefix", static_cast<std::int64_t>(found_.prefix));
    out.Field("mustGo", must_go_);
    out.Field("mayStay", may_stay_);
    out.EndMap();
  }

  void WriteDrained(ObjectWriter& out) const {
    std::vector<std::string> nodes;
    for (const std::size_t node : drained_) nodes.push_back(changed_.nodes[node].name);
    std::vector<std::string> workloads;
    for (const ObjectKey& hit : hit_) workloads.push_back(hit.ToString());
    out.Key("drained");
    out.BeginMap();
    out.Field("nodes", nodes);
    out.Field("workloads", workloads);
    WriteOtherPods(changed_, drained_, out);
    out.EndMap();
  }

  const WhatIfOptions& options_;
  Question question_;
  Cluster changed_;
  std::vector<std::size_t> drained_;
  ProposedChange change_;  // what is added, and drained
  std::set<ObjectKey> hit_;
  Workload workload_;  // that is asked about, as it is now
  ObjectKey key_;
  WorkloadAnswer now_;
  std::string now_on_;  // such as "on flavor-b: ", where the queue tries several
  std::string then_on_;
  std::string largest_on_;
  PrefixAnswer found_;
  std::optional<PrefixAnswer> at_largest_;  // of pods that may grow
  std::vector<VictimSlices> going_;         // of the victims
  std::vector<std::string> must_go_;        // in the order of the command line
  std::vector<std::string> may_stay_;       // likewise
};

}  // namespace

void AddWhatIfCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<WhatIfOptions>();
  CLI::App* what_if = app.add_subcommand(
      "what-if", "Would a workload fit without others, with nodes drained, with objects added?");
  what_if->footer(kWhatIfExamples);
  AddWorkloadArgument(*what_if, options->workload);
  AddQuestionOptions(*what_if, options->question);
  AddBackendOptions(*what_if, options->question.backend);
  AddConnectOptions(*what_if, options->question);
  what_if
      ->add_option("--without", options->without,
                   "Admitted workloads that may go, in this order: NAMESPACE/NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  what_if
      ->add_option("--drain", options->drain,
                   "A node, or all of a domain: LEVEL=VALUE as rack=r05 or rack=block-2/r05")
      ->allow_extra_args(false);
  what_if->add_option("--add", options->add, "A file or folder of objects that are added")
      ->allow_extra_args(false);
  what_if->callback([options, &exit_code] {
    if (options->without.empty() && options->drain.empty() && options->add.empty()) {
      throw CLI::RequiredError("one of --without, --drain and --add");
    }
    exit_code = RunQuestion<WhatIf>(*options);
  });
}

}  // namespace espalier
