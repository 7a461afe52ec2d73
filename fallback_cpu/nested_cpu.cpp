#include "fallback_cpu/nested_cpu.hpp"

#include "fallback_cpu/leaf_counter.hpp"
#include "fallback_cpu/scratch.hpp"
#include "fallback_cpu/simd_implementation.hpp"
#include "kernels/nested/place_nested.hpp"
#include "kernels/team/serial_team.hpp"

namespace espalier {
namespace {

class NestedCpuRunner final : public NestedRunner {
 public:
  void CountDomains(const PlacementJob& job, CountsStorage& counts) const override {
    CountAllDomains(job, counts);
  }

  NestedResult Run(NestedRun run) override {
    run.workspace = scratch_.Get(run.space.tree, false);
    SerialTeam team(ActiveSimdImplementation().tightest);
    return PlaceNested(team, run);
  }

 private:
  Scratch scratch_;
};

}  // namespace

std::unique_ptr<NestedRunner> MakeNestedCpuRunner() { return std::make_unique<NestedCpuRunner>(); }

}  // namespace espalier
