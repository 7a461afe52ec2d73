#include "host/kueue/planned_answers.hpp"

#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {

std::string ReasonOf(const WorkloadAnswer& answer) {
  if (answer.tree) return answer.FirstFailure() == nullptr ? "" : answer.tree->reason;
  std::vector<std::string> reasons;
  for (const PodSetAnswer& pod_set : answer.pod_sets) {
    if (!pod_set.failure) continue;
    reasons.push_back(fmt::format("couldn't assign flavors to pod set {}: {}", pod_set.name,
                                  pod_set.failure->reason));
  }
  return fmt::format("{}", fmt::join(reasons, "; "));
}

Result<PlannedAnswers> AnswerPlan(const PlacementPlan& plan, const Nominate& place,
                                  const Nominate& nominate) {
  std::vector<WorkloadRequest> requests;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < plan.workloads.size(); ++i) {
    const auto* request = std::get_if<WorkloadRequest>(&plan.workloads[i].plan);
    if (request == nullptr) continue;
    requests.push_back(*request);
    asked.push_back(i);
  }
  PlannedAnswers planned;
  planned.answers.resize(plan.workloads.size());
  planned.verdicts.resize(plan.workloads.size());
  auto answers = place(requests);
  if (!answers) return tl::unexpected(answers.error());
  const auto verdicts = DecideVerdicts(requests, *answers, nominate);
  if (!verdicts) return tl::unexpected(verdicts.error());
  for (std::size_t i = 0; i < answers->size(); ++i) {
    planned.answers[asked[i]] = std::move((*answers)[i]);
    planned.verdicts[asked[i]] = (*verdicts)[i];
  }
  return planned;
}

}  // namespace espalier
