#include "service/cli/html_report/html_report.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "host/engine/assignments.hpp"
#include "host/model/excerpt.hpp"
#include "host/packing/flavor_state.hpp"
#include "html_report_page.hpp"
#include "service/cli/commands/question.hpp"
#include "service/cli/reports/amount_text.hpp"
#include "service/cli/reports/certificate_text.hpp"
#include "service/cli/reports/domain_text.hpp"
#include "service/cli/reports/object_writer.hpp"
#include "service/cli/terminal/output_file.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostLinesOnPage = 20;  // of where a pod set is
constexpr std::string_view kCpu = "cpu";

// Returns, by leaf, what a state has free of one resource; 0 for a resource that it does not know.
std::vector<Amount> FreeOf(const FlavorState& state, std::string_view resource) {
  const FlavorSnapshot& snapshot = state.snapshot();
  const auto leaves = static_cast<std::size_t>(snapshot.leaf_count());
  std::vector<Amount> amounts(leaves, 0);
  const std::int32_t column = snapshot.FindResource(resource);
  if (column < 0) return amounts;
  const auto first = static_cast<std::size_t>(snapshot.stride() * column);
  for (std::size_t leaf = 0; leaf < leaves; ++leaf) amounts[leaf] = state.free()[first + leaf];
  return amounts;
}

// One flavor: the domains of its topology, and of one resource how much its leaves have.
class ReportedFlavor {
 public:
  // `empty` is the flavor where nothing runs, `state` where the pods of no gang do.
  ReportedFlavor(const FlavorState& empty, const FlavorState& state,
                 std::span<const ReportedGang> gangs)
      : snapshot_(empty.snapshot()),
        accelerator_(MostRequestedAccelerator(empty, gangs)),
        capacity_(FreeOf(empty, resource())),
        free_(FreeOf(state, resource())) {}

  std::string_view resource() const { return accelerator_.empty() ? kCpu : accelerator_; }
  const FlavorSnapshot& snapshot() const { return snapshot_; }

  void Write(ObjectWriter& out, const TopologyNames& names) const {
    out.BeginMap();
    out.Field("name", std::string_view(snapshot_.flavor().name));
    out.Field("resource", resource());
    out.Key("accelerator");
    out.Flag(!accelerator_.empty());
    std::vector<std::string> levels;
    for (const std::string& key : snapshot_.levels()) levels.push_back(names.LevelName(key));
    out.Field("levels", levels);
    WriteDomains(out);
    WriteAmounts(out);
    out.EndMap();
  }

  // Returns the position of a domain among those of its level, or -1.
  std::int32_t Find(std::int32_t level, std::span<const std::string> path) const {
    const TreeView tree = snapshot_.tree();
    DomainRange domains{tree.LevelBegin(0), tree.LevelEnd(0)};
    for (std::int32_t at = 0; at <= level; ++at) {
      std::int32_t domain = domains.begin;
      while (domain < domains.end &&
             snapshot_.Value(DomainId(domain)) != path[static_cast<std::size_t>(at)]) {
        ++domain;
      }
      if (domain == domains.end) return -1;
      if (at == level) return domain - tree.LevelBegin(level);
      domains = {tree.ChildBegin(domain), tree.ChildBegin(domain + 1)};
    }
    return -1;
  }

 private:
  // The device that most pod sets ask for, of those that leaves have; of several the one that more
  // leaves have, then the first by name; empty: no leaf has a device.
  static std::string MostRequestedAccelerator(const FlavorState& empty,
                                              std::span<const ReportedGang> gangs) {
    const FlavorSnapshot& snapshot = empty.snapshot();
    std::string most;
    std::pair<std::int64_t, std::int64_t> most_asked(-1, 0);
    for (const std::string& resource : snapshot.resources()) {
      if (resource.find('/') == std::string::npos) continue;
      const std::vector<Amount> amounts = FreeOf(empty, resource);
      const auto leaves = std::ranges::count_if(amounts, [](Amount amount) { return amount > 0; });
      if (leaves == 0) continue;
      std::int64_t requests = 0;
      for (const ReportedGang& gang : gangs) {
        requests += std::ranges::count_if(gang.pod_sets, [&](const ReportedPodSet& pod_set) {
          return pod_set.flavor == snapshot.flavor().name &&
                 AmountOf(pod_set.requests, resource) > 0;
        });
      }
      const std::pair<std::int64_t, std::int64_t> asked(requests, leaves);
      if (asked <= most_asked) continue;
      most_asked = asked;
      most = resource;
    }
    return most;
  }

  // Writes, by level, the names of its domains and, for all but the lowest, where the children of
  // each begin among the domains of the next.
  void WriteDomains(ObjectWriter& out) const {
    const TreeView tree = snapshot_.tree();
    out.Key("names");
    out.BeginList();
    for (std::int32_t level = 0; level < tree.level_count; ++level) {
      out.BeginList();
      for (std::int32_t d = tree.LevelBegin(level); d < tree.LevelEnd(level); ++d) {
        out.Value(std::string_view(snapshot_.Value(DomainId(d))));
      }
      out.EndList();
    }
    out.EndList();
    out.Key("children");
    out.BeginList();
    for (std::int32_t level = 0; level < tree.lowest(); ++level) {
      const std::int32_t first = tree.LevelBegin(level + 1);
      out.BeginList();
      for (std::int32_t d = tree.LevelBegin(level); d < tree.LevelEnd(level); ++d) {
        out.Value(std::int64_t{tree.ChildBegin(d) - first});
      }
      out.Value(std::int64_t{tree.LevelEnd(level + 1) - first});
      out.EndList();
    }
    out.EndList();
  }

  void WriteAmounts(ObjectWriter& out) const {
    out.Key("capacity");
    out.BeginList();
    for (const Amount amount : capacity_) out.Value(amount);
    out.EndList();
    out.Key("others");  // leaf, amount, leaf, amount, ...
    out.BeginList();
    for (std::size_t leaf = 0; leaf < capacity_.size(); ++leaf) {
      const Amount used = SaturatingSubtract(capacity_[leaf], free_[leaf]);
      if (used == 0) continue;
      out.Value(static_cast<std::int64_t>(leaf));
      out.Value(used);
    }
    out.EndList();
  }

  const FlavorSnapshot& snapshot_;
  std::string accelerator_;
  std::vector<Amount> capacity_;
  std::vector<Amount> free_;
};

std::string_view StateName(ReportedGang::State state) {
  switch (state) {
    case ReportedGang::State::kWaiting:
      return "waiting";
    case ReportedGang::State::kPlaced:
      return "placed";
    case ReportedGang::State::kRunning:
      break;
  }
  return "running";
}

// Writes gangs, whose places and near misses become positions in flavors.
class GangWriter {
 public:
  GangWriter(const HtmlReport& report, std::span<const ReportedFlavor> flavors, ObjectWriter& out)
      : names_(report.state.flavors, report.state.topologies, report.state.nodes),
        flavors_(flavors),
        out_(out) {
    for (std::size_t i = 0; i < flavors.size(); ++i) {
      flavor_index_.emplace(flavors[i].snapshot().flavor().name, static_cast<std::int64_t>(i));
    }
  }

  const NamesByFlavor& names() const { return names_; }

  void Write(const ReportedGang& gang) {
    out_.BeginMap();
    Text("name", gang.name);
    Text("state", StateName(gang.state));
    Text("status", gang.status);
    if (!gang.cluster_queue.empty()) Text("queue", gang.cluster_queue);
    Text("priority", std::to_string(gang.priority));  // as text: a number would lose digits
    WritePodSets("podSets", gang.pod_sets);
    WriteAnyTexts("reasons", gang.reasons);
    WriteAnyTexts("changes", gang.changes);
    if (!gang.otherwise.empty()) WritePodSets("otherwise", gang.otherwise);
    if (gang.nearest) WriteNearest(*gang.nearest, gang.nearest_when);
    out_.EndMap();
  }

 private:
  void Text(std::string_view key, std::string_view value) { out_.Field(key, value); }

  // Clusters have tens of thousands of gangs, most of which have none.
  void WriteAnyTexts(std::string_view key, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    out_.Key(key);
    out_.Value(texts);
  }

  std::int64_t FlavorIndex(std::string_view flavor) const {
    const auto found = flavor_index_.find(flavor);
    return found == flavor_index_.end() ? -1 : found->second;
  }

  void WritePodSets(std::string_view key, const std::vector<ReportedPodSet>& pod_sets) {
    out_.Key(key);
    out_.BeginList();
    for (const ReportedPodSet& pod_set : pod_sets) WritePodSet(pod_set);
    out_.EndList();
  }

  void WritePodSet(const ReportedPodSet& pod_set) {
    const std::int64_t index = FlavorIndex(pod_set.flavor);
    out_.BeginMap();
    Text("name", pod_set.name);
    out_.Field("flavor", index);
    Text("requested", pod_set.requested);
    out_.Field("pods", pod_set.pods);
    const ReportedFlavor* flavor = index < 0 ? nullptr : &flavors_[static_cast<std::size_t>(index)];
    out_.Field("each", flavor == nullptr ? 0 : AmountOf(pod_set.requests, flavor->resource()));
    std::vector<std::string> lines;
    if (pod_set.assignment) {
      lines = DomainLines(*pod_set.assignment, names_.Of(pod_set.flavor), Detail::kShort,
                          kMostLinesOnPage);
    }
    WriteAnyTexts("lines", lines);
    WriteLeaves(pod_set, flavor);
    out_.EndMap();
  }

  // Leaf, pods, leaf, pods, ...; and how many pods are on leaves that the flavor does not have.
  void WriteLeaves(const ReportedPodSet& pod_set, const ReportedFlavor* flavor) {
    std::int64_t lost = 0;
    DomainIds ids;
    out_.Key("leaves");
    out_.BeginList();
    static const TopologyAssignment kNowhere;
    for (const TopologyDomainAssignment& domain :
         (pod_set.assignment ? *pod_set.assignment : kNowhere).domains) {
      const LeafId leaf =
          flavor == nullptr ? LeafId() : flavor->snapshot().FindLeaf(ids.Of(domain.values));
      if (!leaf.valid()) {
        lost += domain.count;
        continue;
      }
      out_.Value(std::int64_t{leaf.value});
      out_.Value(std::int64_t{domain.count});
    }
    out_.EndList();
    if (lost > 0) out_.Field("lost", lost);
  }

  void WriteNearest(const NearMiss& miss, std::string_view when) {
    const std::int64_t index = FlavorIndex(miss.flavor);
    std::int64_t level = -1;
    std::int64_t domain = -1;
    if (index >= 0 && !miss.domain.empty()) {
      const ReportedFlavor& flavor = flavors_[static_cast<std::size_t>(index)];
      const auto deepest = static_cast<std::int32_t>(miss.domain.size()) - 1;
      domain = flavor.Find(deepest, miss.domain);
      if (domain >= 0) level = deepest;
    }
    out_.Key("nearest");
    out_.BeginMap();
    Text("when", when);
    Text("text", NearMissText(miss, names_));
    out_.Field("binding", BindingLines(miss));
    out_.Field("flavor", index);
    out_.Field("level", level);
    out_.Field("index", domain);
    out_.EndMap();
  }

  NamesByFlavor names_;
  std::span<const ReportedFlavor> flavors_;
  std::map<std::string, std::int64_t, std::less<>> flavor_index_;
  ObjectWriter& out_;
};

void Write(const ReportedAtlas& atlas, ObjectWriter& out) {
  out.BeginMap();
  out.Key("priorities");
  std::vector<std::string> priorities;  // as texts: numbers would lose digits
  for (const std::int64_t priority : atlas.priorities) {
    priorities.push_back(std::to_string(priority));
  }
  out.Value(priorities);
  out.Key("sheets");
  out.BeginList();
  for (const ReportedAtlas::Sheet& sheet : atlas.sheets) {
    out.BeginMap();
    out.Field("name", std::string_view(sheet.name));
    out.Field("about", std::string_view(sheet.about));
    out.Field("rows", sheet.rows);
    out.Field("columns", sheet.columns);
    out.Key("cells");
    out.BeginList();
    for (const std::vector<std::int32_t>& row : sheet.cells) {
      out.BeginList();
      for (const std::int32_t step : row) out.Value(std::int64_t{step});
      out.EndList();
    }
    out.EndList();
    out.EndMap();
  }
  out.EndList();
  out.EndMap();
}

// Appends characters that are not ASCII, of a text in JSON: those that nobody sees as \xHH, as they
// are shown everywhere.
void AppendShown(std::string_view characters, std::string& json) {
  for (const char c : EscapeControls(characters)) {
    if (c == '\\') json += '\\';
    json += c;
  }
}

// Returns JSON that may stand in a page. Escapes '<', which could end the script element or begin a
// comment there, and what nobody sees beyond ASCII; in JSON both stand in texts only.
std::string SafeInPage(std::string_view json) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  std::string safe;
  safe.reserve(json.size());
  while (!json.empty()) {
    const auto ascii = std::ranges::find_if_not(json, is_ascii);
    for (const char c : json.substr(0, static_cast<std::size_t>(ascii - json.begin()))) {
      if (c == '<') {
        safe += "\\u003c";
      } else {
        safe += c;
      }
    }
    const auto end = std::find_if(ascii, json.end(), is_ascii);
    AppendShown({ascii, end}, safe);
    json = {end, json.end()};
  }
  return safe;
}

}  // namespace

void AddReportOption(CLI::App& command, std::string& file) {
  const auto check = [](const std::string& name) {
    return name.ends_with(".html")
               ? std::string()
               : fmt::format("\"{}\" is no name of a report; want FILE.html", Excerpt(name));
  };
  command
      .add_option("--report", file,
                  "Also write FILE.html: a tree map of the topology with all gangs, for a browser")
      ->check(CLI::Validator(check, "FILE.html"));
}

Result<std::string> ReportData(HtmlReport report) {
  ClusterStateInput& input = report.state;
  input.tas_usage.clear();
  const Result<ClusterState> state = ClusterState::Build(input);
  if (!state) return tl::unexpected(state.error());
  input.non_tas_usage.clear();
  const Result<ClusterState> empty = ClusterState::Build(input);
  if (!empty) return tl::unexpected(empty.error());
  std::vector<ReportedFlavor> flavors;
  for (const std::string_view name : empty->FlavorNames()) {
    flavors.emplace_back(*empty->Find(name), *state->Find(name), report.gangs);
  }
  const auto out = MakeJsonLineWriter();
  GangWriter gangs(report, flavors, *out);
  out->BeginMap();
  out->Field("command", std::string_view(report.command));
  out->Field("facts", std::string_view(report.facts));
  out->Field("about", std::string_view(report.about));
  out->Key("flavors");
  out->BeginList();
  for (const ReportedFlavor& flavor : flavors) {
    flavor.Write(*out, gangs.names().Of(flavor.snapshot().flavor().name));
  }
  out->EndList();
  out->Key("gangs");
  out->BeginList();
  for (const ReportedGang& gang : report.gangs) gangs.Write(gang);
  out->EndList();
  if (report.atlas) {
    out->Key("atlas");
    Write(*report.atlas, *out);
  }
  out->EndMap();
  return SafeInPage(out->Finish());
}

Result<void> WriteHtmlReport(HtmlReport report, const std::string& path) {
  const Result<std::string> data = ReportData(std::move(report));
  if (!data) return tl::unexpected(data.error());
  Result<OutputFile> file = OutputFile::CreateFile(path);
  if (!file) return tl::unexpected(file.error());
  for (const std::string_view part : {kPageBeforeData, std::string_view(*data), kPageBehindData}) {
    file->Write(part);
  }
  return file->Close();
}

}  // namespace espalier
