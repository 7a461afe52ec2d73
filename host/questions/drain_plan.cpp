#include "host/questions/drain_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "host/kueue/cycle/preemption.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/kueue/planning/drain.hpp"

namespace espalier {
namespace {

class DrainPlanner {
 public:
  DrainPlanner(Cluster& cluster, std::span<const std::size_t> nodes, Questions& asked,
               const FeatureGates& gates)
      : cluster_(cluster), nodes_(nodes), asked_(asked), gates_(gates) {
    for (const std::size_t node : nodes) names_.push_back(cluster.nodes[node].name);
  }

  Result<std::vector<Move>> Run() {
    if (auto found = FindHits(); !found) return tl::unexpected(found.error());
    std::vector<std::size_t> pending;
    for (const auto& [index, hit] : hits_) {
      const auto slices = SlicesOf(index);
      pending.insert(pending.end(), slices.begin(), slices.end());
      told_.insert(slices.begin(), slices.end());
    }
    auto planned = PlanMoves(cluster_, nodes_, pending, gates_);
    if (!planned) return tl::unexpected(planned.error());
    for (PlannedWorkload& move : *planned) {
      const auto hit = hits_.find(move.index);
      if (hit == hits_.end()) continue;  // an older slice, which goes with the newest
      moves_.push_back({move.index, hit->second.pods_hit, hit->second.pods, std::move(move), {}});
    }
    if (auto answered = Ask(); !answered) return tl::unexpected(answered.error());
    TellTheOthers();
    return std::move(moves_);
  }

 private:
  Result<void> FindHits() {
    auto answer = asked_.Drain(names_, {});
    if (!answer) return tl::unexpected(answer.error());
    jobs_ = RunningJobs(cluster_, {});
    std::map<ObjectKey, std::size_t> by_key;
    for (std::size_t i = 0; i < cluster_.workloads.size(); ++i) {
      by_key.emplace(cluster_.workloads[i].key, i);
    }
    for (HitWorkload& hit : answer->hits) {
      const auto [found, is_absent] = by_key.emplace(hit.key, cluster_.workloads.size());
      order_.push_back(found->second);
      hits_.emplace(found->second, hit);
      if (!is_absent) continue;
      Workload& absent = cluster_.workloads.emplace_back();
      absent.key = hit.key;
      absent.priority = hit.priority;
      absent.conditions = {{.type = std::string(kFinished), .status = "True"}};  // asks nothing
    }
    return {};
  }

  // All slices of the job of a workload, which move together (W5.5).
  VictimSlices SlicesOf(std::size_t index) const {
    const auto job = std::ranges::find_if(jobs_, [&](const VictimSlices& slices) {
      return std::ranges::find(slices, index) != slices.end();
    });
    return job == jobs_.end() ? VictimSlices{index} : *job;
  }

  Result<void> Ask() {
    std::vector<WorkloadRequest> requests;
    for (const Move& move : moves_) {
      const auto* request = std::get_if<WorkloadRequest>(&move.planned.plan);
      if (request != nullptr) requests.push_back(*request);
    }
    auto answer = asked_.Drain(names_, requests);
    if (!answer) return tl::unexpected(answer.error());
    if (answer->answers.size() != requests.size()) {
      return tl::unexpected(
          Error{ErrorClass::kStale, "the state changed while it was asked: ask again"});
    }
    auto next = answer->answers.begin();
    for (Move& move : moves_) {
      if (std::holds_alternative<WorkloadRequest>(move.planned.plan)) {
        move.answer = std::move(*next++);
      }
    }
    return {};
  }

  void TellTheOthers() {
    std::set<std::size_t> moved;
    for (const Move& move : moves_) moved.insert(move.index);
    for (const std::size_t index : order_) {
      if (moved.contains(index)) continue;
      const HitWorkload& hit = hits_.at(index);
      Refuse(index, hit.pods_hit, hit.pods, "the files do not say what it asks for");
    }
    for (const WorkloadOnNodes& there : WorkloadsOn(cluster_, nodes_)) {
      if (told_.contains(there.index)) continue;
      Refuse(there.index, there.pods_there, there.pods, "the state does not know it by its name");
    }
  }

  void Refuse(std::size_t index, std::int64_t pods_hit, std::int64_t pods, const char* reason) {
    moves_.push_back(
        {index, pods_hit, pods, {.index = index, .plan = RefusedWorkload{reason}}, {}});
  }

  Cluster& cluster_;
  std::span<const std::size_t> nodes_;
  Questions& asked_;
  const FeatureGates& gates_;
  std::vector<std::string> names_;           // of the nodes
  std::vector<VictimSlices> jobs_;           // of the cluster
  std::vector<std::size_t> order_;           // of the hits, as they were told
  std::map<std::size_t, HitWorkload> hits_;  // by index
  std::set<std::size_t> told_;               // indices of all that the hits stand for
  std::vector<Move> moves_;
};

}  // namespace

Result<std::vector<Move>> PlanDrain(Cluster& cluster, std::span<const std::size_t> nodes,
                                    Questions& asked, const FeatureGates& gates) {
  return DrainPlanner(cluster, nodes, asked, gates).Run();
}

}  // namespace espalier
