#include "host/questions/audit.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "host/kueue/cycle/flavor_choice.hpp"
#include "host/kueue/cycle/queue_order.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/kueue/planning/placement_plan.hpp"
#include "host/kueue/validation/assignment_check.hpp"
#include "host/model/by_name.hpp"

namespace espalier {
namespace {

bool HasPlace(const Workload& workload) {
  return HasReservation(workload) &&
         std::ranges::any_of(
             workload.admission->pod_set_assignments,
             [](const PodSetAssignment& a) { return static_cast<bool>(a.topology_assignment); });
}

WorkloadAnswer ChosenBy(const Workload& workload, const ClusterLookup& lookup) {
  WorkloadAnswer chosen;
  for (const PodSetAssignment& assignment : workload.admission->pod_set_assignments) {
    const std::vector<std::string> flavors = TasFlavors(assignment.flavors, lookup);
    if (flavors.empty() || !assignment.topology_assignment) continue;
    chosen.pod_sets.push_back(
        {assignment.name, flavors.front(), assignment.topology_assignment, std::nullopt});
  }
  return chosen;
}

// Domains in one order, as schedulers may store them in any.
std::vector<std::pair<std::vector<std::string>, std::int32_t>> DomainsOf(
    const PodSetAnswer& answer) {
  std::vector<std::pair<std::vector<std::string>, std::int32_t>> domains;
  if (!answer.assignment) return domains;
  for (const TopologyDomainAssignment& domain : answer.assignment->domains) {
    domains.emplace_back(domain.values, domain.count);
  }
  std::ranges::sort(domains);
  return domains;
}

bool Same(const WorkloadAnswer& chosen, const WorkloadAnswer& here) {
  if (!Fits(here)) return false;
  const auto answers = ByName(here.pod_sets);
  return std::ranges::all_of(chosen.pod_sets, [&](const PodSetAnswer& pod_set) {
    const PodSetAnswer* answer = FindOrNull(answers, pod_set.name);
    return answer != nullptr && DomainsOf(*answer) == DomainsOf(pod_set);
  });
}

// Returns whether a workload is admitted at one moment and not at a later one.
bool HasEnded(const Workload& workload, const ClusterLookup& later) {
  const Workload* then = later.FindWorkload(workload.key);
  return HasReservation(workload) && (then == nullptr || !HasReservation(*then));
}

// The part of an audit that is known before anything is decided anew.
struct AuditPlan {
  Audit audit;                                       // whose `here` and `same` are not known yet
  std::vector<WorkloadRequest> requests;             // of audit.decided
  std::vector<std::vector<FlavorLeafUsage>> chosen;  // what each of those was given
  std::vector<ObjectKey> ended;                      // admitted before, and not any more
  std::vector<std::size_t> waiting;                  // pending in `after`, as indices
  std::vector<WorkloadRequest> waiting_requests;
};

// Finds the admissions between two moments, in the order of their quota reservations, those of
// equal times in queue order, each with a request as before but for the flavors and counts of its
// admission; and what waits after them, in queue order.
class AuditPlanner {
 public:
  AuditPlanner(const Cluster& before, const Cluster& after, const FeatureGates& gates)
      : before_(before), after_(after), gates_(gates), lookup_(after) {}

  Result<AuditPlan> Run() {
    Result<PlacementPlan> plan = PlanPlacement(before_, {.gates = gates_});
    if (!plan) return tl::unexpected(plan.error());
    ReadRequests(*plan);
    for (const Workload& workload : before_.workloads) {
      if (HasEnded(workload, lookup_)) plan_.ended.push_back(workload.key);
    }
    for (const std::size_t index : InOrder()) Add(index);
    plan = PlanPlacement(after_, {.gates = gates_});
    if (!plan) return tl::unexpected(plan.error());
    for (PlannedWorkload& planned : plan->workloads) {
      for (const WorkloadRequest* request : planned.Choices()) {
        plan_.waiting.push_back(planned.index);
        plan_.waiting_requests.push_back(*request);
      }
    }
    return std::move(plan_);
  }

 private:
  void ReadRequests(PlacementPlan& plan) {
    for (PlannedWorkload& planned : plan.workloads) {
      auto* request = std::get_if<WorkloadRequest>(&planned.plan);
      if (request == nullptr) continue;
      requests_.emplace(before_.workloads[planned.index].key, std::move(*request));
    }
  }

  std::vector<std::size_t> InOrder() const {
    std::vector<std::size_t> admitted;
    for (std::size_t i = 0; i < after_.workloads.size(); ++i) {
      const Workload& workload = after_.workloads[i];
      if (HasPlace(workload) && requests_.contains(workload.key)) admitted.push_back(i);
    }
    std::ranges::stable_sort(admitted, [&](std::size_t a, std::size_t b) {
      constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
      const Workload& first = after_.workloads[a];
      const Workload& second = after_.workloads[b];
      const std::int64_t first_at = SinceWhen(first, kQuotaReserved).value_or(kLast);
      const std::int64_t second_at = SinceWhen(second, kQuotaReserved).value_or(kLast);
      return first_at != second_at ? first_at < second_at : ComesBefore(first, second);
    });
    return admitted;
  }

  void Add(std::size_t index) {
    const Workload& workload = after_.workloads[index];
    plan_.audit.decided.push_back({index, ChosenBy(workload, lookup_), {}, false, {}});
    plan_.requests.push_back(requests_.at(workload.key));
    TakeChoices(*workload.admission, plan_.requests.back());
    plan_.chosen.push_back(TasUsage(workload, lookup_));
  }

  // Gives `request` what was decided about a workload apart from its place.
  void TakeChoices(const Admission& admission, WorkloadRequest& request) const {
    const auto assignments = ByName(admission.pod_set_assignments);
    for (PodSetRequest& pod_set : request.pod_sets) {
      const PodSetAssignment* assignment = FindOrNull(assignments, pod_set.name);
      if (assignment == nullptr) continue;
      const std::vector<std::string> flavors = TasFlavors(assignment->flavors, lookup_);
      if (!flavors.empty()) pod_set.flavor = flavors.front();
      pod_set.count = assignment->count.value_or(pod_set.count);
    }
  }

  const Cluster& before_;
  const Cluster& after_;
  const FeatureGates& gates_;
  ClusterLookup lookup_;  // of `after_`
  std::map<ObjectKey, WorkloadRequest> requests_;
  AuditPlan plan_;
};

// Completes an audit with what is decided here about plan.requests, and then about
// plan.waiting_requests, and with what is wrong with the choices.
Audit CompleteAudit(AuditPlan plan, std::vector<WorkloadAnswer> answers,
                    const AssignmentCheck& check, const Cluster& after) {
  auto answer = answers.begin();
  for (AuditedWorkload& audited : plan.audit.decided) {
    audited.here = std::move(*answer++);
    audited.same = Same(audited.chosen, audited.here);
    for (const AssignmentFault& fault : check.faults) {
      if (fault.workload != after.workloads[audited.index].key) continue;
      audited.problems.push_back(fault.problem);
    }
  }
  std::vector<std::size_t>& fit = plan.audit.waiting_but_fit;
  for (const std::size_t index : plan.waiting) {
    const bool fits = Fits(*answer++);
    if (fits && (fit.empty() || fit.back() != index)) fit.push_back(index);  // on any flavor
  }
  return std::move(plan.audit);
}

}  // namespace

Result<Audit> AuditDecisions(const Cluster& before, const Cluster& after, Questions& then,
                             Questions& now, const FeatureGates& gates) {
  Result<AuditPlan> plan = AuditPlanner(before, after, gates).Run();
  if (!plan) return tl::unexpected(plan.error());
  const bool one_moment = &then == &now;
  ReplayedWorkloads replayed{plan->requests, plan->chosen, plan->ended};
  if (one_moment) {
    std::ranges::copy(plan->waiting_requests, std::back_inserter(replayed.requests));
  }
  auto answers = then.Replay(replayed);
  if (!answers) return tl::unexpected(answers.error());
  std::vector<Workload> admitted;
  std::ranges::copy_if(after.workloads, std::back_inserter(admitted), HasReservation);
  const auto check = now.Validate(admitted);
  if (!check) return tl::unexpected(check.error());
  if (!one_moment) {
    auto waiting = now.Nominate(plan->waiting_requests);
    if (!waiting) return tl::unexpected(waiting.error());
    std::ranges::move(*waiting, std::back_inserter(*answers));
  }
  return CompleteAudit(*std::move(plan), *std::move(answers), *check, after);
}

}  // namespace espalier
