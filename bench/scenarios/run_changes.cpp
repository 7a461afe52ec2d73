#include "bench/scenarios/run_changes.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "bench/scenarios/answer_checks.hpp"
#include "bench/scenarios/answer_digest.hpp"
#include "bench/scenarios/run_gangs.hpp"
#include "host/engine/gang_batch.hpp"
#include "host/model/splitmix64.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kMostChanged = 1000;

void CheckOnOneState(const LoadedScenario& loaded, const FlavorState& state,
                     const GangAnswers& answers, ScenarioResult& result) {
  auto problems = CheckAnswers({.before = state,
                                .in_order = false,
                                .after = nullptr,
                                .shapes = loaded.mix.shapes,
                                .gangs = loaded.mix.gangs,
                                .answers = answers});
  if (problems.empty()) result.checks.emplace_back("capacity, all or nothing and levels are kept");
  std::ranges::move(problems, std::back_inserter(result.problems));
}

// A state on which one-slot pods come and go: every second step ends what the one before began.
class Churn {
 public:
  Churn(const LoadedScenario& loaded, Backend& backend)
      : loaded_(loaded),
        backend_(backend),
        state_(loaded.state.Clone()),
        flavor_(*state_.Find(loaded.flavor_name)),
        batch_(state_, loaded.mix.gates, loaded.mix.shapes),
        random_(loaded.mix.gangs.size()),
        pod_(SlotRequests(loaded.cluster, 1)) {
    pod_.Set(kPodsResource, 1);
    for (std::int32_t leaf = 0; leaf < flavor_.snapshot().leaf_count(); ++leaf) {
      if (HasRoom(LeafId(leaf))) with_room_.push_back(LeafId(leaf));
    }
    batch_.Nominate(backend_, loaded_.mix.gangs, answers_);
  }

  void Step(StageTimes& times) {
    if (!begin_) {
      begin_ = true;
    } else {
      Choose();
      begin_ = false;
    }
    const GangRow& first = loaded_.mix.gangs.front();
    times.Time("visible", [&] {
      begin_ ? flavor_.Remove(changed_) : flavor_.Add(changed_);
      batch_.Nominate(backend_, {&first, 1}, one_answer_);
    });
    times.Time("compute", [&] { batch_.Nominate(backend_, loaded_.mix.gangs, answers_); });
  }

  const GangAnswers& answers() const { return answers_; }
  const ClusterState& state() const { return state_; }
  std::size_t changed() const { return changed_.size(); }

 private:
  bool HasRoom(LeafId leaf) const {
    for (const auto& [resource, amount] : pod_) {
      const auto at = static_cast<std::size_t>(
          flavor_.snapshot().FindResource(resource) * flavor_.snapshot().stride() + leaf.value);
      if (flavor_.remaining()[at] < amount) return false;
    }
    return true;
  }

  // Different leaves in random order, by the first steps of a shuffle.
  void Choose() {
    const auto wanted = static_cast<std::size_t>(
        std::min<std::int64_t>(kMostChanged, flavor_.snapshot().leaf_count() / 100));
    changed_.clear();
    for (std::size_t i = 0; i < std::min(wanted, with_room_.size()); ++i) {
      const auto left = static_cast<std::int64_t>(with_room_.size() - i);
      std::swap(with_room_[i], with_room_[i + static_cast<std::size_t>(random_.Below(left))]);
      changed_.push_back({with_room_[i], &pod_});
    }
  }

  const LoadedScenario& loaded_;
  Backend& backend_;
  ClusterState state_;
  FlavorState& flavor_;
  GangBatch batch_;
  SplitMix64 random_;
  Resources pod_;
  std::vector<LeafId> with_room_;
  std::vector<LeafChange> changed_;
  bool begin_ = true;  // the next step chooses leaves
  GangAnswers answers_;
  GangAnswers one_answer_;
};

// Answers after a fixed number of steps.
std::string DigestOfSteps(const LoadedScenario& loaded, Backend& backend) {
  Churn churn(loaded, backend);
  Sha256 sha;
  StageTimes times;
  for (int step = 0; step < 7; ++step) {
    churn.Step(times);
    sha.Add(DigestOf(churn.answers(), loaded.mix.gangs.size()));
  }
  return sha.Hex();
}

}  // namespace

void RunChurn(const LoadedScenario& loaded, Backend& backend, const RunOptions& options,
              ScenarioResult& result) {
  Churn churn(loaded, backend);
  result.stages = Repeat(options.repeat, [&](StageTimes& times) { churn.Step(times); });
  result.floor_stage = "visible";
  result.least.cells =
      static_cast<double>(churn.changed() * loaded.mix.shapes.front().workers.requests.size());
  result.digest = DigestOfSteps(loaded, backend);
  if (!options.check) return;

  // Counts that followed the changes against counts of the same usage made anew.
  const ClusterState anew = churn.state().Clone();
  GangAnswers answers;
  GangBatch(anew, loaded.mix.gates, loaded.mix.shapes).Nominate(backend, loaded.mix.gangs, answers);
  const std::size_t gangs = loaded.mix.gangs.size();
  if (DigestOf(answers, gangs) == DigestOf(churn.answers(), gangs)) {
    result.checks.emplace_back("answers after changes equal those counted anew");
  } else {
    result.problems.emplace_back("answers after changes differ from those counted anew");
  }
  CheckOnOneState(loaded, *anew.Find(loaded.flavor_name), answers, result);
  ComparePlainForm(
      options, [&](std::size_t) { return result.digest; }, result);
}

void RunLoad(const LoadedScenario& loaded, Backend& backend, const RunOptions& options,
             ScenarioResult& result) {
  const ClusterStateInput input = loaded.cluster.Input();
  const std::vector<FlavorLeafUsage> usage = UsageOf(loaded.prefill, loaded.cluster);
  std::optional<ClusterState> state;
  GangAnswers answers;
  result.stages = Repeat(options.repeat, [&](StageTimes& times) {
    NodeColumns columns = loaded.cluster.nodes;
    state.reset();
    times.Time("pack",
               [&] { state.emplace(*ClusterState::BuildFromColumns(std::move(columns), input)); });
    times.Time("usage", [&] { state->AddUsage(usage); });
    times.Time("answer", [&] {
      GangBatch(*state, loaded.mix.gates, loaded.mix.shapes)
          .Nominate(backend, loaded.mix.gangs, answers);
    });
  });
  result.floor_stage = "pack";
  // Every amount is read once and written once.
  result.least.bytes =
      2.0 * static_cast<double>(loaded.cluster.nodes.allocatable.size()) * sizeof(Amount);
  result.digest = DigestOf(answers, loaded.mix.gangs.size());
  if (!options.check) return;
  CheckOnOneState(loaded, *state->Find(loaded.flavor_name), answers, result);
  ComparePlainForm(
      options, [&](std::size_t gangs) { return DigestOf(answers, gangs); }, result);
}

}  // namespace espalier
