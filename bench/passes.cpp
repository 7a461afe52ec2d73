// Each pass of a decision on its own: 131,072 nodes of eight resources, 70 % in use, shapes and
// gangs of the scenario B23. Rates are leaves, domains or nodes per second, as each name says.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bench/scenarios/loaded_scenario.hpp"
#include "bench/scenarios/scenario_table.hpp"
#include "fallback_cpu/capacity_classes.hpp"
#include "fallback_cpu/cpu_backend.hpp"
#include "fallback_cpu/leaf_counter.hpp"
#include "fallback_cpu/scratch.hpp"
#include "fallback_cpu/shape_counts.hpp"
#include "fallback_cpu/simd_implementation.hpp"
#include "host/engine/engine.hpp"
#include "host/engine/request_resolution.hpp"
#include "host/kueue/validation/certificate.hpp"
#include "host/packing/flavor_state.hpp"
#include "host/what_if/census.hpp"
#include "kernels/decisions/choose_level.hpp"
#include "kernels/decisions/counts_source.hpp"
#include "kernels/decisions/descend.hpp"
#include "kernels/decisions/leaf_counts.hpp"
#include "kernels/decisions/roll_up.hpp"
#include "kernels/decisions/take.hpp"
#include "kernels/team/serial_team.hpp"

namespace espalier {
namespace {

const LoadedScenario& Loaded() {
  static const LoadedScenario loaded = [] {
    const std::vector<std::string> name = {"B23/S256"};
    auto scenario = LoadScenario(FindScenarios(name).value().front(), 0);
    if (!scenario) {
      fmt::print(stderr, "{}\n", scenario.error().message);
      std::exit(1);
    }
    return *std::move(scenario);
  }();
  return loaded;
}

const FlavorSnapshot& Snapshot() { return Loaded().flavor().snapshot(); }

// A gang of `pods` pods of one shape on a state.
PlacementJob MakeJob(const FlavorState& flavor, std::size_t shape, std::int32_t pods) {
  const PodSetRequest& workers = Loaded().mix.shapes[shape].workers;
  const auto resolved = ResolveRequest(workers, flavor.snapshot(), Loaded().mix.gates);
  PlacementJob job;
  job.state = &flavor;
  job.query = resolved->query;
  job.query.pods = pods;
  job.shape = MakeShape(*resolved, workers, nullptr, flavor.snapshot());
  job.filter = flavor.snapshot().FilterOf(*job.shape);
  job.replacement_domain = {0, flavor.snapshot().leaf_count()};
  return job;
}

// A job with all its counts in place, leaves included, and memory to decide in.
struct Counted {
  explicit Counted(std::int32_t pods) : job(MakeJob(Loaded().flavor(), 0, pods)) {
    const TreeView tree = Snapshot().tree();
    storage.Resize(tree.domain_count(), false, false);
    const LeafCounter counter(job);
    counter.Count({0, Snapshot().leaf_count()}, storage.View());
    SerialTeam team;
    RollUp(team, tree, job.shape->slice, storage.View(), 0, {tree.LevelBegin(0), tree.LevelEnd(0)});
  }

  PlacementJob job;
  CountsStorage storage;
  Scratch scratch;
};

void SetLabels(benchmark::State& state, std::int64_t items) {
  state.SetItemsProcessed(state.iterations() * items);
  state.SetLabel(std::string(ActiveSimdImplementation().name));
}

// Leaves of one shape counted and kept.
void CountLeaves(benchmark::State& state) {
  const PlacementJob job = MakeJob(Loaded().flavor(), 0, 1);
  const LeafCounter counter(job);
  CountsStorage storage;
  storage.Resize(Snapshot().domain_count(), false, false);
  const CountsView counts = storage.View();
  for (auto _ : state) {
    counter.Count({0, Snapshot().leaf_count()}, counts);
    benchmark::DoNotOptimize(counts.pods[Snapshot().domain_count() - 1]);
  }
  SetLabels(state, Snapshot().leaf_count());
}
BENCHMARK(CountLeaves)->Unit(benchmark::kMicrosecond);

// Leaves of one shape counted, of which only the sums of racks are kept.
void SumRacks(benchmark::State& state) {
  const PlacementJob job = MakeJob(Loaded().flavor(), 0, 1);
  const LeafCounter counter(job);
  const LeafGroups groups = {nullptr, 0, Snapshot().group_count()};
  std::vector<StoredCount> sums(static_cast<std::size_t>(groups.count));
  if (!counter.sums()) state.SkipWithError("this shape is not counted by sums");
  for (auto _ : state) {
    counter.SumGroups(groups, sums.data());
    benchmark::DoNotOptimize(sums.back());
  }
  SetLabels(state, Snapshot().leaf_count());
}
BENCHMARK(SumRacks)->Unit(benchmark::kMicrosecond);

// The same from classes of equal leaves.
void SumRacksByClass(benchmark::State& state) {
  const PlacementJob job = MakeJob(Loaded().flavor(), 0, 1);
  const LeafCounter counter(job);
  std::vector<StoredCount> sums(static_cast<std::size_t>(Snapshot().group_count()));
  const std::shared_ptr<const LeafClasses> classes = Loaded().flavor().classes();
  if (classes == nullptr || !counter.sums()) {
    return state.SkipWithError("there are no classes for this shape");
  }
  for (auto _ : state) {
    counter.SumClasses(*classes, sums.data());
    benchmark::DoNotOptimize(sums.back());
  }
  SetLabels(state, Snapshot().leaf_count());
}
BENCHMARK(SumRacksByClass)->Unit(benchmark::kMicrosecond);

// Measures sorting leaves into classes of equal ones.
void ClassifyLeaves(benchmark::State& state) {
  const TiledCapacity& tiles = Loaded().flavor().tiles();
  for (auto _ : state) {
    benchmark::DoNotOptimize(LeafClasses::Find(tiles, Snapshot().leaf_count()));
  }
  SetLabels(state, Snapshot().leaf_count());
}
BENCHMARK(ClassifyLeaves)->Unit(benchmark::kMicrosecond);

// The classes of what remains on leaves, in exact amounts.
void ClassifyExactly(benchmark::State& state) {
  const PlacementJob job = MakeJob(Loaded().flavor(), 0, 1);
  CapacityClasses classes;
  for (auto _ : state) {
    classes.Forget();
    while (classes.LeavesOf(job) == nullptr) {
    }
  }
  SetLabels(state, Snapshot().leaf_count());
}
BENCHMARK(ClassifyExactly)->Unit(benchmark::kMicrosecond);

// Measures counting the leaves that each resource excludes, leaf by leaf.
void CountExclusions(benchmark::State& state) {
  const PlacementJob job = MakeJob(Loaded().flavor(), 0, 1);
  const RequestVector& workers = job.shape->workers;
  const RequestView request{static_cast<std::int32_t>(workers.amounts.size()),
                            workers.columns.data(), workers.amounts.data()};
  const CapacityView capacity{AmountsOf(job).data(), Snapshot().stride()};
  const std::int32_t leaves = Snapshot().leaf_count();
  constexpr std::int32_t kRun = SimdImplementation::kReadAhead;
  const std::int32_t whole_runs = (leaves + kRun - 1) / kRun * kRun;
  std::vector<std::int16_t> reasons(static_cast<std::size_t>(whole_runs));
  std::vector<std::int64_t> excluded(workers.amounts.size());
  const SimdImplementation& simd = ActiveSimdImplementation();
  for (auto _ : state) {
    simd.find_reasons(request, capacity, whole_runs, reasons.data());
    simd.add_by_reason(reasons.data(), nullptr, leaves, request.size, excluded.data());
    benchmark::DoNotOptimize(excluded.data());
  }
  SetLabels(state, leaves);
}
BENCHMARK(CountExclusions)->Unit(benchmark::kMicrosecond);

// Counts of all leaves added up into racks, rows, blocks and zones.
void RollUpLeaves(benchmark::State& state) {
  Counted counted(1);
  const TreeView tree = Snapshot().tree();
  SerialTeam team;
  for (auto _ : state) {
    RollUp(team, tree, counted.job.shape->slice, counted.storage.View(), 0,
           {tree.LevelBegin(0), tree.LevelEnd(0)});
    benchmark::ClobberMemory();
  }
  SetLabels(state, Snapshot().domain_count());
}
BENCHMARK(RollUpLeaves)->Unit(benchmark::kMicrosecond);

// The level and the domains for a gang of so many pods, rack preferred.
void ChooseLevelOf(benchmark::State& state) {
  Counted counted(static_cast<std::int32_t>(state.range(0)));
  const TreeView tree = Snapshot().tree();
  SerialTeam team(ActiveSimdImplementation().tightest);
  const Workspace workspace = counted.scratch.Get(tree, false);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        ChooseLevel(team, tree, counted.storage.View(), counted.job.query, workspace));
  }
  SetLabels(state, 1);
}
BENCHMARK(ChooseLevelOf)->Arg(1)->Arg(64)->Arg(1024)->Unit(benchmark::kMicrosecond);

// From the chosen domains down to the hosts.
void DescendTo(benchmark::State& state) {
  Counted counted(static_cast<std::int32_t>(state.range(0)));
  const TreeView tree = Snapshot().tree();
  SerialTeam team(ActiveSimdImplementation().tightest);
  const StoredCounts source{counted.storage.View()};
  const Workspace workspace = counted.scratch.Get(tree, false);
  const Choice choice = ChooseLevel(team, tree, source.counts, counted.job.query, workspace);
  if (choice.status != PlacementStatus::kPlaced) state.SkipWithError("the gang does not fit");
  for (auto _ : state) {
    benchmark::DoNotOptimize(Descend(team, tree, source, counted.job.query, choice.level,
                                     choice.domains, false, workspace));
  }
  SetLabels(state, state.range(0));
}
BENCHMARK(DescendTo)->Arg(1)->Arg(64)->Arg(1024)->Unit(benchmark::kMicrosecond);

// Pods handed out along so many ordered domains of one pod each.
void TakeFrom(benchmark::State& state) {
  const auto domains = static_cast<std::int32_t>(state.range(0));
  std::vector<Candidate> candidates(static_cast<std::size_t>(domains));
  for (std::int32_t i = 0; i < domains; ++i) {
    Candidate& candidate = candidates[static_cast<std::size_t>(i)];
    candidate.domain = i;
    candidate.pods = candidate.slices = 1;
    candidate.pods_with_leader = candidate.slices_with_leader = 1;
  }
  std::vector<Share> shares(candidates.size());
  SerialTeam team;
  for (auto _ : state) {
    ShareList taken{shares.data(), 0};
    Take(team, CandidateList{candidates.data(), domains}, {.pods = domains}, taken);
    benchmark::DoNotOptimize(taken.size);
  }
  SetLabels(state, domains);
}
BENCHMARK(TakeFrom)->Arg(16)->Arg(1024)->Unit(benchmark::kMicrosecond);

// Usage on so many leaves changes, each in a rack of its own where there are enough, and one warm
// shape is brought up to date.
void RefreshAfterBooking(benchmark::State& state) {
  ClusterState cluster = Loaded().state.Clone();
  FlavorState& flavor = *cluster.Find(kBenchFlavor);
  const PlacementJob job = MakeJob(flavor, 0, 1);
  ShapeCounts counts;
  CountsStorage leaves;
  counts.Refresh(job, leaves);
  const Resources pod = {{"cpu", 1000}, {std::string(kPodsResource), 1}};
  const std::int64_t touched = state.range(0);
  const std::int64_t step = std::max<std::int64_t>(Snapshot().leaf_count() / touched, 1);
  bool begin = true;
  for (auto _ : state) {
    for (std::int64_t i = 0; i < touched; ++i) {
      const LeafId leaf(static_cast<std::int32_t>(i * step));
      begin ? flavor.Add(leaf, pod) : flavor.Remove(leaf, pod);
    }
    begin = !begin;
    counts.Refresh(job, leaves);
  }
  SetLabels(state, touched);
}
BENCHMARK(RefreshAfterBooking)->Arg(1)->Arg(16)->Arg(1000)->Unit(benchmark::kMicrosecond);

// One shape counted from nothing, rolled up and ready to be asked.
void CountShape(benchmark::State& state) {
  const PlacementJob job = MakeJob(Loaded().flavor(), 0, 1);
  ShapeCounts counts;
  CountsStorage leaves;
  for (auto _ : state) {
    counts.Forget();
    counts.Refresh(job, leaves);
  }
  SetLabels(state, Snapshot().leaf_count());
}
BENCHMARK(CountShape)->Unit(benchmark::kMicrosecond);

// Columns to an empty state.
void PackColumns(benchmark::State& state) {
  const ClusterStateInput input = Loaded().cluster.Input();
  for (auto _ : state) {
    state.PauseTiming();
    NodeColumns columns = Loaded().cluster.nodes;
    state.ResumeTiming();
    auto packed = ClusterState::BuildFromColumns(std::move(columns), input);
    benchmark::DoNotOptimize(packed);
    state.PauseTiming();
    packed = BadInput("");  // not what is measured
    state.ResumeTiming();
  }
  SetLabels(state, Loaded().cluster.size());
}
BENCHMARK(PackColumns)->Unit(benchmark::kMillisecond);

// A node selector held against every leaf.
void EvaluateSelector(benchmark::State& state) {
  NodeConstraints constraints;
  constraints.node_selector.Set(RackLevel(Loaded().cluster), "r7");
  std::vector<std::int32_t> node_of_leaf(static_cast<std::size_t>(Snapshot().leaf_count()));
  std::iota(node_of_leaf.begin(), node_of_leaf.end(), 0);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        EvaluateFilter(constraints, Loaded().cluster.nodes, node_of_leaf, Snapshot().tree()));
  }
  SetLabels(state, Snapshot().leaf_count());
}
BENCHMARK(EvaluateSelector)->Unit(benchmark::kMicrosecond);

// Usage on so many nodes changes; nobody asks.
void ChangeUsage(benchmark::State& state) {
  ClusterState cluster = Loaded().state.Clone();
  FlavorState& flavor = *cluster.Find(kBenchFlavor);
  Resources pod = SlotRequests(Loaded().cluster, 1);
  pod.Set(kPodsResource, 1);
  const std::int64_t changed = state.range(0);
  const std::int64_t step = std::max<std::int64_t>(Snapshot().leaf_count() / changed, 1);
  bool begin = true;
  for (auto _ : state) {
    for (std::int64_t i = 0; i < changed; ++i) {
      const LeafId leaf(static_cast<std::int32_t>(i * step));
      begin ? flavor.Add(leaf, pod) : flavor.Remove(leaf, pod);
    }
    begin = !begin;
  }
  SetLabels(state, changed);
}
BENCHMARK(ChangeUsage)->Arg(1)->Arg(1000)->Unit(benchmark::kMicrosecond);

// Measures counting how many more gangs of each of so many shapes fit, at every level.
void CountGangsOfShapes(benchmark::State& state) {
  const auto shapes = static_cast<std::size_t>(state.range(0));
  std::vector<PodSetRequest> gangs;
  for (std::size_t i = 0; i < shapes; ++i) {
    gangs.push_back(Loaded().mix.shapes[i].workers);
    gangs.back().count = 8;
  }
  const auto backend = MakeCpuBackend(0);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        CountGangs(Loaded().state, gangs, CensusDetail::kLevels, Loaded().mix.gates, *backend));
  }
  SetLabels(state, Snapshot().leaf_count() * state.range(0));
}
BENCHMARK(CountGangsOfShapes)->Arg(1)->Arg(256)->Unit(benchmark::kMillisecond);

// Why a gang that is larger than any rack does not fit, beside nobody who could go.
void ExplainOne(benchmark::State& state) {
  const auto backend = MakeCpuBackend(0);
  const Engine engine(backend, Loaded().mix.gates);
  const ClusterStateInput input = Loaded().cluster.Input();
  WorkloadRequest request;
  request.pod_sets = {Loaded().mix.shapes[0].workers};
  request.pod_sets[0].count = 1'000'000;
  request.pod_sets[0].topology_request = TopologyRequest{};
  request.pod_sets[0].topology_request->required = RackLevel(Loaded().cluster);
  for (auto _ : state) {
    const auto found = Explain(Loaded().state, input, {}, request, engine);
    if (!found || found->fits) return state.SkipWithError("it fits");
    benchmark::DoNotOptimize(found->near_miss);
  }
  SetLabels(state, Snapshot().leaf_count());
}
BENCHMARK(ExplainOne)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace espalier

BENCHMARK_MAIN();
