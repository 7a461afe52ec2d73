#include "tests/differential/instance.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "tests/oracle/oracle_input.hpp"

namespace espalier::differential {
namespace {

std::string Render(const PodSetAnswer& answer) {
  std::string text = answer.name + ":";
  if (answer.assignment) {
    text += fmt::format(" [{}]", fmt::join(answer.assignment->levels, ","));
    for (const TopologyDomainAssignment& domain : answer.assignment->domains) {
      text += fmt::format(" {}:{}", fmt::join(domain.values, ","), domain.count);
    }
  }
  if (answer.failure) text += " failed: " + answer.failure->reason;
  return text;
}

std::string Render(const WorkloadAnswer& answer) {
  std::string text;
  for (const PodSetAnswer& pod_set : answer.pod_sets) text += "\n  " + Render(pod_set);
  return text.empty() ? "\n  no answer" : text;
}

bool SameReason(const std::string& oracle, const std::string& engine) {
  constexpr std::array<std::string_view, 2> kOpenEnded = {"invalid affinity node selectors",
                                                          "invalid preferred node affinity terms"};
  for (const std::string_view open : kOpenEnded) {
    if (oracle == open) return engine.starts_with(open);
  }
  return oracle == engine;
}

bool SameAnswer(const PodSetAnswer& oracle, const PodSetAnswer& engine) {
  if (oracle.name != engine.name || oracle.flavor != engine.flavor) return false;
  if (oracle.assignment != engine.assignment) return false;
  if (oracle.failure.has_value() != engine.failure.has_value()) return false;
  return !oracle.failure || SameReason(oracle.failure->reason, engine.failure->reason);
}

bool IsUndefined(const WorkloadAnswer& answer) {
  const PodSetAnswer* failure = answer.FirstFailure();
  return failure != nullptr && failure->failure->reason.starts_with(oracle::kUndefined);
}

bool SameAnswer(const WorkloadAnswer& oracle, const WorkloadAnswer& engine) {
  if (IsUndefined(oracle)) return engine.FirstFailure() != nullptr;
  if (oracle.pod_sets.size() != engine.pod_sets.size()) return false;
  for (std::size_t i = 0; i < oracle.pod_sets.size(); ++i) {
    if (!SameAnswer(oracle.pod_sets[i], engine.pod_sets[i])) return false;
  }
  return true;
}

}  // namespace

WorkloadAnswer AskOracle(const Instance& instance) {
  return oracle::Answer(oracle::MakeOracleInput(instance.cluster, instance.gates),
                        instance.request);
}

WorkloadAnswer AskEngine(const Instance& instance, const std::shared_ptr<Backend>& backend) {
  auto state = ClusterState::Build(instance.cluster);
  if (!state) {
    PodSetAnswer failed{"", "", std::nullopt, PlacementFailure{state.error().message, {}}};
    return {{failed}};
  }
  const Engine engine(backend, instance.gates);
  return engine.Place(*state, {&instance.request, 1}, PlacementMode::kNominate).front();
}

std::optional<std::string> Difference(const WorkloadAnswer& oracle, const WorkloadAnswer& engine) {
  if (SameAnswer(oracle, engine)) return std::nullopt;
  return "oracle:" + Render(oracle) + "\nengine:" + Render(engine);
}

}  // namespace espalier::differential
