// A small cluster of elastic workloads whose sizes change.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/kueue/elastic/resize_plan.hpp"
#include "host/kueue/elastic/workload_slices.hpp"
#include "tests/kueue/objects.hpp"

namespace espalier {

class ResizePlanTest : public ::testing::Test {
 protected:
  ResizePlanTest() { gates_.elastic_jobs_via_workload_slices_with_tas = true; }

  // An admitted elastic workload of one gpu a pod.
  Workload& Elastic(const std::string& name, const TopologyAssignment& assignment,
                    std::optional<TopologyRequest> request = Unconstrained()) {
    std::int32_t pods = 0;
    for (const TopologyDomainAssignment& domain : assignment.domains) pods += domain.count;
    Workload workload =
        MakeWorkload(name, "gpu", {MakePodSet("main", pods, {{"gpu", 1}}, std::move(request))});
    workload.annotations = {{std::string(kElasticJobAnnotation), "true"}};
    workload.owners = {{"batch/v1", "Job", "job-" + name, "uid-job-" + name, true}};
    Admit(workload, "gpu-queue", "gpu", assignment);
    return cluster_.workloads.emplace_back(std::move(workload));
  }

  ResizePlan Plan(const std::string& name, std::int64_t count) {
    const Engine engine(MakeCpuBackend(1), gates_);
    ResizeRequest request{{"team", name}, {{"main", count}}, mode_, profile_};
    auto plan = PlanResize(cluster_, engine, request);
    EXPECT_TRUE(plan) << plan.error().message;
    return *std::move(plan);
  }

  std::string ErrorOf(const ResizeRequest& request) {
    const Engine engine(MakeCpuBackend(1), gates_);
    const auto plan = PlanResize(cluster_, engine, request);
    EXPECT_FALSE(plan);
    return plan.error().message;
  }

  const Workload& Find(const std::string& name) const {
    return *std::ranges::find(cluster_.workloads, ObjectKey{"team", name}, &Workload::key);
  }

  Cluster cluster_ = MakeCluster();
  FeatureGates gates_;
  SliceMode mode_ = SliceMode::kReplacement;
  ResizeProfile profile_ = ResizeProfile::kKueue;
};

}  // namespace espalier
