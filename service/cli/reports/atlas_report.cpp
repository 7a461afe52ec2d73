#include "service/cli/reports/atlas_report.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "service/cli/reports/count_with_noun.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostSteps = 6;  // that are told of a workload in the table

const NamedAtlas::Level* LevelOf(const NamedAtlas& atlas, const NamedAtlas::Row& row) {
  return row.level ? &atlas.levels[*row.level] : nullptr;
}

// Returns the priority that the step lets go last; requires one that lets somebody go.
std::int64_t PriorityOf(const NamedAtlas& atlas, PriorityStep step) {
  return atlas.priorities[static_cast<std::size_t>(step) - 1];
}

bool IsBetween(const NamedAtlas& atlas, PriorityStep step) {
  return step > 0 && step < atlas.never();
}

// Such as "up to 0: 4 more, up to 50: 5 more".
std::string OpenedText(const NamedAtlas& atlas, const StepCounts& counts) {
  std::vector<std::string> texts;
  for (PriorityStep step = 1; step < atlas.never(); ++step) {
    const std::int64_t domains = counts.domains[static_cast<std::size_t>(step)];
    if (domains == 0) continue;
    if (texts.size() == kMostSteps) {
      texts.emplace_back("…");
      break;
    }
    texts.push_back(fmt::format("{}: {} more", StepText(atlas, step), domains));
  }
  return texts.empty() ? "-" : fmt::format("{}", fmt::join(texts, ", "));
}

TableRow RowOf(const NamedAtlas& atlas, const AtlasEntry& entry, const NamesByFlavor& names) {
  if (!entry.row) {
    return {entry.workload,
            std::to_string(entry.priority),
            entry.flavors,
            "-",
            "-",
            "-",
            "-",
            TableCell("never", Color::kBad),
            entry.reason};
  }
  const NamedAtlas::Row& row = atlas.rows[*entry.row];
  TableRow cells = {entry.workload, std::to_string(entry.priority), entry.flavors};
  std::string where = row.anywhere == atlas.never() ? "-" : "anywhere";
  std::string opened = "-";
  if (const NamedAtlas::Level* level = LevelOf(atlas, row)) {
    const StepCounts counts(atlas, row);
    cells.emplace_back(names.Of(level->flavor).LevelName(level->level));
    cells.emplace_back(fmt::format("{} of {}", counts.domains.front(), level->domains.size()));
    cells.emplace_back(std::to_string(counts.Below(atlas, entry.priority)));
    cells.emplace_back(std::to_string(counts.domains.back()));
    if (counts.best && row.steps[*counts.best] == row.anywhere) {
      where = fmt::format("{}", fmt::join(level->domains[*counts.best], "/"));
    }
    opened = OpenedText(atlas, counts);
  } else {
    for (int i = 0; i < 4; ++i) cells.emplace_back("-");
  }
  const bool never = row.anywhere == atlas.never();
  cells.emplace_back(StepText(atlas, row.anywhere), never ? Color::kBad : Color::kNone);
  cells.emplace_back(where + (opened == "-" ? "" : "; " + opened));
  return cells;
}

std::string SummaryOf(const AtlasReport& report) {
  const NamedAtlas& atlas = report.atlas;
  std::map<std::string, PriorityStep> lowest;  // by workload, of its flavors
  for (const AtlasEntry& entry : report.entries) {
    const PriorityStep step = entry.row ? atlas.rows[*entry.row].anywhere : atlas.never();
    const auto [known, is_new] = lowest.try_emplace(entry.workload, step);
    if (!is_new) known->second = std::min(known->second, step);
  }
  const auto count = [&](const auto& wanted) {
    return std::ranges::count_if(lowest, [&](const auto& one) { return wanted(one.second); });
  };
  const std::string priorities =
      atlas.priorities.empty() ? "nobody runs"
                               : fmt::format("{} priorit{} run, {} to {}", atlas.priorities.size(),
                                             atlas.priorities.size() == 1 ? "y" : "ies",
                                             atlas.priorities.front(), atlas.priorities.back());
  return fmt::format("{}: {} fit as it is, {} once some go, {} never; {}\n",
                     CountWithNoun(std::ssize(lowest), "workload"),
                     count([](PriorityStep step) { return step == 0; }),
                     count([&](PriorityStep step) { return IsBetween(atlas, step); }),
                     count([&](PriorityStep step) { return step == atlas.never(); }), priorities);
}

// Writes `"fits": now, later or never`, and of `later` the priority up to which all have to go.
void WriteStep(const NamedAtlas& atlas, PriorityStep step, ObjectWriter& out) {
  out.Field("fits", std::string_view(step == 0               ? "now"
                                     : step == atlas.never() ? "never"
                                                             : "later"));
  if (IsBetween(atlas, step)) out.Field("withoutPrioritiesUpTo", PriorityOf(atlas, step));
}

void WriteDomains(const NamedAtlas& atlas, const NamedAtlas::Row& row, const AtlasEntry& entry,
                  ObjectWriter& out) {
  const StepCounts counts(atlas, row);
  out.Key("domains");
  out.BeginMap();
  out.Field("all", std::ssize(row.steps));
  out.Field("now", counts.domains.front());
  out.Field("withoutLowerPriorities", counts.Below(atlas, entry.priority));
  out.Field("never", counts.domains.back());
  out.Key("opened");
  out.BeginList();
  for (PriorityStep step = 1; step < atlas.never(); ++step) {
    const std::int64_t domains = counts.domains[static_cast<std::size_t>(step)];
    if (domains == 0) continue;
    out.BeginMap();
    out.Field("withoutPrioritiesUpTo", PriorityOf(atlas, step));
    out.Field("domains", domains);
    out.EndMap();
  }
  out.EndList();
  out.EndMap();
  if (!counts.best) return;
  out.Key("best");
  out.BeginMap();
  out.Key("domain");
  out.BeginList();
  for (const std::string& value : atlas.levels[*row.level].domains[*counts.best]) {
    out.Value(std::string_view(value));
  }
  out.EndList();
  WriteStep(atlas, row.steps[*counts.best], out);
  out.EndMap();
}

}  // namespace

StepCounts::StepCounts(const NamedAtlas& atlas, const NamedAtlas::Row& row)
    : domains(static_cast<std::size_t>(atlas.never()) + 1, 0) {
  for (const PriorityStep step : row.steps) ++domains[static_cast<std::size_t>(step)];
  const auto lowest = std::ranges::min_element(row.steps);
  if (lowest != row.steps.end() && *lowest < atlas.never()) {
    best = static_cast<std::size_t>(lowest - row.steps.begin());
  }
}

std::int64_t StepCounts::Below(const NamedAtlas& atlas, std::int64_t priority) const {
  const auto lower = std::ranges::lower_bound(atlas.priorities, priority);
  const auto steps = static_cast<std::size_t>(lower - atlas.priorities.begin()) + 1;
  std::int64_t sum = 0;
  for (std::size_t step = 0; step < steps; ++step) sum += domains[step];
  return sum;
}

std::string StepText(const NamedAtlas& atlas, PriorityStep step) {
  if (step == 0) return "nobody";
  if (step == atlas.never()) return "never";
  return fmt::format("up to {}", PriorityOf(atlas, step));
}

bool EachHasRoom(const AtlasReport& report) {
  std::map<std::string, bool> has_room;  // by workload
  for (const AtlasEntry& entry : report.entries) {
    const bool fits = entry.row && report.atlas.rows[*entry.row].anywhere != report.atlas.never();
    bool& known = has_room[entry.workload];
    known = known || fits;
  }
  return std::ranges::all_of(has_room, [](const auto& workload) { return workload.second; });
}

std::string AtlasTable(const AtlasReport& report, const NamesByFlavor& names,
                       const TextStyle& style) {
  std::vector<TableRow> rows;
  for (const AtlasEntry& entry : report.entries) {
    TableRow& row = rows.emplace_back(RowOf(report.atlas, entry, names));
    if (!entry.row) continue;
    for (const std::string& text : entry.not_honoured) {
      row.back().lines.push_back("not as asked: " + text);
    }
  }
  return RenderTable({"WORKLOAD", "PRIORITY", "FLAVOR", "WITHIN", "NOW", "LOWER", "NEVER", "GO",
                      "WHERE; MORE DOMAINS"},
                     rows, style) +
         "\n" + SummaryOf(report);
}

namespace {

constexpr std::size_t kMostRows = 400;  // of a sheet
constexpr std::size_t kMostColumns = 600;

// Splits `count` things that follow on each other into at most `most` runs of one size.
std::size_t SizeOfRuns(std::size_t count, std::size_t most) {
  return std::max<std::size_t>((count + most - 1) / most, 1);
}

std::string RunText(const std::vector<std::string>& names, std::size_t begin, std::size_t end) {
  return end - begin == 1 ? names[begin] : fmt::format("{} to {}", names[begin], names[end - 1]);
}

// Replaces things by their runs.
std::vector<std::string> RunTexts(const std::vector<std::string>& names, std::size_t size) {
  std::vector<std::string> runs;
  for (std::size_t begin = 0; begin < names.size(); begin += size) {
    runs.push_back(RunText(names, begin, std::min(begin + size, names.size())));
  }
  return runs;
}

ReportedAtlas::Sheet SheetOf(const NamedAtlas& atlas, const NamedAtlas::Level& level,
                             const std::string& level_name,
                             const std::vector<const NamedAtlas::Row*>& rows,
                             const std::vector<std::string>& row_names) {
  ReportedAtlas::Sheet sheet;
  sheet.name = fmt::format("{} of {}", level_name, level.flavor);
  const std::size_t down = SizeOfRuns(rows.size(), kMostRows);
  const std::size_t across = SizeOfRuns(level.domains.size(), kMostColumns);
  std::vector<std::string> domains;
  for (const std::vector<std::string>& values : level.domains) {
    domains.push_back(fmt::format("{}", fmt::join(values, "/")));
  }
  sheet.columns = RunTexts(domains, across);
  sheet.rows = RunTexts(row_names, down);
  sheet.cells.assign(sheet.rows.size(),
                     std::vector<std::int32_t>(sheet.columns.size(), atlas.never()));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<std::int32_t>& cells = sheet.cells[r / down];
    for (std::size_t d = 0; d < domains.size(); ++d) {
      cells[d / across] = std::min(cells[d / across], rows[r]->steps[d]);
    }
  }
  sheet.about = fmt::format("{} down, {} of flavor {} across",
                            CountWithNoun(std::ssize(rows), "kind of pending workloads"),
                            CountWithNoun(std::ssize(domains), level_name), level.flavor);
  if (down > 1 || across > 1) {
    sheet.about += fmt::format(
        "; a cell stands for {} by {} and shows the lowest priority that would do for any of them",
        CountWithNoun(static_cast<std::int64_t>(down), "row"),
        CountWithNoun(static_cast<std::int64_t>(across), level_name));
  }
  return sheet;
}

}  // namespace

ReportedAtlas PictureOf(const AtlasReport& report, const NamesByFlavor& names) {
  const NamedAtlas& atlas = report.atlas;
  std::map<std::size_t, std::vector<const AtlasEntry*>> of_row;
  std::vector<std::size_t> in_order;  // rows, as entries first name them
  for (const AtlasEntry& entry : report.entries) {
    if (!entry.row) continue;
    std::vector<const AtlasEntry*>& entries = of_row[*entry.row];
    if (entries.empty()) in_order.push_back(*entry.row);
    entries.push_back(&entry);
  }
  ReportedAtlas picture{atlas.priorities, {}};
  for (std::size_t i = 0; i < atlas.levels.size(); ++i) {
    std::vector<const NamedAtlas::Row*> rows;
    std::vector<std::string> row_names;
    for (const std::size_t index : in_order) {
      if (atlas.rows[index].level != i) continue;
      rows.push_back(&atlas.rows[index]);
      const std::vector<const AtlasEntry*>& entries = of_row[index];
      row_names.push_back(entries.front()->workload);
      if (entries.size() > 1)
        row_names.back() += fmt::format(" and {} like it", entries.size() - 1);
    }
    if (rows.empty()) continue;
    const NamedAtlas::Level& level = atlas.levels[i];
    picture.sheets.push_back(
        SheetOf(atlas, level, names.Of(level.flavor).LevelName(level.level), rows, row_names));
  }
  return picture;
}

void WriteAtlas(const AtlasReport& report, ObjectWriter& out) {
  const NamedAtlas& atlas = report.atlas;
  out.Key("priorities");
  out.BeginList();
  for (const std::int64_t priority : atlas.priorities) out.Value(priority);
  out.EndList();
  out.Key("workloads");
  out.BeginList();
  for (const AtlasEntry& entry : report.entries) {
    out.BeginMap();
    out.Field("workload", std::string_view(entry.workload));
    out.Field("clusterQueue", std::string_view(entry.cluster_queue));
    out.Field("priority", entry.priority);
    if (!entry.flavors.empty()) out.Field("flavor", std::string_view(entry.flavors));
    if (entry.row) {
      const NamedAtlas::Row& row = atlas.rows[*entry.row];
      out.Field("row", static_cast<std::int64_t>(*entry.row));
      WriteStep(atlas, row.anywhere, out);
      if (row.level) WriteDomains(atlas, row, entry, out);
      if (!entry.not_honoured.empty()) {
        out.Field("notHonoured", entry.not_honoured);
      }
    } else {
      out.Field("fits", std::string_view("never"));
      out.Field("reason", std::string_view(entry.reason));
    }
    out.EndMap();
  }
  out.EndList();
  out.Key("levels");
  out.BeginList();
  for (const NamedAtlas::Level& level : atlas.levels) {
    out.BeginMap();
    out.Field("flavor", std::string_view(level.flavor));
    out.Field("level", std::string_view(level.level));
    out.Key("domains");
    out.BeginList();
    for (const std::vector<std::string>& values : level.domains) {
      out.Value(std::string_view(fmt::format("{}", fmt::join(values, "/"))));
    }
    out.EndList();
    out.EndMap();
  }
  out.EndList();
  out.Key("rows");
  out.BeginList();
  for (const NamedAtlas::Row& row : atlas.rows) {
    out.BeginMap();
    if (row.level) out.Field("level", static_cast<std::int64_t>(*row.level));
    out.Field("anywhere", std::int64_t{row.anywhere});
    out.Key("steps");
    out.BeginList();
    for (const PriorityStep step : row.steps) out.Value(std::int64_t{step});
    out.EndList();
    out.EndMap();
  }
  out.EndList();
}

}  // namespace espalier
