#include "host/cuda/nested_device.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "host/cuda/device_memory.hpp"
#include "host/cuda/workspaces.hpp"
#include "kernels/cuda/nested_blocks.hpp"

namespace espalier {
namespace {

std::size_t Size(std::int64_t count) { return static_cast<std::size_t>(count); }

// A request on the device: what the host reads back lies in front.
struct OnDevice {
  NestedArgs args;
  std::size_t changed_bytes = 0;
};

std::size_t AmountCount(const NestedSpace& space) {
  return Size(space.column_count * space.stride);
}

// Arrays that the decision changes, in one order for the way there and back.
template <class Visit>
void ForEachChanged(NestedRun& run, std::vector<NestedShape>& shapes, NestedResult*& result,
                    const Visit& visit) {
  visit(run.space.amounts, AmountCount(run.space));
  for (NestedShape& shape : shapes) visit(shape.pods, Size(run.space.tree.domain_count()));
  visit(run.choices, Size(run.step_count));
  visit(run.takes, Size(run.take_capacity));
  visit(run.take_step, Size(run.take_capacity));
  visit(result, 1);
}

OnDevice LayOut(NestedRun run, NestedResult* result, Packer& packer) {
  const NestedSpace& space = run.space;
  const TreeView& tree = space.tree;
  std::vector<NestedShape> shapes(space.shapes, space.shapes + space.shape_count);
  const TreeView host_tree = tree;
  OnDevice on_device;
  ForEachChanged(run, shapes, result,
                 [&](auto*& array, std::size_t count) { array = packer.Add(array, count); });
  on_device.changed_bytes = packer.size();
  const std::size_t domains = Size(host_tree.domain_count());
  const std::size_t inner = Size(host_tree.LevelBegin(host_tree.lowest()));
  run.space.tree.level_begin = packer.Add(host_tree.level_begin, Size(host_tree.level_count) + 1);
  run.space.tree.parent = packer.Add(host_tree.parent, domains);
  run.space.tree.child_begin = packer.Add(host_tree.child_begin, inner + 1);
  const std::size_t words = Size((host_tree.leaf_count() + 63) / 64);
  for (NestedShape& shape : shapes) {
    shape.request.column = packer.Add(shape.request.column, Size(shape.request.size));
    shape.request.amount = packer.Add(shape.request.amount, Size(shape.request.size));
    if (shape.matches != nullptr) shape.matches = packer.Add(shape.matches, words);
    if (shape.stale != nullptr) {
      shape.stale = packer.Add(shape.stale, Size(std::max(shape.stale_count, 0)));
    }
  }
  run.space.shapes = packer.Add(shapes.data(), shapes.size());
  if (run.space.total != nullptr) {
    run.space.total = packer.Add(run.space.total, AmountCount(run.space));
  }
  run.steps = packer.Add(run.steps, Size(run.step_count));
  run.needs = packer.Add(run.needs, Size(run.need_count));
  run.rank_order = packer.Add(run.rank_order, Size(run.rank_order_count));
  run.workspace = Workspaces::LayOutPlain(host_tree, packer);
  on_device.args = {packer.Add(&run, 1), result};
  return on_device;
}

class NestedDeviceRunner final : public NestedRunner {
 public:
  NestedDeviceRunner(std::unique_ptr<Device> device, std::unique_ptr<NestedRunner> cpu)
      : device_(std::move(device)), cpu_(std::move(cpu)) {}

  NestedResult Run(NestedRun run) override {
    if (device_ != nullptr) {
      NestedRun to_the_end = run;
      to_the_end.waited_for = nullptr;  // nobody asks there
      if (const DeviceResult<NestedResult> result = RunThere(to_the_end)) return *result;
      memory_.reset();
      device_.reset();
    }
    return cpu_->Run(run);
  }

 private:
  DeviceResult<NestedResult> RunThere(const NestedRun& run) {
    if (memory_ == nullptr) memory_ = std::make_unique<Upload>(*device_);
    NestedResult result;
    OnDevice request;
    const auto fetched = [&]() -> DeviceResult<void> {
      const auto pack = [&](Packer& packer) { request = LayOut(run, &result, packer); };
      if (auto sent = memory_->Send(pack); !sent) return sent;
      const KernelCall call = request.args;
      if (auto launched = device_->Launch({&call, 1}); !launched) return launched;
      return memory_->Fetch(request.changed_bytes);
    }();
    if (!fetched) return tl::unexpected(fetched.error());
    TakeChanges(run, memory_->staged(), result);
    return result;
  }

  // Copies what came back to where it was taken from.
  static void TakeChanges(NestedRun run, const std::byte* changed, NestedResult& result) {
    std::vector<NestedShape> shapes(run.space.shapes, run.space.shapes + run.space.shape_count);
    Packer offsets;
    NestedResult* to = &result;
    ForEachChanged(run, shapes, to, [&](auto*& array, std::size_t count) {
      const std::size_t at = offsets.size();
      offsets.Add(array, count);
      if (count > 0) std::memcpy(array, changed + at, count * sizeof(*array));
    });
  }

  std::unique_ptr<Device> device_;  // null after a fault
  std::unique_ptr<NestedRunner> cpu_;
  std::unique_ptr<Upload> memory_;  // of the device
};

}  // namespace

std::unique_ptr<NestedRunner> MakeNestedDeviceRunner(std::unique_ptr<Device> device,
                                                     std::unique_ptr<NestedRunner> cpu) {
  return std::make_unique<NestedDeviceRunner>(std::move(device), std::move(cpu));
}

}  // namespace espalier
