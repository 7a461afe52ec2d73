// espalier capacity: how many more gangs of a shape fit?
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/objects/quantity_text.hpp"
#include "host/kueue/planning/drain.hpp"
#include "host/model/excerpt.hpp"
#include "host/packing/flavor_state.hpp"
#include "host/what_if/census.hpp"
#include "kernels/saturating.hpp"
#include "service/cli/commands/commands.hpp"
#include "service/cli/commands/question.hpp"
#include "service/cli/options/gang_text.hpp"
#include "service/cli/reports/count_with_noun.hpp"
#include "service/cli/terminal/standard_output.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostDomains = 40;  // rows of one gang in the table

struct CapacityOptions {
  QuestionOptions question;
  std::vector<std::string> shapes;
  std::string level;
  std::string flavor;
  std::vector<std::string> drain;
};

constexpr const char* kCapacityExamples = R"(Examples:
  How many more gangs of 8 pods with 8 GPUs each fit, at every level?
    espalier capacity cluster.json.gz --shape '8x{cpu=16,nvidia.com/gpu=8}'

  In which racks?
    espalier capacity cluster.json.gz --shape '8x{cpu=16,nvidia.com/gpu=8}' --level rack

  And with a block drained?
    espalier capacity cluster.json.gz --shape '8x{nvidia.com/gpu=8}' --drain block=use1a-b01

  Of the gangs that wait, how many more of each shape?
    espalier capacity cluster.json.gz

GANGS are side by side: all of them fit at the same time, each within one domain of the level, on top
of what runs. In profile espalier workloads that are trees are counted as they are, on the whole flavor. With several shapes, each is counted as if the others were not there. A gang that waits is counted on
each flavor that its queue tries, and one of them with room is room for it.

Exit codes: 0 there is room for a gang of every shape; 1 for some there is none, some that waits cannot
be counted, or without --best-effort is not as it was asked; 2 wrong command line; 3 wrong input;
4 no memory, or output lost; 5 internal error.)";

// A gang on one flavor and the room for it.
struct Counting {
  std::string shape;  // in words
  WorkloadRequest request;
  NamedCensus census;
  // The number of the gang; one that may go to several flavors is counted on each, under the same
  // number.
  std::size_t gang_number = 0;

  // Returns whether it is counted as a whole, on the whole flavor alone.
  bool is_tree() const { return static_cast<bool>(request.tree); }
  const PodSetRequest& gang() const { return request.pod_sets.front(); }
  const std::string& flavor() const { return is_tree() ? request.tree->flavor : gang().flavor; }
};

std::string ShapeText(const PodSetRequest& gang) {
  std::vector<std::string> requests;
  for (const auto& [resource, amount] : gang.requests) {
    requests.push_back(fmt::format("{}={}", resource, QuantityText(resource, amount)));
  }
  return fmt::format("{}x{{{}}}", gang.count, fmt::join(requests, ","));
}

class RoomForGangs {
 public:
  RoomForGangs(const CapacityOptions& options, Question question)
      : options_(options), question_(std::move(question)) {}

  Result<ExitCode> Run() {
    std::set<std::string> drained;
    for (const std::string& text : options_.drain) {
      if (auto checked = CheckNodes(question_); !checked) {
        return tl::unexpected(checked.error());
      }
      const auto nodes = FindNodes(question_.cluster, text);
      if (!nodes) return tl::unexpected(nodes.error());
      for (const std::size_t node : *nodes) drained.insert(question_.cluster.nodes[node].name);
    }
    if (auto supposed = question_.asked->Suppose({.drained = {drained.begin(), drained.end()}});
        !supposed) {
      return tl::unexpected(supposed.error());
    }
    for (const ResourceFlavor& flavor : question_.cluster.flavors) {
      if (flavor.topology_name) flavors_.push_back(flavor.name);
    }
    std::ranges::sort(flavors_);
    if (const auto chosen = ChooseGangs(); !chosen) return tl::unexpected(chosen.error());
    if (const auto counted = CountEach(); !counted) return tl::unexpected(counted.error());
    if (const auto known = CheckLevel(); !known) return tl::unexpected(known.error());
    NoteSums(drained);
    if (options_.question.output == "table") {
      PrintTable();
    } else {
      PrintObject(options_.question.output, [&](ObjectWriter& out) { Write(out); });
    }
    std::map<std::size_t, bool> has_room;  // by gang: on any of its flavors
    for (const Counting& counting : countings_) {
      has_room[counting.gang_number] = has_room[counting.gang_number] || HasRoom(counting);
    }
    const bool as_asked = IsAsAsked(not_honoured_, options_.question.input);
    const bool each = std::ranges::all_of(has_room, [](const auto& gang) { return gang.second; });
    return each && as_asked && not_counted_.empty() ? kExitOk : kExitNo;
  }

 private:
  // Says of which domains the nodes hold fewer pods of a gang than are counted there.
  void NoteSums(const std::set<std::string>& drained) {
    std::vector<Node> nodes = question_.cluster.nodes;
    for (Node& node : nodes) node.unschedulable |= drained.contains(node.name);
    PodsWithoutNode without(question_.cluster, nodes);
    for (const Counting& counting : countings_) {
      if (counting.is_tree() || counting.census.levels.empty()) continue;
      TopologyAssignment counted;
      for (const NamedCensus::Domain& domain : counting.census.levels.back().domains) {
        if (domain.pods > 0) {
          counted.domains.push_back(
              {domain.values, static_cast<std::int32_t>(std::min<Count>(
                                  domain.pods, std::numeric_limits<std::int32_t>::max()))});
        }
      }
      for (const std::string& text : without.Find(counting.gang(), counted)) {
        not_honoured_.push_back(
            fmt::format("{} on {}: {}", counting.shape, Excerpt(counting.flavor()), text));
      }
    }
  }

  // Leaves out flavors that a server's state lacks of gangs that have another flavor, and says so.
  Result<void> CountEach() {
    std::optional<Error> last;
    std::set<std::size_t> counted;  // gangs
    std::vector<Counting> kept;
    for (Counting& counting : countings_) {
      auto census = question_.asked->CountGangs(counting.request);
      if (!census && census.error().error_class == ErrorClass::kNotFound) {
        Tell(fmt::format("flavor {} is not counted: {}", Excerpt(counting.flavor()),
                         census.error().message));
        last = census.error();
        continue;
      }
      if (!census) return tl::unexpected(census.error());
      counting.census = *std::move(census);
      counted.insert(counting.gang_number);
      if (counting.is_tree() && counting.census.levels.front().gangs == Questions::kMostCounted) {
        Tell(fmt::format("of workload {} at least {} fit; more are not counted",
                         Excerpt(counting.shape), Questions::kMostCounted));
      }
      kept.push_back(std::move(counting));
    }
    countings_ = std::move(kept);
    if (last && counted.size() < gangs_) return tl::unexpected(*last);
    return {};
  }

  Result<void> ChooseGangs() {
    if (options_.shapes.empty()) return TakePending();
    std::vector<std::string> flavors;
    for (const std::string& name : flavors_) {
      if (options_.flavor.empty() || name == options_.flavor) flavors.push_back(name);
    }
    if (flavors.empty()) {
      return tl::unexpected(
          Error{ErrorClass::kNotFound,
                options_.flavor.empty()
                    ? std::string("no ResourceFlavor in the input has a topology")
                    : fmt::format("--flavor: no flavor {} has a topology; there are {}",
                                  Excerpt(options_.flavor), fmt::join(flavors_, ", "))});
    }
    for (const std::string& text : options_.shapes) {
      Result<PodSetRequest> gang = ParseGang(text);
      if (!gang) return tl::unexpected(gang.error());
      for (const std::string& flavor : flavors) {
        gang->flavor = flavor;
        AddCounting(*gang);
      }
      ++gangs_;
    }
    return {};
  }

  // The pod sets of all that waits, equal ones once.
  Result<void> TakePending() {
    const auto plan = PlanPlacement(question_.cluster, {.gates = question_.gates});
    if (!plan) return tl::unexpected(plan.error());
    for (const PlannedWorkload& planned : plan->workloads) {
      const auto choices = planned.Choices();
      const Workload& workload = question_.cluster.workloads[planned.index];
      if (const auto* refused = std::get_if<RefusedWorkload>(&planned.plan)) {
        not_counted_.push_back(
            fmt::format("{}: {}", Excerpt(workload.key.ToString()), refused->reason));
      }
      if (choices.empty()) continue;
      for (const std::string& text : workload.not_honoured) {
        not_honoured_.push_back(fmt::format("{}: {}", Excerpt(workload.key.ToString()), text));
      }
      if (choices.front()->tree) {
        for (const WorkloadRequest* request : choices) {
          if (!options_.flavor.empty() && request->tree->flavor != options_.flavor) continue;
          countings_.push_back({.shape = request->key.ToString(),
                                .request = *request,
                                .census = {},
                                .gang_number = gangs_});
        }
        ++gangs_;
        continue;
      }
      for (std::size_t p = 0; p < choices.front()->pod_sets.size(); ++p) AddGang(choices, p);
    }
    if (!countings_.empty() || !not_counted_.empty()) return {};
    return BadInput("nothing in the input waits for a place; name a gang with --shape");
  }

  // A pod set on each of the flavors that it may go to; one that is counted already is not again.
  void AddGang(const std::vector<const WorkloadRequest*>& choices, std::size_t pod_set) {
    std::vector<PodSetRequest> on_each;
    for (const WorkloadRequest* request : choices) {
      if (pod_set >= request->pod_sets.size()) continue;
      const PodSetRequest& gang = request->pod_sets[pod_set];
      if (gang.count < 1 || (!options_.flavor.empty() && gang.flavor != options_.flavor)) continue;
      const auto same_flavor = [&](const PodSetRequest& other) {
        return other.flavor == gang.flavor;
      };
      if (std::ranges::none_of(on_each, same_flavor)) on_each.push_back(gang);
    }
    const auto counted = [&](const PodSetRequest& gang) {
      return std::ranges::any_of(countings_, [&](const Counting& other) {
        if (other.is_tree()) return false;
        const PodSetRequest& known = other.gang();
        return known.count == gang.count && known.flavor == gang.flavor &&
               known.requests == gang.requests &&
               known.pod_template.node_selector == gang.pod_template.node_selector &&
               known.pod_template.affinity == gang.pod_template.affinity &&
               known.pod_template.tolerations == gang.pod_template.tolerations;
      });
    };
    if (std::ranges::all_of(on_each, counted)) return;
    for (PodSetRequest& gang : on_each) AddCounting(std::move(gang));
    ++gangs_;
  }

  void AddCounting(PodSetRequest gang) {
    Counting& counting = countings_.emplace_back();
    counting.gang_number = gangs_;
    counting.shape = ShapeText(gang);
    counting.request.key.name = "gang";
    counting.request.pod_sets = {std::move(gang)};
  }

  const Topology* TopologyOf(const Counting& counting) const {
    const ClusterLookup lookup(question_.cluster);
    return lookup.TopologyOf(counting.flavor());
  }

  // The level that was asked for, of a gang's topology; null: it has none of that name.
  const NamedCensus::Level* Wanted(const Counting& counting) const {
    const TopologyNames names(*TopologyOf(counting), {});
    for (const NamedCensus::Level& level : counting.census.levels) {
      if (level.level.empty()) continue;
      if (level.level == options_.level || names.LevelName(level.level) == options_.level) {
        return &level;
      }
    }
    return nullptr;
  }

  // Leaves out flavors without the level of gangs that have another flavor with it, and says so.
  Result<void> CheckLevel() {
    if (options_.level.empty()) return {};
    const auto is_known = [&](const Counting& counting) {
      return counting.is_tree() || !counting.census.failure.empty() || Wanted(counting) != nullptr;
    };
    std::set<std::size_t> known;
    std::set<std::string> left_out;
    for (const Counting& counting : countings_) {
      if (is_known(counting)) known.insert(counting.gang_number);
    }
    std::erase_if(countings_, [&](const Counting& counting) {
      if (is_known(counting) || !known.contains(counting.gang_number)) return false;
      left_out.insert(counting.flavor());
      return true;
    });
    for (const std::string& flavor : left_out) {
      Tell(fmt::format("flavor {} is not counted: its topology has no level {}", Excerpt(flavor),
                       Excerpt(options_.level)));
    }
    for (const Counting& counting : countings_) {
      if (is_known(counting)) continue;
      const TopologyNames names(*TopologyOf(counting), {});
      std::vector<std::string> levels;
      for (const std::string& key : names.levels()) levels.push_back(names.LevelName(key));
      return tl::unexpected(
          Error{ErrorClass::kNotFound,
                fmt::format("--level: the topology of flavor {} has no level {}; there are {}",
                            counting.flavor(), Excerpt(options_.level), fmt::join(levels, ", "))});
    }
    return {};
  }

  // At the level that was asked for, else anywhere.
  bool HasRoom(const Counting& counting) const {
    if (!counting.census.failure.empty()) return false;
    const bool anywhere = options_.level.empty() || counting.is_tree();
    const NamedCensus::Level* level = anywhere ? &counting.census.levels.front() : Wanted(counting);
    return level->gangs > 0;
  }

  void PrintTable() const {
    std::vector<TableRow> rows;
    for (const Counting& counting : countings_) {
      if (!counting.census.failure.empty()) {
        rows.push_back({counting.shape, counting.flavor(), "-", "0",
                        TableCell(counting.census.failure, Color::kBad)});
      } else if (options_.level.empty() || counting.is_tree()) {
        AddLevels(counting, rows);
      } else {
        AddDomains(counting, *Wanted(counting), rows);
      }
    }
    if (!rows.empty()) {
      WriteOutput(RenderTable({"GANG", "FLAVOR", options_.level.empty() ? "WITHIN ONE" : "DOMAIN",
                               "GANGS", options_.level.empty() ? "WHERE" : "ROOM FOR"},
                              rows, question_.style));
    }
    for (const std::string& text : not_counted_) WriteOutput("not counted: " + text + "\n");
    for (const std::string& text : not_honoured_) WriteOutput("not as asked: " + text + "\n");
  }

  void AddLevels(const Counting& counting, std::vector<TableRow>& rows) const {
    const TopologyNames names(*TopologyOf(counting), {});
    for (const NamedCensus::Level& level : counting.census.levels) {
      const auto with_room = std::ranges::count_if(
          level.domains, [](const NamedCensus::Domain& domain) { return domain.gangs > 0; });
      const std::string name = level.level.empty() ? "flavor" : names.LevelName(level.level);
      rows.push_back({counting.shape, counting.flavor(), name, std::to_string(level.gangs),
                      level.level.empty()
                          ? CountWithNoun(level.domains.front().pods, "pod")
                          : fmt::format("{} of {}", with_room,
                                        CountWithNoun(std::ssize(level.domains), name))});
    }
  }

  void AddDomains(const Counting& counting, const NamedCensus::Level& level,
                  std::vector<TableRow>& rows) const {
    std::vector<NamedCensus::Domain> domains = level.domains;
    std::erase_if(domains, [](const NamedCensus::Domain& domain) { return domain.pods == 0; });
    const std::size_t more =
        domains.size() > kMostDomains ? domains.size() - kMostDomains : std::size_t{0};
    std::ranges::stable_sort(domains, std::greater<>(), &NamedCensus::Domain::gangs);
    domains.resize(domains.size() - more);
    for (const NamedCensus::Domain& domain : domains) {
      rows.push_back({counting.shape, counting.flavor(),
                      fmt::format("{}", fmt::join(domain.values, "/")),
                      std::to_string(domain.gangs), CountWithNoun(domain.pods, "pod")});
    }
    const auto all = std::ssize(level.domains);
    rows.push_back(
        {counting.shape, counting.flavor(),
         more == 0 ? fmt::format("all {}", all) : fmt::format("all {}, {} not shown", all, more),
         std::to_string(level.gangs), "-"});
  }

  void Write(ObjectWriter& out) const {
    out.Key("gangs");
    out.BeginList();
    for (const Counting& counting : countings_) {
      out.BeginMap();
      out.Field("gang", std::string_view(counting.shape));
      out.Field("flavor", std::string_view(counting.flavor()));
      if (!counting.census.failure.empty()) {
        out.Field("reason", std::string_view(counting.census.failure));
      }
      out.Key("levels");
      out.BeginList();
      for (const NamedCensus::Level& level : counting.census.levels) {
        const bool one = !options_.level.empty() && !counting.is_tree();
        if (one && &level != Wanted(counting)) continue;
        WriteLevel(level, out);
      }
      out.EndList();
      out.EndMap();
    }
    out.EndList();
    if (!not_counted_.empty()) {
      out.Field("notCounted", not_counted_);
    }
    if (not_honoured_.empty()) return;
    out.Field("notHonoured", not_honoured_);
  }

  void WriteLevel(const NamedCensus::Level& level, ObjectWriter& out) const {
    out.BeginMap();
    out.Field("level", std::string_view(level.level));
    out.Field("gangs", level.gangs);
    if (!options_.level.empty()) {
      out.Key("domains");
      out.BeginList();
      for (const NamedCensus::Domain& domain : level.domains) {
        out.BeginMap();
        out.Field("values", domain.values);
        out.Field("gangs", domain.gangs);
        out.Field("pods", domain.pods);
        out.EndMap();
      }
      out.EndList();
    }
    out.EndMap();
  }

  const CapacityOptions& options_;
  Question question_;
  std::vector<std::string> flavors_;  // with a topology, by name
  std::vector<Counting> countings_;
  std::vector<std::string> not_counted_;  // what waits without a request
  std::vector<std::string> not_honoured_;
  std::size_t gangs_ = 0;  // different ones among the countings
};

}  // namespace

void AddCapacityCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CapacityOptions>();
  CLI::App* capacity =
      app.add_subcommand("capacity", "How many more gangs of a shape fit, and in which domains");
  capacity->footer(kCapacityExamples);
  AddQuestionOptions(*capacity, options->question);
  AddConnectOptions(*capacity, options->question);
  const auto check_shape = [](const std::string& text) {
    const auto gang = ParseGang(text);
    return gang ? std::string() : gang.error().message;
  };
  capacity
      ->add_option("--shape", options->shapes,
                   "A gang, as 8x{cpu=16,nvidia.com/gpu=8}: pods, and what each requests.\n"
                   "Without it: the gangs that wait")
      ->allow_extra_args(false)
      ->check(CLI::Validator(check_shape, "GANG"));
  capacity->add_option("--level", options->level,
                       "Count domain by domain of this level, by its label or as rack");
  capacity->add_option("--flavor", options->flavor, "Only on this ResourceFlavor");
  capacity
      ->add_option("--drain", options->drain,
                   "Without a node, or all of a domain: LEVEL=VALUE as rack=r05")
      ->allow_extra_args(false);
  capacity->callback([options, &exit_code] {
    options->question.needs_nodes = options->shapes.empty() || !options->drain.empty();
    exit_code = RunQuestion<RoomForGangs>(*options);
  });
}

}  // namespace espalier
