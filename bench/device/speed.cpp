// How long a device takes, next to the CPU on the same machine, with the same answers.
// Usage: device_speed BACKEND [LARGEST]   (LARGEST: nodes, 131072 unless told)
// Prints one JSON object a line; exit code 1 when an answer differs from the CPU's.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/gang_batch.hpp"
#include "host/engine/workload_placement.hpp"
#include "host/packing/cluster_state.hpp"
#include "service/backends/backends.hpp"

namespace espalier {
namespace {

constexpr int kRepeats = 30;
constexpr int kRepeatsInOrder = 5;
constexpr int kWarmUp = 3;
// Multiply and minimum for one amount of one node and one shape on an H200, all processors busy.
constexpr double kCellsPerMillisecond = 1.48e10;
constexpr double kResources = 8;
constexpr const char* kExtra[] = {"example.com/a", "example.com/b", "example.com/c",
                                  "example.com/d"};

// splitmix64
std::uint64_t Next(std::uint64_t& state) {
  std::uint64_t x = state += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// Zones of 16 blocks of 16 racks of 16 nodes, eight resources, about 70 % of the GPUs used.
ClusterStateInput MakeCluster(int nodes) {
  std::uint64_t seed = 50;
  ClusterStateInput cluster;
  cluster.topologies = {{"t", {"zone", "block", "rack", std::string(kHostnameLabel)}}};
  ResourceFlavor flavor;
  flavor.name = "gpu";
  flavor.topology_name = "t";
  cluster.flavors = {flavor};
  for (int i = 0; i < nodes; ++i) {
    Node& node = cluster.nodes.emplace_back();
    node.name = fmt::format("n{:06}", i);
    node.ready = true;
    node.labels.Set("zone", fmt::format("z{:03}", i / 4096));
    node.labels.Set("block", fmt::format("b{:04}", i / 256));
    node.labels.Set("rack", fmt::format("r{:05}", i / 16));
    node.labels.Set(std::string(kHostnameLabel), node.name);
    node.allocatable.Set("cpu", 192000);
    node.allocatable.Set("memory", std::int64_t{2} << 40);
    node.allocatable.Set("nvidia.com/gpu", 8);
    node.allocatable.Set("pods", 110);
    for (const char* name : kExtra) node.allocatable.Set(name, 1000);
    const auto gpus = static_cast<Amount>(Next(seed) % 12);
    if (gpus == 0) continue;
    Resources used;
    used.Set("nvidia.com/gpu", std::min<Amount>(gpus, 8));
    used.Set("cpu", std::min<Amount>(gpus, 8) * 16000);
    used.Set("pods", std::min<Amount>(gpus, 8));
    cluster.tas_usage.push_back({"gpu", node.name, used});
  }
  return cluster;
}

std::vector<WorkloadRequest> MakeGangs(int count, int shapes) {
  std::uint64_t seed = 51;
  std::vector<WorkloadRequest> gangs;
  for (int i = 0; i < count; ++i) {
    const int shape = i % shapes;
    WorkloadRequest& gang = gangs.emplace_back();
    gang.key = {"default", fmt::format("g{}", i)};
    PodSetRequest& pods = gang.pod_sets.emplace_back();
    pods.name = "main";
    pods.flavor = "gpu";
    const std::uint64_t dice = Next(seed) % 100;
    pods.count = static_cast<std::int32_t>(dice < 60   ? 1 + Next(seed) % 8
                                           : dice < 90 ? 16 + Next(seed) % 49
                                                       : 128 + Next(seed) % 129);
    pods.requests.Set("nvidia.com/gpu", 1 << shape % 4);
    pods.requests.Set("cpu", 1000 + shape);
    pods.requests.Set("memory", std::int64_t{1} << 30);
    for (const char* name : kExtra) pods.requests.Set(name, 1 + shape % 7);
    pods.topology_request.emplace();
    if (shape % 3 == 0) {
      pods.topology_request->required = "block";
    } else {
      pods.topology_request->preferred = "rack";
    }
  }
  return gangs;
}

// The jobs of gangs with one pod set each.
std::vector<PlacementJob> MakeJobs(const std::vector<WorkloadRequest>& gangs,
                                   const ClusterState& state) {
  std::vector<PlacementJob> jobs;
  for (const WorkloadRequest& gang : gangs) {
    WorkloadPlacement placement(gang, state, {});
    if (const PlacementJob* job = placement.NextJob()) jobs.push_back(*job);
  }
  return jobs;
}

struct Times {
  double min = 0;
  double median = 0;
  double max = 0;
};

// `prepare` comes before each repeat and is not measured.
template <class Prepare, class Work>
Times Measure(int repeats, const Prepare& prepare, const Work& work) {
  std::vector<double> all;
  for (int i = 0; i < repeats + kWarmUp; ++i) {
    prepare();
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (i >= kWarmUp) all.push_back(took.count());
  }
  std::ranges::sort(all);
  return {all.front(), all[all.size() / 2], all.back()};
}

// Usage on one leaf after the other changes, so that warm counts are stale each time.
class Churn {
 public:
  explicit Churn(ClusterState& state) : flavor_(*state.Find("gpu")) { pods_.Set("pods", 1); }
  void Touch(int leaves) {
    for (int i = 0; i < leaves; ++i) {
      const LeafId leaf(static_cast<std::int32_t>(next_++ % flavor_.snapshot().leaf_count()));
      flavor_.Add(leaf, pods_);
      flavor_.Remove(leaf, pods_);
    }
  }

 private:
  FlavorState& flavor_;
  Resources pods_;
  std::int64_t next_ = 0;
};

class Bench {
 public:
  Bench(std::shared_ptr<Backend> device, int nodes)
      : nodes_(nodes),
        device_(std::move(device)),
        cpu_(MakeCpuBackend(0)),
        state_(*ClusterState::Build(MakeCluster(nodes))),
        churn_(state_) {}

  bool Run() {
    if (nodes_ >= 131072) {
      Compare("M2", 5000, 256, 1000);
      Compare("M3", 5000, 5000, 1000);
    }
    for (const int shapes : {16, 256}) Compare("B50", 5000, shapes, 1000);
    for (const int batch : {1, 4, 16, 32, 64, 256, 1024}) Compare("crossover", batch, 64, 16);
    Compare("delta", 1, 1, 1000);
    InOrder("M4", 5000, 256);
    return same_;
  }

 private:
  // `touched`: leaves whose usage changes before each batch.
  void Compare(const char* name, int gangs, int shapes, int touched) {
    const auto requests = MakeGangs(gangs, shapes);
    const auto jobs = MakeJobs(requests, state_);
    std::vector<PlacementResult> right(jobs.size());
    std::vector<PlacementResult> answers(jobs.size());
    const Times cpu = Time(*cpu_, jobs, right, touched);
    const Times device = Time(*device_, jobs, answers, touched);
    Print(name, gangs, shapes, touched, right == answers, device, cpu);
  }

  // Each gang takes its room from those after it; the device decides ahead.
  void InOrder(const char* name, int gangs, int shapes) {
    const auto requests = MakeGangs(gangs, shapes);
    GangAnswers right;
    GangAnswers answers;
    const Times cpu = TimeInOrder(*cpu_, requests, shapes, right);
    const DeviceStatus before = StatusOfDevice(*device_).value_or(DeviceStatus{});
    const Times device = TimeInOrder(*device_, requests, shapes, answers);
    const DeviceStatus after = StatusOfDevice(*device_).value_or(DeviceStatus{});
    Print(name, gangs, shapes, 0, right == answers, device, cpu);
    constexpr std::uint64_t kRuns = kRepeatsInOrder + kWarmUp;
    fmt::print(R"({{"ahead":"{}","nodes":{},"gangs":{},"rounds":{},"decided":{}}})"
               "\n",
               name, nodes_, gangs, (after.batches_on_device - before.batches_on_device) / kRuns,
               (after.jobs_on_device - before.jobs_on_device) / kRuns);
  }

  // On a state nobody has asked before; resolving the shapes is not measured.
  Times TimeInOrder(Backend& backend, const std::vector<WorkloadRequest>& requests, int shapes,
                    GangAnswers& answers) {
    std::vector<GangShape> gang_shapes;
    for (int i = 0; i < shapes; ++i) {
      gang_shapes.push_back({requests[static_cast<std::size_t>(i)].pod_sets.front(), std::nullopt});
    }
    std::vector<Gang> gangs;
    for (const WorkloadRequest& request : requests) {
      const auto shape = static_cast<std::int32_t>(gangs.size()) % shapes;
      gangs.push_back({shape, request.pod_sets.front().count});
    }
    std::optional<ClusterState> state;
    std::optional<GangBatch> batch;
    const auto clone = [&] {
      state.emplace(state_.Clone());
      batch.emplace(*state, FeatureGates{}, gang_shapes);
    };
    return Measure(kRepeatsInOrder, clone,
                   [&] { batch->PlaceInOrder(backend, *state, gangs, answers); });
  }

  void Print(const char* name, int gangs, int shapes, int touched, bool same, const Times& device,
             const Times& cpu) {
    same_ = same_ && same;
    const double floor = double{1} * nodes_ * shapes * kResources / kCellsPerMillisecond;
    fmt::print(
        R"({{"bench":"{}","nodes":{},"gangs":{},"shapes":{},"touched":{},"same_answers":{},)"
        R"("device_ms":[{:.4f},{:.4f},{:.4f}],"cpu_ms":[{:.4f},{:.4f},{:.4f}],"floor_ms":{:.5f}}})"
        "\n",
        name, nodes_, gangs, shapes, touched, same, device.min, device.median, device.max, cpu.min,
        cpu.median, cpu.max, floor);
  }

  Times Time(Backend& backend, std::span<const PlacementJob> jobs,
             std::span<PlacementResult> answers, int touched) {
    const auto touch = [&] { churn_.Touch(touched); };
    return Measure(kRepeats, touch, [&] { backend.Evaluate(jobs, answers); });
  }

  int nodes_;
  std::shared_ptr<Backend> device_;
  std::shared_ptr<Backend> cpu_;
  ClusterState state_;
  Churn churn_;
  bool same_ = true;
};

}  // namespace
}  // namespace espalier

int main(int argc, char** argv) {
  using namespace espalier;
  const auto device = MakeBackend(argc > 1 ? argv[1] : "", 0);
  if (!device) {
    fmt::print(stderr, "{}\n", device.error().message);
    return 2;
  }
  const int largest = argc > 2 ? std::atoi(argv[2]) : 131072;
  fmt::print(R"({{"backend":"{}","device":"{}","cpu_threads":{},"repeats":{}}})"
             "\n",
             argv[1], StatusOfDevice(**device).value_or(DeviceStatus{}).device,
             std::thread::hardware_concurrency(), kRepeats);
  bool same = true;
  for (const int nodes : {1024, 10240, 51200, 131072}) {
    if (nodes <= largest) same = Bench(*device, nodes).Run() && same;
  }
  const auto status = StatusOfDevice(**device).value_or(DeviceStatus{});
  if (status.fault) fmt::print(stderr, "device fault: {}\n", status.fault->message);
  return same && !status.fault ? 0 : 1;
}
