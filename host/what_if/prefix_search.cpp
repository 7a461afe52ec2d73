#include "host/what_if/prefix_search.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <tbb/task_arena.h>

#include "host/packing/parallel_for.hpp"
#include "host/what_if/removal_trial.hpp"
#include "host/what_if/victims_by_flavor.hpp"

namespace espalier {
namespace {

// A request on leaves, and whatever else has to have room.
class Rooms {
 public:
  Rooms(RemovalTrial& leaves, std::span<const std::uint32_t> list, OtherRoom* other)
      : leaves_(leaves), list_(list), other_(other) {}

  void Set(std::size_t position, bool removed) {
    leaves_.Set(list_[position], removed);
    if (other_ != nullptr) other_->Set(list_[position], removed);
  }
  // Removes a victim again, without which the request fitted.
  void RemoveAgain(std::size_t position) {
    leaves_.TakeBack(list_[position], true, true);
    if (other_ != nullptr) other_->Set(list_[position], true);
  }
  bool Fits() { return (other_ == nullptr || other_->Fits()) && leaves_.Fits(); }

 private:
  RemovalTrial& leaves_;
  std::span<const std::uint32_t> list_;
  OtherRoom* other_;
};

// Puts back the targets without which the request fits, tried from the last but one to the
// first. The list's last takes the place of one that was put back.
template <class MayContinue>
void PutBack(Rooms& rooms, const MayContinue& may_continue, std::vector<std::size_t>& targets) {
  for (std::size_t i = targets.size(); i-- > 1 && may_continue();) {
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
  std::vector<std::uint32_t> all(victims.size());
  std::iota(all.begin(), all.end(), 0U);
  PrefixAnswer found = FindPrefixOf(engine, state, request, victims, *held, all, true, other);
  if (auto check = engine.budget().Check(); !check) return tl::unexpected(check.error());
  return found;
}

PrefixAnswer FindPrefixOf(const Engine& engine, const ClusterState& state,
                          const WorkloadRequest& request, std::span<const Victim> victims,
                          const VictimsByFlavor& held, std::span<const std::uint32_t> list,
                          bool alone, OtherRoom* other) {
  WorkBudget& budget = engine.budget();
  const auto may_continue = [&] { return alone ? budget.MayContinue() : !budget.stopped(); };
  RemovalTrial trial(engine, state, request, victims, held);
  Rooms rooms(trial, list, other);
  PrefixAnswer found;
  std::vector<std::size_t>& targets = found.targets;
  while (!rooms.Fits() && targets.size() < list.size() && may_continue()) {
    rooms.Set(targets.size(), true);
    targets.push_back(targets.size());
  }
  found.fits = rooms.Fits();
  if (!found.fits) {
    targets.clear();
  } else {
    found.prefix = targets.size();
    PutBack(rooms, may_continue, targets);
  }
  found.answer = trial.Place();
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
