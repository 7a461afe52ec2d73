#include "host/what_if/atlas.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/model/work_budget.hpp"
#include "host/packing/flavor_state.hpp"
#include "host/what_if/victim_sets.hpp"
#include "tests/engine/requests.hpp"
#include "tests/generated/random.hpp"
#include "tests/packing/states.hpp"

namespace espalier::atlas_test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Workloads that run on a cluster, and how important they are.
struct Running {
  std::vector<Victim> victims;
  std::vector<std::int64_t> priorities;

  void Add(std::int64_t priority, const std::vector<std::pair<std::string, Amount>>& hosts) {
    Victim& victim = victims.emplace_back(Victim{fmt::format("v{}", victims.size()), {}});
    for (const auto& [host, gpus] : hosts) {
      victim.usage.push_back({"tas", host, {{"gpu", gpus}, {"pods", gpus}}});
    }
    priorities.push_back(priority);
  }
  void AddTo(ClusterStateInput& input) const {
    for (const Victim& victim : victims) {
      input.tas_usage.insert(input.tas_usage.end(), victim.usage.begin(), victim.usage.end());
    }
  }
};

struct Found {
  std::vector<std::int64_t> priorities;
  std::vector<AtlasRow> rows;
  std::vector<const AtlasRow*> of_request;
  PriorityStep never = 0;
};

Found Find(const ClusterState& state, const std::vector<WorkloadRequest>& requests,
           const Running& running, const Engine& engine = Engine(MakeCpuBackend(1), {})) {
  Found found;
  auto search = AtlasSearch::Open(engine, state, requests, running.victims, running.priorities);
  if (!search) {
    ADD_FAILURE() << search.error().message;
    return found;
  }
  found.priorities.assign(search->priorities().begin(), search->priorities().end());
  found.never = search->never();
  for (bool more = true; more;) {
    auto rows = search->Next();
    if (!rows) {
      ADD_FAILURE() << rows.error().message;
      return found;
    }
    more = !rows->empty();
    std::ranges::move(*rows, std::back_inserter(found.rows));
  }
  found.of_request.resize(requests.size());
  for (const AtlasRow& row : found.rows) {
    for (const std::size_t request : row.requests) {
      EXPECT_EQ(found.of_request[request], nullptr) << "request " << request << " has two rows";
      found.of_request[request] = &row;
    }
  }
  for (const AtlasRow* row : found.of_request) {
    if (row == nullptr) ADD_FAILURE() << "a request has no row";
  }
  return found;
}

TEST(Atlas, NumbersThePrioritiesThatHaveToGo) {
  ClusterStateInput input = Gpus({{"r1/a", 4}, {"r1/b", 4}, {"r2/c", 4}, {"r3/d", 4}, {"r4/e", 2}});
  Running running;
  running.Add(-5, {{"a", 4}});
  running.Add(20, {{"b", 4}, {"c", 1}});
  running.Add(7, {{"c", 3}});
  running.AddTo(input);
  const Found found = Find(BuildState(input),
                           {MakeWorkload({MakePodSet(4, Required("rack"))}),
                            MakeWorkload({MakePodSet(8, Required("rack"))}),
                            MakeWorkload({MakePodSet(9, Required("rack"))}),
                            MakeWorkload({MakePodSet(4, Required("rack"))})},
                           running);
  EXPECT_THAT(found.priorities, ElementsAre(-5, 7, 20));
  EXPECT_EQ(found.never, 4);
  EXPECT_THAT(found.of_request[0]->steps, ElementsAre(1, 3, 0, 4));
  EXPECT_EQ(found.of_request[0]->anywhere, 0);
  EXPECT_THAT(found.of_request[1]->steps, ElementsAre(3, 4, 4, 4));
  EXPECT_EQ(found.of_request[1]->anywhere, 3);
  EXPECT_THAT(found.of_request[2]->steps, Each(4));
  EXPECT_EQ(found.of_request[2]->anywhere, 4);
  EXPECT_EQ(found.of_request[3], found.of_request[0]);
  EXPECT_THAT(found.of_request[0]->requests, ElementsAre(0, 3));
}

TEST(Atlas, PreferredIsToldByDomainAndAnywhere) {
  ClusterStateInput input = Gpus({{"r1/a", 4}, {"r2/b", 4}});
  Running running;
  running.Add(1, {{"a", 2}});
  running.Add(2, {{"b", 2}});
  running.AddTo(input);
  const Found found = Find(BuildState(input),
                           {MakeWorkload({MakePodSet(4, Preferred("rack"))}),
                            MakeWorkload({MakePodSet(6, Unconstrained())})},
                           running);
  EXPECT_THAT(found.of_request[0]->steps, ElementsAre(1, 2));
  EXPECT_EQ(found.of_request[0]->anywhere, 0);  // two pods on each
  EXPECT_THAT(found.of_request[1]->steps, IsEmpty());
  EXPECT_EQ(found.of_request[1]->anywhere, 1);
}

TEST(Atlas, OfNothing) {
  const ClusterState state = BuildState(Gpus({{"r1/a", 4}}));
  EXPECT_THAT(Find(state, {}, {}).rows, IsEmpty());
  const Found nobody = Find(state,
                            {MakeWorkload({MakePodSet(4, Required("rack"))}),
                             MakeWorkload({MakePodSet(5, Required("rack"))})},
                            {});
  EXPECT_THAT(nobody.priorities, IsEmpty());
  EXPECT_THAT(nobody.of_request[0]->steps, ElementsAre(0));
  EXPECT_THAT(nobody.of_request[1]->steps, ElementsAre(1));

  const ClusterState empty = BuildState(OneFlavor(LevelKeys(2)));
  const Found nowhere = Find(empty, {MakeWorkload({MakePodSet(1, Required("rack"))})}, {});
  EXPECT_THAT(nowhere.of_request[0]->steps, IsEmpty());
  EXPECT_EQ(nowhere.of_request[0]->anywhere, nowhere.never);
}

TEST(Atlas, ARequestThatIsRefusedFitsNowhere) {
  const Found found = Find(BuildState(Gpus({{"r1/a", 4}})),
                           {MakeWorkload({MakePodSet(1, Required("no-such-level"))}),
                            MakeWorkload({MakePodSet(0, Required("rack"))})},
                           {});
  EXPECT_THAT(found.of_request[0]->steps, IsEmpty());
  EXPECT_EQ(found.of_request[0]->anywhere, found.never);
  EXPECT_THAT(found.of_request[1]->steps, IsEmpty());
}

TEST(Atlas, OfExtremePriorities) {
  ClusterStateInput input = Gpus({{"r1/a", 1}, {"r2/b", 1}, {"r3/c", 1}});
  Running running;
  running.Add(std::numeric_limits<std::int64_t>::max(), {{"a", 1}});
  running.Add(std::numeric_limits<std::int64_t>::min(), {{"b", 1}});
  running.Add(0, {{"c", 1}});
  running.AddTo(input);
  const Found found =
      Find(BuildState(input), {MakeWorkload({MakePodSet(1, Required("rack"))})}, running);
  EXPECT_THAT(found.priorities, ElementsAre(std::numeric_limits<std::int64_t>::min(), 0,
                                            std::numeric_limits<std::int64_t>::max()));
  EXPECT_THAT(found.of_request[0]->steps, ElementsAre(3, 1, 2));
}

TEST(Atlas, NamesAVictimThatHoldsMoreThanThereIs) {
  const ClusterState state = BuildState(Gpus({{"r1/a", 4}}));
  Running running;
  running.Add(0, {{"a", 5}});
  const auto search = AtlasSearch::Open(Engine(MakeCpuBackend(1), {}), state, {}, running.victims,
                                        running.priorities);
  ASSERT_FALSE(search);
  EXPECT_THAT(search.error().message, HasSubstr("victim v0"));
}

TEST(Atlas, EndsWithTheBudget) {
  ClusterStateInput input = Gpus({{"r1/a", 4}, {"r2/b", 4}});
  Running running;
  for (int i = 0; i < 4; ++i) running.Add(i, {{"a", 1}});
  running.AddTo(input);
  const ClusterState state = BuildState(input);
  const std::vector<WorkloadRequest> requests = {MakeWorkload({MakePodSet(4, Required("rack"))})};
  const auto error = [&](std::int64_t limit) {
    WorkBudget budget(limit);
    const Engine engine(MakeCpuBackend(1), {}, budget);
    auto search = AtlasSearch::Open(engine, state, requests, running.victims, running.priorities);
    if (!search) return search.error().error_class;
    const auto rows = search->Next();
    return rows ? ErrorClass::kInternal : rows.error().error_class;
  };
  EXPECT_EQ(error(0), ErrorClass::kExhausted);
  EXPECT_EQ(error(state.CloneBytes() - 1), ErrorClass::kExhausted);  // the state of a step
  EXPECT_EQ(error(100 * state.CloneBytes()), ErrorClass::kInternal);
}

// A cluster of three levels, with taints, labels and leftovers of random size.
ClusterStateInput RandomCluster(Random& random, std::vector<std::pair<std::string, Amount>>& free) {
  const ClusterStateInput input = MakeRacks({.depth = 3,
                                             .racks = 6,
                                             .racks_of_block = 3,
                                             .hosts = 3,
                                             .has = {{"gpu", {1, 6}}, {"pods", 110}},
                                             .labelled_percent = 25,
                                             .tainted_percent = 17},
                                            random);
  for (const Node& node : input.nodes) {
    free.emplace_back(node.name, *node.allocatable.Find("gpu"));
  }
  return input;
}

Running RandomRunning(Random& random, std::vector<std::pair<std::string, Amount>> free,
                      std::int64_t priorities) {
  Running running;
  for (int i = 0; i < 30; ++i) {
    std::vector<std::pair<std::string, Amount>> on;
    for (auto& [host, gpus] : free) {
      if (gpus == 0 || random.Between(0, 5) != 0) continue;
      on.emplace_back(host, random.Between(1, gpus));
      gpus -= on.back().second;
    }
    running.Add(random.Between(-priorities / 2, priorities / 2), on);
  }
  return running;
}

WorkloadRequest RandomRequest(Random& random) {
  const std::array<std::string, 3> levels = {"block", "rack", kHost};
  const auto pods = static_cast<std::int32_t>(random.Between(1, 14));
  const std::string& level = levels[static_cast<std::size_t>(random.Between(0, 2))];
  TopologyRequest topology;
  switch (random.Between(0, 4)) {
    case 0:
    case 1:
      topology = Required(level);
      break;
    case 2:
      topology = Preferred(level);
      break;
    case 3:
      topology = Unconstrained();
      break;
    default:
      topology = Required("block", {{"rack", 2}});
  }
  const bool sliced = !topology.slice_constraints.empty();
  PodSetRequest workers = MakePodSet(sliced ? pods / 2 * 2 + 2 : pods, topology, "workers");
  if (random.Between(0, 3) == 0) workers.pod_template.node_selector = {{"disk", "ssd"}};
  if (random.Between(0, 3) == 0) {
    workers.pod_template.tolerations = {{"reserved", "Exists", "", ""}};
  }
  if (random.Between(0, 2) != 0) return MakeWorkload({workers});
  PodSetRequest other = MakePodSet(1, topology, "leader");
  other.topology_request->slice_constraints.clear();
  if (random.Between(0, 1) == 0) return MakeWorkload({other, workers});  // two groups
  return MakeWorkload({InGroup(other, "together"), InGroup(workers, "together")});
}

// Returns the state without the workloads that are gone at a step.
ClusterState Without(const ClusterState& state, const Running& running,
                     const std::vector<std::int64_t>& priorities, PriorityStep step) {
  ClusterState without = state.Clone();
  for (std::size_t v = 0; v < running.victims.size(); ++v) {
    if (step > 0 && running.priorities[v] <= priorities[static_cast<std::size_t>(step - 1)]) {
      without.RemoveUsage(running.victims[v].usage);
    }
  }
  return without;
}

// Places a request at every step, on nodes inside of a path alone.
PriorityStep FirstByPlacing(const ClusterStateInput& input, const std::vector<std::string>& path,
                            const WorkloadRequest& request, const Running& running,
                            const std::vector<std::int64_t>& priorities, const Engine& engine) {
  ClusterStateInput alone = input;
  const std::vector<std::string> levels = LevelKeys(3);
  for (Node& node : alone.nodes) {
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (*node.labels.Find(levels[i]) != path[i]) node.allocatable = {};
    }
  }
  const ClusterState state = BuildState(alone);
  const auto never = static_cast<PriorityStep>(priorities.size()) + 1;
  for (PriorityStep step = 0; step < never; ++step) {
    const ClusterState without = Without(state, running, priorities, step);
    if (engine.NominateOne(without, request).FirstFailure() == nullptr) return step;
  }
  return never;
}

void CompareWithPlacing(std::int64_t most_priorities, int rounds, const FeatureGates& gates) {
  Random random(static_cast<std::uint64_t>(most_priorities));
  std::map<std::string, int> told;  // how often, so that no kind of answer is left out
  const Engine engine(MakeCpuBackend(1), gates);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(fmt::format("round {}", round));
    std::vector<std::pair<std::string, Amount>> free;
    ClusterStateInput input = RandomCluster(random, free);
    const Running running = RandomRunning(random, free, most_priorities);
    running.AddTo(input);
    const ClusterState state = BuildState(input);
    std::vector<WorkloadRequest> requests;
    // With so many shapes, every second time, leaves are classified first.
    const int count = round % 2 == 0 ? 8 : 48;
    for (int i = 0; i < count; ++i) requests.push_back(RandomRequest(random));
    const Found found = Find(state, requests, running, engine);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      SCOPED_TRACE(fmt::format("request {}", i));
      const AtlasRow& row = *found.of_request[i];
      EXPECT_EQ(row.anywhere,
                FirstByPlacing(input, {}, requests[i], running, found.priorities, engine));
      told[row.anywhere == 0 ? "now" : row.anywhere == found.never ? "never" : "later"] += 1;
      ASSERT_THAT(row.steps, SizeIs(static_cast<std::size_t>(row.domains.size())));
      const FlavorSnapshot& snapshot = state.Find("tas")->snapshot();
      for (std::size_t d = 0; d < row.steps.size(); ++d) {
        const auto path = snapshot.Path(DomainId(row.domains.begin + static_cast<int>(d)));
        EXPECT_EQ(row.steps[d],
                  FirstByPlacing(input, path, requests[i], running, found.priorities, engine))
            << fmt::format("{}", path.back());
        told[row.steps[d] == 0             ? "domain now"
             : row.steps[d] == found.never ? "domain never"
                                           : "domain later"] += 1;
      }
    }
  }
  for (const char* kind : {"now", "later", "never", "domain now", "domain later", "domain never"}) {
    EXPECT_GT(told[kind], 5) << kind;
  }
}

TEST(Atlas, IsWhatPlacingAtEveryStepFinds) { CompareWithPlacing(6, 60, {}); }

// More priorities than states are held at once.
TEST(Atlas, IsWhatPlacingFindsOfManyPriorities) { CompareWithPlacing(1000, 20, {}); }

TEST(Atlas, IsWhatPlacingFindsWithBalancedPlacement) {
  FeatureGates gates;
  gates.balanced_placement = true;
  CompareWithPlacing(5, 20, gates);
}

// The highest priority of the cheapest victims of a domain is the last of its step.
TEST(Atlas, AgreesWithTheCheapestVictims) {
  Random random(5);
  int compared = 0;
  const Engine engine(MakeCpuBackend(1), {});
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(fmt::format("round {}", round));
    std::vector<std::pair<std::string, Amount>> free;
    ClusterStateInput input = RandomCluster(random, free);
    const Running running = RandomRunning(random, free, 6);
    running.AddTo(input);
    const ClusterState state = BuildState(input);
    std::vector<PricedVictim> priced;
    for (std::size_t v = 0; v < running.victims.size(); ++v) {
      priced.push_back({running.victims[v], running.priorities[v]});
    }
    const std::vector<WorkloadRequest> requests = {RandomRequest(random), RandomRequest(random)};
    const Found found = Find(state, requests, running, engine);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const AtlasRow& row = *found.of_request[i];
      const auto sets = FindVictimSets(engine, state, requests[i], priced);
      ASSERT_TRUE(sets);
      EXPECT_EQ(sets->fits, row.anywhere == 0);
      if (sets->fits) continue;
      std::map<std::int32_t, std::int64_t> highest;  // by domain; -1: anywhere
      for (const DomainVictims& domain : sets->domains) {
        highest[domain.domain.valid() ? domain.domain.value : -1] = domain.sets.front().priority;
      }
      const auto expect = [&](std::int32_t domain, PriorityStep step) {
        EXPECT_EQ(highest.contains(domain), step != found.never) << domain;
        if (!highest.contains(domain) || step == found.never) return;
        ++compared;
        EXPECT_EQ(highest[domain], found.priorities[static_cast<std::size_t>(step - 1)]) << domain;
      };
      if (highest.contains(-1) || row.steps.empty()) {
        expect(-1, row.anywhere);
      } else if (!sets->domains.empty()) {
        for (std::size_t d = 0; d < row.steps.size(); ++d) {
          expect(row.domains.begin + static_cast<std::int32_t>(d), row.steps[d]);
        }
      }
    }
  }
  EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace espalier::atlas_test
