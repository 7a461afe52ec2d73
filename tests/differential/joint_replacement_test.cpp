// Replacement of several failed nodes (profile espalier): as one who tries every way to hand the
// lost pods out, on small trees.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/engine.hpp"
#include "tests/engine/requests.hpp"
#include "tests/generated/random.hpp"
#include "tests/packing/states.hpp"

namespace espalier::differential::joint_replacement_test {
namespace {

struct Host {
  std::vector<std::string> path;  // block, rack, host
  std::int64_t room = 0;          // pods, beside all that runs; none where it is gone
  std::int64_t kept = 0;          // pods of the workload that run on
};

struct Question {
  ClusterStateInput input;
  WorkloadRequest request;
  std::vector<Host> hosts;
  std::int64_t lost = 0;
};

std::size_t DepthOf(const std::string& level) {
  const std::vector<std::string> levels = LevelKeys(3);
  return static_cast<std::size_t>(std::ranges::find(levels, level) - levels.begin()) + 1;
}

std::string DomainOf(const Host& host, const std::string& level) {
  std::string domain;
  for (std::size_t i = 0; i < DepthOf(level); ++i) domain += host.path[i] + "/";
  return domain;
}

TopologyRequest RandomTopology(Random& random) {
  const std::vector<std::vector<SliceConstraint>> kSlices = {{},
                                                             {},
                                                             {{"rack", 2}},
                                                             {{"rack", 3}},
                                                             {{"rack", 4}},
                                                             {{kHost, 2}},
                                                             {{"block", 2}},
                                                             {{"rack", 4}, {kHost, 2}},
                                                             {{"block", 4}, {"rack", 2}}};
  TopologyRequest topology;
  topology.slice_constraints = random.Pick(kSlices);
  switch (random.Between(0, 3)) {
    case 0:
      topology.required = "block";
      break;
    case 1:
      topology.preferred = "block";
      break;
    case 2:
      if (topology.slice_constraints.empty()) topology.unconstrained = true;
      break;
    default:
      if (topology.slice_constraints.empty()) topology.required = "rack";
      break;
  }
  return topology;
}

ClusterStateInput RandomHosts(Random& random) {
  std::vector<std::pair<std::string, Amount>> hosts;
  const std::int64_t most = random.Between(4, 8);
  for (std::int64_t i = 0; i < most; ++i) {
    hosts.emplace_back(
        fmt::format("b{}/r{}/x{}", i * 2 / most, i * 4 / most, random.Between(0, 1) * 10 + i),
        random.Between(1, 4));
  }
  return Gpus(hosts);
}

// A workload that runs on a small cluster together with others, and of whose hosts several fail;
// nothing where it does not even fit alone.
std::optional<Question> MakeQuestion(Random& random, const Engine& engine) {
  Question question;
  question.input = RandomHosts(random);
  PodSetRequest pod_set = MakePodSet(1, RandomTopology(random));
  const auto& slices = pod_set.topology_request->slice_constraints;
  const std::int64_t size = slices.empty() ? 1 : slices.front().size;
  pod_set.count = static_cast<std::int32_t>(size * random.Between(1, 10 / size));
  question.request = MakeWorkload({pod_set});
  const auto placed =
      engine.NominateOne(BuildState(question.input), question.request).pod_sets.front();
  if (!placed.assignment || placed.assignment->domains.size() < 2) return std::nullopt;

  std::map<std::string, std::int64_t> runs;
  std::vector<std::string> names;
  for (const TopologyDomainAssignment& domain : placed.assignment->domains) {
    runs[domain.values.back()] = domain.count;
    names.push_back(domain.values.back());
    question.input.tas_usage.push_back(
        {"tas", domain.values.back(), {{"gpu", domain.count}, {"pods", domain.count}}});
  }
  random.Shuffle(names);
  names.resize(
      static_cast<std::size_t>(random.Between(2, std::min<std::int64_t>(3, std::ssize(names)))));

  for (Node& node : question.input.nodes) {
    const std::string name = node.name;
    const bool failed = std::ranges::count(names, name) > 0;
    node.ready = !failed || random.Chance(15);  // some are back already
    const std::int64_t total = *node.allocatable.Find("gpu");
    const std::int64_t others = random.Chance(40) ? random.Between(0, total - runs[name]) : 0;
    if (others > 0) {
      question.input.tas_usage.push_back({"tas", name, {{"gpu", others}, {"pods", others}}});
    }
    Host& host = question.hosts.emplace_back();
    for (const std::string& level : LevelKeys(3)) host.path.push_back(*node.labels.Find(level));
    host.room = node.ready ? total - others - runs[name] : 0;
    host.kept = failed ? 0 : runs[name];
    if (failed) question.lost += runs[name];
  }
  PodSetAssignment admitted;
  admitted.name = "main";
  admitted.topology_assignment = placed.assignment;
  question.request.replacement = ReplacementContext{names, {admitted}, false, true};
  return question;
}

// Every pod in its domain with the others of its slice, and all in one domain where it is required.
bool IsSound(const Question& question, const std::vector<std::int64_t>& added) {
  const TopologyRequest& topology = *question.request.pod_sets.front().topology_request;
  for (const SliceConstraint& slice : topology.slice_constraints) {
    std::map<std::string, std::int64_t> pods;
    for (std::size_t i = 0; i < added.size(); ++i) {
      pods[DomainOf(question.hosts[i], slice.topology)] += question.hosts[i].kept + added[i];
    }
    for (const auto& [domain, count] : pods) {
      if (count % slice.size != 0) return false;
    }
  }
  if (!topology.required) return true;
  std::string first;
  for (std::size_t i = 0; i < added.size(); ++i) {
    if (question.hosts[i].kept + added[i] == 0) continue;
    const std::string domain = DomainOf(question.hosts[i], *topology.required);
    if (!first.empty() && domain != first) return false;
    first = domain;
  }
  return true;
}

bool AnyWay(const Question& question, std::vector<std::int64_t>& added, std::int64_t left) {
  if (added.size() == question.hosts.size()) return left == 0 && IsSound(question, added);
  const std::int64_t most = std::min(left, question.hosts[added.size()].room);
  for (std::int64_t pods = 0; pods <= most; ++pods) {
    added.push_back(pods);
    const bool found = AnyWay(question, added, left - pods);
    added.pop_back();
    if (found) return true;
  }
  return false;
}

void ExpectSound(const Question& question, const TopologyAssignment& assignment) {
  std::map<std::string, std::int64_t> pods;
  for (const TopologyDomainAssignment& domain : assignment.domains) {
    pods[domain.values.back()] += domain.count;
  }
  std::vector<std::int64_t> added;
  std::int64_t total = 0;
  for (const Host& host : question.hosts) {
    added.push_back(pods[host.path.back()] - host.kept);
    EXPECT_GE(added.back(), 0) << host.path.back();
    EXPECT_LE(added.back(), host.room) << host.path.back();
    total += added.back();
  }
  EXPECT_EQ(total, question.lost);
  EXPECT_TRUE(IsSound(question, added));
}

TEST(JointReplacement, FindsAPlaceWhereThereIsOne) {
  const Engine engine(MakeCpuBackend(1), {});
  int placed = 0;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 40'000; ++seed) {
    Random random(seed);
    const auto question = MakeQuestion(random, engine);
    if (!question) continue;
    const WorkloadAnswer answer =
        engine.NominateOne(BuildState(question->input), question->request);
    ASSERT_EQ(answer.pod_sets.size(), 1u);
    std::vector<std::int64_t> added;
    ASSERT_EQ(answer.FirstFailure() == nullptr, AnyWay(*question, added, question->lost))
        << "seed " << seed << ": " << Text(answer.pod_sets.front());
    if (answer.FirstFailure() != nullptr) {
      ++refused;
      continue;
    }
    ++placed;
    SCOPED_TRACE(fmt::format("seed {}", seed));
    ExpectSound(*question, *answer.pod_sets.front().assignment);
    if (HasFailure()) return;
  }
  EXPECT_GT(placed, 5'000);
  EXPECT_GT(refused, 5'000);
}

// One failed node, beside others that the workload is not on: Kueue's own answer.
TEST(JointReplacement, AnswersAsKueueWhereOneNodeFailed_R17_3) {
  const Engine engine(MakeCpuBackend(1), {});
  int asked = 0;
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    Random random(seed);
    auto question = MakeQuestion(random, engine);
    if (!question) continue;
    ++asked;
    ReplacementContext& context = *question->request.replacement;
    const std::string node = context.unhealthy_nodes.front();
    for (Node& other : question->input.nodes) other.ready = other.ready || other.name != node;
    const ClusterState state = BuildState(question->input);
    context.unhealthy_nodes = {"elsewhere", node};
    const auto joint = engine.Nominate(state, {&question->request, 1});
    context.unhealthy_nodes = {node};
    context.joint = false;
    ASSERT_EQ(joint, engine.Nominate(state, {&question->request, 1})) << "seed " << seed;
  }
  EXPECT_GT(asked, 1'000);
}

}  // namespace
}  // namespace espalier::differential::joint_replacement_test
