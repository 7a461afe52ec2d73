#include "host/nested/tree_placer.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "host/nested/place_nested.hpp"

namespace espalier {
namespace {

class NestedTreePlacer final : public TreePlacer {
 public:
  explicit NestedTreePlacer(std::function<std::unique_ptr<NestedRunner>()> make_runner)
      : make_runner_(std::move(make_runner)) {}

  std::vector<WorkloadAnswer> Place(std::span<const WorkloadRequest* const> requests,
                                    const ClusterState& state, ClusterState* booked,
                                    WorkBudget& budget) override {
    std::unique_ptr<NestedRunner> runner = TakeRunner();
    std::vector<WorkloadAnswer> answers = PlaceTrees(*runner, state, booked, requests, budget);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(runner));
    return answers;
  }

 private:
  // A runner serves one thread at a time.
  std::unique_ptr<NestedRunner> TakeRunner() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<NestedRunner> runner = std::move(idle_.back());
        idle_.pop_back();
        return runner;
      }
    }
    return make_runner_();
  }

  std::function<std::unique_ptr<NestedRunner>()> make_runner_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<NestedRunner>> idle_;
};

}  // namespace

std::unique_ptr<TreePlacer> MakeTreePlacer(
    std::function<std::unique_ptr<NestedRunner>()> make_runner) {
  return std::make_unique<NestedTreePlacer>(std::move(make_runner));
}

}  // namespace espalier
