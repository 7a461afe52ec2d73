#include "host/what_if/prefix_search.hpp"

#include <algorithm>
#include <limits>

#include <tbb/task_arena.h>

#include "host/packing/parallel_for.hpp"
#include "host/what_if/removal_trial.hpp"
#include "host/what_if/victims_by_flavor.hpp"

namespace espalier {
namespace {

// A request on leaves, and whatever else has to have room.
class Rooms {
 public:
  Rooms(RemovalTrial& leaves, OtherRoom* other) : leaves_(leaves), other_(other) {}

  void Set(std::size_t victim, bool removed) {
    leaves_.Set(victim, removed);
    if (other_ != nullptr) other_->Set(victim, removed);
  }
  // Removes a victim again, without which the request fitted.
  void RemoveAgain(std::size_t victim) {
    leaves_.TakeBack(victim, true, true);
    if (other_ != nullptr) other_->Set(victim, true);
  }
  bool Fits() { return (other_ == nullptr || other_->Fits()) && leaves_.Fits(); }

 private:
  RemovalTrial& leaves_;
  OtherRoom* other_;
};

// Puts back the targets without which the request fits, tried from the last but one to the
// first. The list's last takes the place of one that was put back.
void PutBack(Rooms& rooms, WorkBudget& budget, std::vector<std::size_t>& targets) {
  for (std::size_t i = targets.size(); i-- > 1 && budget.MayContinue();) {
    const std::size_t victim = targets[i - 1];
    rooms.Set(victim, false);
    if (rooms.Fits()) {
      targets[i - 1] = targets.back();
      targets.pop_back();
    } else {
      rooms.RemoveAgain(victim);
    }
  }
}

// Does what FitsWithoutEach does, on one thread.
Result<std::vector<bool>> EachOf(const Engine& engine, const ClusterState& state,
                                 const WorkloadRequest& request, std::span<const Victim> victims) {
  const Result<VictimsByFlavor> held = ResolveVictims(state, victims, /*together=*/false);
  if (!held) return tl::unexpected(held.error());
  RemovalTrial trial(engine, state, request, victims, *held);
  const bool at_once = trial.Fits();
  std::vector<bool> fits;
  for (std::size_t v = 0; v < victims.size() && !engine.budget().stopped(); ++v) {
    trial.Set(v, true);
    fits.push_back(trial.Fits());
    trial.TakeBack(v, false, at_once);
  }
  return fits;
}

}  // namespace

Result<void> CheckVictims(const ClusterState& state, std::span<const Victim> victims,
                          bool together) {
  const Result<VictimsByFlavor> held = ResolveVictims(state, victims, together);
  if (!held) return tl::unexpected(held.error());
  return {};
}

Result<PrefixAnswer> FindPrefix(const Engine& engine, const ClusterState& state,
                                const WorkloadRequest& request, std::span<const Victim> victims,
                                OtherRoom* other) {
  const Result<VictimsByFlavor> held = ResolveVictims(state, victims, /*together=*/true);
  if (!held) return tl::unexpected(held.error());
  WorkBudget& budget = engine.budget();
  RemovalTrial trial(engine, state, request, victims, *held);
  Rooms rooms(trial, other);
  PrefixAnswer found;
  std::vector<std::size_t>& targets = found.targets;
  while (!rooms.Fits() && targets.size() < victims.size() && budget.MayContinue()) {
    rooms.Set(targets.size(), true);
    targets.push_back(targets.size());
  }
  found.fits = rooms.Fits();
  if (!found.fits) {
    targets.clear();
  } else {
    found.prefix = targets.size();
    PutBack(rooms, budget, targets);
  }
  found.answer = trial.Place();
  if (auto check = budget.Check(); !check) return tl::unexpected(check.error());
  return found;
}

Result<std::vector<bool>> FitsWithoutEach(const Engine& engine, const ClusterState& state,
                                          const WorkloadRequest& request,
                                          std::span<const Victim> victims) {
  if (victims.empty()) return std::vector<bool>();
  // Every part counts the cluster once for itself.
  constexpr std::size_t kFewest = 256;  // victims, for which that is worth it
  const auto threads = static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
  const std::size_t parts = std::clamp(victims.size() / kFewest, std::size_t{1}, threads);
  std::vector<Result<std::vector<bool>>> fits(parts);
  ParallelFor(parts, std::numeric_limits<std::size_t>::max(), [&](std::size_t part) {
    const std::size_t begin = victims.size() * part / parts;
    const std::size_t end = victims.size() * (part + 1) / parts;
    fits[part] = EachOf(engine, state, request, victims.subspan(begin, end - begin));
  });
  std::vector<bool> all;
  for (const Result<std::vector<bool>>& part : fits) {
    if (!part) return tl::unexpected(part.error());
    all.insert(all.end(), part->begin(), part->end());
  }
  if (auto check = engine.budget().Check(); !check) return tl::unexpected(check.error());
  return all;
}

}  // namespace espalier
