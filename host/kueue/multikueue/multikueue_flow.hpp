// Plans how a change of a job's size in a worker cluster of MultiKueue is carried out: what each
// side writes, step by step (W6).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/kueue/elastic/resize_plan.hpp"
#include "host/model/cluster.hpp"
#include "host/model/kueue_keys.hpp"
#include "host/model/result.hpp"

namespace espalier {

// The job in the worker cluster.
struct ScaledJob {
  std::string kind;
  ObjectKey key;
  bool elastic = false;           // carries kueue.x-k8s.io/elastic-job: "true"
  std::string prebuilt_workload;  // value of its label; empty: it has none
  bool suspended = false;
  CountsByPodSet counts;  // desired pods; pod sets that its workload lacks are ignored
  CountsByPodSet runs;    // pods that are not gated
  bool operator==(const ScaledJob&) const = default;
};

// Scale requests that workloads carry, by workload.
using ScaleRequests = std::map<ObjectKey, CountsByPodSet>;

struct WorkerCluster {
  std::string name;
  std::vector<Workload> workloads;
  ScaleRequests requests;
  ScaledJob job;
};

struct MultiKueueState {
  Cluster manager;
  ScaleRequests manager_requests;
  WorkerCluster worker;
  // The mode in which the manager answers a job that grows. Slices per replica go into both
  // clusters, and are folded into their workload in each as they are admitted (KEP-77).
  SliceMode slices = SliceMode::kReplacement;
};

// One field of one object that is to be written.
struct FlowWrite {
  std::string cluster;  // "manager" or the worker's name
  std::string kind;
  ObjectKey object;
  std::string field;  // such as metadata.annotations[KEY]; empty: the whole object is created
  std::string value;  // empty: removed
  // The object after the write: the workload, the job, or the workload's scale request, which is
  // empty when it was removed.
  std::variant<Workload, ScaledJob, CountsByPodSet> after;
  bool operator==(const FlowWrite&) const = default;
};

struct FlowStep {
  std::string at;                 // "worker", "multikueue" or "manager"
  std::string event;              // what is observed
  std::string decision;           // what is decided for it
  std::vector<FlowWrite> writes;  // in this order; empty when the step only waits
  // The job after the step. In sync: its controller lets it run, as its counts equal those of its
  // workload or the change is in flight.
  bool in_sync = false;
  bool suspended = false;
  CountsByPodSet runs;
  bool operator==(const FlowStep&) const = default;
};

// Decides the next step from the objects alone, so that it does not matter how often or after which
// crash it is asked; nullopt when there is none. Only the objects of the job and its slices are
// written. A step without writes is one that waits. The manager decides on its objects with
// `engine`. Works on `state`, and leaves it as it was. Errors: what must hold before the flow can
// begin and does not (kBadInput, W8.10), a workload that has finished in the manager (kNotFound),
// and those of PlanResize.
Result<std::optional<FlowStep>> NextFlowStep(MultiKueueState& state, const Engine& engine);

// Plans the steps from the objects as they are until none is left, or one that waits. The manager's
// state is built once. Errors: as NextFlowStep, and why the engine's budget was stopped.
Result<std::vector<FlowStep>> PlanFlow(MultiKueueState state, const Engine& engine);

// Writes the first `writes` writes of a step into the objects.
void CarryOut(const FlowStep& step, std::size_t writes, MultiKueueState& state);

}  // namespace espalier
