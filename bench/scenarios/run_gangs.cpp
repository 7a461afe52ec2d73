#include "bench/scenarios/run_gangs.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "bench/scenarios/answer_checks.hpp"
#include "bench/scenarios/answer_digest.hpp"
#include "bench/scenarios/quality.hpp"
#include "host/engine/gang_batch.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {
namespace {

// One repeat after the other; the last one's state and answers stay.
class GangsRun {
 public:
  GangsRun(const LoadedScenario& loaded, GangsMode mode, Backend& backend)
      : loaded_(loaded), mode_(mode), backend_(backend) {}

  void operator()(StageTimes& times) {
    if (mode_ != GangsMode::kWarm || !batch_) {
      // A state nobody has asked before: nothing is known about any shape.
      batch_.reset();
      state_.emplace(loaded_.state.Clone());
      const auto resolve = [&] { batch_.emplace(*state_, loaded_.mix.gates, loaded_.mix.shapes); };
      if (mode_ == GangsMode::kWarm) {
        resolve();
        Ask();
      } else {
        times.Time("resolve", resolve);
      }
    }
    times.Time("compute", [&] { Ask(); });
  }

  const GangAnswers& answers() const { return answers_; }
  const GangBatch& batch() const { return *batch_; }
  const ClusterState& state() const { return *state_; }

 private:
  void Ask() {
    if (mode_ == GangsMode::kInOrder) {
      batch_->PlaceInOrder(backend_, *state_, loaded_.mix.gangs, answers_);
    } else {
      batch_->Nominate(backend_, loaded_.mix.gangs, answers_);
    }
  }

  const LoadedScenario& loaded_;
  GangsMode mode_;
  Backend& backend_;
  std::optional<ClusterState> state_;
  std::optional<GangBatch> batch_;
  GangAnswers answers_;
};

// Adds the work of counting again every leaf that was booked, as placing in order has to.
void AddBookedLeaves(const LoadedScenario& loaded, const GangAnswers& answers, LeastWork& least) {
  for (std::size_t gang = 0; gang < loaded.mix.gangs.size(); ++gang) {
    const auto shape = static_cast<std::size_t>(loaded.mix.gangs[gang].shape);
    least.cells += static_cast<double>(answers.SharesOf(gang).size()) *
                   static_cast<double>(loaded.mix.shapes[shape].workers.requests.size() + 1);
  }
}

}  // namespace

void ComparePlainForm(const RunOptions& options,
                      const std::function<std::string(std::size_t)>& digest_of_first,
                      ScenarioResult& result) {
  constexpr std::int64_t kLargeCluster = 20000;
  constexpr std::int64_t kPrefix = 500;
  if (!options.plain_digest) return;
  const bool large = result.nodes > kLargeCluster;
  const std::int64_t gangs = large ? std::min(result.gangs, kPrefix) : result.gangs;
  const Result<std::string> plain = options.plain_digest(result.scenario, gangs);
  if (!plain) {
    result.problems.push_back("the one-thread plain form: " + plain.error().message);
  } else if (*plain != digest_of_first(static_cast<std::size_t>(gangs))) {
    result.problems.push_back(
        fmt::format("the first {} answers differ from those of the one-thread plain form", gangs));
  } else {
    result.checks.push_back(
        gangs < result.gangs
            ? fmt::format("the first {} answers equal the one-thread plain form's", gangs)
            : "answers equal the one-thread plain form's");
  }
}

void RunGangs(const LoadedScenario& loaded, GangsMode mode, Backend& backend,
              const RunOptions& options, ScenarioResult& result, const InspectAnswers& inspect) {
  const bool in_order = mode == GangsMode::kInOrder;
  GangsRun run(loaded, mode, backend);
  result.stages = Repeat(options.repeat, std::ref(run));
  const GangAnswers& answers = run.answers();
  if (mode != GangsMode::kWarm) result.least = CountingOnce(loaded);
  if (in_order) AddBookedLeaves(loaded, answers, result.least);
  result.digest = DigestOf(answers, answers.status.size());
  const FlavorState& after = *run.state().Find(loaded.flavor_name);
  result.quality = QualityOf(loaded, answers, in_order ? &after : nullptr);
  if (inspect) inspect(run.batch(), answers);
  if (!options.check) return;

  auto problems = CheckAnswers({.before = loaded.flavor(),
                                .in_order = in_order,
                                .after = in_order ? &after : nullptr,
                                .shapes = loaded.mix.shapes,
                                .gangs = loaded.mix.gangs,
                                .answers = answers});
  if (problems.empty()) result.checks.emplace_back("capacity, all or nothing and levels are kept");
  std::ranges::move(problems, std::back_inserter(result.problems));
  ComparePlainForm(
      options, [&](std::size_t gangs) { return DigestOf(answers, gangs); }, result);
}

}  // namespace espalier
