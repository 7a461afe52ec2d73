#include "bench/scenarios/mixes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "host/model/splitmix64.hpp"

namespace espalier {
namespace {

// Jobs of at most `gpus` accelerators, in per mille of all jobs.
struct SizeStep {
  std::int64_t up_to_per_mille = 0;
  std::int64_t gpus = 0;
};

constexpr SizeStep kSeren[] = {{542, 1},   {656, 2},   {681, 4},    {968, 8},
                               {979, 16},  {988, 32},  {993, 64},   {996, 128},
                               {997, 256}, {999, 512}, {1000, 1024}};
constexpr SizeStep kKalos[] = {{864, 1},  {884, 2},   {940, 8},   {943, 16},  {947, 32},
                               {954, 64}, {957, 128}, {969, 256}, {990, 512}, {1000, 1024}};
constexpr SizeStep kPhilly[] = {{826, 1}, {846, 2}, {921, 4}, {989, 8}, {998, 16}, {1000, 32}};
constexpr SizeStep kHelios[] = {{724, 1},  {749, 2},  {805, 4},   {948, 8},    {978, 16},
                                {994, 32}, {997, 64}, {999, 128}, {1000, 1024}};
constexpr SizeStep kPai[] = {{971, 1}, {987, 2}, {991, 4}, {1000, 8}};

std::int64_t Draw(std::span<const SizeStep> table, SplitMix64& random) {
  const std::int64_t dice = random.Below(1000);
  return std::ranges::find_if(table, [&](const SizeStep& s) { return dice < s.up_to_per_mille; })
      ->gpus;
}

// Collects gangs; equal shapes become one.
class MixMaker {
 public:
  MixMaker(const BenchCluster& cluster, std::uint64_t seed) : cluster_(cluster), random_(seed) {}

  const BenchCluster& cluster() const { return cluster_; }
  SplitMix64& random() { return random_; }
  FeatureGates& gates() { return mix_.gates; }

  std::int32_t Shape(Resources requests, std::optional<TopologyRequest> topology_request,
                     const StringMap& node_selector = {},
                     const std::optional<Resources>& leader = std::nullopt) {
    GangShape shape;
    shape.workers.name = "main";
    shape.workers.flavor = kBenchFlavor;
    shape.workers.requests = std::move(requests);
    shape.workers.topology_request = std::move(topology_request);
    shape.workers.pod_template.node_selector = node_selector;
    if (leader) {
      shape.workers.group = "group";
      shape.leader = shape.workers;
      shape.leader->name = "leader";
      shape.leader->count = 1;
      shape.leader->requests = *leader;
    }
    const auto known = std::ranges::find_if(mix_.shapes, [&](const GangShape& other) {
      return other.workers == shape.workers && other.leader == shape.leader;
    });
    if (known != mix_.shapes.end()) {
      return static_cast<std::int32_t>(known - mix_.shapes.begin());
    }
    mix_.shapes.push_back(std::move(shape));
    return static_cast<std::int32_t>(mix_.shapes.size()) - 1;
  }
  // Without looking for an equal one: for mixes that draw thousands that differ.
  std::int32_t NewShape(Resources requests, TopologyRequest topology_request) {
    GangShape& shape = mix_.shapes.emplace_back();
    shape.workers.name = "main";
    shape.workers.flavor = kBenchFlavor;
    shape.workers.requests = std::move(requests);
    shape.workers.topology_request = std::move(topology_request);
    return static_cast<std::int32_t>(mix_.shapes.size()) - 1;
  }
  void Add(std::int32_t shape, std::int64_t pods) {
    mix_.gangs.push_back({shape, static_cast<std::int32_t>(pods)});
  }
  BenchMix Finish() && { return std::move(mix_); }

 private:
  const BenchCluster& cluster_;
  SplitMix64 random_;
  BenchMix mix_;
};

TopologyRequest Required(const std::string& level) { return {.required = level}; }
TopologyRequest Preferred(const std::string& level) { return {.preferred = level}; }

// A job of so many accelerators: one pod, or whole nodes; up to four nodes stay in a rack, up to 64
// would like a block.
void AddTraceJob(MixMaker& mix, std::int64_t gpus) {
  const BenchCluster& cluster = mix.cluster();
  const std::int64_t per_node = cluster.node_slots;
  const std::int64_t per_pod = std::min(gpus, per_node);
  const std::int64_t pods = gpus / per_pod;
  const TopologyRequest request = pods <= 4    ? Required(RackLevel(cluster))
                                  : pods <= 64 ? Preferred(BlockLevel(cluster))
                                               : Preferred(ZoneLevel(cluster));
  mix.Add(mix.Shape(SlotRequests(cluster, per_pod), request), pods);
}

void AddAcme(MixMaker& mix, std::int64_t gangs) {
  for (std::int64_t i = 0; i < gangs; ++i) AddTraceJob(mix, DrawAcmeJob(mix.random()));
}

void AddTrace(MixMaker& mix, std::int64_t gangs, std::span<const SizeStep> table) {
  for (std::int64_t i = 0; i < gangs; ++i) AddTraceJob(mix, Draw(table, mix.random()));
}

// Four gangs of a quarter of the cluster each come before the crowd.
void AddHero(MixMaker& mix, std::int64_t gangs) {
  const BenchCluster& cluster = mix.cluster();
  const std::int32_t hero =
      mix.Shape(SlotRequests(cluster, cluster.node_slots), Preferred(ZoneLevel(cluster)));
  for (int i = 0; i < 4; ++i) mix.Add(hero, cluster.size() / 4);
  AddAcme(mix, std::max<std::int64_t>(gangs - 4, 0));
}

void AddKueue(MixMaker& mix, std::int64_t gangs) {
  const std::string& rack = RackLevel(mix.cluster());
  mix.gates().balanced_placement = true;
  for (std::int64_t i = 0; i < gangs; ++i) {
    const std::int64_t dice = i % 10;  // 350 : 100 : 50
    const int size = dice < 7 ? 0 : dice < 9 ? 1 : 2;
    constexpr std::int64_t kPods[] = {2, 4, 8};
    constexpr Amount kCpu[] = {500, 1250, 2500};
    TopologyRequest request = i / 10 % 3 == 0 ? Required(rack) : Preferred(rack);
    if (i / 10 % 3 == 2) {
      request.slice_topology = rack;
      request.slice_size = 1 << size;
    }
    mix.Add(mix.Shape({{"cpu", kCpu[size]}}, request), kPods[size]);
  }
}

// Distinct vectors over every resource; all prefer one rack.
void AddShapes(MixMaker& mix, std::int64_t gangs, std::int64_t shapes,
               const TopologyRequest& topology) {
  const BenchCluster& cluster = mix.cluster();
  SplitMix64& random = mix.random();
  for (std::int64_t i = 0; i < shapes; ++i) {
    Resources requests;
    for (const std::string& name : cluster.nodes.resources) {
      if (name == "cpu") {
        requests.Set(name, random.Between(1, 96000));
      } else if (name == "memory") {
        requests.Set(name, random.Between(1, 1000000) * kMebibyte);
      } else if (name == kGpuResource) {
        requests.Set(name, Amount{1} << random.Below(4));
      } else if (name == "ephemeral-storage") {
        requests.Set(name, random.Between(1, 4) * 100 * 1024 * kMebibyte);
      } else if (name == "hugepages-2Mi") {
        requests.Set(name, random.Between(1, 4) * 1024 * kMebibyte);
      } else if (name != kPodsResource) {
        requests.Set(name, random.Between(1, 4));
      }
    }
    mix.NewShape(std::move(requests), topology);
  }
  for (std::int64_t i = 0; i < gangs; ++i) {
    const std::int64_t dice = random.Below(100);
    const std::int64_t pods = dice < 60   ? random.Between(1, 8)
                              : dice < 90 ? random.Between(16, 64)
                              : dice < 99 ? random.Between(128, 256)
                                          : random.Between(512, 1024);
    mix.Add(static_cast<std::int32_t>(i % shapes), pods);
  }
}

// Whole racks of 18 nodes, or segments of 16, 8 or 4 nodes of one, 1 to 16 of them near each other.
void AddNvl(MixMaker& mix, std::int64_t gangs) {
  const BenchCluster& cluster = mix.cluster();
  for (std::int64_t i = 0; i < gangs; ++i) {
    constexpr std::int32_t kNodes[] = {18, 4, 8, 16};
    const std::int32_t nodes = kNodes[mix.random().Below(4)];
    TopologyRequest request = Preferred(cluster.levels[cluster.levels.size() - 3]);
    request.slice_topology = RackLevel(cluster);
    request.slice_size = nodes;
    mix.Add(mix.Shape(SlotRequests(cluster, cluster.node_slots), request),
            nodes * mix.random().Between(1, 16));
  }
}

// A small leader beside its workers.
void AddLeader(MixMaker& mix, std::int64_t gangs) {
  const BenchCluster& cluster = mix.cluster();
  for (std::int64_t i = 0; i < gangs; ++i) {
    const std::int64_t slots = std::int64_t{1} << mix.random().Below(4);
    const Resources leader = {{"cpu", cluster.slot_cpu}, {"memory", cluster.slot_memory}};
    mix.Add(mix.Shape(SlotRequests(cluster, std::min(slots, cluster.node_slots)),
                      Preferred(BlockLevel(cluster)), {}, leader),
            mix.random().Between(1, 32));
  }
}

// Every gang is one whole node too large for the rack it must have.
void AddUnsat(MixMaker& mix, std::int64_t gangs) {
  const BenchCluster& cluster = mix.cluster();
  const std::int32_t shape =
      mix.Shape(SlotRequests(cluster, cluster.node_slots), Required(RackLevel(cluster)));
  for (std::int64_t i = 0; i < gangs; ++i) mix.Add(shape, cluster.rack_nodes + 1);
}

// Whole nodes that share a domain two levels above the hosts.
void AddRowGang(MixMaker& mix, std::int64_t pods) {
  const BenchCluster& cluster = mix.cluster();
  mix.Add(mix.Shape(SlotRequests(cluster, cluster.node_slots), Required(RowLevel(cluster))), pods);
}

// Adds gangs that try arithmetic and orders: requests of nothing, of exactly a node, of the largest
// values.
void AddAdversarial(MixMaker& mix, std::int64_t gangs) {
  const BenchCluster& cluster = mix.cluster();
  const NodeColumns& nodes = cluster.nodes;
  Resources whole;
  for (std::size_t r = 0; r < nodes.resources.size(); ++r) {
    if (nodes.resources[r] != kPodsResource) {
      whole.Set(nodes.resources[r], nodes.allocatable[r * nodes.size()]);
    }
  }
  const std::vector<Resources> requests = {
      {},
      {{"cpu", 0}, {"memory", 0}},
      whole,
      {{"cpu", (Amount{1} << 31) - 1}},
      {{"memory", Amount{1} << 53}},
      {{"cpu", std::numeric_limits<Amount>::max()}},
      {{"cpu", 1}, {"memory", 1}},
      SlotRequests(cluster, 1),
  };
  const std::vector<TopologyRequest> topologies = {Required(RackLevel(cluster)),
                                                   Preferred(RackLevel(cluster)),
                                                   Preferred(ZoneLevel(cluster)),
                                                   {.unconstrained = true}};
  std::vector<std::int32_t> shapes;
  for (const Resources& vector : requests) {
    for (const TopologyRequest& request : topologies) shapes.push_back(mix.Shape(vector, request));
  }
  for (std::int64_t i = 0; i < gangs; ++i) {
    mix.Add(shapes[static_cast<std::size_t>(i) % shapes.size()],
            i % 16 == 15 ? 0 : mix.random().Between(1, 64));
  }
}

// Equal gangs on a cluster where every domain ties.
void AddTies(MixMaker& mix, std::int64_t gangs) {
  const BenchCluster& cluster = mix.cluster();
  const std::int32_t shapes[] = {
      mix.Shape(SlotRequests(cluster, 1), Required(RackLevel(cluster))),
      mix.Shape(SlotRequests(cluster, cluster.node_slots), Preferred(RackLevel(cluster))),
      mix.Shape(SlotRequests(cluster, cluster.node_slots), TopologyRequest{.unconstrained = true})};
  for (std::int64_t i = 0; i < gangs; ++i) mix.Add(shapes[i % 3], 16);
}

// Replicas of one-slot pods, each in a rack; kReplicasTogether of them are a workload in one block.
template <std::int64_t pods>
void AddReplicas(MixMaker& mix, std::int64_t gangs) {
  const BenchCluster& cluster = mix.cluster();
  const std::int32_t shape = mix.Shape(SlotRequests(cluster, 1), Required(RackLevel(cluster)));
  for (std::int64_t i = 0; i < gangs; ++i) mix.Add(shape, pods);
}

// 151 request vectors whose share of the jobs falls as in the trace: the first 10 have 58.8 %, 16
// have 70.4 %, 32 have 87.0 %, 64 have 96.7 %, 100 have 99.1 %. The vectors themselves are ours.
void AddOpenb(MixMaker& mix, std::int64_t gangs) {
  constexpr struct {
    std::int64_t shapes;
    std::int64_t up_to;  // per mille
  } kSteps[] = {{10, 588}, {16, 704}, {32, 870}, {64, 967}, {100, 991}, {151, 1000}};
  SplitMix64& random = mix.random();
  for (std::int64_t i = 0; i < gangs; ++i) {
    const std::int64_t dice = random.Below(1000);
    std::int64_t first = 0;
    std::int64_t shape = 0;
    for (const auto& step : kSteps) {
      if (dice < step.up_to) {
        shape = first + random.Below(step.shapes - first);
        break;
      }
      first = step.shapes;
    }
    // 134 in a thousand ask for no GPU; of the others nearly all for one.
    SplitMix64 vector(static_cast<std::uint64_t>(shape) + 1);
    const std::int64_t kind = vector.Below(1000);
    const Amount gpus = kind < 134 ? 0 : kind < 991 ? 1 : kind < 993 ? 2 : kind < 995 ? 4 : 8;
    Resources requests = {{"cpu", vector.Between(1, 8) * 1000 * std::max<Amount>(gpus, 1)},
                          {"memory", vector.Between(1, 32) * 1024 * kMebibyte}};
    StringMap selector;
    if (gpus > 0) {
      requests.Set(kGpuResource, gpus);
      if (vector.Below(100) < 33) selector.Set(kGpuModelLabel, vector.Below(2) == 0 ? "G2" : "T4");
    }
    mix.Add(mix.Shape(std::move(requests), TopologyRequest{.unconstrained = true}, selector), 1);
  }
}

// One gang of a benchmark in Kueue's own repository: nine pods of eight cpus for each host of the
// first block.
void AddKueueAssign(MixMaker& mix, bool leader) {
  mix.gates().balanced_placement = true;
  const Resources workers = {{"cpu", 8000}};
  const std::optional<Resources> lead =
      leader ? std::optional(Resources{{"cpu", 72000}}) : std::nullopt;
  mix.Add(mix.Shape(workers, Preferred(RackLevel(mix.cluster())), {}, lead), 256 * 9);
}

enum class Feature { kNone, kLeader, kSlicesOnHosts, kSlicesInRacks, kBalanced, kAnywhere };

// Gangs of 16 pods that differ from those of kNone in one feature alone.
template <Feature kFeature>
void AddFeature(MixMaker& mix, std::int64_t gangs) {
  const BenchCluster& cluster = mix.cluster();
  mix.gates().balanced_placement = kFeature == Feature::kBalanced;
  std::optional<Resources> leader;
  if (kFeature == Feature::kLeader) leader = SlotRequests(cluster, 1);
  TopologyRequest request = Preferred(RackLevel(cluster));
  if (kFeature == Feature::kSlicesOnHosts || kFeature == Feature::kSlicesInRacks) {
    request.slice_topology =
        kFeature == Feature::kSlicesOnHosts ? kHostnameLabel : RackLevel(cluster);
    request.slice_size = 2;
  }
  if (kFeature == Feature::kAnywhere) request = {.unconstrained = true};
  for (std::int64_t i = 0; i < gangs; ++i) {
    mix.Add(mix.Shape(SlotRequests(cluster, std::int64_t{1} << (i % 3)), request, {}, leader), 16);
  }
}

using MakeFunction = void (*)(MixMaker&, std::int64_t);

struct MixEntry {
  TopologyLine line;
  MakeFunction make;
};

const std::vector<MixEntry>& MixEntries() {
  static const std::vector<MixEntry> entries = {
      {{"X-KUEUE", "2 x 500m, 4 x 1250m, 8 x 2500m cpu; a third each required, preferred, sliced"},
       AddKueue},
      {{"X-KUEUE-ASSIGN", "one gang of 2,304 pods of 8 cpus, preferred rack"},
       [](MixMaker& mix, std::int64_t) { AddKueueAssign(mix, false); }},
      {{"X-KUEUE-ASSIGN-LEADER", "the same with a leader of 72 cpus"},
       [](MixMaker& mix, std::int64_t) { AddKueueAssign(mix, true); }},
      {{"X-K8S4", "gangs of 4 one-cpu pods, required rack"},
       [](MixMaker& mix, std::int64_t gangs) {
         const std::int32_t shape = mix.Shape({{"cpu", 1000}}, Required(RackLevel(mix.cluster())));
         for (std::int64_t i = 0; i < gangs; ++i) mix.Add(shape, 4);
       }},
      {{"X-K8S1000", "gangs of 1,000 one-cpu pods, required rack"},
       [](MixMaker& mix, std::int64_t gangs) {
         const std::int32_t shape = mix.Shape({{"cpu", 1000}}, Required(RackLevel(mix.cluster())));
         for (std::int64_t i = 0; i < gangs; ++i) mix.Add(shape, 1000);
       }},
      {{"X-KAI512-RACK", "one gang of 512 pods of a whole node, preferred rack"},
       [](MixMaker& mix, std::int64_t) {
         mix.Add(mix.Shape(SlotRequests(mix.cluster(), mix.cluster().node_slots),
                           Preferred(RackLevel(mix.cluster()))),
                 512);
       }},
      {{"X-KAI512-FREE", "the same without a topology request"},
       [](MixMaker& mix, std::int64_t) {
         mix.Add(mix.Shape(SlotRequests(mix.cluster(), mix.cluster().node_slots),
                           TopologyRequest{.unconstrained = true}),
                 512);
       }},
      {{"X-SUBGROUPS", "one gang of 1,000 pods in 100 groups of 10, each in one tier-1 domain"},
       [](MixMaker& mix, std::int64_t) {
         TopologyRequest request = Preferred(RackLevel(mix.cluster()));
         request.slice_topology = RackLevel(mix.cluster());
         request.slice_size = 10;
         mix.Add(mix.Shape({{"cpu", 32000}}, request), 1000);
       }},
      {{"X-TIER2", "gangs of 16 one-GPU pods that must share a tier-2 domain"},
       [](MixMaker& mix, std::int64_t gangs) {
         const std::int32_t shape =
             mix.Shape(SlotRequests(mix.cluster(), 1), Required(RackLevel(mix.cluster())));
         for (std::int64_t i = 0; i < gangs; ++i) mix.Add(shape, 16);
       }},
      {{"X-ONE-CPU", "one-pod jobs of one cpu, anywhere"},
       [](MixMaker& mix, std::int64_t gangs) {
         const std::int32_t shape =
             mix.Shape({{"cpu", 1000}}, TopologyRequest{.unconstrained = true});
         for (std::int64_t i = 0; i < gangs; ++i) mix.Add(shape, 1);
       }},
      {{"X-ACME", "Kalos sizes for a fifth, Seren sizes for the rest; rack, block or zone by size"},
       AddAcme},
      {{"X-HELIOS", "Helios sizes, as X-ACME"},
       [](MixMaker& mix, std::int64_t gangs) { AddTrace(mix, gangs, kHelios); }},
      {{"X-PHILLY", "Philly sizes, as X-ACME"},
       [](MixMaker& mix, std::int64_t gangs) { AddTrace(mix, gangs, kPhilly); }},
      {{"X-PAI", "PAI sizes, as X-ACME"},
       [](MixMaker& mix, std::int64_t gangs) { AddTrace(mix, gangs, kPai); }},
      {{"X-OPENB", "one-pod jobs of 151 shapes, a third of the GPU ones with a model"}, AddOpenb},
      {{"X-HERO", "four gangs of a quarter of the cluster, then X-ACME"}, AddHero},
      {{"X-NVL", "slices of 18, 16, 8 or 4 nodes of a rack, 1 to 16 of them"}, AddNvl},
      {{"X-LEADER", "a leader and 1 to 32 workers, preferred block"}, AddLeader},
      {{"X-PLAIN", "gangs of 16 pods of 1, 2 or 4 slots, preferred rack"},
       AddFeature<Feature::kNone>},
      {{"X-PLAIN-LEADER", "X-PLAIN with a leader"}, AddFeature<Feature::kLeader>},
      {{"X-PLAIN-HOST-SLICES", "X-PLAIN in slices of 2 pods of one host"},
       AddFeature<Feature::kSlicesOnHosts>},
      {{"X-PLAIN-RACK-SLICES", "X-PLAIN in slices of 2 pods of one rack"},
       AddFeature<Feature::kSlicesInRacks>},
      {{"X-PLAIN-BALANCED", "X-PLAIN with balanced placement"}, AddFeature<Feature::kBalanced>},
      {{"X-PLAIN-ANYWHERE", "X-PLAIN without a topology"}, AddFeature<Feature::kAnywhere>},
      {{"X-UNSAT", "gangs one node too large for their rack"}, AddUnsat},
      {{"X-HALVES", "one gang of 200 pods of half a node, preferred block, on one node group"},
       [](MixMaker& mix, std::int64_t) {
         const BenchCluster& cluster = mix.cluster();
         mix.Add(
             mix.Shape(SlotRequests(cluster, cluster.node_slots / 2),
                       Preferred(BlockLevel(cluster)), {{std::string(kNodeGroupLabel), "group-1"}}),
             200);
       }},
      {{"X-ROW64", "one gang of 64 pods of a whole node that must share a row"},
       [](MixMaker& mix, std::int64_t) { AddRowGang(mix, 64); }},
      {{"X-ROW32", "the same of 32 pods"},
       [](MixMaker& mix, std::int64_t) { AddRowGang(mix, 32); }},
      {{"X-500", "one gang of 500 pods of a whole node, preferred rack"},
       [](MixMaker& mix, std::int64_t) {
         mix.Add(mix.Shape(SlotRequests(mix.cluster(), mix.cluster().node_slots),
                           Preferred(RackLevel(mix.cluster()))),
                 500);
       }},
      {{"X-ADV", "zero, exact and largest requests"}, AddAdversarial},
      {{"X-TIES", "equal gangs, so that every choice is a tie"}, AddTies},
      {{"X-REPLICAS-16", "replicas of 16 pods in a rack; nested, 8 in a block"}, AddReplicas<16>},
      {{"X-REPLICAS-128", "the same of 128 pods"}, AddReplicas<128>},
  };
  return entries;
}

// The S of a name like X-SHAPES(S), whose part before it is `prefix`.
std::optional<std::int64_t> ShapeCount(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || !name.ends_with(')')) return std::nullopt;
  name.remove_prefix(prefix.size());
  name.remove_suffix(1);
  std::int64_t shapes = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), shapes);
  if (error != std::errc{} || end != name.data() + name.size() || shapes < 1 || shapes > 1000000) {
    return std::nullopt;
  }
  return shapes;
}

}  // namespace

std::vector<TopologyLine> MixLines() {
  std::vector<TopologyLine> lines = {
      {"X-SHAPES(S)", "S distinct vectors over every resource, 1 to 1,024 pods, preferred rack"},
      {"X-ROWS(S)", "the same gangs, each of which must share a row"}};
  for (const MixEntry& entry : MixEntries()) lines.push_back(entry.line);
  return lines;
}

Result<BenchMix> MakeMix(const std::string& name, const BenchCluster& cluster, std::int64_t gangs,
                         std::uint64_t seed) {
  MixMaker maker(cluster, seed);
  if (const auto shapes = ShapeCount(name, "X-SHAPES(")) {
    AddShapes(maker, gangs, *shapes, Preferred(RackLevel(cluster)));
  } else if (const auto of_rows = ShapeCount(name, "X-ROWS(")) {
    AddShapes(maker, gangs, *of_rows, Required(RowLevel(cluster)));
  } else {
    const auto entry = std::ranges::find(MixEntries(), std::string_view(name),
                                         [](const MixEntry& e) { return e.line.name; });
    if (entry == MixEntries().end()) {
      std::string names;
      for (const TopologyLine& line : MixLines()) {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", line.name);
      }
      return BadInput(fmt::format("there is no mix \"{}\"; there are {}", name, names));
    }
    entry->make(maker, gangs);
  }
  BenchMix mix = std::move(maker).Finish();
  mix.name = name;
  return mix;
}

std::vector<WorkloadRequest> RequestsOf(const BenchMix& mix) {
  std::vector<WorkloadRequest> requests;
  for (std::size_t i = 0; i < mix.gangs.size(); ++i) {
    const GangShape& shape = mix.shapes[static_cast<std::size_t>(mix.gangs[i].shape)];
    WorkloadRequest& request = requests.emplace_back();
    request.key = {"bench", fmt::format("gang-{:06}", i)};
    request.pod_sets.push_back(shape.workers);
    request.pod_sets.back().count = mix.gangs[i].pods;
    if (shape.leader) request.pod_sets.push_back(*shape.leader);
  }
  return requests;
}

std::int64_t DrawAcmeJob(SplitMix64& random) {
  return random.Below(5) == 0 ? Draw(kKalos, random) : Draw(kSeren, random);
}

Resources SlotRequests(const BenchCluster& cluster, std::int64_t slots) {
  Resources requests = {{"cpu", cluster.slot_cpu * slots}, {"memory", cluster.slot_memory * slots}};
  if (cluster.has_gpus) requests.Set(kGpuResource, slots);
  return requests;
}

const std::string& RackLevel(const BenchCluster& cluster) {
  return cluster.levels[cluster.levels.size() - 2];
}
const std::string& RowLevel(const BenchCluster& cluster) {
  const std::size_t depth = cluster.levels.size();
  return cluster.levels[depth - std::min<std::size_t>(3, depth)];
}
const std::string& BlockLevel(const BenchCluster& cluster) {
  return cluster.levels[cluster.levels.size() >= 4 ? 1 : 0];
}
const std::string& ZoneLevel(const BenchCluster& cluster) { return cluster.levels.front(); }

}  // namespace espalier
