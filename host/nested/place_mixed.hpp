// Places workloads of both forms in one order: Kueue's flat requests, and trees.
#pragma once

#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/nested/nested_request.hpp"
#include "host/nested/nested_runner.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

using MixedRequest = std::variant<WorkloadRequest, NestedRequest>;
using MixedAnswer = std::variant<WorkloadAnswer, NestedAnswer>;

// Answers every request in order and in its own form: flat ones as Engine::Place does, trees as
// PlaceNested. With kSequential each sees what those before it have booked. Once the budget of
// `engine` is stopped, answers are meaningless. `progress` is as in Engine.
std::vector<MixedAnswer> PlaceMixed(const Engine& engine, NestedRunner& runner, ClusterState& state,
                                    std::span<const MixedRequest> requests, PlacementMode mode,
                                    NestedProfile profile, const AnsweredProgress& progress = {});

}  // namespace espalier
