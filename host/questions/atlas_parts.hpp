// Names the levels and domains of an atlas, part by part.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/kueue/validation/certificate.hpp"
#include "host/packing/cluster_state.hpp"
#include "host/questions/questions.hpp"
#include "host/what_if/atlas.hpp"

namespace espalier {

class AtlasParts {
 public:
  // Starts the search of an atlas. The engine, the state and the requests must outlive this object.
  // Errors are those of AtlasSearch::Open.
  static Result<AtlasParts> Start(const Engine& engine, const ClusterState& state,
                                  std::span<const WorkloadRequest> requests,
                                  std::vector<RunningWorkload> running);

  // Returns the next rows; none once all requests have theirs. Of the rest of the atlas a part has
  // what those before it lack: the first one the priorities, each the levels that its rows are the
  // first to name, which are counted over all parts. The memory of rows is charged until the next
  // call, that of names for good. Errors: the budget's.
  Result<NamedAtlas> Next();

 private:
  AtlasParts(const ClusterState& state, AtlasSearch search, WorkBudget& budget)
      : state_(&state), search_(std::move(search)), budget_(&budget) {}

  const ClusterState* state_;
  AtlasSearch search_;
  WorkBudget* budget_;
  std::map<std::pair<std::string, std::int32_t>, std::size_t>
      levels_;  // by flavor and first domain
  bool begun_ = false;
};

// Appends a part to those before it.
void Append(NamedAtlas part, NamedAtlas& atlas);

// Returns about the bytes that the rows of a part take.
std::int64_t BytesOfRows(const NamedAtlas& part);

}  // namespace espalier
