#include "host/nested/place_mixed.hpp"

#include <iterator>
#include <utility>

#include "host/nested/place_nested.hpp"

namespace espalier {
namespace {

// The requests of one form from `requests` on, up to the first of the other.
template <class Request>
std::vector<Request> RunOf(std::span<const MixedRequest> requests) {
  std::vector<Request> run;
  for (const MixedRequest& request : requests) {
    const auto* one = std::get_if<Request>(&request);
    if (one == nullptr) break;
    run.push_back(*one);
  }
  return run;
}

}  // namespace

std::vector<MixedAnswer> PlaceMixed(const Engine& engine, NestedRunner& runner, ClusterState& state,
                                    std::span<const MixedRequest> requests, PlacementMode mode,
                                    NestedProfile profile, const AnsweredProgress& progress) {
  std::vector<MixedAnswer> answers;
  answers.reserve(requests.size());
  const auto add = [&](auto&& more) {
    std::ranges::move(more, std::back_inserter(answers));
    if (progress) progress(answers.size());
  };
  while (answers.size() < requests.size() && !engine.budget().stopped()) {
    const std::span<const MixedRequest> left = requests.subspan(answers.size());
    const std::size_t done = answers.size();
    if (std::holds_alternative<WorkloadRequest>(left.front())) {
      add(engine.Place(state, RunOf<WorkloadRequest>(left), mode, [&](std::size_t more) {
        if (progress) progress(done + more);
      }));
    } else {
      add(PlaceNested(runner, state, RunOf<NestedRequest>(left), mode, profile, engine.budget()));
    }
  }
  return answers;
}

}  // namespace espalier
