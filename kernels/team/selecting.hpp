// Selecting the first of many items with a team of many lanes, by the digits of their keys: only
// what is selected is sorted.
#pragma once

#include <cstdint>

#include "kernels/macros.hpp"
#include "kernels/team/team.hpp"

namespace espalier {

struct PlusWeight {
  ESPALIER_HD std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a + b; }
};

// The least and the largest key of some items, and their weight together.
struct KeySpan {
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t most = 0;
  std::int64_t weight = 0;
};

struct JoinKeySpans {
  ESPALIER_HD KeySpan operator()(const KeySpan& a, const KeySpan& b) const {
    return {a.least < b.least ? a.least : b.least, a.most > b.most ? a.most : b.most,
            a.weight + b.weight};
  }
};

// The search for the keys of the last item that is selected: the bound. Each step is a pass over
// all items on all lanes.
template <class Team, class Make, class Weigh, class Order>
class FrontSearch {
 public:
  ESPALIER_HD FrontSearch(Team& team, std::int32_t size, const Make& make, const Weigh& weigh,
                          const Order& order)
      : team_(team), size_(size), make_(make), weigh_(weigh), order_(order) {}

  // Finds the bound for items that weigh `need` > 0 together, and returns what all items weigh
  // together; less than that: there is no bound.
  ESPALIER_HD std::int64_t Find(std::int64_t need) {
    need_ = need;
    std::int64_t all = 0;
    while (known_ < Order::kKeys) {
      const KeySpan span = Span();
      if (known_ == 0) all = span.weight;
      if (all < need) break;
      FindKey(span);
    }
    return all;
  }

  // Writes the items before the bound, and as many of those at it as are needed, to `front`.
  template <class T>
  ESPALIER_HD SortedFront Collect(T* front) {
    SortedFront cut;
    std::int64_t weight = 0;           // of what this lane collects
    std::int64_t weight_at_bound = 0;  // of the items at the bound that were gone through
    const std::int32_t share = (size_ + team_.size() - 1) / team_.size();
    const std::int32_t most = share < kMostRun ? share : kMostRun;
    for (std::int32_t base = 0; base < size_; base += team_.size() * most) {
      const std::int32_t begin = base + team_.rank() * most;
      const std::int32_t run = size_ - begin < most ? size_ - begin : most;
      std::uint64_t taken = 0;
      std::uint64_t at_bound = 0;
      std::int64_t mine = 0;
      for (std::int32_t i = 0; i < run; ++i) {
        const T item = make_(begin + i);
        const int place = weigh_(item) > 0 ? Compare(item) : 1;
        taken |= std::uint64_t{place < 0} << i;
        at_bound |= std::uint64_t{place == 0} << i;
        mine += place == 0 ? weigh_(item) : 0;
      }
      const ScanResult<std::int64_t> tied = team_.exclusive_sum(mine);
      std::int64_t before = weight_at_bound + tied.prefix;
      weight_at_bound += tied.total;
      std::int32_t count = 0;
      for (std::int32_t i = 0; i < run; ++i) {
        if ((at_bound >> i & 1) != 0 && before < need_) {
          taken |= std::uint64_t{1} << i;
          before += weigh_(make_(begin + i));
        }
        count += static_cast<std::int32_t>(taken >> i & 1);
      }
      const ScanResult<std::int32_t> placed = team_.exclusive_sum(count);
      std::int32_t position = cut.size + placed.prefix;
      cut.size += placed.total;
      for (std::int32_t i = 0; i < run; ++i) {
        if ((taken >> i & 1) == 0) continue;
        front[position] = make_(begin + i);
        weight += weigh_(front[position++]);
      }
    }
    cut.weight = team_.reduce(weight, std::int64_t{0}, PlusWeight{});
    return cut;
  }

 private:
  static constexpr int kDigitBits = 4;
  static constexpr std::uint64_t kDigits = 1u << kDigitBits;
  static constexpr std::int32_t kMostRun = 64;  // items of a lane in one step, a bit each

  // Returns -1, 0 or 1: an item comes before the bound by the keys that are known, is at it, or
  // comes behind it.
  template <class T>
  ESPALIER_HD int Compare(const T& item) const {
    for (int k = 0; k < known_; ++k) {
      const std::uint64_t key = order_.Key(item, k);
      if (key != bound_[k]) return key < bound_[k] ? -1 : 1;
    }
    return 0;
  }

  // Calls `visit(key, weight)` for this lane's items at the bound, with the key that comes next.
  template <class Visit>
  ESPALIER_HD void ForEachAtBound(const Visit& visit) const {
    for (std::int32_t i = team_.rank(); i < size_; i += team_.size()) {
      const auto item = make_(i);
      const std::int64_t weight = weigh_(item);
      if (weight > 0 && Compare(item) == 0) visit(order_.Key(item, known_), weight);
    }
  }

  ESPALIER_HD KeySpan Span() const {
    KeySpan mine;
    ForEachAtBound([&](std::uint64_t key, std::int64_t weight) {
      mine = JoinKeySpans{}(mine, {key, key, weight});
    });
    return team_.reduce(mine, KeySpan{}, JoinKeySpans{});
  }

  // Finds the next key of the bound, highest digit first: every lane sums up what its items weigh
  // by digit. `span` is that of the items at the bound.
  ESPALIER_HD void FindKey(const KeySpan& span) {
    std::uint64_t key = span.least;
    int shift = 0;
    while ((span.most - span.least) >> shift >= kDigits) shift += kDigitBits;
    for (; span.least != span.most && shift >= 0; shift -= kDigitBits) {
      std::int64_t weights[kDigits] = {};
      ForEachAtBound([&](std::uint64_t of_item, std::int64_t weight) {
        const std::uint64_t digit = (of_item - key) >> shift;  // smaller keys wrap to larger digits
        if (digit < kDigits) weights[digit] += weight;
      });
      int digit = 0;
      for (; digit + 1 < static_cast<int>(kDigits); ++digit) {
        const std::int64_t weight = team_.reduce(weights[digit], std::int64_t{0}, PlusWeight{});
        if (weight >= need_) break;
        need_ -= weight;
      }
      key += static_cast<std::uint64_t>(digit) << shift;
    }
    bound_[known_++] = key;
  }

  Team& team_;
  std::int32_t size_;
  const Make& make_;
  const Weigh& weigh_;
  const Order& order_;
  std::int64_t need_ = 0;  // what items at the bound must weigh together
  int known_ = 0;          // keys of the bound
  std::uint64_t bound_[Order::kKeys] = {};
};

// Does what sort_front of the Team contract says.
template <class Team, class T, class Make, class Weigh, class Order>
ESPALIER_HD SortedFront SelectAndSort(Team& team, T* front, std::int32_t n, const Make& make,
                                      const Weigh& weigh, const Order& order, std::int64_t need) {
  team.sync();
  if (need <= 0) return {};
  FrontSearch<Team, Make, Weigh, Order> search(team, n, make, weigh, order);
  const std::int64_t all = search.Find(need);
  if (all < need) return {0, all};
  const SortedFront cut = search.Collect(front);
  team.sort(front, cut.size, order);
  return cut;
}

}  // namespace espalier
