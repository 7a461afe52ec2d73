#include "host/cuda/wave.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "host/cuda/answer_columns.hpp"

namespace espalier {
namespace {

// Shares brought back together with the rest of the answers at least; where there are more, as many
// as the wave before had, and an eighth. More than that cost a second wait.
constexpr std::int64_t kEagerShares = std::int64_t{1} << 14;
// Fewer shares are copied, so that their block is free at once.
constexpr std::size_t kWorthLending = 2048;

// The device compacts Shares, which the host reads as LeafShares.
static_assert(sizeof(Share) == sizeof(LeafShare) && alignof(Share) == alignof(LeafShare));
static_assert(offsetof(Share, domain) == offsetof(LeafShare, leaf) &&
              offsetof(Share, leaders) == offsetof(LeafShare, leaders) &&
              offsetof(Share, pods) == offsetof(LeafShare, pods));
static_assert(sizeof(Share::domain) == sizeof(LeafShare::leaf) &&
              sizeof(Share::leaders) == sizeof(LeafShare::leaders));

}  // namespace

Wave::Wave(Device& device, StateMirror& mirror, const FlavorState& state, DeviceCountsCache& cache,
           const Workspaces& blocks, const Workspaces& warps)
    : device_(&device),
      mirror_(&mirror),
      cache_(&cache),
      leaves_(state.snapshot().leaf_count()),
      wide_(blocks),
      small_(warps),
      counts_(mirror, state) {}

void Wave::Reserve(std::size_t evaluations) {
  const std::size_t most = std::min(evaluations, kMaxJobs);
  members_.reserve(most);
  indices_.reserve(most);
  wide_.Reserve(most);
  small_.Reserve(most);
}

DeviceResult<bool> Wave::AddShape(const PlacementJob& job, KnownJob& known) {
  DeviceCounts* counts = known.counts;
  if (known.kept.expired()) {
    const DeviceResult<std::shared_ptr<DeviceCounts>> found = cache_->Get(job);
    if (!found) return tl::unexpected(found.error());
    if (*found == nullptr) return false;
    counts = known.counts = found->get();
    known.decide.shape = counts->resident;
    if (SharesCounts(job)) known.kept = *found;
  } else {
    cache_->Use(*counts);
  }
  if (auto added = counts_.Add(job, *counts); !added) return tl::unexpected(added.error());
  known.wave = cache_->wave();
  known.number = static_cast<std::int32_t>(shapes_.size());
  shapes_.push_back(known.decide);
  job_of_shape_.push_back(&known);
  layers_ = std::max(layers_, known.layers);
  resources_ = std::max(resources_, known.resources);
  return true;
}

DeviceResult<void> Wave::Run(WaveMemory& memory, PlacementColumns& answers,
                             std::vector<std::size_t>& decided,
                             std::vector<std::size_t>& declined) {
  if (auto done = counts_.Prepare(memory.tables); !done) return done;
  if (auto done = Send(memory); !done) return done;
  if (auto done = Launch(); !done) return done;
  const DeviceResult<Received> received = Receive(memory);
  if (!received) return tl::unexpected(received.error());
  counts_.NoteCounted();
  Read(*received, !memory.blocks.Scarce(), answers);
  cache_->EndWave();
  if (std::ranges::find(answers.status, PlacementStatus::kOutOfStates) == answers.status.end()) {
    decided = std::move(indices_);
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
  Answers answers;
  answers.columns = LayOutColumns(members_.size(), layers_, packer);
  answers.exclusions =
      packer.Leave<std::int64_t>(shapes_.size() * (static_cast<std::size_t>(resources_) + 1));
  answers.head_bytes = packer.size();
  answers.shares = packer.Leave<Share>(static_cast<std::size_t>(share_capacity_));
  return answers;
}

FailedShapes Wave::Failed() const { return {input_.failed, answers_.exclusions, resources_ + 1}; }

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
  answers_begin_ = memory.answers.data();
  return memory.input.Send([&](Packer& packer) {
    counts_.Pack(packer);
    input_.shapes = packer.Add(shapes_);
    input_.jobs = packer.Add(members_);
    input_.wide = packer.Add(wide_.rows());
    input_.small = packer.Add(small_.rows());
    input_.failed = packer.AddZeros<std::int32_t>(shapes_.size());
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
    args.failed = Failed();
    return args;
  };
  if (!wide_.rows().empty()) calls.emplace_back(decide(wide_, input_.wide));
  if (!small_.rows().empty()) calls.emplace_back(DecideSmallArgs{decide(small_, input_.small)});
  calls.emplace_back(
      ExclusionsArgs{leaves_, input_.shapes, static_cast<std::int32_t>(shapes_.size()), Failed()});
  const AnswerColumns& columns = answers_.columns;
  calls.emplace_back(ScanArgs{columns.share_count, columns.share_end, job_count, scan_scratch_});
  calls.emplace_back(CompactArgs{input_.jobs, columns, job_count, shares_, answers_.shares});
  return device_->Launch(calls);
}

// Reads the answers back with one copy and one wait, unless there are many shares.
DeviceResult<Wave::Received> Wave::Receive(WaveMemory& memory) {
  const std::int64_t expected = memory.last_shares + memory.last_shares / 8;
  const std::int64_t eager = std::min(share_capacity_, std::max(expected, kEagerShares));
  const std::size_t bytes = answers_.head_bytes + static_cast<std::size_t>(eager) * sizeof(Share);
  const auto bring = [&](const void* from, std::size_t size) {
    DeviceResult<std::shared_ptr<std::byte>> block = memory.blocks.Take(size);
    if (!block) return block;
    DeviceResult<void> done = device_->CopyToHost(block->get(), from, size);
    if (done) done = device_->Synchronize();
    if (!done) block = tl::unexpected(done.error());
    return block;
  };
  DeviceResult<std::shared_ptr<std::byte>> block = bring(memory.answers.data(), bytes);
  if (!block) return tl::unexpected(block.error());
  Received received;
  received.head = received.shares = *std::move(block);
  received.first_share =
      reinterpret_cast<const LeafShare*>(received.head.get() + answers_.head_bytes);
  const std::uint32_t count = HeadOf(received).Of(answers_.columns.share_end)[members_.size() - 1];
  memory.last_shares = count;
  if (count <= eager) return received;
  block = bring(answers_.shares, count * sizeof(Share));
  if (!block) return tl::unexpected(block.error());
  received.shares = *std::move(block);
  received.first_share = reinterpret_cast<const LeafShare*>(received.shares.get());
  return received;
}

CopyOnHost Wave::HeadOf(const Received& received) const {
  return {answers_begin_, received.head.get()};
}

void Wave::Read(const Received& received, bool lend, PlacementColumns& answers) const {
  const CopyOnHost head = HeadOf(received);
  const auto assign = [&](const auto* array, auto& column) {
    const auto* values = head.Of(array);
    column.assign(values, values + members_.size());
  };
  assign(answers_.columns.status, answers.status);
  assign(answers_.columns.level, answers.level);
  assign(answers_.columns.share_end, answers.share_end);
  const std::span shares(received.first_share, answers.share_end.back());
  if (lend && shares.size() >= kWorthLending) {
    answers.shares.Borrow(shares, received.shares);
  } else {
    answers.shares.Own().assign(shares.begin(), shares.end());
  }
  answers.failures.clear();
  const Count* fit = head.Of(answers_.columns.fit);
  const Count* total = head.Of(answers_.columns.total);
  for (std::size_t row = 0; row < members_.size(); ++row) {
    if (answers.status[row] == PlacementStatus::kPlaced) continue;
    FailedPlacement& failed = answers.failures.emplace_back();
    failed.row = static_cast<std::int32_t>(row);
    failed.fit = fit[row];
    failed.total = total[row];
    if (answers.status[row] == PlacementStatus::kDoesNotFit) ReadFailure(received, failed);
  }
}

void Wave::ReadFailure(const Received& received, FailedPlacement& failed) const {
  const auto row = static_cast<std::size_t>(failed.row);
  const auto shape = static_cast<std::size_t>(members_[row].shape);
  const KnownJob& job = *job_of_shape_[shape];
  const CopyOnHost head = HeadOf(received);
  if (job.layers > 0) {
    const Count* layers =
        head.Of(answers_.columns.layer_fits) + row * static_cast<std::size_t>(layers_);
    failed.layer_fits.assign(layers, layers + job.layers);
  }
  const std::int64_t* excluded =
      head.Of(answers_.exclusions) + shape * (static_cast<std::size_t>(resources_) + 1);
  failed.limited_by.assign(excluded, excluded + job.resources);
  failed.outside_domain = excluded[job.resources];
}

}  // namespace espalier
