// Shapes stay on the device: what describes them is sent when they are new to it, and gives way to
// others within a limit.
#include <vector>

#include "tests/cuda/gang_queue.hpp"

namespace espalier::resident_shapes_test {
namespace {

class ResidentShapes : public PlannedDeviceTest {
 protected:
  static constexpr int kGangs = 80;

  // Returns gangs of the shapes [first, end) in turn.
  static std::vector<GangRow> GangsOf(int first, int end) {
    std::vector<GangRow> gangs;
    for (int i = 0; i < kGangs; ++i) gangs.push_back({first + i % (end - first), 2 + i % 9});
    return gangs;
  }

  // What a batch asked the device for.
  struct Asked {
    std::size_t bytes = 0;  // sent
    int copies = 0;         // to the device
    int waits = 0;
    std::int32_t moved = 0;  // shapes that were new
  };
  // Nominates gangs of the shapes [first, end) on the device, expects the answers of the CPU.
  Asked Ask(const ClusterState& state, int first, int end) {
    const std::vector<GangRow> gangs = GangsOf(first, end);
    const GangAnswers right = OnCpu(state, shapes_, gangs);
    Asked asked;
    plan_->on_call = [&](const KernelCall& call) {
      if (const auto* moved = std::get_if<MoveShapesArgs>(&call)) asked.moved += moved->shape_count;
    };
    plan_->on_wait = [&] { ++asked.waits; };
    const std::size_t bytes = plan_->bytes_sent;
    const int copies = plan_->copies_sent;
    EXPECT_EQ(Nominate(backend_, state, shapes_, gangs), right);
    plan_->on_call = nullptr;
    plan_->on_wait = nullptr;
    asked.bytes = plan_->bytes_sent - bytes;
    asked.copies = plan_->copies_sent - copies;
    return asked;
  }

  // Bytes of a batch of shapes that the device has: 20 a gang, 28 a shape, and gaps.
  static constexpr std::size_t Repeated(int shapes) {
    return static_cast<std::size_t>(kGangs * 20 + shapes * 28 + 5 * 16);
  }

  ClusterState state_ = Build(MakeGpuCluster(3, 8, 6, 51));
  const std::vector<GangShape> shapes_ = MakeShapes(40);
};

TEST_F(ResidentShapes, AreSentOnce) {
  const Asked first = Ask(state_, 0, 20);
  EXPECT_EQ(first.moved, 20);
  EXPECT_GT(first.bytes, Repeated(20) + 20 * 400);
  for (int i = 0; i < 3; ++i) {
    const Asked again = Ask(state_, 0, 20);
    EXPECT_EQ(again.moved, 0);
    EXPECT_EQ(again.copies, 1);
    EXPECT_EQ(again.waits, 1);
    EXPECT_LE(again.bytes, Repeated(20));
  }
  const Asked more = Ask(state_, 0, 21);
  EXPECT_EQ(more.moved, 1);
  EXPECT_LE(more.bytes, Repeated(21) + 2048);
  EXPECT_LE(Ask(state_, 5, 15).bytes, Repeated(10));
  ExpectAllOnDevice();
}

// Other gangs of the same shape, which prefer and require other levels.
TEST_F(ResidentShapes, ServeEveryLevel) {
  std::vector<GangShape> shapes = MakeShapes(1);
  for (const char* level : {"block", "rack"}) {
    shapes.push_back(shapes.front());
    shapes.back().workers.topology_request.emplace().required = level;
  }
  shapes.push_back(shapes.front());
  shapes.back().workers.topology_request.emplace().unconstrained = true;
  std::vector<GangRow> gangs;
  for (int i = 0; i < 40; ++i) gangs.push_back({i % 4, 1 + i % 7});
  std::int32_t moved = 0;
  plan_->on_call = [&](const KernelCall& call) {
    if (const auto* args = std::get_if<MoveShapesArgs>(&call)) moved += args->shape_count;
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Nominate(backend_, state_, shapes, gangs), OnCpu(state_, shapes, gangs));
  }
  EXPECT_LE(moved, 2) << "with counts of leaves and without";
}

// A change of usage changes counts, not what describes shapes.
TEST_F(ResidentShapes, StayWhenUsageChanges) {
  Ask(state_, 0, 20);
  for (const int leaf : {0, 17, 100}) {
    state_.Find("gpu")->Add(LeafId(leaf), {{"cpu", 40'000}});
    const Asked changed = Ask(state_, 0, 20);
    EXPECT_EQ(changed.moved, 0);
    EXPECT_LT(changed.bytes, Repeated(20) + 8192);
  }
}

// A branch takes over what its ancestor leaves behind; another state starts anew.
TEST_F(ResidentShapes, PassToTheNextGeneration) {
  auto generation = std::make_unique<ClusterState>(state_.Branch());
  EXPECT_EQ(Ask(*generation, 0, 20).moved, 20);
  for (int i = 0; i < 12; ++i) {
    auto next = std::make_unique<ClusterState>(generation->Branch());
    next->Find("gpu")->Add(LeafId(i), {{"cpu", 20'000}});
    generation = std::move(next);
    EXPECT_EQ(Ask(*generation, 0, 20).moved, 0) << i;
  }
  EXPECT_EQ(Ask(state_, 0, 20).moved, 20) << "one that is not gone";
  EXPECT_EQ(Ask(*generation, 0, 20).moved, 0);
  const ClusterState rebuilt = Build(MakeGpuCluster(3, 8, 6, 52));
  EXPECT_EQ(Ask(rebuilt, 0, 20).moved, 20);
}

TEST_F(ResidentShapes, GiveWayAndComeBack) {
  Ask(state_, 0, 10);
  const std::size_t of_ten = plan_->bytes_allocated();
  Ask(state_, 10, 20);
  const std::size_t of_shape = (plan_->bytes_allocated() - of_ten) / 10;
  plan_->memory_bytes = of_shape * 4 * 25;  // a quarter is for 25 shapes
  Open();
  EXPECT_EQ(Ask(state_, 0, 20).moved, 20);
  EXPECT_EQ(Ask(state_, 0, 10).moved, 0);
  const std::size_t allocated = plan_->bytes_allocated();
  EXPECT_EQ(Ask(state_, 20, 30).moved, 10) << "in place of the second ten";
  EXPECT_EQ(Ask(state_, 0, 10).moved, 0);
  EXPECT_GE(Ask(state_, 10, 20).moved, 5);
  EXPECT_LE(plan_->bytes_allocated(), allocated + 5 * of_shape);
  for (int i = 0; i < 4; ++i) Ask(state_, i * 10, i * 10 + 10);
  EXPECT_LE(plan_->bytes_allocated(), allocated + 5 * of_shape);
  ExpectAllOnDevice();
}

// A wave has no more shapes than there is room for.
TEST_F(ResidentShapes, SplitABatchThatHasNoRoomForAll) {
  Ask(state_, 0, 10);
  const std::size_t of_ten = plan_->bytes_allocated();
  Ask(state_, 10, 20);
  const std::size_t of_shape = (plan_->bytes_allocated() - of_ten) / 10;
  plan_->memory_bytes = of_shape * 4 * 7;
  Open();
  for (int i = 0; i < 3; ++i) EXPECT_GE(Ask(state_, 0, 20).waits, 3);
  EXPECT_EQ(Ask(state_, 0, 5).waits, 1);
  ExpectAllOnDevice();
}

// Nodes that change take other filters with them.
TEST_F(ResidentShapes, AreDescribedAnewWithAnotherFilter) {
  ClusterStateInput cluster = MakeGpuCluster(2, 4, 6, 53);
  std::vector<GangShape> shapes = MakeShapes(3);
  shapes[1].workers.pod_template.node_selector.Set("disk", "ssd");
  shapes[2].workers.pod_template.affinity.preferred.push_back(
      {10, {{{"disk", "In", {"ssd"}}}, {}}});
  std::vector<GangRow> gangs;
  for (int i = 0; i < 30; ++i) gangs.push_back({i % 3, 1 + i % 7});
  for (int i = 0; i < 6; ++i) {
    for (Node& node : cluster.nodes) {
      if ((node.name.size() + static_cast<std::size_t>(i)) % 3 == 0) node.labels.Set("disk", "ssd");
    }
    const ClusterState state = Build(cluster);
    for (int again = 0; again < 2; ++again) {
      EXPECT_EQ(Nominate(backend_, state, shapes, gangs), OnCpu(state, shapes, gangs)) << i;
    }
  }
}

}  // namespace
}  // namespace espalier::resident_shapes_test
