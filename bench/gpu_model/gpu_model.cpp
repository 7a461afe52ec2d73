#include "bench/gpu_model/gpu_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <variant>

namespace espalier {
namespace {

// Instructions that a processor starts in a cycle, of the four that it could.
constexpr double kInstructionsPerCycle = 3;
constexpr double kWarp = 32;
constexpr double kThreads = 256;        // of a block of the passes over leaves, domains and shares
constexpr double kBlocks = 8;           // of these that a processor holds
constexpr double kDecideThreads = 128;  // of a block that decides
constexpr double kDecideBlocks = 3;     // that a processor holds, at 136 registers a thread

// Instructions of a trip of the inner loops, counted in code for sm_90 (a cell is one amount of a
// leaf and one shape) or estimated.
constexpr double kScatterInstructions = 12;
constexpr double kCellInstructions = 17;     // counted
constexpr double kDivideInstructions = 100;  // of a cell
constexpr double kStoreInstructions = 30;    // of one count
constexpr double kChildInstructions = 10;
constexpr double kDomainInstructions = 25;
// A decision passes over the domains of its level so often, and does so many collectives.
constexpr double kDecidePasses = 3;
constexpr double kDecideCollectives = 40;
constexpr double kLoadsPerCollective = 1.25;
constexpr double kLoadsPerScan = 4;
// A scan resets its state in a launch of its own, then reads, sums up across blocks and writes.
constexpr double kScanLoads = 10;
constexpr double kCompactLoads = 5;      // where the shares of a job are, and few of them
constexpr double kCopySeconds = 1.5e-6;  // of a copy of no bytes

// A kernel's work, of three kinds; the slowest of them is the kernel's time.
struct Work {
  double instructions = 0;  // of warps
  double bytes = 0;         // of the GPU's memory
  double loads = 0;         // one after the other
};

double Blocks(double items, double per_block) { return std::ceil(items / per_block); }

class WorkOf {
 public:
  WorkOf(const GpuFigures& gpu, const ModelSizes& sizes) : gpu_(gpu), sizes_(sizes) {}

  Work operator()(const ScatterArgs& args) const {
    const double cells = double(args.size) * args.columns;
    return {cells / kWarp * kScatterInstructions, cells * 20, 2 * TripsOfLane()};
  }
  Work operator()(const CountLeavesArgs& args) const {
    const double leaves = args.leaves.size;
    const double shapes = args.job_count;
    return {leaves * shapes / kWarp * (columns() * kDivideInstructions + kStoreInstructions),
            leaves * (8 * columns() + 6 * shapes),
            TripsOfLane() * std::min<double>(shapes, kShapesPerBlock) * columns()};
  }
  Work operator()(const CountShapeBatchesArgs& args) const {
    const double leaves = args.leaves.size;
    const double shapes = double(args.batch_count) * kShapesPerBlock;
    return {leaves * shapes / kWarp * (columns() * kCellInstructions + kStoreInstructions),
            leaves * (8 * columns() + 6 * shapes), TripsOfLane() * columns()};
  }
  Work operator()(const RollUpArgs& args) const {
    const double children = FanOut(args.level);
    const double domains = double(args.domains.size) * args.job_count;
    const double lanes = std::min<double>(args.domains.size, kItemsPerBlock);
    return {domains / kWarp * children * kChildInstructions, domains * (children + 1) * 8,
            std::ceil(lanes / kThreads) * children};
  }
  Work operator()(const DecideArgs& args) const {
    const double trips = Blocks(ScannedWidth(), kDecideThreads);
    const double at_once = gpu_.processors * kDecideBlocks;
    const double warps = kDecideThreads / kWarp;
    return {args.job_count * kDecidePasses * trips * warps * kDomainInstructions,
            args.job_count * kDecidePasses * ScannedWidth() * 4,
            std::ceil(args.job_count / at_once) *
                (kDecideCollectives * kLoadsPerCollective + kDecidePasses * trips / kLoadsPerScan)};
  }
  // Those of shapes on which nothing failed end at once; no more is known of them.
  Work operator()(const ExclusionsArgs& /*args*/) const { return {0, 0, 1}; }
  Work operator()(const ScanArgs& args) const { return {0, 8.0 * args.size, kScanLoads}; }
  Work operator()(const CompactArgs& args) const {
    const double at_once = gpu_.processors * kBlocks * kJobsPerBlock;
    return {0, 40.0 * args.job_count, Blocks(args.job_count, at_once) * kCompactLoads};
  }

 private:
  static double TripsOfLane() { return kItemsPerBlock / kThreads; }
  double columns() const { return sizes_.columns; }
  double Width(std::size_t level) const {
    return level < sizes_.level_widths.size() ? sizes_.level_widths[level] : 0;
  }
  double FanOut(std::int32_t level) const {
    const auto at = static_cast<std::size_t>(level);
    return std::ceil(Width(at + 1) / std::max(Width(at), 1.0));
  }
  // Domains that a decision looks at: those above the leaves, as most gangs want.
  double ScannedWidth() const {
    const std::size_t levels = sizes_.level_widths.size();
    return Width(levels < 2 ? 0 : levels - 2);
  }

  const GpuFigures& gpu_;
  const ModelSizes& sizes_;
};

}  // namespace

double KernelSeconds(const GpuFigures& gpu, const ModelSizes& sizes, const KernelCall& call) {
  const Work work = std::visit(WorkOf(gpu, sizes), call);
  const double per_second = gpu.processors * kInstructionsPerCycle * gpu.cycles_per_second;
  return std::max({work.instructions / per_second, work.bytes / gpu.memory_bytes_per_second,
                   work.loads * gpu.load_seconds});
}

double Prediction::total() const {
  return std::accumulate(kernels.begin(), kernels.end(), launches + copies + waits);
}

void Predictor::Start(ModelSizes sizes) {
  sizes_ = std::move(sizes);
  predictions_ = {};
}

void Predictor::AddKernel(const KernelCall& call) {
  for (std::size_t i = 0; i < kModelledGpus.size(); ++i) {
    predictions_[i].kernels[call.index()] += KernelSeconds(kModelledGpus[i], sizes_, call);
    predictions_[i].launches += kModelledGpus[i].launch_seconds;
  }
}

void Predictor::AddCopy(std::size_t bytes) {
  for (std::size_t i = 0; i < kModelledGpus.size(); ++i) {
    predictions_[i].copies +=
        kCopySeconds + static_cast<double>(bytes) / kModelledGpus[i].bus_bytes_per_second;
  }
}

void Predictor::AddWait() {
  for (std::size_t i = 0; i < kModelledGpus.size(); ++i) {
    predictions_[i].waits += kModelledGpus[i].wait_seconds;
  }
}

}  // namespace espalier
