#include "bench/scenarios/run_what_if.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "bench/scenarios/answer_digest.hpp"
#include "bench/scenarios/run_gangs.hpp"
#include "bench/scenarios/victims.hpp"
#include "host/engine/assignments.hpp"
#include "host/model/splitmix64.hpp"
#include "host/what_if/atlas.hpp"
#include "host/what_if/census.hpp"
#include "host/what_if/prefix_search.hpp"

namespace espalier {
namespace {

// The same by placing the request anew for every victim that goes or comes back.
class Replay {
 public:
  Replay(const Engine& engine, const LoadedScenario& loaded, const WorkloadRequest& request,
         const std::vector<Victim>& victims)
      : engine_(engine), request_(request), victims_(victims), state_(loaded.state.Clone()) {}

  PrefixAnswer Run() {
    PrefixAnswer found;
    std::vector<std::size_t>& targets = found.targets;
    while (!Fits() && targets.size() < victims_.size()) {
      state_.RemoveUsage(victims_[targets.size()].usage);
      targets.push_back(targets.size());
    }
    found.fits = Fits();
    found.prefix = found.fits ? targets.size() : 0;
    for (std::size_t i = found.prefix; i-- > 1;) {
      const Victim& victim = victims_[targets[i - 1]];
      state_.AddUsage(victim.usage);
      if (Fits()) {
        targets[i - 1] = targets.back();
        targets.pop_back();
      } else {
        state_.RemoveUsage(victim.usage);
      }
    }
    if (!found.fits) targets.clear();
    found.answer = Place();
    return found;
  }

 private:
  WorkloadAnswer Place() const { return engine_.NominateOne(state_, request_); }
  bool Fits() const { return Place().FirstFailure() == nullptr; }

  const Engine& engine_;
  const WorkloadRequest& request_;
  const std::vector<Victim>& victims_;
  ClusterState state_;
};

std::string DigestOf(const PrefixAnswer& found) {
  Sha256 sha;
  sha.Add(static_cast<std::int64_t>(found.fits));
  sha.Add(static_cast<std::int64_t>(found.prefix));
  for (const std::size_t target : found.targets) sha.Add(static_cast<std::int64_t>(target));
  for (const PodSetAnswer& pod_set : found.answer.pod_sets) {
    if (pod_set.failure) sha.Add(pod_set.failure->reason);
    if (!pod_set.assignment) continue;
    for (const TopologyDomainAssignment& domain : pod_set.assignment->domains) {
      sha.Add(DomainIdText(domain.values));
      sha.Add(std::int64_t{domain.count});
    }
  }
  return sha.Hex();
}

constexpr std::int64_t kChangedStates = 10'000;
constexpr std::int64_t kMostNodes = 64;
constexpr std::size_t kCheckedStates = 100;

// Returns what runs on 1 to 64 nodes from a random one on, for each changed state.
std::vector<Victim> ChangedStates(const LoadedScenario& loaded, std::uint64_t seed) {
  const std::vector<FlavorLeafUsage> usage = UsageOf(loaded.prefill, loaded.cluster);
  SplitMix64 random(seed);
  std::vector<Victim> states;
  for (std::int64_t i = 0; i < kChangedStates; ++i) {
    const std::int64_t first = random.Below(std::ssize(usage));
    const std::int64_t last = std::min(first + 1 + random.Below(kMostNodes), std::ssize(usage));
    states.push_back({fmt::format("state-{}", i), {usage.begin() + first, usage.begin() + last}});
  }
  return states;
}

constexpr std::size_t kCheckedGangs = 16;

struct Atlas {
  std::vector<std::int64_t> priorities;
  std::vector<AtlasRow> rows;
};

// Returns a digest of the answers to the first `gangs` gangs, whichever later ones share their
// rows.
std::string DigestOf(const Atlas& atlas, std::size_t gangs) {
  Sha256 sha;
  for (const std::int64_t priority : atlas.priorities) sha.Add(priority);
  for (const AtlasRow& row : atlas.rows) {
    if (row.requests.front() >= gangs) continue;
    for (const std::size_t gang : row.requests) {
      if (gang < gangs) sha.Add(static_cast<std::int64_t>(gang));
    }
    for (const PriorityStep step : row.steps) sha.Add(std::int64_t{step});
    sha.Add(std::int64_t{row.anywhere});
  }
  return sha.Hex();
}

// Compares the rows of the first gangs with what is counted in each domain of each state, and
// whether they are placed on it.
void CheckAtlas(const LoadedScenario& loaded, const Engine& engine,
                const std::vector<WorkloadRequest>& requests, const std::vector<Victim>& victims,
                const std::vector<std::int64_t>& priorities, const Atlas& atlas,
                ScenarioResult& result) {
  ClusterState state = loaded.state.Clone();
  const auto never = static_cast<PriorityStep>(atlas.priorities.size()) + 1;
  for (PriorityStep step = 0; step < never; ++step) {
    for (std::size_t v = 0; step > 0 && v < victims.size(); ++v) {
      if (priorities[v] == atlas.priorities[static_cast<std::size_t>(step) - 1]) {
        state.RemoveUsage(victims[v].usage);
      }
    }
    for (const AtlasRow& row : atlas.rows) {
      const std::size_t gang = row.requests.front();
      if (gang >= kCheckedGangs) continue;
      const PodSetRequest& pods = requests[gang].pod_sets.front();
      const GangCensus census =
          CountGangs(state, {&pods, 1}, CensusDetail::kDomains, engine.gates(), engine.backend())
              .front();
      bool same = (engine.NominateOne(state, requests[gang]).FirstFailure() == nullptr) ==
                  (row.anywhere <= step);
      for (std::int32_t d = row.domains.begin; d < row.domains.end; ++d) {
        const PriorityStep first = row.steps[static_cast<std::size_t>(d - row.domains.begin)];
        same = same && (census.PodsIn(d) >= pods.count) == (first <= step);
      }
      if (same) continue;
      result.problems.push_back(
          fmt::format("gang {} at step {}: counting and placing find another room", gang, step));
    }
  }
  if (result.problems.empty()) {
    result.checks.push_back(fmt::format(
        "counting each domain and placing, at every step, finds the same for the first {} gangs",
        kCheckedGangs));
  }
}

}  // namespace

Result<void> RunAtlas(const LoadedScenario& loaded, std::shared_ptr<Backend> backend,
                      const RunOptions& options, ScenarioResult& result) {
  const std::vector<Victim> victims = VictimsOf(loaded, PrefillSeed(result.scenario));
  const std::vector<std::int64_t> priorities = PrioritiesOf(victims, PrefillSeed(result.scenario));
  const std::vector<WorkloadRequest> requests = RequestsOf(loaded.mix);
  const Engine engine(std::move(backend), loaded.mix.gates);
  Atlas atlas;
  Result<void> done;
  result.stages = Repeat(options.repeat, [&](StageTimes& times) {
    atlas = {};
    std::optional<AtlasSearch> search;
    times.Time("prepare", [&] {
      auto opened = AtlasSearch::Open(engine, loaded.state, requests, victims, priorities);
      if (opened) {
        search = *std::move(opened);
      } else {
        done = tl::unexpected(opened.error());
      }
    });
    if (!search) return;
    atlas.priorities.assign(search->priorities().begin(), search->priorities().end());
    times.Time("compute", [&] {
      for (bool more = true; more;) {
        auto rows = search->Next();
        if (!rows) {
          done = tl::unexpected(rows.error());
          return;
        }
        more = !rows->empty();
        std::ranges::move(*rows, std::back_inserter(atlas.rows));
      }
    });
  });
  if (!done) return done;
  result.least = CountingOnce(loaded);
  result.digest = DigestOf(atlas, requests.size());
  std::int64_t domains = 0;
  std::int64_t never = 0;
  for (const AtlasRow& row : atlas.rows) {
    domains += std::ssize(row.steps);
    never += std::ranges::count(row.steps, std::ssize(atlas.priorities) + 1);
  }
  result.quality = {{"running", std::ssize(victims)},
                    {"rows", std::ssize(atlas.rows)},
                    {"answers", domains},
                    {"never", never}};
  if (!options.check) return {};
  CheckAtlas(loaded, engine, requests, victims, priorities, atlas, result);
  ComparePlainForm(
      options, [&](std::size_t gangs) { return DigestOf(atlas, gangs); }, result);
  return {};
}

Result<void> RunWhatIfBatch(const LoadedScenario& loaded, std::shared_ptr<Backend> backend,
                            const RunOptions& options, ScenarioResult& result) {
  const std::vector<Victim> states = ChangedStates(loaded, PrefillSeed(result.scenario));
  const WorkloadRequest request = RequestsOf(loaded.mix).front();
  const Engine engine(std::move(backend), loaded.mix.gates);
  Result<std::vector<bool>> fits;
  result.stages = Repeat(options.repeat, [&](StageTimes& times) {
    times.Time("compute", [&] { fits = FitsWithoutEach(engine, loaded.state, request, states); });
  });
  if (!fits) return tl::unexpected(fits.error());
  result.least = CountingOnce(loaded);
  Sha256 sha;
  for (const bool fit : *fits) sha.Add(std::int64_t{fit});
  result.digest = sha.Hex();
  result.quality = {{"states", std::ssize(states)}, {"fits", std::ranges::count(*fits, true)}};
  if (!options.check) return {};
  ClusterState changed = loaded.state.Clone();
  for (std::size_t i = 0; i < kCheckedStates; ++i) {
    changed.RemoveUsage(states[i].usage);
    const WorkloadAnswer answer = engine.NominateOne(changed, request);
    changed.AddUsage(states[i].usage);
    if ((answer.FirstFailure() == nullptr) == (*fits)[i]) continue;
    result.problems.push_back(fmt::format("placed on changed state {}, the answer differs", i));
  }
  if (result.problems.empty()) {
    result.checks.push_back(fmt::format(
        "placing on each of the first {} changed states finds the same", kCheckedStates));
  }
  ComparePlainForm(
      options, [&](std::size_t) { return result.digest; }, result);
  return {};
}

Result<void> RunWhatIf(const LoadedScenario& loaded, std::shared_ptr<Backend> backend,
                       const RunOptions& options, ScenarioResult& result) {
  const std::vector<Victim> victims = VictimsOf(loaded, PrefillSeed(result.scenario));
  const WorkloadRequest request = RequestsOf(loaded.mix).front();
  const Engine engine(std::move(backend), loaded.mix.gates);
  Result<PrefixAnswer> found;
  result.stages = Repeat(options.repeat, [&](StageTimes& times) {
    times.Time("compute", [&] { found = FindPrefix(engine, loaded.state, request, victims); });
  });
  if (!found) return tl::unexpected(found.error());
  result.least = CountingOnce(loaded);
  result.digest = DigestOf(*found);
  result.quality = {{"victims", static_cast<std::int64_t>(victims.size())},
                    {"prefix", static_cast<std::int64_t>(found->prefix)},
                    {"targets", static_cast<std::int64_t>(found->targets.size())}};
  if (!options.check) return {};
  if (*found == Replay(engine, loaded, request, victims).Run()) {
    result.checks.emplace_back("placing anew for every victim finds the same");
  } else {
    result.problems.emplace_back("placing anew for every victim finds others");
  }
  ComparePlainForm(
      options, [&](std::size_t) { return result.digest; }, result);
  return {};
}

}  // namespace espalier
