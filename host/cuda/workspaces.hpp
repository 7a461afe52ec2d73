// Memory for the teams of lanes that decide on a device, one workspace for each that runs at a
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "host/cuda/device.hpp"
#include "host/cuda/device_memory.hpp"
#include "kernels/decisions/workspace.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Bounds what the decisions made in a workspace may want.
struct WorkspaceLimits {
  std::size_t longest_list = std::numeric_limits<std::size_t>::max();  // domains
  bool leaders = true;
};

class Workspaces {
 public:
  // Makes none yet.
  Workspaces(Device& device, std::size_t max_bytes, WorkspaceLimits limits);

  // Makes workspaces large enough for the tree, with the part of balanced placement only when asked
  // for: at least one, and no more than `teams` or what the limit leaves room for. `tree` is on
  // the host. Earlier work must have been waited for.
  DeviceResult<void> Prepare(const TreeView& tree, bool balanced, std::int32_t teams);

  // Both are on the device and have size() items.
  const Workspace* data() const { return workspaces_; }
  PlacementQuery* queries() const { return queries_; }
  std::int32_t size() const { return size_; }

 private:
  // The size that a workspace must have.
  struct Extent {
    std::size_t width = 0;    // domains of the widest level, or as many as lists have
    std::size_t domains = 1;  // of all levels
    bool balanced = false;    // with the part of balanced placement
    bool operator==(const Extent&) const = default;
  };
  Workspace LayOut(const Extent& extent, Packer& packer) const;

  std::size_t max_bytes_;
  WorkspaceLimits limits_;
  Extent extent_;
  std::int32_t size_ = 0;
  DeviceMemory memory_;
  Upload table_;
  const Workspace* workspaces_ = nullptr;
  PlacementQuery* queries_ = nullptr;
};

}  // namespace espalier
