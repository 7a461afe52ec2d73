#include "tests/simulation/schedule.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "host/live/admitted_workloads.hpp"
#include "host/live/state_store.hpp"
#include "host/packing/flavor_snapshot.hpp"
#include "host/packing/flavor_state.hpp"
#include "tests/generated/clusters.hpp"
#include "tests/simulation/model.hpp"

namespace espalier::simulation {
namespace {

constexpr int kHosts = 6;
constexpr int kHostsOfRack = 3;
constexpr int kWorkloads = 4;
constexpr int kControllers = 3;
constexpr std::int64_t kUnit = 1000;  // one cpu
constexpr std::int64_t kLittleBytes = 256;
constexpr std::uint64_t kNever = ~std::uint64_t{0};  // no generation

std::string HostOf(unsigned number) { return fmt::format("host-{}", number % kHosts); }
std::string WorkloadOf(unsigned number) { return fmt::format("w{}", number % kWorkloads); }

Resources Cpu(std::int64_t amount) {
  return amount == 0 ? Resources() : Resources{{"cpu", amount}};
}

Node MakeNode(const std::string& host, std::int64_t amount) {
  const int number = host.back() - '0';
  return HostNode(fmt::format("r{}/{}", number / kHostsOfRack, host), {{"cpu", amount}});
}

std::vector<FlavorLeafUsage> UsageOf(const AmountsByHost& amounts) {
  std::vector<FlavorLeafUsage> usage;
  for (const auto& [host, amount] : amounts) usage.push_back({"main", host, Cpu(amount)});
  return usage;
}

AdmittedUsage AdmittedOf(const std::string& workload, const AmountsByHost& amounts) {
  AdmittedUsage admitted;
  admitted.key = {"team", workload};
  admitted.usage = UsageOf(amounts);
  return admitted;
}

StateDelta DeltaOf(const ModelChange& change) {
  StateDelta delta;
  delta.remove_nodes.assign(change.remove_hosts.begin(), change.remove_hosts.end());
  for (const auto& [host, amount] : change.set_hosts) {
    delta.upsert_nodes.push_back(MakeNode(host, amount));
  }
  delta.set_tas_usage = UsageOf(change.set_usage);
  for (const auto& [key, usage] : change.set_workloads) {
    delta.set_workloads.push_back(AdmittedOf(key, usage));
  }
  return delta;
}

std::string NameOf(std::optional<ErrorClass> error) {
  return error ? fmt::format("error {}", static_cast<int>(*error)) : "done";
}

// The knowledge of one controller.
struct Controller {
  StatePosition seen;  // when it looked last
  struct Decision {
    std::shared_ptr<const PublishedState> on;
    AmountsByHost usage;
    std::string workload;
  };
  std::optional<Decision> decided;
  std::vector<std::string> holds;  // ids, also of those that ended
};

// A store and the model beside it.
class Simulation {
 public:
  Outcome Run(const Schedule& schedule) {
    for (const Step& step : schedule) {
      ++outcome_.steps;
      Make(step);
      if (outcome_.problem.empty()) Compare();
      if (!outcome_.problem.empty()) return std::move(outcome_);
    }
    CompareWithFresh();
    return std::move(outcome_);
  }

 private:
  void Make(const Step& step) {
    Controller& controller = controllers_[step.controller % kControllers];
    switch (step.kind) {
      case StepKind::kLook:
        controller.seen = store_->Current()->position;
        return;
      case StepKind::kLoad:
        return Load(step);
      case StepKind::kChangeHost:
        return Update(step, controller, HostChange(step));
      case StepKind::kSetUsage:
        return Update(step, controller, {.set_usage = {{HostOf(step.what), step.how % 4 * kUnit}}});
      case StepKind::kSetWorkload:
        return Update(step, controller, WorkloadChange(step));
      case StepKind::kDecide:
        return Decide(step, controller);
      case StepKind::kBook:
        return Book(step, controller);
      case StepKind::kHold:
        return Hold(step, controller);
      case StepKind::kConfirm:
        return Confirm(step, controller);
      case StepKind::kRelease:
      case StepKind::kExtend:
        return ReleaseOrExtend(step, controller);
      case StepKind::kPassTime:
        now_ += std::chrono::seconds(1 + step.how % 3);
        return;
      case StepKind::kExpire:
        return Expire(step);
      case StepKind::kRestart:
        store_ = std::make_unique<StateStore>();
        model_.Restart();
        return;
    }
  }

  static ModelChange WorkloadChange(const Step& step) {
    AmountsByHost usage;
    if (step.how % 4 != 0) usage[HostOf(step.how / 4u)] = step.how % 4 * kUnit;
    if (step.how % 8 == 7) usage[HostOf(step.what)] = kUnit;
    return {.set_workloads = {{WorkloadOf(step.what), usage}}};
  }

  static ModelChange HostChange(const Step& step) {
    if (step.how % 2 == 0) return {.remove_hosts = {HostOf(step.what)}};
    return {.set_hosts = {{HostOf(step.what), (4 + step.how % 8) * kUnit}}};
  }

  void Load(const Step& step) {
    AmountsByHost hosts;
    ClusterStateInput input = OneFlavor(LevelKeys(2), "main");
    for (unsigned i = 0; i < kHosts; ++i) {
      if ((step.what >> i & 1) == 0) continue;
      hosts[HostOf(i)] = (4 + step.how % 8) * kUnit;
      input.nodes.push_back(MakeNode(HostOf(i), hosts[HostOf(i)]));
    }
    std::map<std::string, AmountsByHost> reported;
    if (step.how % 4 != 0) reported = model_.workloads();
    std::vector<AdmittedUsage> workloads;
    for (const auto& [key, usage] : reported) workloads.push_back(AdmittedOf(key, usage));
    std::vector<LostHold> lost;
    WithBudget(
        step,
        [&](WorkBudget& budget) {
          return store_->Load(std::move(input), budget, std::move(workloads), nullptr, &lost);
        },
        [&](std::set<std::string>& ended) {
          return model_.Load(std::move(hosts), std::move(reported), ended);
        },
        lost);
  }

  void Update(const Step& step, const Controller& controller, const ModelChange& change) {
    std::vector<LostHold> lost;
    WithBudget(
        step,
        [&](WorkBudget& budget) {
          return store_->Update(controller.seen, DeltaOf(change), budget, std::nullopt, &lost);
        },
        [&](std::set<std::string>& ended) {
          return model_.Update(Base(controller.seen), change, ended);
        },
        lost);
  }

  void Decide(const Step& step, Controller& controller) {
    controller.decided.reset();
    const auto on = store_->Current();
    const FlavorState* flavor = on->state.Find("main");
    if (flavor == nullptr) return;
    const FlavorSnapshot& snapshot = flavor->snapshot();
    const std::int32_t cpu = snapshot.FindResource("cpu");
    const std::int64_t amount = (1 + step.how % 3) * kUnit;
    for (unsigned i = 0; i < kHosts; ++i) {
      const std::string host = HostOf(step.what + i);
      const LeafId leaf = snapshot.FindLeaf(host);
      if (!leaf.valid()) continue;
      const auto at = static_cast<std::size_t>(cpu * snapshot.stride() + leaf.value);
      if (flavor->remaining()[at] < amount) continue;
      controller.decided = {on, {{host, amount}}, WorkloadOf(step.how / 3u)};
      return;
    }
  }

  void Book(const Step& step, Controller& controller) {
    if (!controller.decided) return;
    const Controller::Decision decided = *std::exchange(controller.decided, std::nullopt);
    const bool booked = WithBudget(
        step,
        [&](WorkBudget& budget) {
          ClusterState branch = decided.on->state.Branch();
          branch.AddUsage(UsageOf(decided.usage));
          return store_->Book(decided.on->position, std::move(branch), budget);
        },
        [&](std::set<std::string>&) {
          return model_.Book(Base(decided.on->position), decided.usage);
        });
    if (booked) CheckRoom(decided);
  }

  void Hold(const Step& step, Controller& controller) {
    if (!controller.decided) return;
    const Controller::Decision decided = *std::exchange(controller.decided, std::nullopt);
    const ObjectKey key{"team", decided.workload};
    const std::string id = HoldId(key, 0, decided.on->position.generation + 1);
    const auto expires = now_ + std::chrono::seconds(1 + step.how % 8);
    const bool held = WithBudget(
        step,
        [&](WorkBudget& budget) {
          return Plain(store_->PlaceHolds(
              decided.on->position, {{id, key, "me", "", UsageOf(decided.usage), now_, expires}},
              budget));
        },
        [&](std::set<std::string>&) {
          return model_.Hold(Base(decided.on->position), id,
                             {decided.workload, decided.usage, expires});
        });
    controller.holds.push_back(id);
    if (held) CheckRoom(decided);
  }

  void Confirm(const Step& step, Controller& controller) {
    const std::string id = AnyHold(step, controller);
    const auto hold = model_.holds().find(id);
    ModelChange change;
    if (hold != model_.holds().end() && step.how % 4 == 0) {
      change.set_workloads = {{hold->second.workload, hold->second.usage}};
    } else if (hold != model_.holds().end() && step.how % 4 == 1) {
      change.set_usage = hold->second.usage;
    } else if (step.how % 8 == 2) {
      change.remove_hosts = {HostOf(step.what)};
    }
    std::optional<StatePosition> base;
    if (step.how / 8 % 2 == 1) base = controller.seen;
    const bool reported = step.how % 4 >= 2 && step.how / 16 % 2 == 1;
    std::vector<LostHold> lost;
    WithBudget(
        step,
        [&](WorkBudget& budget) {
          return Plain(store_->ConfirmHolds({{id}, base, DeltaOf(change), std::nullopt, reported},
                                            now_, budget, &lost));
        },
        [&](std::set<std::string>& ended) {
          const auto model_base = base ? std::optional(Base(*base)) : std::nullopt;
          const auto refused = model_.Confirm(id, model_base, change, reported, now_, ended);
          if (!refused) ++outcome_.ended;
          return refused;
        },
        lost);
  }

  void ReleaseOrExtend(const Step& step, Controller& controller) {
    const std::string id = AnyHold(step, controller);
    const bool releases = step.kind == StepKind::kRelease;
    const auto expires = now_ + std::chrono::seconds(1 + step.how % 8);
    WithBudget(
        step,
        [&](WorkBudget& budget) {
          return Plain(releases ? store_->ReleaseHolds({id}, now_, budget)
                                : store_->ExtendHolds({id}, now_, expires));
        },
        [&](std::set<std::string>&) {
          if (!releases) return model_.Extend(id, now_, expires);
          const auto refused = model_.Release(id, now_);
          if (!refused) ++outcome_.ended;
          return refused;
        });
  }

  void Expire(const Step& step) {
    WorkBudget budget;
    if (step.fault == Fault::kStopped) Stop(budget);
    const auto next = store_->ExpireHolds(now_, budget);
    if (!next && step.fault == Fault::kStopped) {
      ++outcome_.faults;
      return;
    }
    const std::size_t before = model_.holds().size();
    const auto expected = model_.Expire(now_);
    outcome_.ended += static_cast<std::int64_t>(before - model_.holds().size());
    if (!next || *next != expected) Fail("the next hold expires at another time");
  }

  // One that this controller made, or nobody.
  static std::string AnyHold(const Step& step, const Controller& controller) {
    if (controller.holds.empty() || step.what % 16 == 15) return "team/nobody@1";
    return controller.holds[step.what % controller.holds.size()];
  }

  static void Stop(WorkBudget& budget) { budget.Stop({ErrorClass::kCancelled, "stopped"}); }

  std::uint64_t Base(const StatePosition& position) const {
    const bool is_of_this_start = position.epoch == store_->Current()->position.epoch;
    return is_of_this_start ? position.generation : kNever;
  }

  static Result<StatePosition> Plain(HoldResult changed) {
    if (!changed) return tl::unexpected(changed.error().error);
    return *changed;
  }

  // Calls the store within the bounds of the step's fault and, unless that stopped the call, the
  // model; compares what they say. Returns whether it was done.
  template <class CallStore, class CallModel>
  bool WithBudget(const Step& step, const CallStore& call_store, const CallModel& call_model,
                  const std::vector<LostHold>& lost = {}) {
    std::optional<WorkBudget> budget;
    if (step.fault == Fault::kLittleMemory) {
      budget.emplace(kLittleBytes);
    } else {
      budget.emplace();
    }
    if (step.fault == Fault::kStopped) Stop(*budget);
    const std::uint64_t before = store_->Current()->position.generation;
    const Result<StatePosition> changed = call_store(*budget);
    const auto error = changed ? std::nullopt : std::optional(changed.error().error_class);
    const bool by_fault = step.fault != Fault::kNone &&
                          (error == ErrorClass::kCancelled || error == ErrorClass::kExhausted);
    if (by_fault) {
      ++outcome_.faults;
      return false;
    }
    std::set<std::string> expected_lost;
    const auto refused = call_model(expected_lost);
    if (refused != error) {
      Fail(fmt::format("the store says {}, the model {}", NameOf(error), NameOf(refused)));
      return false;
    }
    if (refused) ++outcome_.refused;
    std::set<std::string> told;
    for (const LostHold& hold : lost) told.insert(hold.id);
    if (told != expected_lost) Fail("other holds are told to be lost");
    outcome_.ended += static_cast<std::int64_t>(expected_lost.size());
    if (!changed) return false;
    if (changed->generation != model_.generation()) Fail("the answer names another generation");
    outcome_.changed += changed->generation != before ? 1 : 0;
    return true;
  }

  // Checks that what is booked or held had room on the state that it was decided on, and that
  // nobody else got it.
  void CheckRoom(const Controller::Decision& decided) {
    for (const auto& [host, amount] : decided.usage) {
      if (model_.Remaining(host) < 0) Fail(host + " is given twice");
    }
  }

  void Compare() {
    const auto current = store_->Current();
    if (current->position.generation != model_.generation()) return Fail("another generation");
    if (model_.generation() == 0) return;
    const auto listed = store_->ListHolds();
    if (!listed) return Fail("holds are not listed: " + listed.error().message);
    std::map<std::string, ModelHold> holds;
    for (const auto& hold : listed->holds) {
      ModelHold& listed_hold = holds[hold->id];
      listed_hold = {hold->workload.name, {}, hold->expires};
      for (const FlavorLeafUsage& entry : hold->usage) {
        listed_hold.usage[entry.leaf] = *entry.usage.Find("cpu");
      }
    }
    if (holds != model_.holds()) return Fail("other holds are listed");
    CompareHosts(*current);
  }

  void CompareHosts(const PublishedState& current) {
    const FlavorState& flavor = *current.state.Find("main");
    const FlavorSnapshot& snapshot = flavor.snapshot();
    if (snapshot.occupied_leaf_count() != std::ssize(model_.hosts())) {
      return Fail("other hosts are there");
    }
    const std::int32_t cpu = snapshot.FindResource("cpu");
    for (const auto& [host, size] : model_.hosts()) {
      const LeafId leaf = snapshot.FindLeaf(host);
      if (!leaf.valid()) return Fail(host + " is not there");
      const auto at = static_cast<std::size_t>(cpu * snapshot.stride() + leaf.value);
      if (flavor.remaining()[at] != model_.Remaining(host)) {
        return Fail(fmt::format("{} has {} left, the model {}", host, flavor.remaining()[at],
                                model_.Remaining(host)));
      }
    }
  }

  // A store that is given what the model has has the same checksum.
  void CompareWithFresh() {
    if (model_.generation() == 0) return;
    ClusterStateInput input = OneFlavor(LevelKeys(2), "main");
    for (const auto& [host, size] : model_.hosts()) input.nodes.push_back(MakeNode(host, size));
    for (const auto& [host, amount] : model_.usage()) {
      if (amount != 0) input.tas_usage.push_back({"main", host, Cpu(amount)});
    }
    std::vector<AdmittedUsage> workloads;
    for (const auto& [key, usage] : model_.workloads()) workloads.push_back(AdmittedOf(key, usage));
    StateStore fresh;
    const auto base = fresh.Load(std::move(input), WorkBudget::Unlimited(), std::move(workloads));
    if (!base) return Fail("a fresh store refuses it: " + base.error().message);
    std::vector<espalier::Hold> holds;
    for (const auto& [id, hold] : model_.holds()) {
      holds.push_back(
          {id, {"team", hold.workload}, "me", "", UsageOf(hold.usage), now_, hold.expires});
    }
    if (!holds.empty() && !fresh.PlaceHolds(*base, std::move(holds))) {
      return Fail("a fresh store refuses the holds");
    }
    if (fresh.CurrentChecked()->checksum != store_->CurrentChecked()->checksum) {
      Fail("another checksum than that of a fresh store");
    }
  }

  void Fail(std::string problem) {
    if (outcome_.problem.empty()) outcome_.problem = std::move(problem);
  }

  std::unique_ptr<StateStore> store_ = std::make_unique<StateStore>();
  Model model_;
  HoldClock::TimePoint now_ = HoldClock::TimePoint() + std::chrono::hours(1);
  std::array<Controller, kControllers> controllers_;
  Outcome outcome_;
};

// Percent of the steps that are of each kind.
constexpr std::array<int, kStepKinds> kShares = {14, 4, 7, 6, 8, 18, 6, 14, 8, 4, 4, 4, 2, 1};

StepKind AnyKind(Random& random) {
  std::int64_t left = random.Between(0, 99);
  for (int kind = 0; kind < kStepKinds; ++kind) {
    left -= kShares[static_cast<std::size_t>(kind)];
    if (left < 0) return static_cast<StepKind>(kind);
  }
  return StepKind::kLook;
}

}  // namespace

Schedule MakeSchedule(std::uint64_t seed) {
  Random random(seed);
  const auto any = [&] { return static_cast<std::uint8_t>(random.Between(0, 255)); };
  Schedule schedule = {{StepKind::kLoad, 0, 0xff, any(), Fault::kNone}};
  const std::int64_t steps = random.Between(10, 60);
  while (std::ssize(schedule) < steps) {
    Step& step = schedule.emplace_back(Step{AnyKind(random), any(), any(), any(), Fault::kNone});
    step.controller %= kControllers;
    if (random.Chance(8)) step.fault = random.Pick({Fault::kStopped, Fault::kLittleMemory});
  }
  return schedule;
}

Outcome Simulate(const Schedule& schedule) { return Simulation().Run(schedule); }

Schedule Shrink(Schedule schedule, const std::function<bool(const Schedule&)>& fails) {
  for (std::size_t size = std::max<std::size_t>(schedule.size() / 2, 1);;) {
    bool shorter = false;
    for (std::size_t first = 0; first < schedule.size();) {
      Schedule rest = schedule;
      const auto begin = rest.begin() + static_cast<std::ptrdiff_t>(first);
      rest.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(size, rest.size() - first)));
      if (fails(rest)) {
        schedule = std::move(rest);
        shorter = true;
      } else {
        first += size;
      }
    }
    if (size == 1 && !shorter) return schedule;
    size = std::max<std::size_t>(size / 2, 1);
  }
}

std::string ToText(const Schedule& schedule) {
  constexpr std::array<const char*, kStepKinds> kNames = {
      "look", "load",    "change-host", "set-usage", "set-workload", "decide", "book",
      "hold", "confirm", "release",     "extend",    "pass-time",    "expire", "restart"};
  constexpr std::array<const char*, 3> kFaults = {"", ", stopped", ", little memory"};
  std::string text;
  for (const Step& step : schedule) {
    text += fmt::format("  {} by {} (what {}, how {}{})\n",
                        kNames[static_cast<std::size_t>(step.kind)], step.controller, step.what,
                        step.how, kFaults[static_cast<std::size_t>(step.fault)]);
  }
  return text;
}

}  // namespace espalier::simulation
