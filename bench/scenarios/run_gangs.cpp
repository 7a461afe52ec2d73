#include "bench/scenarios/run_gangs.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "bench/scenarios/answer_checks.hpp"
#include "bench/scenarios/answer_digest.hpp"
#include "host/engine/gang_batch.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {
namespace {

// Answers of more gangs than this on clusters larger than that are compared with the plain form on
// a prefix only.
constexpr std::int64_t kLargeCluster = 20000;
constexpr std::int64_t kLargePrefix = 500;

// Every repeat asks a state nobody has asked before, so that nothing is known about any shape.
class ColdRun {
 public:
  ColdRun(const LoadedScenario& loaded, Backend& backend) : loaded_(loaded), backend_(backend) {}

  void operator()(StageTimes& times) {
    batch_.reset();
    state_.emplace(loaded_.state.Clone());
    times.Time("resolve", [&] { batch_.emplace(*state_, loaded_.mix.gates, loaded_.mix.shapes); });
    times.Time("compute", [&] { Ask(); });
  }

  const GangAnswers& answers() const { return answers_; }
  const ClusterState& state() const { return *state_; }

  bool in_order = false;

 private:
  void Ask() {
    if (in_order) {
      batch_->PlaceInOrder(backend_, *state_, loaded_.mix.gangs, answers_);
    } else {
      batch_->Nominate(backend_, loaded_.mix.gangs, answers_);
    }
  }

  const LoadedScenario& loaded_;
  Backend& backend_;
  std::optional<ClusterState> state_;
  std::optional<GangBatch> batch_;
  GangAnswers answers_;
};

void AddBookedLeaves(const LoadedScenario& loaded, const GangAnswers& answers, LeastWork& least) {
  for (std::size_t gang = 0; gang < loaded.mix.gangs.size(); ++gang) {
    const auto shape = static_cast<std::size_t>(loaded.mix.gangs[gang].shape);
    least.cells += static_cast<double>(answers.SharesOf(gang).size()) *
                   static_cast<double>(loaded.mix.shapes[shape].workers.requests.size() + 1);
  }
}

void ComparePlain(const Scenario& scenario, const GangAnswers& answers, const RunOptions& options,
                  ScenarioResult& result) {
  const bool large = result.nodes > kLargeCluster;
  const std::int64_t gangs = large ? std::min(result.gangs, kLargePrefix) : result.gangs;
  const Result<std::string> plain = options.plain_digest(scenario, gangs);
  if (!plain) {
    result.problems.push_back("the plain form: " + plain.error().message);
    return;
  }
  if (*plain != DigestOf(answers, static_cast<std::size_t>(gangs))) {
    result.problems.push_back(
        fmt::format("the first {} answers differ from those of the one-thread plain form", gangs));
    return;
  }
  result.checks.push_back(gangs < result.gangs
                              ? fmt::format("the first {} answers equal the plain form's", gangs)
                              : "answers equal the plain form's");
}

}  // namespace

void RunGangs(const LoadedScenario& loaded, Backend& backend, const RunOptions& options,
              ScenarioResult& result) {
  const BenchMode mode = result.scenario.mode;
  const bool in_order = mode == BenchMode::kSequential;
  ColdRun cold(loaded, backend);
  cold.in_order = in_order;
  GangAnswers warm_answers;
  if (mode == BenchMode::kNominateWarm) {
    GangBatch batch(loaded.state, loaded.mix.gates, loaded.mix.shapes);
    batch.Nominate(backend, loaded.mix.gangs, warm_answers);
    result.stages = Repeat(options.repeat, [&](StageTimes& times) {
      times.Time("compute", [&] { batch.Nominate(backend, loaded.mix.gangs, warm_answers); });
    });
  } else {
    result.stages = Repeat(options.repeat, std::ref(cold));
    result.least = CountingOnce(loaded);
    if (in_order) AddBookedLeaves(loaded, cold.answers(), result.least);
  }
  const GangAnswers& answers = mode == BenchMode::kNominateWarm ? warm_answers : cold.answers();
  result.digest = DigestOf(answers, loaded.mix.gangs.size());
  result.quality.push_back(
      {"placed", std::ranges::count(answers.status, PlacementStatus::kPlaced)});
  if (!options.check) return;

  const FlavorState* after = in_order ? cold.state().Find(kBenchFlavor) : nullptr;
  auto problems =
      CheckAnswers({loaded.flavor(), after, loaded.mix.shapes, loaded.mix.gangs, answers});
  if (problems.empty()) {
    result.checks.emplace_back("capacity, all or nothing, levels");
  } else {
    std::ranges::move(problems, std::back_inserter(result.problems));
  }
  if (options.plain_digest) ComparePlain(result.scenario, answers, options, result);
}

}  // namespace espalier
