#include "host/kueue/planning/planned_answers.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {
namespace {

// A planned workload with requests, and how many of them are asked.
struct TriedWorkload {
  std::size_t workload = 0;            // position in the plan
  std::vector<WorkloadRequest> fewer;  // `choices` for fewer pods; empty: for all
  std::vector<const WorkloadRequest*> choices;
  std::size_t tried = 1;
  std::vector<WorkloadAnswer> answers;  // to the choices that were tried
};

// Finds the first choice of each workload that has a place when its turn comes. A choice that has
// none books nothing, so each one is tried in the same turn as the next: all workloads are asked
// with as many choices as they needed before, until none needs another number. What comes before
// the first one that does is final, so this ends; mostly after a time or two.
class ChoiceSearch {
 public:
  ChoiceSearch(const PlacementPlan& plan, const Nominate& place) : plan_(plan), place_(place) {
    for (std::size_t i = 0; i < plan.workloads.size(); ++i) {
      auto choices = plan.workloads[i].Choices();
      if (!choices.empty()) asked_.push_back({i, {}, std::move(choices), 1, {}});
    }
  }

  Result<std::vector<TriedWorkload>> Run() {
    if (auto answered = AskUntilSettled(); !answered) return tl::unexpected(answered.error());
    // Workloads before one that is tried with fewer pods stay as they are; those after it find
    // less room.
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      const auto& fewer = plan_.workloads[asked_[i].workload].fewer;
      if (!fewer || Fits(asked_[i].answers.back())) continue;
      if (auto tried = TryFewer(*fewer, i); !tried) return tl::unexpected(tried.error());
      // Also where they have no place: what is asked last is what is answered.
      if (auto answered = AskUntilSettled(); !answered) return tl::unexpected(answered.error());
    }
    return std::move(asked_);
  }

 private:
  Result<void> AskUntilSettled() {
    do {
      if (auto answered = AskAll(); !answered) return answered;
    } while (Adjust());
    return {};
  }

  // Asks for fewer pods of the workload at this position, after those before it, and makes the
  // most that have a place its choices.
  Result<void> TryFewer(const FewerPods& fewer_pods, std::size_t position) {
    std::vector<WorkloadRequest> before;
    for (std::size_t i = 0; i < position; ++i) {
      for (std::size_t c = 0; c < asked_[i].tried; ++c) before.push_back(*asked_[i].choices[c]);
    }
    TriedWorkload& asked = asked_[position];
    auto found = FindFewer(
        fewer_pods, asked.choices, [&](const std::vector<WorkloadRequest>& fewer) -> Result<bool> {
          std::vector<WorkloadRequest> requests = before;
          std::ranges::copy(fewer, std::back_inserter(requests));
          const auto answers = place_(std::move(requests));
          if (!answers) return tl::unexpected(answers.error());
          return std::any_of(answers->begin() + std::ssize(before), answers->end(), Fits);
        });
    if (!found) return tl::unexpected(found.error());
    if (found->empty()) return {};
    asked.fewer = *std::move(found);
    asked.choices.clear();
    for (const WorkloadRequest& request : asked.fewer) asked.choices.push_back(&request);
    asked.tried = 1;
    return {};
  }

  Result<void> AskAll() {
    std::vector<WorkloadRequest> requests;
    for (const TriedWorkload& asked : asked_) {
      for (std::size_t c = 0; c < asked.tried; ++c) requests.push_back(*asked.choices[c]);
    }
    auto answers = place_(std::move(requests));
    if (!answers) return tl::unexpected(answers.error());
    auto next = std::make_move_iterator(answers->begin());
    for (TriedWorkload& asked : asked_) {
      asked.answers.assign(next, next + static_cast<std::ptrdiff_t>(asked.tried));
      next += static_cast<std::ptrdiff_t>(asked.tried);
    }
    return {};
  }

  // Returns whether any workload needs another number of choices.
  bool Adjust() {
    bool adjusted = false;
    for (TriedWorkload& asked : asked_) {
      const auto fits = std::ranges::find_if(asked.answers, Fits);
      std::size_t needed = asked.tried;
      if (fits != asked.answers.end()) {
        needed = static_cast<std::size_t>(fits - asked.answers.begin()) + 1;
      } else {
        needed = std::min(asked.tried + 1, asked.choices.size());
      }
      adjusted = adjusted || needed != asked.tried;
      asked.tried = needed;
    }
    return adjusted;
  }

  const PlacementPlan& plan_;
  const Nominate& place_;
  std::vector<TriedWorkload> asked_;
};

// Makes one of a workload's requests its plan; the others stay in their order.
void Choose(std::size_t choice, PlannedWorkload& planned) {
  if (choice == 0) return;
  std::vector<WorkloadRequest> requests;
  requests.push_back(std::get<WorkloadRequest>(std::move(planned.plan)));
  std::ranges::move(planned.others, std::back_inserter(requests));
  planned.plan = std::move(requests[choice]);
  requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(choice));
  planned.others = std::move(requests);
}

// Makes requests for fewer pods those of a workload.
void TakeFewer(std::vector<WorkloadRequest> fewer, PlannedWorkload& planned) {
  planned.admits_fewer = true;
  planned.plan = std::move(fewer.front());
  fewer.erase(fewer.begin());
  planned.others = std::move(fewer);
}

template <class Value>
Value Take(std::size_t position, std::vector<Value>& values) {
  Value taken = std::move(values[position]);
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(position));
  return taken;
}

}  // namespace

std::string ReasonOf(const WorkloadAnswer& answer) {
  if (answer.tree) return Fits(answer) ? "" : answer.tree->reason;
  std::vector<std::string> reasons;
  for (const PodSetAnswer& pod_set : answer.pod_sets) {
    if (!pod_set.failure) continue;
    reasons.push_back(fmt::format("couldn't assign flavors to pod set {}: {}", pod_set.name,
                                  pod_set.failure->reason));
  }
  return fmt::format("{}", fmt::join(reasons, "; "));
}

std::optional<NestedStatus> BestVerdict(const Verdicts& verdicts) {
  for (const NestedStatus best :
       {NestedStatus::kNotNow, NestedStatus::kUndecided, NestedStatus::kNever}) {
    if (std::ranges::find(verdicts, std::optional(best)) != verdicts.end()) return best;
  }
  return std::nullopt;
}

std::vector<std::string> OtherReasons(const PlannedWorkload& planned,
                                      const std::vector<WorkloadAnswer>& other_answers) {
  std::vector<std::string> reasons;
  for (std::size_t i = 0; i < std::min(other_answers.size(), planned.others.size()); ++i) {
    const PodSetAnswer* failed = other_answers[i].FirstFailure();
    if (failed == nullptr) continue;
    reasons.push_back(
        fmt::format("on {}: {}", FlavorsText(planned.others[i]), failed->failure->reason));
  }
  return reasons;
}

Result<PlannedAnswers> AnswerPlan(PlacementPlan& plan, const Nominate& place,
                                  const Nominate& on_empty) {
  auto asked = ChoiceSearch(plan, place).Run();
  if (!asked) return tl::unexpected(asked.error());
  std::vector<WorkloadRequest> failed;  // and trees that are placed in part
  std::vector<WorkloadAnswer> why;
  const auto is_judged = [](const TriedWorkload& one) {
    return !Fits(one.answers.back()) || one.answers.back().tree;
  };
  for (const TriedWorkload& one : *asked) {
    if (!is_judged(one)) continue;
    for (std::size_t c = 0; c < one.tried; ++c) {
      failed.push_back(*one.choices[c]);
      why.push_back(one.answers[c]);
    }
  }
  if (const auto judged = JudgeTreesOnEmpty(failed, why, on_empty); !judged) {
    return tl::unexpected(judged.error());
  }
  const auto verdicts = DecideVerdicts(failed, why, on_empty);
  if (!verdicts) return tl::unexpected(verdicts.error());
  PlannedAnswers planned;
  planned.answers.resize(plan.workloads.size());
  planned.verdicts.resize(plan.workloads.size());
  planned.other_answers.resize(plan.workloads.size());
  planned.other_verdicts.resize(plan.workloads.size());
  auto next = verdicts->begin();
  auto next_why = std::make_move_iterator(why.begin());
  for (TriedWorkload& one : *asked) {
    const std::size_t i = one.workload;
    const auto tried = static_cast<std::ptrdiff_t>(one.tried);
    Verdicts mine;
    if (is_judged(one)) {
      mine.assign(next, next + tried);
      one.answers.assign(next_why, next_why + tried);
      next += tried;
      next_why += tried;
    }
    if (Fits(one.answers.back())) {
      planned.answers[i] = std::move(one.answers.back());
      if (!one.fewer.empty()) TakeFewer(std::move(one.fewer), plan.workloads[i]);
      Choose(one.tried - 1, plan.workloads[i]);
      continue;
    }
    planned.verdicts[i] = BestVerdict(mine);
    const auto best =
        static_cast<std::size_t>(std::ranges::find(mine, planned.verdicts[i]) - mine.begin());
    planned.answers[i] = Take(best, one.answers);
    Take(best, mine);
    Choose(best, plan.workloads[i]);
    planned.other_answers[i] = std::move(one.answers);
    planned.other_verdicts[i] = std::move(mine);
  }
  return planned;
}

}  // namespace espalier
