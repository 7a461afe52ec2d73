// The contract every Team keeps. A Team is a group of lanes that run the same decision text.
//
//   rank()                 this lane, 0 .. size() - 1
//   size()                 lanes in the team; constant
//   sync()                 every write before it is seen by every lane after it
//   broadcast(v, root)     v of lane `root`, on every lane
//   any(p)                 true on every lane when p is true on one
//   reduce(v, identity, op)  op over all lanes' v; op is associative and commutative on integers
//   exclusive_sum(v)       {sum over lower ranks, sum over all lanes}
//   minimum(v, less)       the least v by the strict total order `less`
//   sort(first, n, less)   sorts a shared array in place by the strict total order `less`
//   sort_front(front, n, make, weigh, order, need)
//                          sorts only the first of the items make(0) .. make(n - 1), which every
//                          lane can make, into the shared array `front` that has room for n: as
//                          many as are needed for their weights to sum up to `need`; items without
//                          weight are left out. Where all weigh less, only the weight of the answer
//                          has a meaning. `order` is a strict total order by unsigned numbers,
//                          order.Key(item, k) for k from 0 to Order::kKeys - 1, then by position
//   first_tightest(values, ties, n, need)
//                          position of the first smallest value >= need of a shared array, or -1;
//                          of equal values the one with the smallest entry in `ties`, where that
//                          is not null, is smaller
//   slice_index()          what the team was given to know of all leaves (slice_index.hpp); null:
//                          nothing. Not a collective
//   kOneLane               whether size() is 1, known when compiled: where values are kept, never
//                          what is decided, may depend on it
//
// Rules. Collectives are called by all lanes, in the same order, from the same place: no return,
// break or continue between a lane-dependent condition and a later collective. Loops are
// `for (i = rank; i < n; i += size)`. Every collective is also a barrier. Scalars computed from
// collectives or arguments are equal on all lanes ("uniform"); shared arrays are written by one
// lane per element and read after sync(). Decisions compare integers and end in an id, so the
// number of lanes cannot change an answer.
#pragma once

#include <cstdint>

namespace espalier {

struct SliceIndex;

template <class T>
struct ScanResult {
  T prefix{};
  T total{};
};

// The number of items that sort_front sorted, and their weight together, or that of all items.
struct SortedFront {
  std::int32_t size = 0;
  std::int64_t weight = 0;
};

}  // namespace espalier
