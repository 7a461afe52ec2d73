// Makes the input that the leaves of a job are counted from, for every back end.
#pragma once

#include <cstdint>
#include <vector>

#include "host/engine/backend.hpp"
#include "kernels/decisions/leaf_counts.hpp"

namespace espalier {

// Assumed usage in flat arrays.
struct FlatAssumed {
  std::vector<std::int32_t> leaves;
  std::vector<Amount> amounts;  // for each leaf one per resource of the snapshot

  void Set(const AssumedLeaves& assumed) {
    leaves.clear();
    amounts.clear();
    for (const AssumedLeaf& leaf : assumed) {
      leaves.push_back(leaf.leaf.value);
      amounts.insert(amounts.end(), leaf.amounts.begin(), leaf.amounts.end());
    }
  }
};

// Returns whether dividing the amounts of a column, less a part of a leader, by this request gives
// what dividing their units gives (TiledCapacity).
inline bool IsWholeUnits(const TiledCapacity& tiles, std::int32_t column, Amount request,
                         Amount leader) {
  const Amount part_of_unit = (Amount{1} << tiles.UnitShift(column)) - 1;
  return tiles.Exact(column) && ((request | leader) & part_of_unit) == 0;
}

// Returns all of a job's input but its capacity and node filter; place(vector) returns the address
// of a vector for the code that counts.
template <class Place>
LeafInput MakeLeafInput(const PlacementJob& job, const FlatAssumed& assumed, const Place& place) {
  const auto view_of = [&](const RequestVector& request) {
    return RequestView{static_cast<std::int32_t>(request.amounts.size()), place(request.columns),
                       place(request.amounts)};
  };
  LeafInput input;
  input.assumed = {static_cast<std::int32_t>(assumed.leaves.size()), place(assumed.leaves),
                   place(assumed.amounts),
                   static_cast<std::int32_t>(job.state->snapshot().resources().size())};
  input.workers = view_of(job.shape->workers);
  input.leader = view_of(job.shape->leader);
  input.leader_on_workers = place(job.shape->leader_on_workers);
  input.domain = job.replacement_domain;
  return input;
}

// Returns the same with the capacity that the job looks at (R5.1) and its node filter, on the host.
inline LeafInput MakeLeafInput(const PlacementJob& job, const FlatAssumed& assumed) {
  LeafInput input = MakeLeafInput(job, assumed, [](const auto& items) { return items.data(); });
  input.capacity = {AmountsOf(job).data(), job.state->snapshot().stride()};
  const NodeFilter* filter = job.filter.get();
  if (filter != nullptr && !filter->matches.empty()) input.matches = filter->matches.data();
  return input;
}

}  // namespace espalier
