// The CPU back end by its behaviour: warm counts, many threads, many callers.
#include "fallback_cpu/cpu_backend.hpp"

#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "host/engine/engine.hpp"
#include "host/engine/request_resolution.hpp"
#include "tests/engine/counted.hpp"
#include "tests/engine/evaluated.hpp"
#include "tests/engine/requests.hpp"
#include "tests/generated/random.hpp"
#include "tests/packing/states.hpp"

namespace espalier::cpu_backend_test {
namespace {

void ExpectEqual(const Evaluated& a, const Evaluated& b) {
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.level, b.level);
  EXPECT_EQ(a.failed, b.failed);
  EXPECT_EQ(a.shares, b.shares);
}

// Three blocks of three racks with one to five hosts each; every third host is fast.
ClusterStateInput RandomCluster(Random& random) {
  ClusterStateInput input = MakeRacks({.depth = 3,
                                       .racks = 9,
                                       .racks_of_block = 3,
                                       .hosts = {1, 5},
                                       .has = {{"gpu", {0, 9}}, {"pods", 110}}},
                                      random);
  for (std::size_t i = 0; i < input.nodes.size(); i += 3) input.nodes[i].labels.Set("fast", "y");
  return input;
}

PlacementJob RandomJob(Random& random, const FlavorState& state) {
  FeatureGates gates;
  gates.respect_node_affinity_preferred = random.Chance(30);
  gates.balanced_placement = random.Chance(20);
  const NodeSelectorRequirement fast{"fast", "Exists", {}};
  PodSetRequest workers = MakePodSet(
      static_cast<std::int32_t>(random.Between(2, 14)),
      random.Pick({Required("rack"), Required("block"), Preferred("rack"), Preferred(kHost),
                   Unconstrained(), Required("block", {{"rack", 2}}),
                   Required("block", {{"rack", 4}, {kHost, 2}}), SliceOnly({{kHost, 2}})}));
  workers.requests = {{"gpu", random.Between(1, 2)}};
  if (random.Chance(30)) workers.pod_template.affinity.preferred = {{10, {{fast}, {}}}};
  if (random.Chance(15)) workers.pod_template.node_selector = {{"fast", "y"}};
  if (random.Chance(10)) workers.requests.Set("odd", 1);  // no node has it: not counted in bulk
  if (state.snapshot().FindResource("mem") >= 0 && random.Chance(70)) {
    workers.requests.Set("mem", (random.Between(0, 3) << 20) + (random.Chance(10) ? 1 : 0));
  }
  PodSetRequest leader = MakePodSet(1);
  leader.requests = {{"gpu", random.Between(1, 3)}};

  PlacementJob job;
  job.state = &state;
  const FlavorSnapshot& snapshot = state.snapshot();
  const ResolvedRequest resolved = *ResolveRequest(workers, snapshot, gates);
  job.query = resolved.query;
  job.query.pods = workers.count;
  job.query.leaders = random.Chance(30) ? 1 : 0;
  job.shape = MakeShape(resolved, workers, job.query.leaders > 0 ? &leader : nullptr, snapshot);
  job.filter = snapshot.FilterOf(*job.shape);
  job.simulate_empty = random.Chance(15);
  job.affinity_scores = random.Chance(80);
  job.replacement_domain = {0, snapshot.leaf_count()};
  if (random.Chance(10)) job.replacement_domain = {1, snapshot.leaf_count() / 2};
  for (std::int32_t leaf = 0; leaf < snapshot.leaf_count() && random.Chance(70); leaf += 7) {
    AssumedLeaf assumed{LeafId(leaf), std::vector<Amount>(snapshot.resources().size(), 0)};
    for (Amount& amount : assumed.amounts) amount = random.Between(0, 4);
    job.assumed.Mutable().push_back(std::move(assumed));
  }
  return job;
}

TEST(CpuBackendTest, Name) { EXPECT_EQ(MakeCpuBackend(1)->name(), "cpu"); }

// Counts refreshed from the log of changes, with assumed usage applied and taken back, answer as
// counts made from nothing do.
TEST(CpuBackendTest, WarmCountsAnswerAsFreshOnes) {
  int placed = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Random random(seed);
    ClusterState state = BuildState(RandomCluster(random));
    FlavorState& flavor = *state.Find("tas");
    const auto warm = MakeCpuBackend(1);
    for (int step = 0; step < 60; ++step) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " step " + std::to_string(step));
      const LeafId leaf(
          static_cast<std::int32_t>(random.Between(0, flavor.snapshot().leaf_count() - 1)));
      const Resources usage = {{"gpu", random.Between(1, 5)}, {"pods", 1}};
      if (random.Chance(50)) flavor.Add(leaf, usage);
      if (random.Chance(30)) flavor.Remove(leaf, usage);
      if (random.Chance(5)) flavor.ClassifyLeaves();
      PlacementJob job = RandomJob(random, flavor);
      const Evaluated result = Evaluate(*warm, job);
      ExpectEqual(result, Evaluate(*MakeCpuBackend(1), job));
      const ClusterState by_leaf = WithoutClasses(state.Clone());
      job.state = by_leaf.Find("tas");
      ExpectEqual(result, Evaluate(*MakeCpuBackend(1), job));
      ASSERT_FALSE(HasFailure());
      placed += result.status == PlacementStatus::kPlaced ? 1 : 0;
    }
  }
  EXPECT_GT(placed, 200);
  EXPECT_LT(placed, 680);
}

// Forty racks of four hosts each in four blocks.
ClusterStateInput FourBlocks(const std::vector<SpreadAmount>& of_host) {
  return MakeRacks({.depth = 3, .racks = 40, .racks_of_block = 10, .has = of_host});
}

PlacementJob JobFor(const FlavorState& state, const PodSetRequest& pod_set) {
  const FlavorSnapshot& snapshot = state.snapshot();
  const PlacementTemplate resolved = *MakePlacementTemplate(pod_set, nullptr, snapshot, {});
  return MakeJob(resolved, state, snapshot.FilterOf(*resolved.shape), pod_set.count);
}

void Change(FlavorState& state, std::int32_t leaf, const Resources& amounts, int sign) {
  const CapacityChange change{LeafId(leaf), &amounts, sign};
  state.ChangeCapacity({&change, 1});
}

// Larger nodes join, so that the tiles of the next tree have larger units.
TEST(CpuBackendTest, ClassesAreOfTheUnitsOfTheirTree) {
  ClusterState cluster = BuildState(FourBlocks({{"mem", Amount{1} << 22}, {"pods", 110}}));
  PodSetRequest pod_set = MakePodSet(1000, Required("block"));
  pod_set.requests = {{"mem", Amount{1} << 20}};
  for (const char* path : {"b9/r90/x1", "b9/r90/x2"}) {
    const Node joins = HostNode(path, {{"mem", Amount{1} << 24}, {"pods", 110}});
    StateChange change;
    change.nodes.push_back({nullptr, &joins, nullptr, nullptr});
    change.usage_on = [](std::string_view, std::string_view) -> const Resources* {
      return nullptr;
    };
    ASSERT_TRUE(cluster.CanApply(change));
    ASSERT_TRUE(cluster.Apply(change, true, WorkBudget::Unlimited()));
    const ClusterState without = WithoutClasses(cluster.Clone());
    const auto answer = [&](const ClusterState& of) {
      return Evaluate(*MakeCpuBackend(1), JobFor(*of.Find("tas"), pod_set));
    };
    ExpectEqual(answer(cluster), answer(without));
    EXPECT_EQ(answer(cluster).failed->fit, 160);
  }
}

// A branch in the memory of another one has the free capacity of its parent in an array of its own.
TEST(CpuBackendTest, CountsOfFreeCapacityAreOfTheArrayOfTheirState) {
  const ClusterState cluster = BuildState(FourBlocks({{"gpu", 4}, {"pods", 110}}));
  const Resources one = {{"gpu", 1}};
  const Resources four = {{"gpu", 4}};
  const auto backend = MakeCpuBackend(1);
  const auto ask = [](Backend& of, const FlavorState& state) {
    PlacementJob job = JobFor(state, MakePodSet(16, Required("rack")));
    job.simulate_empty = true;
    return Evaluate(of, job);
  };
  auto first = cluster.Find("tas")->Branch();
  Change(*first, 20, one, 1);
  auto second = first->Branch();
  Change(*second, 24, one, 1);
  first->Retire();
  const auto third = second->Branch(std::move(first));
  ask(*backend, *second);
  second->Retire();
  ask(*backend, *third);
  const auto fourth = third->Branch(std::move(second));
  for (const std::int32_t leaf : {0, 1}) Change(*fourth, leaf, four, -1);
  ExpectEqual(ask(*backend, *third), ask(*MakeCpuBackend(1), *third));
  EXPECT_EQ(ask(*backend, *third).shares.size(), 4U);
}

// Counts of what was a what-if with an enormous node are cut off at the most that a count can be.
TEST(CpuBackendTest, R8_1_SumsThatWereCutOffAreNotContinued) {
  const ClusterState cluster = WithoutClasses(BuildState(FourBlocks({{"gpu", 4}, {"pods", 110}})));
  const PodSetRequest pod_set = MakePodSet(100, Required("block"));
  const auto backend = MakeCpuBackend(1);
  {
    const Resources enormous = {{"gpu", Amount{1} << 40}, {"pods", Amount{1} << 40}};
    const auto what_if = cluster.Find("tas")->Branch();
    Change(*what_if, 0, enormous, 1);
    EXPECT_EQ(Evaluate(*backend, JobFor(*what_if, pod_set)).status, PlacementStatus::kPlaced);
  }
  const auto branch = cluster.Find("tas")->Branch();
  const PlacementJob job = JobFor(*branch, pod_set);
  ExpectEqual(Evaluate(*backend, job), Evaluate(*MakeCpuBackend(1), job));
  EXPECT_EQ(Evaluate(*backend, job).shares.front().leaf, LeafId(0));
}

// More remains on a leaf than a tile can hold, and less than is lacking on another one.
TEST(CpuBackendTest, R5_9_CountsFollowTilesThatBecomeInexact) {
  const ClusterState cluster = BuildState(FourBlocks({{"mem", Amount{1} << 22}, {"pods", 110}}));
  const auto state = cluster.Find("tas")->Branch();
  const auto backend = MakeCpuBackend(1);
  PodSetRequest pod_set = MakePodSet(8, Required(kHost));
  pod_set.requests = {{"mem", Amount{1} << 20}};
  Change(*state, 7, {{"pods", 1}}, 1);  // has an array of its own from now on
  state->Add(LeafId(0), {{"mem", Amount{1} << 25}});
  Evaluate(*backend, JobFor(*state, pod_set));
  Change(*state, 5, {{"mem", Amount{1} << 22}}, 1);
  const PlacementJob job = JobFor(*state, pod_set);
  EXPECT_EQ(Evaluate(*backend, job).status, PlacementStatus::kPlaced);
  ExpectEqual(Evaluate(*backend, job), Evaluate(*MakeCpuBackend(1), job));
}

// States of one flavor that live side by side: branches, some in the memory of others, and copies.
class LivingStates {
 public:
  LivingStates(Random& random, const FlavorState& first) : random_(random) {
    alive_.push_back(first.Branch());
  }

  FlavorState& Any() { return *alive_[AnyIndex()]; }

  // Makes or ends a state, or does neither.
  void ComeAndGo() {
    if (random_.Chance(20)) {
      std::unique_ptr<FlavorState> spare;
      if (!spares_.empty() && random_.Chance(80)) {
        spare = std::move(spares_.back());
        spares_.pop_back();
      }
      alive_.push_back(Any().Branch(std::move(spare)));
    } else if (random_.Chance(4)) {
      alive_.push_back(std::make_unique<FlavorState>(Any()));
    } else if (alive_.size() > 1 && random_.Chance(12)) {
      const auto gone = alive_.begin() + static_cast<std::ptrdiff_t>(AnyIndex());
      (*gone)->Retire();
      if (random_.Chance(80)) spares_.push_back(std::move(*gone));
      alive_.erase(gone);
    }
  }

  // Changes the usage or the capacity of a leaf, by amounts about as large as a tile can hold, and
  // seldom by enormous ones.
  void ChangeOneLeaf() {
    FlavorState& state = Any();
    const auto leaf =
        static_cast<std::int32_t>(random_.Between(0, state.snapshot().leaf_count() - 1));
    Resources amounts = {{"gpu", random_.Between(1, 4)},
                         {"mem", Amount{1} << random_.Between(18, 25)},
                         {"pods", random_.Between(0, 1)}};
    if (random_.Chance(5)) {
      const Amount enormous = Amount{1} << random_.Pick({40, 33, 31});
      amounts = {{"gpu", enormous}, {"pods", enormous}};
    }
    switch (random_.Between(0, 4)) {
      case 0:
        return state.Add(LeafId(leaf), amounts);
      case 1:
        return state.Remove(LeafId(leaf), amounts);
      case 2:
        if (random_.Chance(20)) state.ClassifyLeaves();
        return;
      default:
        return Change(state, leaf, amounts, random_.Chance(50) ? 1 : -1);
    }
  }

 private:
  std::size_t AnyIndex() {
    return static_cast<std::size_t>(random_.Between(0, std::ssize(alive_) - 1));
  }

  Random& random_;
  std::vector<std::unique_ptr<FlavorState>> alive_;
  std::vector<std::unique_ptr<FlavorState>> spares_;
};

TEST(CpuBackendTest, StatesThatComeAndGoAnswerAsWithFreshCounts) {
  constexpr std::int64_t kKinds = 4;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    ClusterStateInput input = FourBlocks(
        {{"gpu", random.Between(1, 6)}, {"mem", Amount{1} << 22}, {"pods", random.Pick({5, 110})}});
    for (std::size_t i = 0; i < input.nodes.size(); i += 3) input.nodes[i].labels.Set("fast", "y");
    const ClusterState cluster = BuildState(input);
    LivingStates states(random, *cluster.Find("tas"));
    const auto backend = MakeCpuBackend(1);
    for (int step = 0; step < 60; ++step) {
      SCOPED_TRACE(fmt::format("seed {} step {}", seed, step));
      states.ComeAndGo();
      for (std::int64_t i = random.Between(0, 5); i > 0; --i) states.ChangeOneLeaf();
      std::vector<PlacementJob> jobs;
      for (std::int64_t i = random.Between(1, 5); i > 0; --i) {
        // Jobs are of a few kinds, so that most counts are warm.
        Random of_kind(seed * kKinds + static_cast<std::uint64_t>(random.Between(0, kKinds - 1)));
        jobs.push_back(RandomJob(of_kind, states.Any()));
        jobs.back().query.pods = random.Between(1, random.Pick({12, 300}));
        jobs.back().simulate_empty = random.Chance(25);
      }
      if (random.Chance(30)) {
        ASSERT_EQ(CountEach(*backend, jobs), CountOneByOne(*backend, jobs));
      }
      std::vector<Evaluated> results(jobs.size());
      const bool together = random.Chance(50);
      if (together) results = Evaluate(*backend, jobs);
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (!together) results[i] = Evaluate(*backend, jobs[i]);
        ExpectEqual(results[i], Evaluate(*MakeCpuBackend(1), jobs[i]));
      }
      if (HasFailure()) return;
    }
  }
}

// Counts made in bulk are those made leaf by leaf.
TEST(CpuBackendTest, CountsDomainsAsTheirLeavesOneByOne) {
  const auto backend = MakeCpuBackend(1);
  int with_room = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const ClusterState state = BuildState(RandomCluster(random));
    const FlavorState& flavor = *state.Find("tas");
    CountsStorage bulk_storage;  // of jobs before, too
    for (int i = 0; i < 50; ++i) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " job " + std::to_string(i));
      const PlacementJob job = RandomJob(random, flavor);
      CountsStorage one_by_one_storage;
      backend->CountDomains(job, bulk_storage);
      backend->Backend::CountDomains(job, one_by_one_storage);
      const CountsView bulk = bulk_storage.View();
      const CountsView one_by_one = one_by_one_storage.View();
      for (std::int32_t d = 0; d < flavor.snapshot().domain_count(); ++d) {
        ASSERT_EQ(bulk.pods[d], one_by_one.pods[d]);
        ASSERT_EQ(bulk.slices[d], one_by_one.slices[d]);
        ASSERT_EQ(bulk.pods_with_leader[d], one_by_one.pods_with_leader[d]);
        ASSERT_EQ(bulk.slices_with_leader[d], one_by_one.slices_with_leader[d]);
        ASSERT_EQ(bulk.Leaders(d), one_by_one.Leaders(d));
        with_room += bulk.slices[d] > 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(with_room, 5000);
}

// One pod of a pod set on the flavor as it is now.
Evaluated EvaluateOnePod(Backend& backend, ClusterState& state, const PodSetRequest& pod_set) {
  const FlavorState& flavor = *state.Find("tas");
  const ResolvedRequest resolved = *ResolveRequest(pod_set, flavor.snapshot(), {});
  PlacementJob job;
  job.state = &flavor;
  job.query = resolved.query;
  job.query.pods = 1;
  job.shape = MakeShape(resolved, pod_set, nullptr, flavor.snapshot());
  job.filter = flavor.snapshot().FilterOf(*job.shape);
  job.replacement_domain = {0, flavor.snapshot().leaf_count()};
  return Evaluate(backend, job);
}

// A resource of its own on each node makes a state sparse and changes no answer of those that do
// not ask for it.
TEST(CpuBackendTest, SparseStatesAnswerAsDenseOnes) {
  constexpr int kHosts = 1200;
  Random random(11);
  std::vector<std::pair<std::string, Amount>> hosts;
  for (int i = 0; i < kHosts; ++i) {
    hosts.emplace_back(
        "b" + std::to_string(i / 100) + "/r" + std::to_string(i / 10) + "/h" + std::to_string(i),
        random.Between(0, 8));
  }
  const ClusterStateInput dense = Gpus(hosts);
  ClusterStateInput sparse = dense;
  for (Node& node : sparse.nodes) node.allocatable.Set("own-" + node.name, 3);
  std::vector<WorkloadRequest> requests;
  for (int i = 0; i < 200; ++i) {
    requests.push_back(MakeWorkload(
        {MakePodSet(static_cast<std::int32_t>(random.Between(1, 200)),
                    random.Pick({Required("rack"), Required("block"), Preferred("block"),
                                 Unconstrained(), Required("block", {{"rack", 4}})}))}));
  }
  for (const PlacementMode mode : {PlacementMode::kNominate, PlacementMode::kSequential}) {
    ClusterState dense_state = BuildState(dense);
    ClusterState sparse_state = BuildState(sparse);
    ASSERT_TRUE(sparse_state.Find("tas")->remaining().sparse());
    const Engine engine(MakeCpuBackend(2), {});
    EXPECT_EQ(engine.Place(sparse_state, requests, mode),
              engine.Place(dense_state, requests, mode));
  }
  WorkloadRequest own = MakeWorkload({MakePodSet(1, Unconstrained())});
  own.pod_sets[0].requests = {{"own-h777", 3}};
  const ClusterState state = BuildState(sparse);
  const auto answers = Engine(MakeCpuBackend(1), {}).Nominate(state, {&own, 1});
  EXPECT_EQ(Text(answers[0].pod_sets.at(0)), "h777:1");
}

TEST(CpuBackendTest, ExtremeAmountsAreCountedOneByOne) {
  const Amount most = std::numeric_limits<Amount>::max();
  ClusterStateInput input = OneFlavor(LevelKeys(2));
  input.nodes = {HostNode("r1/a", {{"memory", most}, {"pods", 110}}),
                 HostNode("r1/b", {{"memory", most - 1}, {"pods", most}})};
  ClusterState state = BuildState(input);
  PodSetRequest pod_set = MakePodSet(1, Required(kHost));
  pod_set.requests = {{"memory", most}};
  const auto backend = MakeCpuBackend(1);
  const auto evaluate = [&] { return EvaluateOnePod(*backend, state, pod_set); };
  EXPECT_EQ(evaluate().shares, (std::vector<LeafShare>{{LeafId(0), 0, 1}}));
  state.AddUsage({{"tas", "a", {{"memory", 1}}}});
  EXPECT_EQ(evaluate().status, PlacementStatus::kDoesNotFit);
  state.AddUsage({{"tas", "a", {{"memory", most}}}, {"tas", "a", {{"memory", most}}}});
  EXPECT_EQ(evaluate().failed->limited_by, (std::vector<std::int64_t>{2, 0}));
}

// More resources than what limits a leaf is kept for: each failure counts anew.
TEST(CpuBackendTest, R18_7_HundredsOfResources) {
  constexpr int kResources = 300;
  ClusterStateInput input = OneFlavor(LevelKeys(2));
  PodSetRequest pod_set = MakePodSet(1, Required("rack"));
  pod_set.requests = {};
  Resources all = {{"pods", 110}};
  for (int i = 0; i < kResources; ++i) {
    all.Set(std::to_string(1000 + i), 1);
    pod_set.requests.Set(std::to_string(1000 + i), 1);
  }
  for (const char* host : {"r1/a", "r1/b", "r2/c"}) input.nodes.push_back(HostNode(host, all));
  input.nodes[0].allocatable.Set("1299", 0);
  input.nodes[1].allocatable.Set("1000", 0);
  ClusterState state = BuildState(input);
  const auto backend = MakeCpuBackend(1);
  EXPECT_EQ(EvaluateOnePod(*backend, state, pod_set).status, PlacementStatus::kPlaced);
  std::vector<std::int64_t> limited(kResources + 1, 0);  // "pods" comes last
  limited[0] = 1;
  limited[299] = 1;
  for (const int used : {260, 280}) {
    state.AddUsage({{"tas", "c", {{std::to_string(1000 + used), 1}}}});
    limited[260] = 1;  // of two that are lacking, the first
    for (int again = 0; again < 2; ++again) {
      EXPECT_EQ(EvaluateOnePod(*backend, state, pod_set).failed->limited_by, limited);
    }
  }
}

struct Batch {
  explicit Batch(std::uint64_t seed) {
    Random random(seed);
    state = BuildState(RandomCluster(random));
    for (int i = 0; i < 80; ++i) jobs.push_back(RandomJob(random, *state.Find("tas")));
    expected.resize(jobs.size());
    const auto backend = MakeCpuBackend(1);
    for (std::size_t i = 0; i < jobs.size(); ++i) expected[i] = Evaluate(*backend, jobs[i]);
  }
  void ExpectAnswersOf(Backend& backend) const {
    const std::vector<Evaluated> results = Evaluate(backend, jobs);
    ASSERT_EQ(results.size(), jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) ExpectEqual(results[i], expected[i]);
  }
  ClusterState state = BuildState({});
  std::vector<PlacementJob> jobs;
  std::vector<Evaluated> expected;
};

TEST(CpuBackendTest, SameBitsForAnyNumberOfThreads) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Batch batch(seed);
    for (const int threads : {1, 2, 5, 0}) batch.ExpectAnswersOf(*MakeCpuBackend(threads));
  }
}

TEST(CpuBackendTest, SeveralThreadsCallOneBackend) {
  const Batch batch(4);
  const auto backend = MakeCpuBackend(2);
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&, i] {
      for (std::size_t j = static_cast<std::size_t>(i); j < batch.jobs.size(); j += 2) {
        ExpectEqual(Evaluate(*backend, batch.jobs[j]), batch.expected[j]);
      }
      batch.ExpectAnswersOf(*backend);
    });
  }
  for (std::thread& caller : callers) caller.join();
}

// Branches of one state that come and go on several threads, each of which goes on from counts of
// those that are gone, whoever made them.
TEST(CpuBackendTest, BranchesOnSeveralThreads) {
  Random shared_choice(5);
  const ClusterState state = BuildState(RandomCluster(shared_choice));
  const auto backend = MakeCpuBackend(2);
  std::vector<std::thread> callers;
  for (std::uint64_t caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&, caller] {
      Random random(caller);
      for (int round = 0; round < 60; ++round) {
        ClusterState branch = state.Branch();
        FlavorState& flavor = *branch.Find("tas");
        const auto leaf = random.Between(0, flavor.snapshot().leaf_count() - 1);
        flavor.Add(LeafId(static_cast<std::int32_t>(leaf)), {{"gpu", random.Between(-2, 4)}});
        Random same_shapes(static_cast<std::uint64_t>(round % 3));
        for (int i = 0; i < 4; ++i) {
          const PlacementJob job = RandomJob(same_shapes, flavor);
          ExpectEqual(Evaluate(*backend, job), Evaluate(*MakeCpuBackend(1), job));
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(CpuBackendTest, NoJobsNoWork) {
  const auto backend = MakeCpuBackend(2);
  PlacementColumns answers;
  answers.EndRow({}, 0);
  backend->Evaluate({}, {}, answers);
  EXPECT_EQ(answers, PlacementColumns());
  backend->Prepare({}, {});
  // The next request is answered as ever.
  const ClusterState state = BuildState(Gpus({{"b0/r0/h0", 4}}));
  EXPECT_EQ(Engine(backend, {}).Nominate(state, {}).size(), 0u);
}

}  // namespace
}  // namespace espalier::cpu_backend_test
