// Answers one workload (sections 15 to 17) by asking the back end for one job at a time, so that
// the jobs of many workloads can be answered together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/engine/assignments.hpp"
#include "host/engine/backend.hpp"
#include "host/engine/feature_gates.hpp"
#include "host/engine/replacement.hpp"
#include "host/engine/request.hpp"
#include "host/model/work_budget.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// Charges the memory of `domains` named domains of an answer. Returns false when the work is to
// stop.
bool ChargeNames(std::size_t domains, WorkBudget& budget);
// Charges the same, and their minimum on the wire.
// Returns false when the work is to stop.
bool ChargeDomains(std::size_t domains, WorkBudget& budget);

class WorkloadPlacement {
 public:
  // More pod sets than this are many, for BookManyPodSets.
  static constexpr std::size_t kManyPodSets = 64;

  // Starts the placement of one workload. All four must outlive this object; the state must not
  // change while a job is unanswered. Once `budget` is stopped there is no next job, and the answer
  // is meaningless.
  WorkloadPlacement(const WorkloadRequest& request, const ClusterState& state,
                    const FeatureGates& gates, WorkBudget& budget = WorkBudget::Unlimited());

  // Has what pod sets assume of those before them booked on copies of the state of each flavor that
  // has many of them, instead of handed on with every job: the work for a pod set then does not
  // grow with their number. A job must not outlive the next one, nor this object. Call it before
  // the first.
  void BookManyPodSets() { books_ = true; }

  // Returns the next job, or null when the answer is complete. Call Accept before asking again.
  const PlacementJob* NextJob();
  void Accept(const PlacementResult& result);

  // Returns the answer, pod sets in spec order; only once NextJob returned null.
  WorkloadAnswer TakeAnswer();

 private:
  // Pod sets that are placed together: a group, or one pod set (R15.4).
  struct Group {
    std::vector<const PodSetRequest*> members;  // in spec order
  };
  // One flavor's share of the workload (R15.1).
  struct FlavorPart {
    const FlavorState* state = nullptr;
    std::vector<Group> groups;
  };
  // A state of one flavor on which all that is assumed is booked, and what was charged for it.
  struct OwnState {
    std::unique_ptr<FlavorState> state;
    std::int64_t bytes = 0;
  };
  enum class Purpose { kPlace, kScaleUp, kReplace, kReplaceJointly };

  void SplitByFlavor(const ClusterState& state);
  void EnterFlavor();
  void LeaveFlavor();
  // Makes the own state of the current flavor. Returns false when the work is to stop.
  bool MakeOwnState();
  bool SimulatesEmpty() const { return request_.simulate_empty && !request_.replacement; }
  // Starts the current group: either it is answered at once, or `job_` is set.
  void StartGroup(const Group& group);
  void StartReplacement(const PodSetRequest& pod_set);
  // Starts the next part of the replacement of several nodes; `damage_` says what is missing.
  void ContinueJointReplacement();
  // Makes the members of a group its workers and its leader, if it has one.
  void AssignRoles(const Group& group);
  bool KeepsPreviousPods() const;  // R16.1, R16.2: of the current group
  // Assumes the previous pods of a flavor's groups that keep them.
  void AssumePreviousPods(AssumedUsage& usage);
  bool SharesUsage() const {
    return gates_.handle_overlapping_flavors && snapshot().host_topology();
  }
  bool StartResize();  // true when section 16 took the group over
  void KeepPrevious(std::int64_t previous_pods);
  void StartPlacement(Purpose purpose, const PodSetRequest& pod_set, const PodSetRequest* leader,
                      Count pods);

  void AcceptPlacement(const PlacementResult& result);
  void AcceptScaleUp(const PlacementResult& result);
  void AcceptReplacement(const PlacementResult& result);
  void AcceptJointReplacement(const PlacementResult& result);
  void FailReplacement(PlacementFailure failure);

  void Answer(const PodSetRequest& pod_set, SharedValue<TopologyAssignment> assignment);
  void AnswerAndAssume(const PodSetRequest& pod_set, SharedValue<TopologyAssignment> assignment);
  void Fail(const PodSetRequest& pod_set, PlacementFailure failure);
  void FailGroup(const PlacementFailure& failure);
  // Ends the evaluation of this flavor; later groups get no answer (R15.6).
  void EndFlavor();

  AssumedUsage& assumed() { return shares_usage_ ? shared_ : private_; }
  const FlavorSnapshot& snapshot() const { return parts_[part_].state->snapshot(); }

  const WorkloadRequest& request_;
  const FeatureGates& gates_;
  WorkBudget& budget_;
  std::vector<FlavorPart> parts_;  // flavor names ascend
  // Admitted assignments of the replacement, by pod set.
  std::unordered_map<std::string_view, const PodSetAssignment*> admitted_;
  std::size_t part_ = 0;
  std::size_t group_ = 0;
  bool books_ = false;
  OwnState own_;               // null: what is assumed goes with each job
  AssumedUsage given_;         // the request's, by sibling flavors
  AssumedUsage shared_;        // by flavors with a host topology (R15.3)
  AssumedUsage private_;       // of the current flavor otherwise
  bool shares_usage_ = false;  // which of the two is in use

  const PodSetRequest* workers_ = nullptr;
  const PodSetRequest* leader_ = nullptr;
  std::vector<LeafShare> kept_;   // shares that stay while others are placed
  std::string_view node_;         // that is replaced alone
  std::optional<Damage> damage_;  // while several nodes of a pod set are replaced
  Purpose purpose_ = Purpose::kPlace;
  std::optional<PlacementJob> job_;
  std::int64_t assumed_bytes_ = 0;  // bytes charged for the job
  WorkloadAnswer answer_;
};

}  // namespace espalier
