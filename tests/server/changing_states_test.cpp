// Whatever is changed, booked and refused in whatever order: the state is the one that its contents
// make, and so are all answers.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/booked_usage.hpp"
#include "host/engine/engine.hpp"
#include "host/live/state_checksum.hpp"
#include "host/live/state_store.hpp"
#include "tests/sanitizers.hpp"
#include "tests/server/changing_cluster.hpp"
#include "tests/server/same_state.hpp"

namespace espalier::changing_states_test {
namespace {

#if defined(ESPALIER_SANITIZED)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// Answers in words, one line a pod set.
std::string TextOf(const std::vector<WorkloadAnswer>& answers) {
  std::string text;
  for (const WorkloadAnswer& answer : answers) {
    for (const PodSetAnswer& pod_set : answer.pod_sets) {
      text += fmt::format("{} on {}:", pod_set.name, pod_set.flavor);
      if (pod_set.failure) text += " " + pod_set.failure->reason;
      if (pod_set.assignment) {
        for (const TopologyDomainAssignment& domain : pod_set.assignment->domains) {
          text += fmt::format(" {}={}", fmt::join(domain.values, "/"), domain.count);
        }
      }
      text += "\n";
    }
  }
  return text;
}

// The same with one entry for each leaf.
ClusterStateInput Merged(ClusterStateInput input) {
  std::map<std::pair<std::string, std::string>, Resources> sums;
  for (const FlavorLeafUsage& usage : input.tas_usage) {
    AddTo(sums[{usage.flavor, usage.leaf}], usage.usage);
  }
  input.tas_usage.clear();
  for (const auto& [key, sum] : sums) input.tas_usage.push_back({key.first, key.second, sum});
  return input;
}

// The key of each workload, and the usage of all slices of its job.
using UsageOfJobs = std::vector<std::pair<ObjectKey, std::vector<FlavorLeafUsage>>>;

UsageOfJobs JobsOf(const AdmittedWorkloads& admitted) {
  UsageOfJobs jobs;
  for (const AdmittedUsage* workload : admitted.ByKey()) {
    jobs.emplace_back(workload->key, admitted.WholeJob(workload->key).usage);
  }
  return jobs;
}

UsageOfJobs JobsOf(const std::vector<AdmittedUsage>& workloads) {
  const auto job = [](const AdmittedUsage& workload) {
    return workload.job.empty() ? workload.key.name : workload.job;
  };
  UsageOfJobs jobs;
  for (const AdmittedUsage& workload : workloads) {
    AdmittedUsage all;
    for (const AdmittedUsage& slice : workloads) {
      if (slice.key.namespace_ != workload.key.namespace_ || job(slice) != job(workload)) continue;
      all.usage.insert(all.usage.end(), slice.usage.begin(), slice.usage.end());
    }
    jobs.emplace_back(workload.key, InOrder(std::move(all)).usage);
  }
  return jobs;
}

// A store, what it is to hold, and questions that are asked again and again.
class Sequence {
 public:
  explicit Sequence(std::uint64_t seed)
      : random_(seed), cluster_(random_), engine_(MakeCpuBackend(1), cluster_.instance().gates) {
    position_ = *store_.Load(cluster_.Input());
    requests_.push_back(cluster_.instance().request);
    for (int i = 0; i < 4; ++i) requests_.push_back(cluster_.AnyRequest());
  }

  StateStore& store() { return store_; }
  const Engine& engine() const { return engine_; }
  const std::vector<WorkloadRequest>& requests() const { return requests_; }

  // Changes something, or is refused. Returns whether there is a new generation.
  bool Step() {
    if (random_.Chance(15)) {
      Commit();
      return true;
    }
    WorkBudget budget;
    if (random_.Chance(5)) budget.Stop({ErrorClass::kCancelled, "stopped"});
    StateDelta delta = cluster_.AnyChange();
    const auto updated = store_.Update(position_, delta, budget);
    if (!updated) {
      EXPECT_TRUE(budget.stopped()) << updated.error().message;
      EXPECT_EQ(store_.Current()->position, position_);
      return false;
    }
    position_ = *updated;
    cluster_.Apply(delta);
    shared_ = true;
    return true;
  }

  void AskSomethingElse() {
    requests_[static_cast<std::size_t>(random_.Between(1, std::ssize(requests_) - 1))] =
        cluster_.AnyRequest();
  }

  // Returns the state that the contents make. Flavors see each other's bookings with an update.
  ClusterState Built() const { return BuildState(cluster_.Input()); }
  std::vector<AdmittedUsage> Workloads() const { return cluster_.Workloads(); }
  bool shared() const { return shared_; }
  std::uint64_t Checksum() const {
    std::uint64_t sum = ChecksumOf(Merged(cluster_.Input()));
    for (const AdmittedUsage& workload : cluster_.Workloads()) sum += ChecksumOf(workload);
    return sum;
  }

 private:
  void Commit() {
    ClusterState branch = store_.Current()->state.Branch();
    const std::vector<WorkloadRequest> asked = {
        requests_[static_cast<std::size_t>(random_.Between(0, std::ssize(requests_) - 1))]};
    const std::vector<WorkloadAnswer> answers = engine_.PlaceInOrder(branch, asked);
    position_ = *store_.Book(position_, std::move(branch));
    if (answers[0].FirstFailure() != nullptr) return;
    const std::vector<FlavorLeafUsage> booked = BookedUsage(asked[0], answers[0]);
    cluster_.Book(booked);
    shared_ = shared_ && booked.empty();
  }

  Random random_;
  ChangingCluster cluster_;
  Engine engine_;
  StateStore store_;
  StatePosition position_;
  std::vector<WorkloadRequest> requests_;
  bool shared_ = true;  // an update came after the last commit
};

class ChangingStatesTest : public testing::TestWithParam<int> {};

TEST_P(ChangingStatesTest, AreAsIfBuilt) {
  constexpr int kSeeds = kSanitized ? 5 : 100;
  constexpr int kSteps = 50;
  int failures = 0;
  int generations = 0;
  int followed = 0;  // of these, how many were not built anew
  for (int i = 0; i < kSeeds; ++i) {
    const int seed = GetParam() * kSeeds + i;
    Sequence run(static_cast<std::uint64_t>(seed));
    for (int step = 0; step < kSteps; ++step) {
      SCOPED_TRACE(fmt::format("seed {} step {}", seed, step));
      const std::shared_ptr<const PublishedState> before = run.store().Current();
      if (!run.Step()) continue;
      ++generations;
      followed += run.store().Current()->state.IsBranchOf(before->state);
      if (step % 10 == 9) run.AskSomethingElse();
      ASSERT_EQ(run.store().CurrentChecked()->checksum, run.Checksum());
      ASSERT_EQ(JobsOf(*run.store().Current()->admitted), JobsOf(run.Workloads()));
      if (!run.shared()) continue;
      const std::shared_ptr<const PublishedState> now = run.store().Current();
      const ClusterState built = run.Built();
      ASSERT_NO_FATAL_FAILURE(ExpectSame(now->state, built));
      const auto answers = run.engine().Nominate(now->state, run.requests());
      const auto expected = run.engine().Nominate(built, run.requests());
      ASSERT_EQ(TextOf(answers), TextOf(expected));
      ASSERT_EQ(answers, expected);
      for (const WorkloadAnswer& answer : answers) failures += answer.FirstFailure() != nullptr;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(failures, 0);
  EXPECT_GT(followed, generations * 3 / 4);
}

INSTANTIATE_TEST_SUITE_P(Shards, ChangingStatesTest, testing::Range(0, 4));

// Readers of any generation are answered as if nothing changed meanwhile.
TEST(ChangingStatesTest, ReadersKeepTheirGeneration) {
  constexpr int kSteps = kSanitized ? 60 : 400;
  for (std::uint64_t seed = 1; seed < 4; ++seed) {
    Sequence run(seed);
    using Answers = std::vector<WorkloadAnswer>;
    const std::vector<WorkloadRequest> requests = run.requests();
    std::mutex mutex;
    std::map<std::uint64_t, Answers> seen;  // by generation; guarded by mutex
    std::atomic<bool> ended = false;
    const auto read = [&] {
      std::vector<std::shared_ptr<const PublishedState>> held;
      while (!ended) {
        held.push_back(run.store().Current());
        if (held.size() > 3) held.erase(held.begin());
        for (const auto& snapshot : held) {
          const Answers answers = run.engine().Nominate(snapshot->state, requests);
          const std::lock_guard lock(mutex);
          const auto [it, fresh] = seen.emplace(snapshot->position.generation, answers);
          EXPECT_EQ(it->second, answers) << "generation " << it->first;
        }
      }
    };
    std::vector<std::thread> readers;
    for (int i = 0; i < 2; ++i) readers.emplace_back(read);
    std::map<std::uint64_t, Answers> expected;
    for (int step = 0; step < kSteps; ++step) {
      run.Step();
      if (!run.shared()) continue;
      expected[run.store().Current()->position.generation] =
          run.engine().Nominate(run.Built(), requests);
    }
    ended = true;
    for (std::thread& reader : readers) reader.join();
    for (const auto& [generation, answers] : seen) {
      const auto built = expected.find(generation);
      if (built == expected.end()) continue;
      EXPECT_EQ(answers, built->second) << "seed " << seed << " generation " << generation;
    }
  }
}

TEST(StateChecksumTest, DependsOnContentsAlone) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    ChangingCluster cluster(random);
    ClusterStateInput input = cluster.Input();
    StateStore store;
    ASSERT_TRUE(store.Load(input));
    const std::uint64_t checksum = store.CurrentChecked()->checksum;
    EXPECT_NE(checksum, 0U);
    random.Shuffle(input.nodes);
    random.Shuffle(input.tas_usage);
    random.Shuffle(input.flavors);
    input.tas_usage.push_back({"default", "nowhere", {{"cpu", 0}}});
    StateStore other;
    ASSERT_TRUE(other.Load(input));
    EXPECT_EQ(other.CurrentChecked()->checksum, checksum);
    input.share_usage_between_flavors = !input.share_usage_between_flavors;
    EXPECT_NE(ChecksumOf(input), checksum);
  }
}

// No two of the things that are told apart say the same.
TEST(StateChecksumTest, EveryFieldCounts) {
  Node node;
  node.name = "n1";
  std::vector<Node> nodes(9, node);
  nodes[1].name = "n2";
  nodes[2].labels.Set("a", "");
  nodes[3].labels.Set("", "a");
  nodes[4].taints = {{"a", "", ""}};
  nodes[5].taints = {{"", "a", ""}};
  nodes[6].unschedulable = true;
  nodes[7].ready = true;
  nodes[8].allocatable.Set("a", 0);
  std::map<std::uint64_t, int> seen;
  for (const Node& other : nodes) ++seen[ChecksumOf(other)];
  ++seen[ChecksumOf(NodeUsage{"n1", {{"cpu", 1}}})];
  ++seen[ChecksumOf(NodeUsage{"n1", {{"cpu", 1}}, {{"cpu", 1}}})];
  ++seen[ChecksumOf(FlavorLeafUsage{"n1", "", {{"cpu", 1}}})];
  ++seen[ChecksumOf(FlavorLeafUsage{"", "n1", {{"cpu", 1}}})];
  ++seen[ChecksumOf(FlavorLeafUsage{"", "n1", {{"cpu", 2}}})];
  ++seen[ChecksumOf(Topology{"n1", {}})];
  ++seen[ChecksumOf(Topology{"n1", {"a"}})];
  ++seen[ChecksumOf(ResourceFlavor{"n1", {}, {}, {}, {}})];
  ++seen[ChecksumOf(ResourceFlavor{"n1", {}, {}, {}, ""})];
  std::vector<AdmittedUsage> workloads(7);
  workloads[1].key.namespace_ = "a";
  workloads[2].key.name = "a";
  workloads[3].priority = 1;
  workloads[4].quota_reserved_seconds = 1;
  workloads[5].usage = {{"", "n1", {{"cpu", 1}}}};
  workloads[6].job = "a";
  for (const AdmittedUsage& workload : workloads) ++seen[ChecksumOf(workload)];
  ++seen[ChecksumOfSharing(true)];
  ++seen[ChecksumOfSharing(false)];
  EXPECT_EQ(seen.size(), nodes.size() + workloads.size() + 11);
  EXPECT_EQ(ChecksumOf(NodeUsage{"n1", {{"cpu", 0}}}), 0U);
}

}  // namespace
}  // namespace espalier::changing_states_test
