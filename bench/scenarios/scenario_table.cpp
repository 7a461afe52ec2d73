#include "bench/scenarios/scenario_table.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace espalier {
namespace {

constexpr double kMilli = 1e-3;
constexpr double kMicro = 1e-6;

using enum BenchMode;

// A row of the table; `suites` has an s for smoke and a g for gate.
struct Row {
  const char* name;
  const char* variant;
  BenchMode mode;
  const char* topology;
  int resources;
  std::int64_t nodes;
  const char* prefill;
  const char* mix;
  std::int64_t gangs;
  int queues = 0;
  BenchTarget target = {};
  const char* suites = "";
};

constexpr BenchTarget kM1Cold = {"M1", 50 * kMicro};
constexpr BenchTarget kM1Warm = {"M1", 15 * kMicro};
constexpr BenchTarget kM2 = {"M2", 10 * kMilli};
constexpr BenchTarget kM3 = {"M3", 120 * kMilli};
constexpr BenchTarget kM4 = {"M4", 40 * kMilli};
constexpr BenchTarget kM5 = {"M5", 3 * kMilli};
constexpr BenchTarget kM6 = {"M6", 1 * kMilli};
constexpr BenchTarget kM7 = {"M7", 2 * kMilli};
constexpr BenchTarget kM8 = {"M8", 60 * kMilli};
constexpr BenchTarget kM9All = {"M9", 5 * kMilli};
constexpr BenchTarget kM9 = {"M9", 20 * kMicro};
constexpr BenchTarget kM10 = {"M10", 50 * kMicro, true};
constexpr BenchTarget kM11Visible = {"M11", 100 * kMicro, false, "visible"};
constexpr BenchTarget kM11Load = {"M11", 10 * kMilli, false, "pack"};
constexpr BenchTarget kM11Leaves = {"M11w", 2 * kMilli, false, "update"};
constexpr BenchTarget kM11Leaf = {"M11w", 1 * kMilli, false, "update"};
constexpr BenchTarget kM11Node = {"M11w", 1 * kMilli, false, "update"};
constexpr BenchTarget kM11Join = {"M11w", 10 * kMilli, false, "update"};
constexpr BenchTarget kM14 = {"M14", 25 * kMilli, false, "cycle"};
constexpr BenchTarget kM16 = {"M16", 250 * kMilli, false, "load"};
constexpr BenchTarget kM12 = {"M12", 2 * kMilli, false, "wire"};
constexpr BenchTarget kM13 = {"M13", 60 * kMilli};
constexpr BenchTarget kM17OfM2 = {"M17", 60 * kMicro, false, "host"};
constexpr BenchTarget kM17OfM3 = {"M17", 400 * kMicro, false, "host"};

// clang-format off
constexpr Row kRows[] = {
    {"B01-kueue-ci", "", kCycle, "T-KUEUE640", 4, 0, "P0", "X-KUEUE", 15000, 30, {}, "sg"},
    {"B02-kueue-assign", "workers", kNominate, "T-KUEUE2500", 4, 0, "P0", "X-KUEUE-ASSIGN", 1, 0, {}, "sg"},
    {"B02-kueue-assign", "leader", kNominate, "T-KUEUE2500", 4, 0, "P0", "X-KUEUE-ASSIGN-LEADER", 1, 0, {}, "sg"},
    {"B03-kueue-preempt", "", kWhatIf, "T-KUEUE1000R30", 4, 0, "PFULL10", "X-HALVES", 1, 0, kM6, "g"},
    {"B04-kueue-40s", "", kWhatIf, "T-131K", 30, 2048, "PFULL1", "X-ROW64", 1, 0, kM7, "g"},
    {"B05-kueue-prod", "", kCycle, "T-META24K", 4, 1300, "P97", "X-ACME", 536, 40, {}, "g"},
    {"B06-k8s-tas", "750x4", kSequential, "T-K8S5000", 4, 0, "P0", "X-K8S4", 750, 0, {}, "sg"},
    {"B06-k8s-tas", "1500x4", kSequential, "T-K8S5000", 4, 0, "P0", "X-K8S4", 1500, 0, {}, "g"},
    {"B06-k8s-tas", "2250x4", kSequential, "T-K8S5000", 4, 0, "P0", "X-K8S4", 2250, 0, kM5, "sg"},
    {"B06-k8s-tas", "3x1000", kSequential, "T-K8S5000", 4, 0, "P0", "X-K8S1000", 3, 0, {}, "g"},
    {"B06-k8s-tas", "6x1000", kSequential, "T-K8S5000", 4, 0, "P0", "X-K8S1000", 6, 0, {}, "g"},
    {"B06-k8s-tas", "9x1000", kSequential, "T-K8S5000", 4, 0, "P0", "X-K8S1000", 9, 0, {}, "g"},
    {"B07-kai-gang", "rack", kSequential, "T-KAI512", 4, 0, "P0", "X-KAI512-RACK", 1, 0, {}, "g"},
    {"B07-kai-gang", "free", kSequential, "T-KAI512", 4, 0, "P0", "X-KAI512-FREE", 1, 0, {}, "g"},
    {"B08-kai-unsat", "nominate", kNominate, "T-RACKS10", 4, 500, "P100", "X-UNSAT", 1, 0, kM9, "g"},
    {"B08-kai-unsat", "what-if", kWhatIf, "T-RACKS10", 4, 500, "PONES", "X-UNSAT", 1, 0, kM9All, "g"},
    {"B09-kai-reclaim", "", kWhatIf, "T-RACKS10", 4, 0, "PONES", "X-500", 1, 0, {}, "g"},
    {"B10-volcano-sub", "", kNominate, "T-VOLC1000", 4, 0, "P0", "X-SUBGROUPS", 1, 0, {}, "g"},
    {"B11-volcano-6k", "", kSequential, "T-VOLC6000", 4, 0, "P90", "X-TIER2", 256, 0, kM10, "sg"},
    {"B12-armada-small", "", kSequential, "T-FLAT1000", 4, 0, "P0", "X-ONE-CPU", 64000, 0, kM13, "sg"},
    {"B20-one-131k", "cold-shape", kNominate, "T-131K", 8, 0, "P90", "X-ACME", 1, 0, kM1Cold, "s"},
    {"B20-one-131k", "cold-pods", kNominate, "T-131K", 8, 0, "P90+PODS", "X-ACME", 1},
    {"B20-one-131k", "warm-shape", kNominateWarm, "T-131K", 8, 0, "P90", "X-ACME", 1, 0, kM1Warm, "s"},
    {"B21-nominate-131k", "R4", kNominate, "T-131K", 4, 0, "P90", "X-SHAPES(256)", 5000},
    {"B21-nominate-131k", "R8", kNominate, "T-131K", 8, 0, "P90", "X-SHAPES(256)", 5000, 0, kM2, "s"},
    {"B21-nominate-131k", "R30", kNominate, "T-131K", 30, 0, "P90", "X-SHAPES(256)", 5000},
    {"B21-nominate-131k", "pods", kNominate, "T-131K", 8, 0, "P90+PODS", "X-SHAPES(256)", 5000},
    {"B22-distinct-131k", "R4", kNominate, "T-131K", 4, 0, "P90", "X-SHAPES(5000)", 5000},
    {"B22-distinct-131k", "R8", kNominate, "T-131K", 8, 0, "P90", "X-SHAPES(5000)", 5000, 0, kM3, "s"},
    {"B22-distinct-131k", "R30", kNominate, "T-131K", 30, 0, "P90", "X-SHAPES(5000)", 5000},
    {"B22-distinct-131k", "pods", kNominate, "T-131K", 8, 0, "P90+PODS", "X-SHAPES(5000)", 5000},
    {"B23-sequential-131k", "S16", kSequential, "T-131K", 8, 0, "P70", "X-SHAPES(16)", 5000},
    {"B23-sequential-131k", "S256", kSequential, "T-131K", 8, 0, "P70", "X-SHAPES(256)", 5000, 0, kM4, "s"},
    {"B23-sequential-131k", "S1024", kSequential, "T-131K", 8, 0, "P70", "X-SHAPES(1024)", 5000},
    {"B23-sequential-131k", "acme", kSequential, "T-131K", 8, 0, "P70", "X-ACME", 5000},
    {"B23-sequential-131k", "pods", kSequential, "T-131K", 8, 0, "P70+PODS", "X-SHAPES(256)", 5000},
    {"B24-cycle-131k", "", kCycle, "T-131K", 4, 0, "P97", "X-HERO", 2004, 200},
    {"B25-whatif-131k", "", kWhatIfBatch, "T-131K", 8, 0, "P97", "X-ROW32", 1, 0, kM8},
    {"B26-churn-131k", "churn", kChurn, "T-131K", 8, 0, "P90", "X-ACME", 64, 0, kM11Visible, "s"},
    {"B26-churn-131k", "load", kLoad, "T-131K", 8, 0, "P90", "X-ACME", 1, 0, kM11Load, "s"},
    {"B26-updates-131k", "leaves", kUpdates, "T-131K", 8, 0, "P90", "X-ACME", 64, 0, kM11Leaves, "s"},
    {"B26-updates-131k", "leaf", kUpdates, "T-131K", 8, 0, "P90", "X-ACME", 64, 0, kM11Leaf, "s"},
    {"B26-updates-131k", "amounts", kUpdates, "T-131K", 8, 0, "P90", "X-ACME", 64, 0, kM11Node},
    {"B26-updates-131k", "ready", kUpdates, "T-131K", 8, 0, "P90", "X-ACME", 64, 0, kM11Node},
    {"B26-updates-131k", "taint", kUpdates, "T-131K", 8, 0, "P90", "X-ACME", 64, 0, kM11Node},
    {"B26-updates-131k", "remove", kUpdates, "T-131K", 8, 0, "P90", "X-ACME", 64, 0, kM11Join},
    {"B26-updates-131k", "join", kUpdates, "T-131K", 8, 0, "P90", "X-ACME", 64, 0, kM11Join},
    {"B26-updates-131k", "queue", kUpdates, "T-131K", 8, 0, "P90", "X-SHAPES(256)", 5000},
    {"B26-updates-131k", "load", kUpdates, "T-131K", 8, 0, "P90", "X-ACME", 64, 0, kM16},
    {"B27-e2e-131k", "columns", kEndToEnd, "T-131K", 8, 0, "P90", "X-SHAPES(256)", 5000, 0, kM12, "s"},
    {"B27-e2e-131k", "words", kEndToEnd, "T-131K", 8, 0, "P90", "X-SHAPES(256)", 5000},
    {"B28-cycle-131k", "", kControllerCycle, "T-131K", 8, 0, "P90", "X-SHAPES(256)", 5000, 0, kM14, "s"},
    {"B28-cycle-131k", "pods", kControllerCycle, "T-131K", 8, 0, "P90+PODS", "X-SHAPES(256)", 5000},
    {"B30-nvl72", "", kSequential, "T-NVL72-129K", 4, 0, "P90", "X-NVL", 2000},
    {"B31-meta", "nominate", kNominate, "T-META24K", 4, 0, "P90", "X-ACME", 5000, 0, {}, "g"},
    {"B31-meta", "sequential", kSequential, "T-META24K", 4, 0, "P90", "X-ACME", 5000, 0, {}, "g"},
    {"B32-xai", "nominate", kNominate, "T-XAI100K", 4, 0, "P90", "X-ACME", 5000, 0, {}, "g"},
    {"B32-xai", "sequential", kSequential, "T-XAI100K", 4, 0, "P90", "X-ACME", 5000, 0, {}, "g"},
    {"B33-aws100k", "nominate", kNominate, "T-AWS100K", 4, 0, "P90", "X-ACME", 5000},
    {"B33-aws100k", "sequential", kSequential, "T-AWS100K", 4, 0, "P90", "X-ACME", 5000},
    {"B34-dgx", "nominate", kNominate, "T-DGXB200", 4, 0, "P90", "X-ACME", 5000, 0, {}, "g"},
    {"B34-dgx", "sequential", kSequential, "T-DGXB200", 4, 0, "P90", "X-ACME", 5000, 0, {}, "g"},
    {"B35-openb", "nominate", kNominate, "T-OPENB", 4, 0, "P90", "X-OPENB", 8152, 0, {}, "g"},
    {"B35-openb", "sequential", kSequential, "T-OPENB", 4, 0, "P90", "X-OPENB", 8152, 0, {}, "g"},
    {"B36-spot", "nominate", kNominate, "T-SPOT4278", 4, 0, "P90", "X-ACME", 5000, 0, {}, "g"},
    {"B36-spot", "sequential", kSequential, "T-SPOT4278", 4, 0, "P90", "X-ACME", 5000, 0, {}, "g"},
    {"B40-ragged", "nominate", kNominate, "T-RAGGED", 4, 0, "P90", "X-LEADER", 500},
    {"B40-ragged", "sequential", kSequential, "T-RAGGED", 4, 0, "P90", "X-LEADER", 500},
    {"B41-adversarial", "nominate", kNominate, "T-131K", 4, 0, "P90", "X-ADV", 500},
    {"B41-adversarial", "sequential", kSequential, "T-131K", 4, 0, "P90", "X-ADV", 500},
    {"B42-ties", "nominate", kNominate, "T-DGXB200", 4, 0, "P0", "X-TIES", 500, 0, {}, "sg"},
    {"B42-ties", "sequential", kSequential, "T-DGXB200", 4, 0, "P0", "X-TIES", 500, 0, {}, "sg"},
    {"B42-ties", "131k", kSequential, "T-131K", 4, 0, "P0", "X-TIES", 500},
    {"B53-nested-131k", "empty", kNested, "T-131K", 8, 0, "P0", "X-REPLICAS-128", 8000, 0, {}, "s"},
    {"B53-nested-131k", "busy", kNested, "T-131K", 8, 0, "P70", "X-REPLICAS-16", 8000, 0, {}, "s"},
    {"B54-dispatch", "", kDispatch, "T-1M", 8, 10000, "P70", "X-ACME", 1000, 0, {}, "s"},
    {"B60-device-host", "M2", kDeviceHost, "T-131K", 8, 0, "P90", "X-SHAPES(256)", 5000, 0, kM17OfM2},
    {"B60-device-host", "M3", kDeviceHost, "T-131K", 8, 0, "P90", "X-SHAPES(5000)", 5000, 0, kM17OfM3},
    {"B62-open-loop", "1", kOpenLoop, "T-131K", 8, 0, "P90", "X-ACME", 64},
    {"B62-open-loop", "8", kOpenLoop, "T-131K", 8, 0, "P90", "X-ACME", 64},
    {"B62-open-loop", "64", kOpenLoop, "T-131K", 8, 0, "P90", "X-ACME", 64},
    {"B63-atlas", "S256", kAtlas, "T-131K", 8, 0, "P97", "X-SHAPES(256)", 256},
    {"B63-atlas", "G5000", kAtlas, "T-131K", 8, 0, "P97", "X-SHAPES(256)", 5000},
    {"B63-atlas", "S5000", kAtlas, "T-131K", 8, 0, "P97", "X-SHAPES(5000)", 5000},
    {"B64-victims", "S256", kVictims, "T-131K", 8, 0, "P97", "X-ROWS(256)", 256},
    {"B64-victims", "G5000", kVictims, "T-131K", 8, 0, "P97", "X-ROWS(256)", 5000},
    {"B64-victims", "full", kVictims, "T-131K", 8, 0, "P100", "X-SHAPES(256)", 5000},
    {"B64-victims", "all", kVictims, "T-131K", 8, 0, "P97", "X-ROWS(256)", 5000},
};
// clang-format on

Scenario FromRow(const Row& row) {
  Scenario scenario;
  scenario.name = row.name;
  scenario.variant = row.variant;
  scenario.mode = row.mode;
  scenario.topology.name = row.topology;
  scenario.topology.resources = row.resources;
  scenario.topology.nodes = row.nodes;
  scenario.prefill = row.prefill;
  scenario.mix = row.mix;
  scenario.gangs = row.gangs;
  scenario.queues = row.queues;
  if (!row.target.name.empty()) scenario.target = row.target;
  const std::string_view suites = row.suites;
  scenario.smoke = suites.find('s') != std::string_view::npos;
  scenario.gate = suites.find('g') != std::string_view::npos;
  return scenario;
}

// Sizes of cluster, queue and node against each other, to be held against the counting loop.
void AddGrid(std::vector<Scenario>& all) {
  for (const std::int64_t nodes : {1024, 10240, 50176, 131072}) {
    for (const std::int64_t shapes : {16, 256, 5000}) {
      for (const int resources : {4, 8, 30}) {
        Scenario& scenario = all.emplace_back(
            FromRow({"B50-grid", "", kNominate, "T-1M", resources, nodes, "P70", "", shapes}));
        scenario.variant = fmt::format("N{}-W{}-R{}", nodes, shapes, resources);
        scenario.mix = fmt::format("X-SHAPES({})", shapes);
      }
    }
  }
}

// The same queue on ever larger clusters.
void AddScaling(std::vector<Scenario>& all) {
  for (const std::int64_t nodes : {1024, 4096, 16384, 65536, 131072, 262144, 1048576}) {
    Scenario& scenario = all.emplace_back(
        FromRow({"B51-scaling", "", kSequential, "T-1M", 8, nodes, "P70", "X-ACME", 1000}));
    scenario.variant = fmt::format("N{}", nodes);
  }
}

// The same queue with one feature each.
void AddFeatures(std::vector<Scenario>& all) {
  for (const char* feature : {"", "LEADER", "HOST-SLICES", "RACK-SLICES", "BALANCED", "ANYWHERE"}) {
    Scenario& scenario = all.emplace_back(
        FromRow({"B52-features", "", kSequential, "T-131K", 8, 0, "P70", "", 1000}));
    const bool plain = *feature == '\0';
    scenario.variant = plain ? "PLAIN" : feature;
    scenario.mix = plain ? "X-PLAIN" : fmt::format("X-PLAIN-{}", feature);
  }
}

void AddRecorded(std::vector<Scenario>& all) {
  const struct {
    const char* sequence;
    bool gate;
  } kSequences[] = {{"k8s-5000-gangs-of-4", true},  {"k8s-5000-gangs-of-1000", true},
                    {"gpu-2560-sequential", true},  {"gpu-2560-sequential-balanced", true},
                    {"gpu-2560-nominate", true},    {"gpu-10k-sequential", true},
                    {"gpu-10k-nominate", true},     {"gpu-51k-sequential", false},
                    {"gpu-131k-sequential", false}, {"gpu-131k-nominate", false}};
  for (const auto& [sequence, gate] : kSequences) {
    Scenario& scenario = all.emplace_back();
    scenario.name = fmt::format("recorded-{}", sequence);
    scenario.mode = kRecorded;
    scenario.recorded = fmt::format("sequence-{}.jsonl.gz", sequence);
    scenario.gate = gate;
  }
}

std::vector<Scenario> MakeTable() {
  std::vector<Scenario> all;
  for (const Row& row : kRows) all.push_back(FromRow(row));
  AddGrid(all);
  AddScaling(all);
  AddFeatures(all);
  AddRecorded(all);
  return all;
}

// "B21" and "B21-nominate-131k" name the scenario B21-nominate-131k.
bool NamesScenario(std::string_view asked, std::string_view name) {
  return name == asked ||
         (name.starts_with(asked) && name.size() > asked.size() && name[asked.size()] == '-');
}

bool Matches(const Scenario& scenario, std::string_view asked) {
  const std::size_t slash = asked.find('/');
  if (!NamesScenario(asked.substr(0, slash), scenario.name)) return false;
  return slash == std::string_view::npos || scenario.variant == asked.substr(slash + 1);
}

}  // namespace

std::string_view ToString(BenchMode mode) {
  switch (mode) {
    case kNominate:
      return "nominate";
    case kNominateWarm:
      return "nominate-warm";
    case kSequential:
      return "sequential";
    case kCycle:
      return "cycle";
    case kChurn:
      return "churn";
    case kLoad:
      return "load";
    case kEndToEnd:
      return "e2e";
    case kUpdates:
      return "updates";
    case kControllerCycle:
      return "controller-cycle";
    case kDispatch:
      return "dispatch";
    case kOpenLoop:
      return "open-loop";
    case kVictims:
      return "victims";
    case kNested:
      return "nested";
    case kRecorded:
      return "recorded";
    case kWhatIf:
      return "what-if";
    case kWhatIfBatch:
      return "what-if-batch";
    case kAtlas:
      return "atlas";
    case kDeviceHost:
      return "device-host";
  }
  return "";
}

bool IsOverWire(BenchMode mode) {
  return mode == kEndToEnd || mode == kUpdates || mode == kControllerCycle || mode == kDispatch ||
         mode == kOpenLoop || mode == kVictims;
}

const std::vector<Scenario>& AllScenarios() {
  static const std::vector<Scenario> all = MakeTable();
  return all;
}

Result<std::vector<Scenario>> FindScenarios(std::span<const std::string> names) {
  std::vector<bool> wanted(AllScenarios().size(), false);
  for (const std::string& name : names) {
    bool any = false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!Matches(AllScenarios()[i], name)) continue;
      wanted[i] = true;
      any = true;
    }
    if (!any) {
      return BadInput(
          fmt::format("there is no scenario \"{}\"; `espalier bench --list` names them all", name));
    }
  }
  std::vector<Scenario> found;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]) found.push_back(AllScenarios()[i]);
  }
  return found;
}

std::vector<Scenario> ScenariosOfSuite(std::string_view suite) {
  std::vector<Scenario> found;
  for (const Scenario& scenario : AllScenarios()) {
    const bool in = suite == "smoke" ? scenario.smoke : suite == "gate" ? scenario.gate : true;
    if (in) found.push_back(scenario);
  }
  return found;
}

}  // namespace espalier
