#include "service/cli/commands/victims_of_all.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "host/kueue/objects/node_participation.hpp"
#include "host/kueue/planning/exclusive_domains.hpp"
#include "host/model/excerpt.hpp"
#include "host/questions/atlas_parts.hpp"
#include "service/cli/html_report/html_report.hpp"
#include "service/cli/reports/reported_gangs.hpp"
#include "service/cli/terminal/progress_bar.hpp"
#include "service/cli/terminal/standard_output.hpp"

namespace espalier {

VictimsOfAll::VictimsOfAll(const VictimsOfAllOptions& options, Question question)
    : options_(options), question_(std::move(question)) {}

Result<ExitCode> VictimsOfAll::Run() {
  if (auto planned = Plan(); !planned) return tl::unexpected(planned.error());
  if (auto asked = Ask(); !asked) return tl::unexpected(asked.error());
  if (options_.question.output == "table") {
    const NamesByFlavor names(question_.cluster.flavors, question_.cluster.topologies, {});
    WriteOutput(AtlasTable(report_, names, question_.style));
  } else {
    PrintObject(options_.question.output, [&](ObjectWriter& out) { WriteAtlas(report_, out); });
  }
  const bool as_asked = std::ranges::all_of(report_.entries, [&](const AtlasEntry& entry) {
    return IsAsAsked(entry.not_honoured, options_.question.input);
  });
  const bool yes = EachHasRoom(report_) && as_asked;
  if (!options_.report.empty()) {
    if (auto written = WriteReport(); !written) return tl::unexpected(written.error());
  }
  return yes ? kExitOk : kExitNo;
}

Result<void> VictimsOfAll::Plan() {
  auto plan = PlanPlacement(question_.cluster, {.gates = question_.gates});
  if (!plan) return tl::unexpected(plan.error());
  plan_ = *std::move(plan);
  if (question_.keeps_domains) KeepApart(plan_, question_.cluster, question_.cluster.nodes);
  const PodsWithoutNode without(question_.cluster, question_.cluster.nodes);
  for (const PlannedWorkload& planned : plan_.workloads) {
    const Workload& workload = question_.cluster.workloads[planned.index];
    AtlasEntry entry{.workload = workload.key.ToString(),
                     .cluster_queue = planned.cluster_queue,
                     .priority = workload.priority,
                     .flavors = {}};
    if (const auto* refused = std::get_if<RefusedWorkload>(&planned.plan)) {
      entry.reason = refused->reason;
      report_.entries.push_back(std::move(entry));
      requests_.push_back(nullptr);
    }
    for (const WorkloadRequest* request : planned.Choices()) {
      entry.flavors = FlavorsText(*request);
      entry.not_honoured = workload.not_honoured;
      std::ranges::move(without.FindUnproven(*request), std::back_inserter(entry.not_honoured));
      report_.entries.push_back(entry);
      requests_.push_back(request);
    }
  }
  if (!requests_.empty()) return {};
  return BadInput("nothing in the input waits for a place");
}

Result<void> VictimsOfAll::Ask() {
  std::map<std::string, std::vector<std::size_t>> by_flavors;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] != nullptr) by_flavors[report_.entries[i].flavors].push_back(i);
  }
  std::set<std::string> not_tried;
  std::optional<Error> last;
  for (const auto& [flavors, entries] : by_flavors) {
    auto asked = AskFor(entries);
    if (!asked && asked.error().error_class == ErrorClass::kNotFound) {
      Tell(fmt::format("{} is not tried: {}", Excerpt(flavors), asked.error().message));
      not_tried.insert(flavors);
      last = asked.error();
    } else if (!asked) {
      return asked;
    }
  }
  if (!last) return {};
  std::set<std::string> tried;  // workloads
  for (const AtlasEntry& entry : report_.entries) {
    if (!not_tried.contains(entry.flavors)) tried.insert(entry.workload);
  }
  for (const AtlasEntry& entry : report_.entries) {
    if (!tried.contains(entry.workload)) return tl::unexpected(*last);
  }
  std::erase_if(report_.entries,
                [&](const AtlasEntry& entry) { return not_tried.contains(entry.flavors); });
  return {};
}

Result<void> VictimsOfAll::AskFor(const std::vector<std::size_t>& entries) {
  std::vector<WorkloadRequest> requests;
  for (const std::size_t entry : entries) requests.push_back(*requests_[entry]);
  ProgressBar progress("searching", requests.size());
  auto atlas = question_.asked->Atlas(requests, std::nullopt,
                                      [&](std::size_t done) { progress.Update(done); });
  if (!atlas) return tl::unexpected(atlas.error());
  const std::size_t levels_before = report_.atlas.levels.size();
  for (NamedAtlas::Row& row : atlas->rows) {
    if (row.level) *row.level += levels_before;
    for (std::size_t& request : row.requests) {
      request = entries[request];
      report_.entries[request].row =
          report_.atlas.rows.size() + static_cast<std::size_t>(&row - atlas->rows.data());
    }
  }
  Append(*std::move(atlas), report_.atlas);
  return {};
}

Result<void> VictimsOfAll::WriteReport() {
  const Cluster& cluster = question_.cluster;
  auto input = question_.asked->ReadInput();
  if (!input) return tl::unexpected(input.error());
  const NamesByFlavor names(cluster.flavors, cluster.topologies, {});
  HtmlReport report{.command = "espalier victims --all",
                    .facts = NodeLines(cluster),
                    .about = {},
                    .state = *std::move(input),
                    .gangs = RunningGangs(cluster)};
  for (const PlannedWorkload& planned : plan_.workloads) {
    report.gangs.push_back(WaitingGang(cluster.workloads[planned.index], planned.cluster_queue,
                                       std::get_if<WorkloadRequest>(&planned.plan), names));
  }
  report.atlas = PictureOf(report_, names);
  return WriteHtmlReport(std::move(report), options_.report);
}

}  // namespace espalier
