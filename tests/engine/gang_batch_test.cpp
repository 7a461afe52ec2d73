#include "host/engine/gang_batch.hpp"

#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/assignments.hpp"
#include "host/engine/compiled_requests.hpp"
#include "host/engine/engine.hpp"
#include "host/packing/flavor_snapshot.hpp"
#include "tests/engine/in_order_backend.hpp"
#include "tests/engine/requests.hpp"
#include "tests/generated/random.hpp"
#include "tests/packing/states.hpp"

namespace espalier::gang_batch_test {
namespace {

constexpr Amount kMebi = Amount{1} << 20;

struct Question {
  ClusterStateInput cluster;
  std::vector<GangShape> shapes;
  std::vector<GangRow> gangs;
};

ClusterStateInput RandomCluster(Random& random) {
  const auto depth = static_cast<std::size_t>(random.Between(1, 4));
  const std::int64_t memory_unit = random.Pick<std::int64_t>({1, kMebi, 1000, 1000000});
  const std::int64_t widest = random.Pick<std::int64_t>({1, 3, 16, 18, 40});
  return MakeRacks({.depth = depth,
                    .racks = random.Between(1, 24),
                    .racks_of_block = 4,
                    .hosts = {1, widest},
                    .has = {{"cpu", {0, 64, 1000}},
                            {"gpu", {0, 8}},
                            {"memory", {0, 2048, memory_unit}},
                            {"pods", {0, 110}}},
                    .labelled_percent = 70,
                    .used_percent = 30,
                    .uses = {{"cpu", {0, 70, 1000}}, {"pods", 1}}},
                   random);
}

TopologyRequest RandomTopologyRequest(Random& random, const std::vector<std::string>& levels) {
  TopologyRequest request;
  switch (random.Between(0, 3)) {
    case 0:
      request = Required(random.Pick(levels));
      break;
    case 1:
      request = Unconstrained();
      break;
    default:
      request = Preferred(random.Pick(levels));
  }
  if (random.Chance(25)) {
    request.slice_constraints = {{levels.back(), static_cast<std::int32_t>(random.Between(1, 4))}};
    if (random.Chance(60)) request.slice_constraints.front().topology = random.Pick(levels);
  }
  return request;
}

Question RandomQuestion(std::uint64_t seed) {
  Random random(seed);
  Question question;
  question.cluster = RandomCluster(random);
  const std::vector<std::string>& levels = question.cluster.topologies.front().levels;
  const std::int64_t shapes = random.Between(1, 12);
  for (std::int64_t s = 0; s < shapes; ++s) {
    GangShape& shape = question.shapes.emplace_back();
    shape.workers = MakePodSet(0, RandomTopologyRequest(random, levels));
    shape.workers.requests = {{"gpu", random.Between(0, 4)}};
    if (random.Chance(60)) shape.workers.requests.Set("cpu", random.Between(0, 9000));
    if (random.Chance(60)) {
      shape.workers.requests.Set(
          "memory", random.Between(1, 512) * random.Pick<std::int64_t>({1, 1000, kMebi}));
    }
    if (random.Chance(20)) shape.workers.pod_template.node_selector = {{"disk", "ssd"}};
    if (random.Chance(25)) {
      shape.workers.group = "pair";
      shape.leader = MakePodSet(1, *shape.workers.topology_request, "leader");
      shape.leader->requests = {{"cpu", random.Between(0, 9000)}};
      shape.leader->group = "pair";
    }
  }
  const std::int64_t gangs = random.Between(1, 60);
  for (std::int64_t g = 0; g < gangs; ++g) {
    question.gangs.push_back(
        {static_cast<std::int32_t>(random.Between(0, shapes - 1)),
         static_cast<std::int32_t>(random.Chance(80) ? random.Between(1, 12)
                                                     : random.Between(1, 300))});
  }
  return question;
}

// Returns the same gangs as requests.
std::vector<WorkloadRequest> AsRequests(const Question& question) {
  std::vector<WorkloadRequest> requests;
  for (const GangRow& gang : question.gangs) {
    const GangShape& shape = question.shapes[static_cast<std::size_t>(gang.shape)];
    WorkloadRequest& request = requests.emplace_back(MakeWorkload({shape.workers}));
    request.pod_sets.front().count = gang.pods;
    if (shape.leader) request.pod_sets.push_back(*shape.leader);
  }
  return requests;
}

void ExpectSame(const Question& question, const ClusterState& state, const GangBatch& batch,
                const GangAnswers& answers, const std::vector<WorkloadAnswer>& expected) {
  const FlavorSnapshot& snapshot = state.Find("tas")->snapshot();
  ASSERT_EQ(answers.status.size(), expected.size());
  std::size_t failures = 0;
  for (std::size_t g = 0; g < expected.size(); ++g) {
    SCOPED_TRACE(g);
    const auto shares = answers.SharesOf(g);
    if (answers.status[g] != PlacementStatus::kPlaced) {
      ++failures;
      ASSERT_NE(expected[g].FirstFailure(), nullptr);
      EXPECT_TRUE(shares.empty());
      EXPECT_EQ(batch.Describe(question.gangs, answers, g), *expected[g].FirstFailure()->failure);
      continue;
    }
    ASSERT_EQ(expected[g].FirstFailure(), nullptr) << expected[g].FirstFailure()->failure->reason;
    const std::vector<LeafShare> list(shares.begin(), shares.end());
    for (const PodSetAnswer& answer : expected[g].pod_sets) {
      EXPECT_EQ(ToAssignment(list, answer.name == "leader", snapshot), *answer.assignment);
    }
  }
  EXPECT_EQ(failures, answers.failures.size());
}

// Answers requests with names: those for which `is_stepped` as stepped workloads, the others as
// Compile has them. `booked` is the state where placements are to be booked, or null.
template <class IsStepped>
std::vector<WorkloadAnswer> Answer(Backend& backend, std::span<const WorkloadRequest> requests,
                                   const ClusterState& state, ClusterState* booked,
                                   const IsStepped& is_stepped) {
  std::vector<RequestOnState> asked;
  for (const WorkloadRequest& request : requests) asked.push_back({&request, &state});
  CompiledRequests compiled = Compile(asked, {}, WorkBudget::Unlimited());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (!is_stepped(i)) continue;
    compiled.gangs[i] = GangRow::Stepped(compiled.stepped.size());
    compiled.stepped.push_back(asked[i]);
  }
  GangBatch batch(compiled.states, std::move(compiled.shapes), compiled.stepped, {},
                  WorkBudget::Unlimited());
  GangAnswers answers;
  if (booked == nullptr) {
    batch.Nominate(backend, compiled.gangs, answers);
  } else {
    batch.PlaceInOrder(backend, *booked, compiled.gangs, answers);
  }
  return batch.TakeNamed(compiled.gangs, answers);
}

std::vector<WorkloadAnswer> AnswerInSteps(Backend& backend,
                                          std::span<const WorkloadRequest> requests,
                                          const ClusterState& state, ClusterState* booked) {
  return Answer(backend, requests, state, booked, [](std::size_t) { return true; });
}

class GangBatchTest : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(GangBatchTest, AnswersLikeTheSameGangsInSteps) {
  const std::shared_ptr<Backend> backend = MakeCpuBackend(2);
  for (std::uint64_t seed = GetParam() * 100; seed < GetParam() * 100 + 100; ++seed) {
    SCOPED_TRACE(seed);
    Question question = RandomQuestion(seed);
    // One answer per gang needs leaders that are never mistaken for the workers (R15.5).
    for (GangRow& gang : question.gangs) gang.pods = std::max(gang.pods, 1);
    const std::vector<WorkloadRequest> requests = AsRequests(question);
    ClusterState state = BuildState(question.cluster);
    ClusterState copy = state.Clone();
    GangBatch batch(state, {}, question.shapes);
    GangAnswers answers;
    batch.Nominate(*backend, question.gangs, answers);
    const auto nominate = [&] { return AnswerInSteps(*backend, requests, copy, nullptr); };
    ExpectSame(question, state, batch, answers, nominate());
    batch.PlaceInOrder(*backend, state, question.gangs, answers);
    ExpectSame(question, state, batch, answers, AnswerInSteps(*backend, requests, copy, &copy));
    EXPECT_EQ(state.Find("tas")->remaining(), copy.Find("tas")->remaining());
    batch.Nominate(*backend, question.gangs, answers);
    ExpectSame(question, state, batch, answers, nominate());
    if (::testing::Test::HasFailure()) return;
  }
}

// Gangs, and among them workloads that are answered in steps, one by one and many in a row.
TEST_P(GangBatchTest, MayHaveSteppedWorkloadsAmongGangs) {
  const std::shared_ptr<Backend> backend = MakeCpuBackend(2);
  InOrderBackend in_order(backend, 16, 3);
  for (std::uint64_t seed = GetParam() * 25; seed < GetParam() * 25 + 25; ++seed) {
    SCOPED_TRACE(seed);
    const Question question = RandomQuestion(seed);
    std::vector<WorkloadRequest> requests = AsRequests(question);
    for (std::size_t i = 0; i < requests.size(); i += 3) requests[i].simulate_empty = true;
    const ClusterState state = BuildState(question.cluster);
    const auto every_second = [](std::size_t i) { return i % 2 == 0; };
    EXPECT_EQ(Answer(*backend, requests, state, nullptr, every_second),
              AnswerInSteps(*backend, requests, state, nullptr));
    ClusterState in_steps = state.Clone();
    const auto expected = AnswerInSteps(*backend, requests, in_steps, &in_steps);
    ClusterState mixed = state.Clone();
    EXPECT_EQ(Answer(*backend, requests, mixed, &mixed, every_second), expected);
    EXPECT_EQ(mixed.Find("tas")->remaining(), in_steps.Find("tas")->remaining());
    ClusterState in_a_row = state.Clone();
    EXPECT_EQ(Answer(in_order, requests, in_a_row, &in_a_row, every_second), expected);
    EXPECT_EQ(Engine(backend, {}).Nominate(state, requests),
              AnswerInSteps(*backend, requests, state, nullptr));
    if (::testing::Test::HasFailure()) return;
  }
}

// Workloads of one shape become one, whatever their keys and numbers of pods.
TEST(CompiledRequestsTest, HaveAShapeForAllAlike) {
  const ClusterState state = BuildState(Gpus({{"r1/x1", 4}, {"r2/x0", 4}}));
  std::vector<WorkloadRequest> requests(6, MakeWorkload({MakePodSet(1, Required("rack"))}));
  requests[1].key.name = "other";
  requests[1].pod_sets[0].count = 3;
  requests[2].pod_sets[0].requests.Set("cpu", 1);
  requests[3].simulate_empty = true;
  requests[4].pod_sets[0].previous_assignment = OnHosts({{"x1", 1}});
  requests[5].pod_sets[0].flavor = "unknown";
  std::vector<RequestOnState> asked;
  for (const WorkloadRequest& request : requests) asked.push_back({&request, &state});
  const CompiledRequests compiled = Compile(asked, {}, WorkBudget::Unlimited());
  EXPECT_EQ(compiled.shapes.size(), 3u);
  EXPECT_EQ(compiled.gangs[0].shape, compiled.gangs[1].shape);
  EXPECT_EQ(compiled.gangs[1].pods, 3);
  ASSERT_EQ(compiled.stepped.size(), 2u);
  EXPECT_TRUE(compiled.gangs[4].is_stepped() && compiled.gangs[5].is_stepped());
  EXPECT_EQ(compiled.stepped[1].request, &requests[5]);
}

INSTANTIATE_TEST_SUITE_P(Seeds, GangBatchTest, ::testing::Range<std::uint64_t>(0, 4));

// Gangs in order, one by one and many in a row.
class PlacedInARow {
 public:
  PlacedInARow(const ClusterStateInput& cluster, std::span<const GangShape> shapes,
               std::span<const GangRow> gangs, const FeatureGates& gates = {}) {
    ClusterState one_by_one = BuildState(cluster);
    GangBatch(one_by_one, gates, shapes)
        .PlaceInOrder(*MakeCpuBackend(1), one_by_one, gangs, right_);
    ClusterState state = BuildState(cluster);
    InOrderBackend in_order(MakeCpuBackend(1), 16, 6);
    GangAnswers answers;
    GangBatch(state, gates, shapes).PlaceInOrder(in_order, state, gangs, answers);
    EXPECT_EQ(answers, right_);
    EXPECT_EQ(state.Find("tas")->remaining(), one_by_one.Find("tas")->remaining());
    in_a_row_ = in_order.in_order();
    one_by_one_ = in_order.one_by_one();
  }

  const GangAnswers& answers() const { return right_; }
  std::size_t in_a_row() const { return in_a_row_; }
  std::size_t one_by_one() const { return one_by_one_; }

 private:
  GangAnswers right_;
  std::size_t in_a_row_ = 0;
  std::size_t one_by_one_ = 0;
};

TEST(GangBatchInARow, AnswersLikeOneByOne) {
  std::size_t in_a_row = 0, one_by_one = 0, failures = 0, leaders = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    Question question = RandomQuestion(seed);
    if (seed % 5 == 0) question.shapes.front().workers.flavor = "none";
    FeatureGates gates;
    gates.balanced_placement = seed % 7 == 0;
    const PlacedInARow run(question.cluster, question.shapes, question.gangs, gates);
    in_a_row += run.in_a_row();
    one_by_one += run.one_by_one();
    failures += run.answers().failures.size();
    leaders += static_cast<std::size_t>(std::ranges::count_if(
        run.answers().shares, [](const LeafShare& share) { return share.leaders > 0; }));
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(in_a_row, 1000u);
  EXPECT_GT(one_by_one, 1000u);
  EXPECT_GT(failures, 1000u);
  EXPECT_GT(leaders, 100u);
}

TEST(GangBatchText, UnknownFlavorsAndBadRequestsFailWithTheirText) {
  const ClusterState state = BuildState(Gpus({{"r1/a", 4}}));
  GangShape unknown{MakePodSet(0, Required("rack")), std::nullopt};
  unknown.workers.flavor = "none";
  const GangShape no_level{MakePodSet(0, Required("zone")), std::nullopt};
  GangBatch batch(state, {}, std::vector{unknown, no_level});
  const std::vector<GangRow> gangs = {{0, 1}, {1, 1}};
  GangAnswers answers;
  batch.Nominate(*MakeCpuBackend(1), gangs, answers);
  ASSERT_EQ(answers.failures.size(), 2u);
  EXPECT_EQ(batch.Describe(gangs, answers, 0).reason,
            "Flavor \"none\" information missing in TAS cache");
  EXPECT_EQ(batch.Describe(gangs, answers, 1).reason, "no requested topology level: zone");
}

}  // namespace
}  // namespace espalier::gang_batch_test
