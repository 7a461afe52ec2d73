#include "service/cli/bench/bench_report.hpp"

#include <cmath>
#include <cstdlib>
#include <iterator>

#include <fmt/format.h>

#include "bench/scenarios/peers.hpp"
#include "host/model/work_budget.hpp"
#include "service/cli/commands/version.hpp"
#include "service/cli/reports/object_writer.hpp"
#include "service/cli/terminal/text_table.hpp"

namespace espalier {
namespace {

// Three digits that matter: 1.23 ms, 45.6 us, 789 ns.
std::string TimeText(double seconds) {
  const struct {
    double size;
    const char* name;
  } kUnits[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  for (const auto& unit : kUnits) {
    if (seconds < unit.size && unit.size > 1e-9) continue;
    const double value = seconds / unit.size;
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}", value, decimals, unit.name);
  }
  return "0";
}

std::string RateText(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.1f} M/s", per_second / 1e6);
  if (per_second >= 1e3) return fmt::format("{:.1f} k/s", per_second / 1e3);
  return fmt::format("{:.1f} /s", per_second);
}

std::string ShareText(double share) {
  return share < 0.01 ? "<1 %" : fmt::format("{:.0f} %", 100 * share);
}

constexpr double kTargetPercentile = 99;

double Limit(const BenchTarget& target, const ScenarioResult& result) {
  return target.per_gang ? target.seconds * static_cast<double>(result.gangs) : target.seconds;
}

bool Met(const BenchTarget& target, const Stage& stage, const ScenarioResult& result) {
  return Percentile(stage.seconds, kTargetPercentile) <= Limit(target, result);
}

std::string TargetText(const ScenarioResult& result, const Stage& stage) {
  const auto& target = result.scenario.target;
  if (!target || target->stage != stage.name) return "";
  return fmt::format("{} {}{}: {}", target->name, TimeText(target->seconds),
                     target->per_gang ? " a gang" : "",
                     Met(*target, stage, result) ? "met" : "MISSED");
}

TableRow StageRow(const ScenarioResult& result, const Stage& stage, const MachineFloors& floors,
                  bool first) {
  const auto time = [&](double percent) { return TimeText(Percentile(stage.seconds, percent)); };
  const bool compute = stage.name == "compute";
  const double floor = stage.name == result.floor_stage ? FloorSeconds(result.least, floors) : 0;
  const double median = Percentile(stage.seconds, 50);
  return {
      first ? result.scenario.full_name() : "",
      first ? fmt::format("{}", result.nodes) : "",
      first ? fmt::format("{}", result.gangs) : "",
      first ? fmt::format("{}", result.shapes) : "",
      stage.name,
      fmt::format("{}", stage.seconds.size()),
      TimeText(stage.seconds.front()),
      time(50),
      time(90),
      time(99),
      TimeText(stage.seconds.back()),
      compute || stage.name == "call" ? RateText(static_cast<double>(result.gangs) / median) : "",
      floor > 0 ? TimeText(floor) : "",
      floor > 0 ? ShareText(floor / median) : "",
      TargetText(result, stage),
      !first                    ? ""
      : result.problems.empty() ? (result.checks.empty() ? "not checked" : "right")
                                : "WRONG"};
}

void WriteStage(const Stage& stage, ObjectWriter& writer) {
  const auto nanoseconds = [](double seconds) { return std::llround(seconds * 1e9); };
  writer.BeginMap();
  writer.Field("name", std::string_view(stage.name));
  writer.Field("repeats", static_cast<std::int64_t>(stage.seconds.size()));
  writer.Field("minNanoseconds", std::int64_t{nanoseconds(stage.seconds.front())});
  for (const int percent : {50, 90, 99}) {
    writer.Field(fmt::format("p{}Nanoseconds", percent),
                 std::int64_t{nanoseconds(Percentile(stage.seconds, percent))});
  }
  writer.Field("maxNanoseconds", std::int64_t{nanoseconds(stage.seconds.back())});
  writer.EndMap();
}

void WriteTarget(const ScenarioResult& result, ObjectWriter& writer) {
  const auto& target = result.scenario.target;
  const Stage* stage = target ? result.Find(target->stage) : nullptr;
  if (stage == nullptr) return;
  writer.Key("target");
  writer.BeginMap();
  writer.Field("name", target->name);
  writer.Field("stage", target->stage);
  writer.Field("percentile", static_cast<std::int64_t>(kTargetPercentile));
  writer.Field("nanoseconds", std::int64_t{std::llround(Limit(*target, result) * 1e9)});
  writer.Field("met", std::int64_t{Met(*target, *stage, result) ? 1 : 0});
  writer.EndMap();
}

void WritePeer(const PeerFigure& peer, ObjectWriter& writer) {
  writer.Key("recordedOnAnotherRun");
  writer.BeginMap();
  writer.Field("system", std::string_view(peer.system));
  writer.Field("machine", std::string_view(peer.machine));
  writer.Field("what", std::string_view(peer.what));
  writer.Field("nanoseconds", std::int64_t{std::llround(peer.total_seconds * 1e9)});
  if (peer.gang_seconds) {
    writer.Field("gangNanoseconds", std::int64_t{std::llround(*peer.gang_seconds * 1e9)});
  }
  writer.EndMap();
}

void WriteResult(const ScenarioResult& result, const MachineFloors& floors, ObjectWriter& writer) {
  writer.BeginMap();
  writer.Field("name", std::string_view(result.scenario.full_name()));
  writer.Field("mode", ToString(result.scenario.mode));
  writer.Field("topology", std::string_view(result.scenario.topology.name));
  writer.Field("prefill", std::string_view(result.scenario.prefill));
  writer.Field("mix", std::string_view(result.scenario.mix));
  writer.Field("seed", static_cast<std::int64_t>(result.scenario.topology.seed));
  writer.Field("nodes", result.nodes);
  writer.Field("levels", result.levels);
  writer.Field("resources", result.resources);
  writer.Field("gangs", result.gangs);
  writer.Field("shapes", result.shapes);
  writer.Field("setupNanoseconds", std::int64_t{std::llround(result.setup_seconds * 1e9)});
  writer.Key("stages");
  writer.BeginList();
  for (const Stage& stage : result.stages) WriteStage(stage, writer);
  writer.EndList();
  writer.Field("floorStage", std::string_view(result.floor_stage));
  writer.Field("leastCells", std::int64_t{std::llround(result.least.cells)});
  writer.Field("leastBytes", std::int64_t{std::llround(result.least.bytes)});
  writer.Field("floorNanoseconds",
               std::int64_t{std::llround(FloorSeconds(result.least, floors) * 1e9)});
  WriteTarget(result, writer);
  writer.Key("quality");
  writer.BeginMap();
  for (const QualityFigure& figure : result.quality) writer.Field(figure.name, figure.value);
  writer.EndMap();
  if (const PeerFigure* peer = FindPeer(result.scenario.full_name())) WritePeer(*peer, writer);
  writer.Field("peakMemoryBytes", result.peak_memory_bytes);
  writer.Field("sha256", std::string_view(result.digest));
  writer.Field("notes", result.notes);
  writer.Field("checks", result.checks);
  writer.Field("problems", result.problems);
  writer.EndMap();
}

std::string SimdText(const BenchReport& report) {
  const char* forced = std::getenv("ESPALIER_SIMD");
  return forced != nullptr ? forced : report.floors.counting_form;
}

// Returns a table of what others took for the same work; empty where none is known. It has no
// ratio, because neither run nor machine is the same.
std::string PeerLines(const BenchReport& report) {
  std::vector<TableRow> rows;
  std::string head;
  for (const ScenarioResult& result : report.results) {
    const PeerFigure* peer = FindPeer(result.scenario.full_name());
    const Stage* compute = result.Find("compute");
    if (peer == nullptr || compute == nullptr) continue;
    head = fmt::format("\nrecorded on another run: {}, on {}\n", peer->system, peer->machine);
    rows.push_back({result.scenario.full_name(), TimeText(peer->total_seconds),
                    peer->gang_seconds ? TimeText(*peer->gang_seconds) : "",
                    TimeText(Percentile(compute->seconds, 50)), peer->what});
  }
  if (rows.empty()) return {};
  return head +
         RenderTable({"SCENARIO", "THEIRS", "P50 A GANG", "HERE", "WHAT WAS MEASURED THERE"}, rows);
}

}  // namespace

std::string BenchTable(const BenchReport& report) {
  std::vector<TableRow> rows;
  for (const ScenarioResult& result : report.results) {
    bool first = true;
    for (const Stage& stage : result.stages) {
      rows.push_back(StageRow(result, stage, report.floors, first));
      first = false;
    }
  }
  std::string text =
      RenderTable({"SCENARIO", "NODES", "GANGS", "SHAPES", "STAGE", "RUNS", "MIN", "P50", "P90",
                   "P99", "MAX", "GANGS", "FLOOR", "OF FLOOR", "TARGET (P99)", "ANSWERS"},
                  rows);
  auto out = std::back_inserter(text);
  fmt::format_to(out, "\n{}, {} cores; back end {}, {} threads, {}\n", report.machine.cpu,
                 report.machine.cores, report.backend, report.threads, SimdText(report));
  fmt::format_to(out,
                 "floors of {} threads, measured now: {:.1f} G cells/s counted ({}), "
                 "{:.1f} GB/s read from memory, {:.1f} GB/s from caches\n",
                 report.floors.threads, report.floors.cells_per_second / 1e9,
                 report.floors.counting_form, report.floors.bytes_per_second / 1e9,
                 report.floors.cached_bytes_per_second / 1e9);
  std::int64_t peak = 0;
  for (const ScenarioResult& result : report.results) {
    peak = std::max(peak, result.peak_memory_bytes);
  }
  fmt::format_to(out, "most memory held: {}\n", BytesText(peak));
  text += PeerLines(report);
  for (const ScenarioResult& result : report.results) {
    for (const std::string& note : result.notes) {
      fmt::format_to(out, "{}: {}\n", result.scenario.full_name(), note);
    }
  }
  for (const std::string& left_out : report.left_out) fmt::format_to(out, "{}\n", left_out);
  for (const ScenarioResult& result : report.results) {
    for (const std::string& problem : result.problems) {
      fmt::format_to(out, "WRONG {}: {}\n", result.scenario.full_name(), problem);
    }
  }
  return text;
}

std::string BenchJson(const BenchReport& report) {
  const auto writer = MakeJsonWriter();
  writer->BeginMap();
  writer->Field("version", std::string_view(VersionText()));
  writer->Key("machine");
  writer->BeginMap();
  writer->Field("cpu", std::string_view(report.machine.cpu));
  writer->Field("cores", std::int64_t{report.machine.cores});
  writer->Field("memoryBytes", report.machine.memory_bytes);
  writer->Field("kernel", std::string_view(report.machine.kernel));
  writer->EndMap();
  writer->Field("backend", std::string_view(report.backend));
  writer->Field("threads", std::int64_t{report.threads});
  writer->Field("simd", std::string_view(SimdText(report)));
  writer->Key("floors");
  writer->BeginMap();
  writer->Field("threads", std::int64_t{report.floors.threads});
  writer->Field("cellsPerSecond", std::int64_t{std::llround(report.floors.cells_per_second)});
  writer->Field("bytesPerSecond", std::int64_t{std::llround(report.floors.bytes_per_second)});
  writer->Field("cachedBytesPerSecond",
                std::int64_t{std::llround(report.floors.cached_bytes_per_second)});
  writer->Field("countingForm", std::string_view(report.floors.counting_form));
  writer->EndMap();
  writer->Key("results");
  writer->BeginList();
  for (const ScenarioResult& result : report.results) {
    WriteResult(result, report.floors, *writer);
  }
  writer->EndList();
  writer->Field("leftOut", report.left_out);
  writer->EndMap();
  return writer->Finish();
}

std::string BenchDigests(const BenchReport& report) {
  std::string text;
  for (const ScenarioResult& result : report.results) {
    text += fmt::format("{}  {}\n", result.digest, result.scenario.full_name());
  }
  return text;
}

}  // namespace espalier
