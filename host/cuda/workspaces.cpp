#include "host/cuda/workspaces.hpp"

#include <algorithm>
#include <vector>

#include "host/cuda/device_counts.hpp"
#include "host/cuda/job_work.hpp"

namespace espalier {
namespace {

// Domains of the widest level, at least 1.
std::size_t WidestLevel(const TreeView& tree) {
  std::size_t width = 1;
  for (std::int32_t l = 0; l < tree.level_count; ++l) {
    width = std::max(width, static_cast<std::size_t>(tree.LevelEnd(l) - tree.LevelBegin(l)));
  }
  return width;
}

}  // namespace

Workspaces::Workspaces(Device& device, std::size_t max_bytes, WorkspaceLimits limits)
    : max_bytes_(max_bytes), limits_(limits), memory_(device), table_(device) {}

Workspace Workspaces::LayOut(const Extent& extent, Packer& packer) const {
  Workspace workspace;
  workspace.level = packer.Leave<Candidate>(extent.width);
  workspace.chosen = packer.Leave<Candidate>(extent.width);
  workspace.current = packer.Leave<Share>(extent.width);
  workspace.next = packer.Leave<Share>(extent.width);
  workspace.leaves = LayOutCounts(extent.domains, true, limits_.leaders, packer);
  if (!extent.balanced) return workspace;
  workspace.trial = LayOutCounts(extent.domains, true, true, packer);
  workspace.best = LayOutCounts(extent.domains, true, true, packer);
  workspace.entropy = packer.Leave<double>(extent.width);
  workspace.terms = packer.Leave<Count>(extent.width);
  workspace.states = packer.Leave<SelectionState>(std::size_t{kDeviceStates});
  workspace.state_capacity = kDeviceStates;
  workspace.state_heads = packer.Leave<std::int32_t>(2 * (extent.width + 1));
  return workspace;
}

DeviceResult<void> Workspaces::Prepare(const TreeView& tree, bool balanced, std::int32_t teams) {
  Extent wanted = extent_;
  wanted.width = std::max(wanted.width, std::min(WidestLevel(tree), limits_.longest_list));
  wanted.domains = std::max(wanted.domains, static_cast<std::size_t>(tree.domain_count()));
  wanted.balanced = wanted.balanced || balanced;
  Packer measure;
  LayOut(wanted, measure);
  measure.Leave<PlacementQuery>(1);
  const std::size_t room = std::max<std::size_t>(max_bytes_ / measure.size(), 1);
  const auto size =
      static_cast<std::int32_t>(std::clamp<std::size_t>(static_cast<std::size_t>(teams), 1, room));
  if (wanted == extent_ && size <= size_) return {};
  size_ = 0;
  if (auto grown = memory_.Reserve(measure.size() * static_cast<std::size_t>(size)); !grown) {
    return grown;
  }
  Packer place(memory_.data(), nullptr);
  std::vector<Workspace> workspaces;
  for (std::int32_t i = 0; i < size; ++i) workspaces.push_back(LayOut(wanted, place));
  queries_ = place.Leave<PlacementQuery>(static_cast<std::size_t>(size));
  const auto sent = table_.Send([&](Packer& packer) { workspaces_ = packer.Add(workspaces); });
  if (!sent) return sent;
  extent_ = wanted;
  size_ = size;
  return {};
}

}  // namespace espalier
