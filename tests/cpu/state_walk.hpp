// States of one cluster that branch, change and end, and jobs with filters that ask about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "host/engine/request_resolution.hpp"
#include "tests/engine/requests.hpp"
#include "tests/generated/random.hpp"
#include "tests/packing/states.hpp"

namespace espalier {

inline constexpr int kHosts = 300;
inline constexpr int kLabels = 80;  // more than filters are kept

// Returns racks of hosts, each of which has some of the labels.
inline ClusterState LabelledHosts() {
  constexpr int kHostsOfRack = 6;
  ClusterStateInput input = MakeRacks({.racks = kHosts / kHostsOfRack,
                                       .hosts = kHostsOfRack,
                                       .has = {{"gpu", 1'000'000}, {"pods", 100'000}},
                                       .digits = 3});
  for (std::size_t host = 0; host < input.nodes.size(); ++host) {
    for (int label = 0; label < kLabels; ++label) {
      if ((host >> label % 5 & 1) != 0) {
        input.nodes[host].labels.Set(fmt::format("kind-{}", label), "y");
      }
    }
  }
  return WithoutClasses(BuildState(input));
}

// Returns a job whose pods ask for a label; below 0: for none.
inline PlacementJob JobOn(const ClusterState& cluster, std::int64_t label, Amount gpus = 1) {
  const FlavorState& state = *cluster.Find("tas");
  PodSetRequest pod_set = MakePodSet(1, Preferred("rack"));
  pod_set.requests = {{"gpu", gpus}};
  if (label >= 0) pod_set.pod_template.node_selector = {{fmt::format("kind-{}", label), "y"}};
  PlacementJob job;
  job.state = &state;
  job.shape =
      MakeShape(*ResolveRequest(pod_set, state.snapshot(), {}), pod_set, nullptr, state.snapshot());
  job.filter = state.snapshot().FilterOf(*job.shape);
  job.replacement_domain = {0, state.snapshot().leaf_count()};
  return job;
}

// Takes 3,000 steps, in most of which ask(job) looks at one of up to five states; between them
// states branch, change and end. Each label has one shape, whose pods ask for `gpus`.
void WalkStates(std::uint64_t seed, Amount gpus, const auto& ask) {
  Random random(seed);
  std::map<std::int64_t, PlacementJob> jobs;  // by label
  std::vector<std::unique_ptr<ClusterState>> states;
  states.push_back(std::make_unique<ClusterState>(LabelledHosts()));
  for (int step = 0; step < 3000; ++step) {
    SCOPED_TRACE(step);
    const auto any = [&] {
      return static_cast<std::size_t>(
          random.Between(0, static_cast<std::int64_t>(states.size()) - 1));
    };
    switch (random.Between(0, 9)) {
      case 0:
        if (states.size() < 5) {
          states.push_back(std::make_unique<ClusterState>(states[any()]->Branch()));
        }
        break;
      case 1:
        if (states.size() > 1) states.erase(states.begin() + static_cast<std::ptrdiff_t>(any()));
        break;
      case 2:
      case 3:
      case 4: {
        const std::int64_t changes = random.Pick<std::int64_t>({1, 3, 3, 200});
        ClusterState& changed = *states[any()];
        for (std::int64_t i = 0; i < changes; ++i) {
          const auto host = static_cast<int>(random.Between(0, kHosts - 1));
          changed.AddUsage({{"tas",
                             fmt::format("h{:03}", host),
                             {{"gpu", random.Between(-1, 1)}, {"pods", random.Between(0, 1)}}}});
        }
        break;
      }
      default: {
        const ClusterState& state = *states[any()];
        const std::int64_t label = random.Between(-9, kLabels - 1);
        PlacementJob job = jobs.try_emplace(label, JobOn(state, label, gpus)).first->second;
        job.state = state.Find("tas");
        job.simulate_empty = random.Chance(10);
        ask(job);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace espalier
