#include "host/cuda/in_order.hpp"

#include <algorithm>
#include <utility>

#include "host/cuda/answer_columns.hpp"
#include "host/cuda/device_counts.hpp"
#include "host/cuda/job_work.hpp"
#include "host/cuda/shape_batch.hpp"
#include "host/engine/leaf_input.hpp"
#include "host/packing/reciprocals.hpp"
#include "kernels/decisions/balanced.hpp"

namespace espalier {
namespace {

// Lanes of a block, and passes over a level, by which steps are bounded.
constexpr std::int64_t kInOrderLanes = 256;
constexpr std::int64_t kInOrderPasses = 80;

// Packs what is sent about a job.
InOrderShape PackShape(const PlacementJob& job, const StateMirror& mirror, FilterArrays filter,
                       Packer& packer) {
  InOrderShape shape;
  shape.query = job.query;
  shape.input = MakeLeafInput(job, {}, [&](const auto& items) { return packer.Add(items); });
  shape.input.capacity = mirror.remaining();
  shape.input.matches = filter.matches;
  const FlavorSnapshot& snapshot = job.state->snapshot();
  std::vector<double> inverse(snapshot.resources().size(), 0.0);
  const RequestVector& workers = job.shape->workers;
  for (std::size_t i = 0; i < workers.amounts.size(); ++i) {
    inverse[static_cast<std::size_t>(workers.columns[i])] = InverseOf(workers.amounts[i]);
  }
  shape.inverse = packer.Add(inverse);
  shape.slice_inverse = SliceInverseOf(job);
  return shape;
}

// The evaluations of one launch.
class InOrderLaunch {
 public:
  InOrderLaunch(Device& device, StateMirror& mirror, const InOrderPieces& pieces,
                std::span<const PlacementJob> jobs, std::span<const Evaluation> asked)
      : device_(device), mirror_(mirror), pieces_(pieces), jobs_(jobs), asked_(asked) {}

  DeviceResult<void> Run(const Workspaces& workspaces, InOrderBuffers& buffers,
                         PlacementColumns& answers) {
    if (auto done = ListShapes(); !done) return done;
    if (auto done = LayOut(workspaces, buffers); !done) return done;
    if (auto done = Send(buffers); !done) return done;
    const AnswerColumns& columns = args_.answers;
    const std::vector<KernelCall> calls = {
        args_, ScanArgs{columns.share_count, columns.share_end, args_.job_count, scan_scratch_},
        CompactArgs{args_.jobs, columns, args_.job_count, args_.shares, compacted_}};
    if (auto done = device_.Launch(calls); !done) return done;
    return Receive(buffers, answers);
  }

 private:
  // Finds the shapes of the jobs that are evaluated.
  DeviceResult<void> ListShapes() {
    std::vector<std::int32_t> shape_of_job(jobs_.size(), -1);
    std::int32_t shares = 0;
    for (const Evaluation& evaluation : asked_) {
      std::int32_t& shape = shape_of_job[static_cast<std::size_t>(evaluation.job)];
      const PlacementJob& job = jobs_[static_cast<std::size_t>(evaluation.job)];
      if (shape < 0) {
        shape = static_cast<std::int32_t>(shapes_.size());
        const DeviceResult<FilterArrays> filter = mirror_.Filter(job.filter);
        if (!filter) return tl::unexpected(filter.error());
        shapes_.push_back({&job, *filter});
        const auto resources = static_cast<std::int32_t>(job.shape->workers.names.size());
        args_.kinds = std::max(args_.kinds, resources + 1);
        args_.answers.layers = std::max(args_.answers.layers, job.query.slice.layer_count);
      }
      rows_.push_back({evaluation.pods, shares, shape});
      shares += MostShares(job.state->snapshot().leaf_count(), evaluation.pods, /*leader=*/false);
    }
    share_capacity_ = static_cast<std::size_t>(shares);
    return {};
  }

  DeviceResult<void> LayOut(const Workspaces& workspaces, InOrderBuffers& buffers) {
    const TreeView tree =
        jobs_[static_cast<std::size_t>(asked_.front().job)].state->snapshot().tree();
    args_.tree = mirror_.tree();
    args_.amounts = mirror_.remaining().amounts;
    args_.stride = mirror_.remaining().stride;
    args_.unit_level = pieces_.unit_level;
    args_.block_count = static_cast<std::int32_t>(pieces_.unit_begin.size()) - 1;
    args_.extent = pieces_.extent;
    args_.job_count = static_cast<std::int32_t>(rows_.size());
    args_.workspace = workspaces.data();
    args_.query = workspaces.queries();
    const auto words = static_cast<std::size_t>(GridExchange::Words(args_.block_count));
    const auto domains = static_cast<std::size_t>(tree.domain_count());
    const auto laid_out = Arrange(buffers.scratch, [&](Packer& packer) {
      args_.words = packer.Leave<std::uint64_t>(words);
      args_.pods = packer.Leave<StoredCount>(domains);
      args_.slices = packer.Leave<StoredCount>(domains);
      args_.shares = packer.Leave<Share>(share_capacity_);
      scan_scratch_ = packer.Leave<std::byte>(ScanArgs::kScratchBytes);
    });
    if (!laid_out) return laid_out;
    const std::size_t rows = rows_.size();
    const auto arranged = Arrange(buffers.answers, [&](Packer& packer) {
      args_.exclusions = packer.Leave<std::int64_t>(rows * static_cast<std::size_t>(args_.kinds));
      args_.answers = LayOutColumns(rows, args_.answers.layers, packer);
      head_bytes_ = packer.size();
      compacted_ = packer.Leave<Share>(share_capacity_);
    });
    if (!arranged) return arranged;
    if (auto done = device_.Clear(args_.words, words * sizeof(std::uint64_t)); !done) return done;
    return device_.Clear(buffers.answers.data(), head_bytes_);  // padding is read back
  }

  DeviceResult<void> Send(InOrderBuffers& buffers) {
    return buffers.input.Send([&](Packer& packer) {
      std::vector<InOrderShape> shapes;
      for (const auto& [job, filter] : shapes_) {
        shapes.push_back(PackShape(*job, mirror_, filter, packer));
      }
      args_.shapes = packer.Add(shapes);
      args_.jobs = packer.Add(rows_);
      args_.unit_begin = packer.Add(pieces_.unit_begin);
    });
  }

  // Reads the answers, and then as many shares as they have.
  DeviceResult<void> Receive(InOrderBuffers& buffers, PlacementColumns& answers) const {
    DeviceResult<void> done = buffers.received.Reserve(head_bytes_);
    if (done) {
      done = device_.CopyToHost(buffers.received.data(), buffers.answers.data(), head_bytes_);
    }
    if (done) done = device_.Synchronize();
    if (!done) return done;
    const CopyOnHost received(buffers.answers.data(), buffers.received.data());
    const std::size_t rows = rows_.size();
    const auto assign = [&](const auto* array, auto& column) {
      column.assign(received.Of(array), received.Of(array) + rows);
    };
    assign(args_.answers.status, answers.status);
    assign(args_.answers.level, answers.level);
    assign(args_.answers.share_end, answers.share_end);
    const std::size_t shares = answers.share_end.back();
    if (shares > 0) {
      done = buffers.shares.Reserve(shares * sizeof(Share));
      if (done) {
        done = device_.CopyToHost(buffers.shares.data(), compacted_, shares * sizeof(Share));
      }
      if (done) done = device_.Synchronize();
      if (!done) return done;
    }
    const auto* const first = reinterpret_cast<const LeafShare*>(buffers.shares.data());
    answers.shares.Own().assign(first, first + shares);
    answers.failures.clear();
    for (std::size_t row = 0; row < rows; ++row) {
      if (answers.status[row] == PlacementStatus::kPlaced) continue;
      FailedPlacement& failed = answers.failures.emplace_back();
      failed.row = static_cast<std::int32_t>(row);
      failed.fit = received.Of(args_.answers.fit)[row];
      failed.total = received.Of(args_.answers.total)[row];
      if (answers.status[row] != PlacementStatus::kDoesNotFit) continue;
      const PlacementJob& job = *shapes_[static_cast<std::size_t>(rows_[row].shape)].job;
      const auto layers = static_cast<std::size_t>(args_.answers.layers);
      if (layers > 0) {
        const Count* const fits = received.Of(args_.answers.layer_fits) + row * layers;
        failed.layer_fits.assign(fits, fits + job.query.slice.layer_count);
      }
      const std::int64_t* const excluded =
          received.Of(args_.exclusions) + row * static_cast<std::size_t>(args_.kinds);
      failed.outside_domain = excluded[0];
      failed.limited_by.assign(excluded + 1, excluded + 1 + job.shape->workers.names.size());
    }
    return {};
  }

  struct Shape {
    const PlacementJob* job = nullptr;
    FilterArrays filter;
  };

  Device& device_;
  StateMirror& mirror_;
  const InOrderPieces& pieces_;
  std::span<const PlacementJob> jobs_;
  std::span<const Evaluation> asked_;
  std::vector<Shape> shapes_;
  std::vector<DecideJob> rows_;
  std::size_t share_capacity_ = 0;
  DecideInOrderArgs args_;
  std::byte* scan_scratch_ = nullptr;
  std::size_t head_bytes_ = 0;  // of the answers, before the shares
  Share* compacted_ = nullptr;
};

}  // namespace

bool FitsInOrder(const PlacementJob& job) {
  return FitsShapeBatch(job) && !job.simulate_empty && ScoresOf(job) == nullptr &&
         !MayBeBalanced(job.query);
}

// An evaluation is decided wide once at most. Every other time its piece decides on it, the block
// also counts a unit again, for one that is in vain kInOrderTogether - 1 times.
std::int64_t StepsInOrder(const PlacementJob& job, Count pods, const JobWork& work,
                          const InOrderExtent& extent) {
  const auto trips = [](std::int64_t items) { return items / kInOrderLanes + 1; };
  const std::int64_t of_leaf = std::int64_t{extent.columns} + kInOrderTogether;
  const std::int64_t counting = 2 * trips(extent.leaves) * of_leaf;
  const std::int64_t deciding =
      kInOrderPasses * trips(extent.list) + extent.list + trips(extent.list) * of_leaf;
  return work.Steps(job, pods) + counting + kInOrderTogether * deciding;
}

DeviceResult<void> DecideInOrder(Device& device, StateMirror& mirror, const InOrderPieces& pieces,
                                 std::span<const PlacementJob> jobs,
                                 std::span<const Evaluation> asked, const Workspaces& workspaces,
                                 InOrderBuffers& buffers, PlacementColumns& answers) {
  return InOrderLaunch(device, mirror, pieces, jobs, asked).Run(workspaces, buffers, answers);
}

}  // namespace espalier
