// A small cluster whose scheduling cycles are run.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/kueue/cycle/scheduling_cycle.hpp"
#include "tests/kueue/objects.hpp"

namespace espalier {

class SchedulingCycleTest : public ::testing::Test {
 protected:
  Workload& Add(const std::string& name, std::int32_t gpus,
                std::optional<TopologyRequest> request = Required(kRack),
                const std::string& queue = "gpu") {
    return cluster_.workloads.emplace_back(MakeWorkload(
        name, queue, {MakePodSet("main", gpus, {{"gpu", 1}}, std::move(request))}, ++created_));
  }

  SchedulingCyclesResult Run(bool until_stable = true) {
    const Engine engine(MakeCpuBackend(1), gates_);
    auto result = RunSchedulingCycles(cluster_, engine, {until_stable});
    EXPECT_TRUE(result.has_value());
    return *std::move(result);
  }

  // "cycle name status", one per decision.
  static std::vector<std::string> Lines(const SchedulingCyclesResult& result) {
    std::vector<std::string> lines;
    for (const Decision& decision : result.decisions) {
      lines.push_back(std::to_string(decision.cycle) + " " + decision.workload.name + " " +
                      std::string(ToString(decision.status)));
    }
    return lines;
  }

  // A second queue over the same flavor.
  void AddQueue(const std::string& name, const std::vector<std::string>& flavors = {"gpu"}) {
    cluster_.cluster_queues.push_back(MakeQueue(name + "-queue", flavors));
    cluster_.local_queues.push_back(MakeLocalQueue(name, name + "-queue"));
  }

  Cluster cluster_ = MakeCluster();
  FeatureGates gates_;
  std::int64_t created_ = 0;
};

}  // namespace espalier
