#include "host/cuda/wave.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "host/cuda/job_work.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMaxJobs = std::size_t{1} << 14;
constexpr std::int64_t kMaxShares = std::int64_t{1} << 22;
// Shares brought back together with the rest of the answers at least; where there are more, as many
// as the wave before had, and an eighth. More than that cost a second wait.
constexpr std::int64_t kEagerShares = std::int64_t{1} << 14;

// Returns where an array of the answers on the device is on the host.
template <class T>
const T* Received(const T* array, const WaveMemory& memory) {
  const auto offset = reinterpret_cast<const std::byte*>(array) - memory.answers.data();
  return reinterpret_cast<const T*>(memory.received.data() + offset);
}

// What the device compacts is read as shares of leaves.
static_assert(sizeof(Share) == sizeof(LeafShare) && alignof(Share) == alignof(LeafShare));
static_assert(offsetof(Share, domain) == offsetof(LeafShare, leaf) &&
              offsetof(Share, leaders) == offsetof(LeafShare, leaders) &&
              offsetof(Share, pods) == offsetof(LeafShare, pods));
static_assert(sizeof(Share::domain) == sizeof(LeafShare::leaf) &&
              sizeof(Share::leaders) == sizeof(LeafShare::leaders));

}  // namespace

Wave::Wave(Device& device, StateMirror& mirror, const FlavorState& state,
           std::span<const PlacementJob> jobs, std::size_t max_counts_bytes,
           const Workspaces& blocks, const Workspaces& warps)
    : device_(&device),
      mirror_(&mirror),
      state_(&state),
      jobs_(jobs),
      max_counts_bytes_(max_counts_bytes),
      wide_(blocks),
      small_(warps),
      counts_(mirror, state),
      shape_of_job_(jobs.size(), -1) {}

void Wave::Reserve(std::size_t evaluations) {
  members_.reserve(std::min(evaluations, kMaxJobs));
  indices_.reserve(std::min(evaluations, kMaxJobs));
}

DeviceResult<bool> Wave::Add(const Evaluation& evaluation, std::size_t index,
                             const BoundedWork& work, DeviceCountsCache& cache) {
  const PlacementJob& job = jobs_[static_cast<std::size_t>(evaluation.job)];
  const std::int32_t shares = MostShares(job, evaluation.pods);
  DecidedTogether& decided = work.small ? small_ : wide_;
  if (!members_.empty()) {
    if (members_.size() == kMaxJobs || share_capacity_ + shares > kMaxShares) return false;
    if (!decided.HasRoom(work.steps)) return false;
  }
  const DeviceResult<std::int32_t> shape = ShapeOf(evaluation.job, cache);
  if (!shape) return tl::unexpected(shape.error());
  if (*shape < 0) return false;
  decided.Add(static_cast<std::int32_t>(members_.size()), work.steps);
  members_.push_back({evaluation.pods, share_capacity_, shares, *shape});
  indices_.push_back(index);
  share_capacity_ += shares;
  return true;
}

// Returns the shape of a job, which it gets now if it has none; -1: there is no room for it.
DeviceResult<std::int32_t> Wave::ShapeOf(std::int32_t job, DeviceCountsCache& cache) {
  std::int32_t& shape = shape_of_job_[static_cast<std::size_t>(job)];
  if (shape >= 0) return shape;
  const PlacementJob& asked = jobs_[static_cast<std::size_t>(job)];
  DeviceResult<std::shared_ptr<DeviceCounts>> counts = cache.Get(asked);
  if (!counts) return tl::unexpected(counts.error());
  if (!members_.empty() && counts_.counts_bytes() + (*counts)->memory.size() > max_counts_bytes_) {
    return -1;
  }
  const DeviceResult<std::int32_t> entry = counts_.Add(asked, *std::move(counts));
  if (!entry) return entry;
  shape = static_cast<std::int32_t>(shapes_.size());
  DecideShape& decided = shapes_.emplace_back(
      DecideShape{asked.query, counts_.ViewOf(*entry), counts_.LeavesStored(*entry), {}, {}});
  if (!asked.affinity_scores) decided.counts.affinity = nullptr;
  decided.exclusions.resources = static_cast<std::int32_t>(asked.shape->workers.names.size());
  job_of_shape_.push_back(&asked);
  counts_of_shape_.push_back(*entry);
  exclusions_of_shape_.push_back(exclusions_size_);
  exclusions_size_ += asked.shape->workers.names.size() + 1;
  layers_ = std::max(layers_, asked.query.slice.layer_count);
  return shape;
}

DeviceResult<void> Wave::Run(WaveMemory& memory, PlacementColumns& answers,
                             std::vector<std::size_t>& decided,
                             std::vector<std::size_t>& declined) {
  if (auto done = counts_.Prepare(memory.tables); !done) return done;
  if (auto done = Send(memory); !done) return done;
  if (auto done = Launch(); !done) return done;
  const DeviceResult<const LeafShare*> shares = Receive(memory);
  if (!shares) return tl::unexpected(shares.error());
  counts_.NoteCounted();
  Read(memory, *shares, answers);
  if (std::ranges::find(answers.status, PlacementStatus::kOutOfStates) == answers.status.end()) {
    decided.insert(decided.end(), indices_.begin(), indices_.end());
    return {};
  }
  PlacementColumns all = std::exchange(answers, {});
  for (std::size_t row = 0; row < indices_.size(); ++row) {
    if (all.status[row] == PlacementStatus::kOutOfStates) {
      declined.push_back(indices_[row]);
    } else {
      answers.MoveRow(all, row);
      decided.push_back(indices_[row]);
    }
  }
  return {};
}

Wave::Answers Wave::LayOutAnswers(Packer& packer) const {
  const std::size_t rows = members_.size();
  Answers answers;
  answers.columns.status = packer.Leave<PlacementStatus>(rows);
  answers.columns.level = packer.Leave<std::int8_t>(rows);
  answers.columns.share_count = packer.Leave<std::int32_t>(rows);
  answers.columns.share_end = packer.Leave<std::uint32_t>(rows);
  answers.columns.fit = packer.Leave<Count>(rows);
  answers.columns.total = packer.Leave<Count>(rows);
  answers.columns.layers = layers_;
  answers.columns.layer_fits = packer.Leave<Count>(rows * static_cast<std::size_t>(layers_));
  answers.exclusions = packer.Leave<std::int64_t>(exclusions_size_);
  answers.head_bytes = packer.size();
  answers.shares = packer.Leave<Share>(static_cast<std::size_t>(share_capacity_));
  return answers;
}

// Tells the shapes where their input is, and where the answers about them go.
void Wave::CompleteShapes() {
  for (std::size_t s = 0; s < shapes_.size(); ++s) {
    shapes_[s].input = counts_.InputOf(counts_of_shape_[s]);
    ExclusionView& exclusions = shapes_[s].exclusions;
    exclusions.limited_by = answers_.exclusions + exclusions_of_shape_[s];
    exclusions.outside_domain = exclusions.limited_by + exclusions.resources;
  }
}

DeviceResult<void> Wave::Send(WaveMemory& memory) {
  const auto laid_out = Arrange(memory.shares, [&](Packer& packer) {
    shares_ = packer.Leave<Share>(static_cast<std::size_t>(share_capacity_));
    scan_scratch_ = packer.Leave<std::byte>(ScanArgs::kScratchBytes);
  });
  if (!laid_out) return laid_out;
  const std::size_t had = memory.answers.size();
  const auto arranged =
      Arrange(memory.answers, [&](Packer& packer) { answers_ = LayOutAnswers(packer); });
  if (!arranged) return arranged;
  // Kernels leave gaps: what did not fail, padding, room for more shares. All of it is read back.
  if (memory.answers.size() != had) {
    const auto cleared = device_->Clear(memory.answers.data(), memory.answers.size());
    if (!cleared) return cleared;
  }
  const std::vector<std::int32_t> failed(shapes_.size(), 0);
  return memory.input.Send([&](Packer& packer) {
    counts_.Pack(packer);
    CompleteShapes();
    input_.shapes = packer.Add(shapes_);
    input_.jobs = packer.Add(members_);
    input_.wide = packer.Add(wide_.rows());
    input_.small = packer.Add(small_.rows());
    input_.shape_failed = packer.Add(failed);
  });
}

DeviceResult<void> Wave::Launch() {
  const auto job_count = static_cast<std::int32_t>(members_.size());
  std::vector<KernelCall> calls;
  counts_.AddCalls(calls);
  const auto decide = [&](const DecidedTogether& decided, const std::int32_t* rows) {
    DecideArgs args;
    args.tree = mirror_->tree();
    args.shapes = input_.shapes;
    args.jobs = input_.jobs;
    args.rows = rows;
    args.job_count = static_cast<std::int32_t>(decided.rows().size());
    args.workspaces = decided.workspaces().data();
    args.queries = decided.workspaces().queries();
    args.workspace_count = decided.workspaces().size();
    args.answers = answers_.columns;
    args.shares = shares_;
    args.shape_failed = input_.shape_failed;
    return args;
  };
  if (!wide_.rows().empty()) calls.emplace_back(decide(wide_, input_.wide));
  if (!small_.rows().empty()) calls.emplace_back(DecideSmallArgs{decide(small_, input_.small)});
  calls.emplace_back(ExclusionsArgs{state_->snapshot().leaf_count(), input_.shapes,
                                    static_cast<std::int32_t>(shapes_.size()),
                                    input_.shape_failed});
  const AnswerColumns& columns = answers_.columns;
  calls.emplace_back(ScanArgs{columns.share_count, columns.share_end, job_count, scan_scratch_});
  calls.emplace_back(CompactArgs{input_.jobs, columns, job_count, shares_, answers_.shares});
  return device_->Launch(calls);
}

// Reads the answers back with one copy and one wait, unless there are many shares.
DeviceResult<const LeafShare*> Wave::Receive(WaveMemory& memory) {
  const std::int64_t expected = memory.last_shares + memory.last_shares / 8;
  const std::int64_t eager = std::min(share_capacity_, std::max(expected, kEagerShares));
  const std::size_t bytes = answers_.head_bytes + static_cast<std::size_t>(eager) * sizeof(Share);
  DeviceResult<void> done = memory.received.Reserve(bytes);
  if (done) {
    done = device_->CopyToHost(memory.received.data(), memory.answers.data(), bytes);
  }
  if (done) done = device_->Synchronize();
  if (!done) return tl::unexpected(done.error());
  const std::uint32_t count = Received(answers_.columns.share_end, memory)[members_.size() - 1];
  memory.last_shares = count;
  if (count <= eager) {
    return reinterpret_cast<const LeafShare*>(memory.received.data() + answers_.head_bytes);
  }
  const std::size_t all = count * sizeof(Share);
  done = memory.more.Reserve(all);
  if (done) done = device_->CopyToHost(memory.more.data(), answers_.shares, all);
  if (done) done = device_->Synchronize();
  if (!done) return tl::unexpected(done.error());
  return reinterpret_cast<const LeafShare*>(memory.more.data());
}

void Wave::Read(const WaveMemory& memory, const LeafShare* shares,
                PlacementColumns& answers) const {
  const auto assign = [&](const auto* array, auto& column) {
    const auto* received = Received(array, memory);
    column.assign(received, received + members_.size());
  };
  assign(answers_.columns.status, answers.status);
  assign(answers_.columns.level, answers.level);
  assign(answers_.columns.share_end, answers.share_end);
  answers.shares.assign(shares, shares + answers.share_end.back());
  answers.failures.clear();
  for (std::size_t row = 0; row < members_.size(); ++row) {
    if (answers.status[row] == PlacementStatus::kPlaced) continue;
    FailedPlacement& failed = answers.failures.emplace_back();
    failed.row = static_cast<std::int32_t>(row);
    failed.fit = Received(answers_.columns.fit, memory)[row];
    failed.total = Received(answers_.columns.total, memory)[row];
    if (answers.status[row] == PlacementStatus::kDoesNotFit) ReadFailure(memory, failed);
  }
}

void Wave::ReadFailure(const WaveMemory& memory, FailedPlacement& failed) const {
  const auto row = static_cast<std::size_t>(failed.row);
  const auto shape = static_cast<std::size_t>(members_[row].shape);
  const PlacementJob& job = *job_of_shape_[shape];
  if (job.query.slice.layer_count > 0) {
    const Count* layers =
        Received(answers_.columns.layer_fits, memory) + row * static_cast<std::size_t>(layers_);
    failed.layer_fits.assign(layers, layers + job.query.slice.layer_count);
  }
  const std::int64_t* excluded =
      Received(answers_.exclusions, memory) + exclusions_of_shape_[shape];
  const std::size_t resources = job.shape->workers.names.size();
  failed.limited_by.assign(excluded, excluded + resources);
  failed.outside_domain = excluded[resources];
}

}  // namespace espalier
