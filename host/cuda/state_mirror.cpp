#include "host/cuda/state_mirror.hpp"

#include <algorithm>
#include <atomic>
#include <span>
#include <utility>
#include <vector>

namespace espalier {
namespace {

constexpr std::size_t kMaxFilters = 1024;  // past this many the table starts anew

template <class T>
DeviceResult<void> CopyArray(Device& device, const T* to, const T* from, std::size_t count) {
  if (count == 0) return {};
  return device.CopyToDevice(const_cast<T*>(to), from, count * sizeof(T));
}

}  // namespace

StateMirror::StateMirror(Device& device, const FlavorState& state)
    : device_(&device),
      stamps_(state.SharedStamps()),
      free_stamps_(state.free_stamps()),
      stride_(state.snapshot().stride()),
      columns_(static_cast<std::int32_t>(state.snapshot().resources().size())),
      work_(state.snapshot().tree()),
      tree_memory_(device),
      remaining_(device),
      free_(device),
      changes_(device),
      class_memory_(device) {}

std::uint64_t StateMirror::NextAddresses() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

DeviceResult<void> StateMirror::Refresh(const FlavorState& state) {
  if (filters_.size() > kMaxFilters) {
    filters_.clear();
    addresses_ = NextAddresses();
  }
  if (!sent_) {
    if (auto done = SendTree(state.snapshot().tree()); !done) return done;
    if (auto done = remaining_.Reserve(state.remaining().size() * sizeof(Amount)); !done) {
      return done;
    }
    remaining_view_ = {reinterpret_cast<const Amount*>(remaining_.data()), stride_};
  }
  const DeviceResult<void> sent = sent_ ? SendChanges(state) : SendAmounts(state);
  if (!sent) return sent;
  sent_ = true;
  stamps_ = state.SharedStamps();
  made_at_ = stamps_->latest();
  return {};
}

const InOrderPieces& StateMirror::Pieces(const FlavorState& state) {
  if (!pieces_) pieces_ = SpreadInOrder(state.snapshot().tree(), columns_, *device_);
  return *pieces_;
}

DeviceResult<void> StateMirror::SendTree(const TreeView& host) {
  const auto levels = static_cast<std::size_t>(host.level_count) + 1;
  const auto domains = static_cast<std::size_t>(host.domain_count());
  const auto inner = static_cast<std::size_t>(host.LevelBegin(host.lowest())) + 1;
  const DeviceResult<void> placed = Arrange(tree_memory_, [&](Packer& packer) {
    tree_.level_begin = packer.Leave<std::int32_t>(levels);
    tree_.parent = packer.Leave<std::int32_t>(domains);
    tree_.child_begin = packer.Leave<std::int32_t>(inner);
  });
  if (!placed) return placed;
  tree_.level_count = host.level_count;
  if (auto done = CopyArray(*device_, tree_.level_begin, host.level_begin, levels); !done) {
    return done;
  }
  if (auto done = CopyArray(*device_, tree_.parent, host.parent, domains); !done) return done;
  return CopyArray(*device_, tree_.child_begin, host.child_begin, inner);
}

DeviceResult<void> StateMirror::SendAmounts(const FlavorState& state) {
  const PagedArray<Amount>& amounts = state.remaining();
  return CopyArray(*device_, remaining_view_.amounts, amounts.data(), amounts.size());
}

DeviceResult<void> StateMirror::SendChanges(const FlavorState& state) {
  std::vector<std::int32_t> leaves;
  state.stamps().ForEachDifference(*stamps_, made_at_, [&](std::size_t group) {
    const DomainRange range = state.snapshot().GroupLeaves(static_cast<std::int32_t>(group));
    for (std::int32_t leaf = range.begin; leaf < range.end; ++leaf) leaves.push_back(leaf);
  });
  if (columns_ == 0 || leaves.empty()) return {};
  if (leaves.size() == static_cast<std::size_t>(state.snapshot().leaf_count())) {
    return SendAmounts(state);
  }
  std::vector<Amount> amounts;
  amounts.reserve(leaves.size() * static_cast<std::size_t>(columns_));
  for (std::int32_t column = 0; column < columns_; ++column) {
    const Amount* values = state.remaining().data() + column * stride_;
    for (const std::int32_t leaf : leaves) amounts.push_back(values[leaf]);
  }
  ScatterArgs args;
  args.amounts = reinterpret_cast<Amount*>(remaining_.data());
  args.stride = stride_;
  args.columns = columns_;
  args.size = static_cast<std::int32_t>(leaves.size());
  const DeviceResult<void> sent = changes_.Send([&](Packer& packer) {
    args.leaf = packer.Add(leaves);
    args.new_amounts = packer.Add(amounts);
  });
  if (!sent) return sent;
  const KernelCall call = args;
  return device_->Launch({&call, 1});
}

DeviceResult<CapacityView> StateMirror::Free(const FlavorState& state) {
  const CapacityView view{reinterpret_cast<const Amount*>(free_.data()), stride_};
  if (free_.data() != nullptr) return view;
  const PagedArray<Amount>& amounts = state.free();
  if (auto done = free_.Reserve(amounts.size() * sizeof(Amount)); !done) {
    return tl::unexpected(done.error());
  }
  const auto* data = reinterpret_cast<const Amount*>(free_.data());
  if (auto done = CopyArray(*device_, data, amounts.data(), amounts.size()); !done) {
    return tl::unexpected(done.error());
  }
  return CapacityView{data, stride_};
}

DeviceResult<ClassArrays> StateMirror::Classes(const FlavorState& state) {
  const std::shared_ptr<const LeafClasses>& classes = state.classes();
  if (classes == classes_) return class_arrays_;
  constexpr auto kTile = static_cast<std::size_t>(TiledCapacity::kTileLeaves);
  constexpr auto kStride = static_cast<std::size_t>(LeafClasses::kMostClasses);
  const auto columns = static_cast<std::size_t>(columns_);
  const auto count = static_cast<std::size_t>(classes->count());
  // Requests that are counted by classes tell the amounts of a unit apart as little as units do.
  std::vector<Amount> amounts(columns * kStride, 0);
  for (std::size_t column = 0; column < columns; ++column) {
    const int shift = state.tiles().UnitShift(static_cast<std::int32_t>(column));
    for (std::size_t c = 0; c < count; ++c) {
      const float units = classes->tiles()[(c / kTile * columns + column) * kTile + c % kTile];
      amounts[column * kStride + c] = units < 0 ? -1 : static_cast<Amount>(units) << shift;
    }
  }
  classes_ = nullptr;
  const auto sent = class_memory_.Send([&](Packer& packer) {
    class_arrays_.of_leaf = packer.Add(classes->of_leaf().data(), classes->of_leaf().size());
    class_arrays_.amounts = {packer.Add(amounts), static_cast<std::int64_t>(kStride)};
  });
  if (!sent) return tl::unexpected(sent.error());
  class_arrays_.count = classes->count();
  classes_ = classes;
  return class_arrays_;
}

DeviceResult<FilterArrays> StateMirror::Filter(const std::shared_ptr<const NodeFilter>& filter) {
  if (filter == nullptr || (filter->matches.empty() && filter->affinity.empty())) {
    return FilterArrays{};
  }
  if (const auto it = filters_.find(filter.get()); it != filters_.end()) return it->second.arrays;
  FilterMirror& mirror = filters_.try_emplace(filter.get(), *device_).first->second;
  mirror.filter = filter;
  DeviceResult<void> done = Arrange(mirror.memory, [&](Packer& packer) {
    mirror.arrays.matches = packer.Leave<std::uint64_t>(filter->matches.size());
    mirror.arrays.affinity = packer.Leave<std::int64_t>(filter->affinity.size());
  });
  if (done) {
    done =
        CopyArray(*device_, mirror.arrays.matches, filter->matches.data(), filter->matches.size());
  }
  if (done) {
    done = CopyArray(*device_, mirror.arrays.affinity, filter->affinity.data(),
                     filter->affinity.size());
  }
  if (!done) {
    filters_.erase(filter.get());
    return tl::unexpected(done.error());
  }
  return mirror.arrays;
}

}  // namespace espalier
