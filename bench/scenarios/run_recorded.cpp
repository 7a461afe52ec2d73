#include "bench/scenarios/run_recorded.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "bench/scenarios/run_gangs.hpp"
#include "host/conformance/case_file.hpp"
#include "host/conformance/difference.hpp"
#include "host/engine/assignments.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {
namespace {

struct Recording {
  LoadedScenario loaded;
  PlacementMode mode = PlacementMode::kNominate;
  std::vector<SequenceGang> expected;
};

BenchMix MixOf(const Sequence& sequence, const std::vector<SequenceGang>& gangs) {
  BenchMix mix;
  mix.name = sequence.name;
  mix.gates = sequence.gates;
  for (const WorkloadRequest& request : sequence.shapes) {
    GangShape& shape = mix.shapes.emplace_back();
    shape.workers = request.pod_sets.front();
    if (request.pod_sets.size() > 1) shape.leader = request.pod_sets[1];
  }
  for (const SequenceGang& gang : gangs) {
    mix.gangs.push_back(
        {static_cast<std::int32_t>(gang.shape), gang.request.pod_sets.front().count});
  }
  return mix;
}

Result<Recording> ReadRecording(const std::string& path, std::int64_t most_gangs) {
  InputLimit limit(kMostInputBytes);
  const Result<CaseFile> file = ReadCaseFile(path, limit);
  if (!file) return tl::unexpected(file.error());
  if (file->lines.empty()) return BadInput(path + ": there is no sequence in it");
  Result<Sequence> sequence = ReadSequenceHeader(file->lines.front());
  if (!sequence) return tl::unexpected(sequence.error());
  std::vector<SequenceGang> gangs;
  for (std::size_t i = 1; i < file->lines.size(); ++i) {
    if (most_gangs > 0 && static_cast<std::int64_t>(gangs.size()) == most_gangs) break;
    Result<SequenceGang> gang = ReadGang(file->lines[i], *sequence);
    if (!gang) return tl::unexpected(gang.error());
    gangs.push_back(*std::move(gang));
  }
  Result<ClusterState> state = ClusterState::Build(sequence->cluster);
  if (!state) return tl::unexpected(state.error());
  BenchCluster cluster;
  cluster.name = sequence->name;
  cluster.levels = sequence->cluster.topologies.front().levels;
  return Recording{{std::move(cluster),
                    {},
                    MixOf(*sequence, gangs),
                    *std::move(state),
                    sequence->cluster.flavors.front().name},
                   sequence->mode,
                   std::move(gangs)};
}

// A gang's columns in the words of a recorded answer.
WorkloadAnswer InWords(const Recording& recording, std::size_t gang, const GangAnswers& answers,
                       const std::optional<PlacementFailure>& failure) {
  const FlavorSnapshot& snapshot = recording.loaded.flavor().snapshot();
  const auto shares = answers.SharesOf(gang);
  const std::vector<LeafShare> list(shares.begin(), shares.end());
  WorkloadAnswer answer;
  for (const PodSetRequest& pod_set : recording.expected[gang].request.pod_sets) {
    PodSetAnswer& in_words = answer.pod_sets.emplace_back();
    in_words.name = pod_set.name;
    in_words.failure = failure;
    if (!failure) in_words.assignment = ToAssignment(list, answer.pod_sets.size() > 1, snapshot);
  }
  return answer;
}

void CompareWithRecorded(const Recording& recording, const GangBatch& batch,
                         const GangAnswers& answers, ScenarioResult& result) {
  std::size_t different = 0;
  for (std::size_t gang = 0; gang < recording.expected.size(); ++gang) {
    std::optional<PlacementFailure> why;
    if (answers.status[gang] != PlacementStatus::kPlaced) {
      why = batch.Describe(recording.loaded.mix.gangs, answers, gang);
    }
    const auto difference =
        Difference(recording.expected[gang], InWords(recording, gang, answers, why));
    if (difference && ++different == 1) {
      result.problems.push_back(fmt::format("gang {} is not as recorded: {}",
                                            recording.expected[gang].number, *difference));
    }
  }
  if (different > 0) {
    result.problems.push_back(
        fmt::format("{} of {} answers are not as recorded", different, recording.expected.size()));
  } else {
    result.checks.push_back(
        fmt::format("all {} answers are those Kueue gave", recording.expected.size()));
  }
}

}  // namespace

Result<void> RunRecorded(Backend& backend, const RunOptions& options, ScenarioResult& result) {
  const std::string path =
      (std::filesystem::path(options.cases_folder) / result.scenario.recorded).string();
  const double start = Now();
  const Result<Recording> recording = ReadRecording(path, options.gangs);
  if (!recording) return tl::unexpected(recording.error());
  Describe(recording->loaded, result);
  result.setup_seconds = Now() - start;
  const auto compare = [&](const GangBatch& batch, const GangAnswers& answers) {
    if (options.check) CompareWithRecorded(*recording, batch, answers, result);
  };
  RunGangs(recording->loaded,
           recording->mode == PlacementMode::kSequential ? GangsMode::kInOrder : GangsMode::kCold,
           backend, options, result, compare);
  return {};
}

}  // namespace espalier
