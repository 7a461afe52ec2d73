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
constexpr double kBulkBlocks = 4;       // of these that a processor holds where they use most of it
constexpr double kBlocks = 8;           // where they do not
constexpr double kDecideThreads = 128;  // of a block that decides
constexpr double kDecideBlocks = 3;     // that a processor holds, at 168 registers a thread
constexpr double kDecideWarps = 12;     // that a processor holds, at 144 registers a thread

// Instructions of a trip of the inner loops, counted in code for sm_90 (a cell is one amount of a
// leaf and one shape) or estimated.
constexpr double kShapeBytes = 800;  // with its request
constexpr double kScatterInstructions = 12;
constexpr double kCellInstructions = 8.25;   // counted
constexpr double kDivideInstructions = 100;  // of a cell
constexpr double kStoreInstructions = 30;    // of one count
constexpr double kLookUpInstructions = 2.7;  // counted, of a leaf and shape, by its class
constexpr double kSumInstructions = 30;      // of one that is not stored
constexpr double kChildInstructions = 10;
constexpr double kDomainInstructions = 25;
// An index of a level takes so many passes over it, and so many collectives.
constexpr double kIndexPasses = 2;
constexpr double kIndexCollectives = 6;
// Reading what a domain holds, with a division; and the sums of a level.
constexpr double kReadInstructions = 40;
constexpr double kReadCollectives = 2;
// A decision passes over the domains of its level so often, and does so many collectives.
constexpr double kDecidePasses = 3;
constexpr double kDecideCollectives = 40;
constexpr double kLoadsPerCollective = 1.25;
constexpr double kLoadsPerScan = 4;
// A warp's decision: no pass over a level; loads that depend on each other, from the job to the
// lists; and collectives without shared memory.
constexpr double kSmallInstructions = 4000;
constexpr double kSmallLoads = 30;
constexpr double kLoadsPerShuffles = 0.25;
// Placing in order. Of eight gangs that are counted together so many are kept at once, as one of
// them has no domain within a piece, or what is booked before it changes its answer.
constexpr double kInOrderThreads = 256;
constexpr double kKeptTogether = 3.7;
constexpr double kWideParts = 0.08;             // of the gangs, which the first block decides alone
constexpr double kInOrderCellInstructions = 4;  // of a cell, eight shapes at a time
constexpr double kLeafInstructions = 40;        // of a leaf and shape, beside its cells
// An exchange waits for what was written before, tells it, sees that of another block, and reads.
constexpr double kExchangeLoads = 4;
// A decision in memory that is shared: its collectives, and going through a run on one lane.
constexpr double kInOrderCollectives = 20;
constexpr double kLoadsPerSharedCollective = 0.5;
constexpr double kRunLoads = 6;
constexpr double kStagingLoads = 4;
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
  // A warp reads its part of a shape and writes it, one shape after the other.
  Work operator()(const MoveShapesArgs& args) const {
    return {0, 2 * kShapeBytes * args.shape_count, 2.0 * kShapesPerBlock};
  }
  Work operator()(const CountLeavesArgs& args) const {
    const double leaves = args.leaves.size;
    const double shapes = args.shape_count;
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
  Work operator()(const CountGroupsArgs& args) const {
    const double leaves = args.groups.size * LeavesOfGroup();
    const double shapes = args.shape_count;
    return {leaves * shapes / kWarp * (columns() * kDivideInstructions + kStoreInstructions),
            8 * leaves * columns() + 4 * args.groups.size * shapes, SectorsOfGroup() * columns()};
  }
  Work operator()(const CountGroupBatchesArgs& args) const {
    const double leaves = args.groups.size * LeavesOfGroup();
    const double shapes = double(args.batch_count) * kShapesPerBlock;
    return {leaves * shapes / kWarp * (columns() * kCellInstructions + kSumInstructions),
            8 * leaves * columns() + 4 * args.groups.size * shapes, SectorsOfGroup() * columns()};
  }
  Work operator()(const CountClassesArgs& args) const {
    const double shapes = double(args.batch_count) * kShapesPerBlock;
    return {
        args.class_count * shapes / kWarp * (columns() * kDivideInstructions + kStoreInstructions),
        args.class_count * (8 * columns() + 4 * shapes), columns()};
  }
  Work operator()(const SumClassesArgs& args) const {
    const double leaves = args.group_count * LeavesOfGroup();
    const double shapes = double(args.batch_count) * kShapesPerBlock;
    return {(leaves * kLookUpInstructions + args.group_count * kStoreInstructions) * shapes / kWarp,
            leaves + 4 * args.group_count * shapes, 2 * LeavesOfGroup()};
  }
  Work operator()(const RollUpArgs& args) const {
    const double children = FanOut(args.level);
    const double domains = double(args.domains.size) * args.shape_count;
    const double lanes = std::min<double>(args.domains.size, kItemsPerBlock);
    return {domains / kWarp * children * kChildInstructions, domains * (children + 1) * 8,
            std::ceil(lanes / kThreads) * children};
  }
  // The widest level takes longest; its blocks wait for a value before they lower it.
  Work operator()(const IndexArgs& args) const {
    const double domains = double(args.shape_count) * WidthAboveLeaves();
    const double scans = Blocks(ScannedWidth(), kThreads) / kLoadsPerScan;
    return {domains / kWarp * kIndexPasses * kDomainInstructions, domains * 4,
            Blocks(args.shape_count, gpu_.processors * kBulkBlocks) *
                ((kIndexPasses + 1) * scans + kIndexCollectives * kLoadsPerCollective)};
  }
  // A block reads a level; the widest takes longest.
  Work operator()(const ReadDomainsArgs& args) const {
    double domains = 0;
    double widest = 0;
    for (std::int32_t level = 0; level < args.level_end; ++level) {
      domains += Width(static_cast<std::size_t>(level));
      widest = std::max(widest, Width(static_cast<std::size_t>(level)));
    }
    domains *= args.reading_count;
    const double loads = Blocks(widest, kThreads) / kLoadsPerScan;
    return {domains / kWarp * kReadInstructions, domains * 4,
            Blocks(args.reading_count, gpu_.processors * kBulkBlocks) *
                (loads + kReadCollectives * kLoadsPerCollective)};
  }
  Work operator()(const DecideArgs& args) const {
    const double trips = Blocks(ScannedWidth(), kDecideThreads);
    const double at_once = gpu_.processors * kDecideBlocks;
    const double warps = kDecideThreads / kWarp;
    const double counting = Blocks(sizes_.reached_leaves, kDecideThreads) * columns();
    return {
        args.job_count * warps *
            (kDecidePasses * trips * kDomainInstructions + counting * kDivideInstructions),
        args.job_count *
            (kDecidePasses * ScannedWidth() * 4 + sizes_.reached_leaves * columns() * 8),
        std::ceil(args.job_count / at_once) * (kDecideCollectives * kLoadsPerCollective +
                                               kDecidePasses * trips / kLoadsPerScan + counting)};
  }
  Work operator()(const DecideSmallArgs& args) const {
    const double counting = Blocks(sizes_.reached_leaves, kWarp) * columns();
    return {args.job_count * (kSmallInstructions + counting * kDivideInstructions),
            args.job_count * (1024.0 + sizes_.reached_leaves * columns() * 8),
            Blocks(args.job_count, gpu_.processors * kDecideWarps) *
                (kSmallLoads + kDecideCollectives * kLoadsPerShuffles + counting)};
  }
  // All of it is one after the other: rounds of several gangs, and gangs that are decided alone.
  Work operator()(const DecideInOrderArgs& args) const {
    const double leaves = sizes_.level_widths.empty() ? 0 : sizes_.level_widths.back();
    const double of_piece = std::ceil(leaves / gpu_.processors);
    const double per_load = gpu_.load_seconds * kInstructionsPerCycle * gpu_.cycles_per_second;
    const auto counting = [&](double of_block) {
      return Blocks(of_block, kInOrderThreads) * kInOrderThreads / kWarp * kInOrderTogether *
             (columns() * kInOrderCellInstructions + kLeafInstructions) / per_load;
    };
    const double deciding = kInOrderCollectives * kLoadsPerSharedCollective + kRunLoads;
    const double round = kStagingLoads + counting(of_piece) + 2 * kExchangeLoads + deciding +
                         counting(kInOrderThreads);
    const double wide = kStagingLoads + counting(of_piece) + 2 * kExchangeLoads +
                        kDecideCollectives * kLoadsPerCollective +
                        kDecidePasses *
                            Blocks(Width(sizes_.level_widths.size() / 2), kInOrderThreads) /
                            kLoadsPerScan;
    return {0, leaves * columns() * 8,
            args.job_count * ((1 - kWideParts) / kKeptTogether * round + kWideParts * wide)};
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
  // What a thread that goes through the leaves of a group waits for: four amounts come together.
  double SectorsOfGroup() const { return Blocks(LeavesOfGroup(), 4); }
  double LeavesOfGroup() const {
    const std::size_t levels = sizes_.level_widths.size();
    return levels < 2 ? 1 : FanOut(static_cast<std::int32_t>(levels) - 2);
  }
  double Width(std::size_t level) const {
    return level < sizes_.level_widths.size() ? sizes_.level_widths[level] : 0;
  }
  double FanOut(std::int32_t level) const {
    const auto at = static_cast<std::size_t>(level);
    return std::ceil(Width(at + 1) / std::max(Width(at), 1.0));
  }
  double WidthAboveLeaves() const {
    return std::accumulate(sizes_.level_widths.begin(), sizes_.level_widths.end(), 0.0) -
           (sizes_.level_widths.empty() ? 0 : sizes_.level_widths.back());
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
