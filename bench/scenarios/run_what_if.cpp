#include "bench/scenarios/run_what_if.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bench/scenarios/answer_digest.hpp"
#include "bench/scenarios/run_gangs.hpp"
#include "bench/scenarios/splitmix64.hpp"
#include "host/engine/assignments.hpp"
#include "host/what_if/prefix_search.hpp"

namespace espalier {
namespace {

std::vector<Victim> VictimsOf(const LoadedScenario& loaded, std::uint64_t seed) {
  std::vector<Victim> victims;
  for (const RunningGang& gang : loaded.prefill.gangs) {
    Victim& victim = victims.emplace_back();
    victim.name = fmt::format("running-{}", victims.size());
    const Resources requests = SlotRequests(loaded.cluster, gang.slots);
    for (const auto& [node, pods] : gang.pods) {
      victim.usage.push_back({std::string(kBenchFlavor),
                              loaded.cluster.nodes.names[static_cast<std::size_t>(node)],
                              UsageOfPods(requests, pods)});
    }
  }
  SplitMix64 random(seed);
  for (std::size_t i = victims.size(); i > 1; --i) {
    std::swap(victims[i - 1],
              victims[static_cast<std::size_t>(random.Below(static_cast<std::int64_t>(i)))]);
  }
  return victims;
}

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

}  // namespace

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
