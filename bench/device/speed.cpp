// Measures how long a device takes for scenarios of the benchmark suite, next to the CPU on the
// same machine, with the same answers, and next to what the model of GPUs predicts.
// Usage: device_speed DEVICE [--largest NODES] [--seconds S] [--kernels]
//   --largest: cuts clusters down to so many nodes; 131072 unless told
//   --seconds: ends after about so many; what is most wanted comes first
//   --kernels: what each kernel took instead, by the device's own clock
// Prints one JSON object a line as it is measured; exit code 1 when an answer differs from the
// CPU's, when the CPU answered a job in place of the device, or after a fault.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/device/device_jobs.hpp"
#include "bench/device/open_device.hpp"
#include "bench/gpu_model/predicting_device.hpp"
#include "bench/scenarios/loaded_scenario.hpp"
#include "bench/scenarios/measure.hpp"
#include "bench/scenarios/scenario_table.hpp"
#include "bench/scenarios/victims.hpp"
#include "fallback_cpu/cpu_backend.hpp"
#include "host/cuda/device_backend.hpp"
#include "host/engine/engine.hpp"
#include "host/engine/gang_batch.hpp"
#include "host/packing/flavor_state.hpp"
#include "host/what_if/atlas.hpp"
#include "host/what_if/census.hpp"

namespace espalier {
namespace {

// Multiply and minimum for one amount of one node and one shape on an H200, all processors busy.
constexpr double kCellsPerMillisecond = 1.48e10;

enum class Kind {
  kCold,     // on a state that nobody has asked before
  kWarm,     // asked again
  kChanged,  // asked again after a thousand leaves have changed
  kInOrder,  // in order, on a state that nobody has asked before
  kCensus,   // how many more gangs of each shape fit, at every level
  kAtlas,    // up to which of eight priorities all have to go, for each gang and domain
};

std::string_view Name(Kind kind) {
  constexpr std::array<std::string_view, 6> kNames = {"cold",     "warm",   "changed",
                                                      "in order", "census", "atlas"};
  return kNames[static_cast<std::size_t>(kind)];
}

// Holds the answer to one question.
struct Answer {
  GangAnswers gangs;
  std::vector<std::int64_t> numbers;  // of a census or an atlas
  bool operator==(const Answer&) const = default;
};

// The gangs of a scenario on one back end, asked again and again.
class Run {
 public:
  Run(const LoadedScenario& loaded, Kind kind, std::shared_ptr<Backend> backend)
      : loaded_(loaded), kind_(kind), backend_(std::move(backend)) {
    if (kind == Kind::kAtlas) {
      victims_ = VictimsOf(loaded, kSeed);
      priorities_ = PrioritiesOf(victims_, kSeed);
      requests_ = RequestsOf(loaded.mix);
    }
    for (const GangShape& shape : loaded.mix.shapes) {
      counted_.push_back(shape.workers);
      counted_.back().count = 8;
    }
  }

  // Times in milliseconds, ascending, of as many repeats as fit the seconds, three at least.
  std::vector<double> Measure(double seconds) {
    const auto stages = Repeat({.seconds = seconds}, [this](StageTimes& times) {
      Prepare();
      times.Time("compute", [this] { Ask(); });
    });
    std::vector<double> milliseconds;
    for (const double took : stages.front().seconds) milliseconds.push_back(took * 1e3);
    return milliseconds;
  }

  // Brings about what the question is asked on.
  void Prepare() {
    const bool fresh = kind_ == Kind::kCold || kind_ == Kind::kInOrder;
    if (kind_ == Kind::kAtlas) {
      auto opened = AtlasSearch::Open(engine_, loaded_.state, requests_, victims_, priorities_);
      if (opened) atlas_ = *std::move(opened);
      return;
    }
    if (kind_ == Kind::kCensus) return;
    if (fresh || !batch_) {
      batch_.reset();
      state_.emplace(loaded_.state.Clone());
      batch_.emplace(*state_, loaded_.mix.gates, loaded_.mix.shapes);
      if (!fresh) Ask();
    }
    if (kind_ == Kind::kChanged) Touch(1000);
  }

  void Ask() {
    switch (kind_) {
      case Kind::kInOrder:
        batch_->PlaceInOrder(*backend_, *state_, loaded_.mix.gangs, answer_.gangs);
        return;
      case Kind::kCensus:
        return AskCensus();
      case Kind::kAtlas:
        return AskAtlas();
      default:
        batch_->Nominate(*backend_, loaded_.mix.gangs, answer_.gangs);
    }
  }

  const Answer& answer() const { return answer_; }

 private:
  static constexpr std::uint64_t kSeed = 1;

  void AskCensus() {
    answer_.numbers.clear();
    for (const GangCensus& census :
         CountGangs(loaded_.state, counted_, CensusDetail::kLevels, loaded_.mix.gates, *backend_)) {
      for (const LevelCensus& level : census.levels) answer_.numbers.push_back(level.gangs);
    }
  }

  void AskAtlas() {
    answer_.numbers.clear();
    for (bool more = atlas_.has_value(); more;) {
      const auto rows = atlas_->Next();
      more = rows && !rows->empty();
      if (!more) return;
      for (const AtlasRow& row : *rows) {
        answer_.numbers.push_back(row.anywhere);
        answer_.numbers.insert(answer_.numbers.end(), row.steps.begin(), row.steps.end());
      }
    }
  }

  // Usage of these leaves changes, and is what it was.
  void Touch(std::int32_t leaves) {
    FlavorState& flavor = *state_->Find(loaded_.flavor_name);
    const Resources pods = {{"pods", 1}};
    for (std::int32_t i = 0; i < leaves; ++i) {
      const LeafId leaf(static_cast<std::int32_t>(next_++ % flavor.snapshot().leaf_count()));
      flavor.Add(leaf, pods);
      flavor.Remove(leaf, pods);
    }
  }

  const LoadedScenario& loaded_;
  Kind kind_;
  std::shared_ptr<Backend> backend_;
  std::optional<ClusterState> state_;
  std::optional<GangBatch> batch_;
  std::vector<PodSetRequest> counted_;  // of a census
  const Engine engine_{backend_, loaded_.mix.gates};
  std::vector<Victim> victims_;  // of an atlas, as the next ones
  std::vector<std::int64_t> priorities_;
  std::vector<WorkloadRequest> requests_;
  std::optional<AtlasSearch> atlas_;
  Answer answer_;
  std::int64_t next_ = 0;
};

struct Case {
  std::string scenario;
  Kind kind = Kind::kCold;
  std::int64_t gangs = 0;  // only the first so many; 0: all
};

// Returns the cases to measure, the most wanted first.
std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const char* scenario : {"B21/R8", "B22/R8", "B21/R4", "B21/R30"}) {
    for (const Kind kind : {Kind::kCold, Kind::kWarm, Kind::kChanged}) {
      cases.push_back({scenario, kind});
    }
    if (cases.size() != 6) continue;
    cases.push_back({"B23/S256", Kind::kInOrder});
    cases.push_back({"B63/S256", Kind::kCensus});
    cases.push_back({"B63/S256", Kind::kAtlas});
  }
  // From how many gangs on a device is sooner.
  for (const int gangs : {1, 4, 16, 32, 64, 256, 1024}) {
    cases.push_back({"B21/R8", Kind::kWarm, gangs});
  }
  for (const int nodes : {1024, 10240, 50176}) {
    cases.push_back({fmt::format("B50/N{}-W256-R8", nodes), Kind::kCold});
  }
  return cases;
}

// Those whose kernels are looked at one by one.
std::vector<Case> KernelCases() {
  return {{"B21/R8", Kind::kCold},   {"B21/R8", Kind::kWarm},      {"B21/R8", Kind::kChanged},
          {"B22/R8", Kind::kCold},   {"B23/S256", Kind::kInOrder}, {"B63/S256", Kind::kCensus},
          {"B63/S256", Kind::kAtlas}};
}

Result<LoadedScenario> Load(const Case& wanted, std::int64_t largest) {
  auto found = FindScenarios(std::array{wanted.scenario});
  if (!found) return tl::unexpected(found.error());
  Scenario& scenario = found->front();
  std::int64_t& nodes = scenario.topology.nodes;
  nodes = nodes == 0 ? largest : std::min(nodes, largest);
  return LoadScenario(scenario, wanted.gangs);
}

std::string Figures(const std::vector<double>& sorted) {
  return fmt::format("[{:.4f},{:.4f},{:.4f}]", sorted.front(), sorted[sorted.size() / 2],
                     sorted.back());
}

// Returns what the model must know of a scenario.
ModelSizes SizesOf(const LoadedScenario& loaded) {
  ModelSizes sizes;
  const TreeView tree = loaded.flavor().snapshot().tree();
  for (std::int32_t level = 0; level < tree.level_count; ++level) {
    sizes.level_widths.push_back(tree.LevelEnd(level) - tree.LevelBegin(level));
  }
  std::size_t requested = 0;
  for (const GangShape& shape : loaded.mix.shapes) requested += shape.workers.requests.size();
  const double shapes = static_cast<double>(std::max<std::size_t>(loaded.mix.shapes.size(), 1));
  // And a place for the pod itself.
  sizes.columns =
      1 + static_cast<std::int32_t>(std::lround(static_cast<double>(requested) / shapes));
  // Whole groups, with one pod on each leaf.
  const double group = loaded.flavor().snapshot().group_width();
  for (const GangRow& gang : loaded.mix.gangs) {
    const double leaves = std::max(1.0, group) * std::ceil(gang.pods / std::max(1.0, group));
    sizes.reached_leaves += std::min<double>(leaves, tree.leaf_count());
  }
  sizes.reached_leaves /= static_cast<double>(std::max<std::size_t>(loaded.mix.gangs.size(), 1));
  return sizes;
}

// Prints the predictions of something as `"NAME":{"H100":1.0,...}`, in milliseconds.
template <class Seconds>
std::string ModelFigures(const Predictor& predictor, const Seconds& seconds) {
  std::string text;
  for (std::size_t i = 0; i < kModelledGpus.size(); ++i) {
    text += fmt::format(R"({}"{}":{:.4f})", i == 0 ? "" : ",", kModelledGpus[i].name,
                        1e3 * seconds(predictor.predictions()[i]));
  }
  return fmt::format(R"("model_ms":{{{}}})", text);
}

// The device under measurement, its back end and the CPU.
struct Sides {
  Predictor predictor;
  KernelTimes times;
  std::shared_ptr<Backend> cpu = MakeCpuBackend(0);
  std::shared_ptr<DeviceBackend> device;  // goes first: its device uses the two above
};

// Prints the case, measured for about so many seconds, and returns whether the answers are the
// same.
bool Compare(const Case& wanted, const LoadedScenario& loaded, double seconds, Sides& sides) {
  Run right(loaded, wanted.kind, sides.cpu);
  Run run(loaded, wanted.kind, sides.device);
  const std::vector<double> times = run.Measure(seconds / 2);
  const std::vector<double> cpu_times = right.Measure(seconds / 2);
  run.Prepare();
  const DeviceStatus before = sides.device->status();
  sides.predictor.Start(SizesOf(loaded));
  run.Ask();
  const DeviceStatus after = sides.device->status();
  const bool same = run.answer() == right.answer();
  fmt::print(R"({{"bench":"{}","kind":"{}","nodes":{},"gangs":{},"shapes":{},"same_answers":{},)"
             R"("repeats":{},"device_ms":{},"cpu_ms":{},{},"floor_ms":{:.5f},"batches":{},)"
             R"("decided":{},"on_cpu":{}}})"
             "\n",
             wanted.scenario, Name(wanted.kind), loaded.cluster.size(), loaded.mix.gangs.size(),
             loaded.mix.shapes.size(), same, times.size(), Figures(times), Figures(cpu_times),
             ModelFigures(sides.predictor, [](const Prediction& p) { return p.total(); }),
             CountingOnce(loaded).cells / kCellsPerMillisecond,
             after.batches_on_device - before.batches_on_device,
             after.jobs_on_device - before.jobs_on_device, after.jobs_on_cpu - before.jobs_on_cpu);
  return same;
}

// Prints what the kernels of one question take, and what the model adds for all between them.
void PrintKernels(const Case& wanted, const LoadedScenario& loaded, Sides& sides) {
  Run run(loaded, wanted.kind, sides.device);
  run.Prepare();
  sides.predictor.Start(SizesOf(loaded));
  const KernelTimes before = sides.times;
  run.Ask();
  const KernelTimes& after = sides.times;
  const auto print = [&](std::string_view what, std::int64_t launches, std::string_view ms,
                         const auto& predicted) {
    fmt::print(R"({{"kernel":"{}","bench":"{}","kind":"{}","nodes":{},"launches":{},"ms":{},{}}})"
               "\n",
               what, wanted.scenario, Name(wanted.kind), loaded.cluster.size(), launches, ms,
               ModelFigures(sides.predictor, predicted));
  };
  std::int64_t all = 0;
  for (std::size_t kernel = 0; kernel < kKernels; ++kernel) {
    const std::int64_t launches = after[kernel].launches - before[kernel].launches;
    if (launches == 0) continue;
    all += launches;
    print(KernelName(kernel), launches,
          fmt::format("{:.4f}", after[kernel].milliseconds - before[kernel].milliseconds),
          [kernel](const Prediction& p) { return p.kernels[kernel]; });
  }
  print("launches, copies and waits", all, "null",
        [](const Prediction& p) { return p.launches + p.copies + p.waits; });
}

int Fail(const Error& error) {
  fmt::print(stderr, "{}\n", error.message);
  return 2;
}

int Main(std::string_view name, std::int64_t largest, double seconds, bool kernels) {
  Sides sides;
  DeviceBackendOptions options;
  options.every_batch = true;
  auto device = DeviceBackend::Make(
      name,
      [&]() -> DeviceResult<std::unique_ptr<Device>> {
        auto opened = OpenDeviceByName(name, kernels ? &sides.times : nullptr);
        if (!opened) return tl::unexpected(opened.error());
        return std::make_unique<PredictingDevice>(*std::move(opened), sides.predictor);
      },
      sides.cpu, options);
  if (!device) return Fail(device.error());
  sides.device = *std::move(device);
  fmt::print(R"({{"device":"{}","cpu_threads":{}}})"
             "\n",
             sides.device->status().device, std::thread::hardware_concurrency());
  const double end = Now() + seconds;
  bool same = true;
  const std::vector<Case> cases = kernels ? KernelCases() : Cases();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const double left = end - Now();
    if (left <= 0) {
      fmt::print("left out for lack of time: {} of {} cases\n", cases.size() - i, cases.size());
      break;
    }
    const auto loaded = Load(cases[i], largest);
    if (!loaded) return Fail(loaded.error());
    if (kernels) {
      PrintKernels(cases[i], *loaded, sides);
    } else {
      const double share = (end - Now()) / static_cast<double>(cases.size() - i);
      same = Compare(cases[i], *loaded, share, sides) && same;
    }
    std::fflush(stdout);  // what was measured is known when time runs out
  }
  return ReportDeviceJobs(*sides.device) && same ? 0 : 1;
}

}  // namespace
}  // namespace espalier

int main(int argc, char** argv) {
  std::string_view name;
  std::int64_t largest = 131072;
  double seconds = 1e9;
  bool kernels = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--kernels") {
      kernels = true;
    } else if (argument == "--largest" && i + 1 < argc) {
      largest = std::atoll(argv[++i]);
    } else if (argument == "--seconds" && i + 1 < argc) {
      seconds = std::atof(argv[++i]);
    } else {
      name = argument;
    }
  }
  return espalier::Main(name, largest, seconds, kernels);
}
