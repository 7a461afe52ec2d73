// Kubernetes objects as JSON, and what becomes of them: validation, the plan of a placement, one
// scheduling cycle and the ungating of pods.
#include <map>

#include "fallback_cpu/cpu_backend.hpp"
#include "fallback_cpu/nested_cpu.hpp"
#include "host/kueue/cycle/scheduling_cycle.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/kueue/objects/ungater.hpp"
#include "host/kueue/planning/placement_plan.hpp"
#include "host/nested/gang_tree.hpp"
#include "host/nested/place_nested.hpp"
#include "host/readers/cluster_files.hpp"
#include "host/readers/slice_constraints.hpp"
#include "host/webhooks/job_webhooks.hpp"
#include "host/webhooks/object_rules.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace espalier::fuzz {
namespace {

bool LooksLikeJson(std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (bytes[first] == '{' || bytes[first] == '[');
}

void Place(const Cluster& cluster, const Engine& engine) {
  const auto plan = PlanPlacement(cluster, {.gates = engine.gates()});
  if (!plan) return;
  auto state = ClusterState::Build(plan->state);
  if (!state) return;
  std::vector<WorkloadRequest> requests;
  for (const PlannedWorkload& planned : plan->workloads) {
    if (const auto* request = std::get_if<WorkloadRequest>(&planned.plan)) {
      requests.push_back(*request);
    }
  }
  const auto answers = engine.Nominate(*state, requests);
  Expect(answers.size() == requests.size(), "every request is answered");
  engine.PlaceInOrder(*state, requests);
}

// Places what is read as trees, and expects an answer for each.
void PlaceTrees(std::string_view bytes, const Engine& engine) {
  for (const Trees trees : {Trees::kNested, Trees::kAll}) {
    const auto read = ReadClusterText("input.json", std::string(bytes), {.trees = trees});
    if (!read) {  // a workload for each Job of a JobSet may take more memory than one for all
      Expect(!read.error().message.empty(), "an error says what is wrong");
      continue;
    }
    const auto plan = PlanPlacement(read->cluster, {.gates = engine.gates(), .guess_flavor = true});
    if (!plan) return;
    auto state = ClusterState::Build(plan->state);
    if (!state) return;
    std::vector<WorkloadRequest> requests;
    for (const PlannedWorkload& planned : plan->workloads) {
      const auto* request = std::get_if<WorkloadRequest>(&planned.plan);
      if (request == nullptr || !request->tree || MostPods(request->tree->root) > 1000) continue;
      requests.push_back(*request);
    }
    const auto answers = engine.PlaceInOrder(*state, requests);
    Expect(answers.size() == requests.size(), "every tree is answered");
  }
}

void AskWebhooks(std::string_view bytes) {
  ReadOptions options;
  options.keep_errors = true;
  options.on_job = [](const JobObject& job) {
    for (const Violation& violation : ValidateJob(job, FeatureGates{})) {
      Expect(!violation.message.empty() && !violation.text.empty(),
             "a line of a webhook says what is wrong");
    }
  };
  std::ignore = ReadClusterText("input.json", std::string(bytes), options);
}

}  // namespace

void RunOne(std::string_view bytes) {
  if (!LooksLikeJson(bytes)) return;
  AskWebhooks(bytes);
  const auto read = ReadClusterText("input.json", std::string(bytes));
  for (const std::size_t piece_bytes : {0, 1}) {
    const auto again =
        ReadClusterText("input.json", std::string(bytes), {.piece_bytes = piece_bytes});
    Expect(again.has_value() == read.has_value(), "the size of the pieces changes nothing");
    if (!read) {
      Expect(again.error() == read.error(), "the size of the pieces changes no message");
    } else {
      Expect(again->cluster == read->cluster, "the size of the pieces changes no object");
      Expect(again->diagnostics.RenderWarnings() == read->diagnostics.RenderWarnings(),
             "the size of the pieces changes no warning");
      Expect(again->facts.skipped == read->facts.skipped, "nor what is skipped");
    }
  }
  if (!read) {
    Expect(!read.error().message.empty(), "an error says what is wrong");
    return;
  }
  const Engine engine(MakeCpuBackend(1), FeatureGates{});
  ValidateCluster(read->cluster, engine.gates());
  Place(read->cluster, engine);
  PlaceTrees(bytes, engine);
  const auto cycles = RunSchedulingCycles(read->cluster, engine, {});
  const Cluster& cluster = cycles ? cycles->cluster : read->cluster;
  for (const Workload& workload : cluster.workloads) {
    std::ignore = UngateWorkload(workload, cluster.pods);
  }
}

}  // namespace espalier::fuzz
