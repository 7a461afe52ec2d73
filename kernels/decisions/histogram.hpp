// How many domains hold how much, up to a bound: what one lane uses where others put domains in
// order, because which domains are taken follows from the numbers alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/views.hpp"

namespace espalier {

class Histogram {
 public:
  static constexpr StoredCount kMost = 1023;

  Histogram() { Clear(); }
  // Of `size` values >= 0. Of the object nothing but `fits()` is to be used when one is larger than
  // kMost.
  Histogram(const StoredCount* values, std::int32_t size) : Histogram() { Add(values, size); }

  void Clear() { most_ = domains_[0] = 0; }
  void Add(const StoredCount* values, std::int32_t size) {
    StoredCount most = most_;
    for (std::int32_t i = 0; i < size; ++i) most = std::max(most, values[i]);
    GrowTo(most);
    if (!fits()) return;
    if (size >= kTables * (most_ + 1)) return AddMany(values, size);
    for (std::int32_t i = 0; i < size; ++i) ++domains_[values[i]];
  }

  // `from`, which was added, becomes `to`.
  void Replace(StoredCount from, StoredCount to) {
    GrowTo(to);
    if (!fits()) return;
    ++domains_[to];
    --domains_[from];
    while (domains_[most_] == 0) --most_;
  }

  bool fits() const { return most_ <= kMost; }
  // The largest value.
  StoredCount most() const { return most_; }
  // Domains that hold `value`, 0 to most().
  std::int32_t operator[](StoredCount value) const { return domains_[value]; }
  // All values together.
  Count Sum() const {
    Count sum = 0;
    for (StoredCount value = 1; value <= most_; ++value) sum += Count{value} * domains_[value];
    return sum;
  }

 private:
  static constexpr std::int32_t kTables = 4;

  void GrowTo(StoredCount most) {
    if (most <= most_) return;
    if (most <= kMost) std::fill(domains_ + most_ + 1, domains_ + most + 1, 0);
    most_ = most;
  }

  // Neighbours often hold the same: several tables keep their additions apart.
  void AddMany(const StoredCount* values, std::int32_t size) {
    std::int32_t tables[kTables][kMost + 1];
    for (auto& table : tables) std::fill_n(table, most_ + 1, 0);
    std::int32_t i = 0;
    for (; i + kTables <= size; i += kTables) {
      for (std::int32_t t = 0; t < kTables; ++t) ++tables[t][values[i + t]];
    }
    for (; i < size; ++i) ++tables[0][values[i]];
    for (StoredCount value = 0; value <= most_; ++value) {
      for (const auto& table : tables) domains_[value] += table[value];
    }
  }

  StoredCount most_;
  std::int32_t domains_[kMost + 1];  // as far as most_
};

// What is taken of domains in the plain order until `need` is held: all before `bound` in the order
// wholly, `at_bound` of the domains that hold `bound`, the smallest ids first, and `rest` of one
// more that holds `last`.
struct HistogramTake {
  StoredCount bound = 0;
  std::int32_t at_bound = 0;
  Count rest = 0;
  StoredCount last = 0;
  Count held = 0;     // by all domains that are taken wholly
  Count domains = 0;  // as many as that, and the one more
};

// R12.3 to R12.5 on a histogram. False when all domains together hold less than `need` > 0.
inline bool PlanTake(const Histogram& pool, Count need, bool least_free, HistogramTake& take) {
  const StoredCount step = least_free ? 1 : -1;
  StoredCount value = least_free ? 1 : pool.most();
  for (; value >= 1 && value <= pool.most(); value += step) {
    const Count held = Count{value} * pool[value];
    if (take.held + held >= need) break;
    take.held += held;
    take.domains += pool[value];
  }
  if (value < 1 || value > pool.most()) return false;
  take.bound = value;
  take.at_bound =
      static_cast<std::int32_t>((need - take.held - 1) / value);  // one more takes the rest
  take.held += Count{take.at_bound} * value;
  take.domains += take.at_bound + 1;
  take.rest = need - take.held;
  take.last = value;
  if (least_free) return true;
  // The tightest of what is left (R9.4); of `bound` itself one is left for sure.
  take.last = static_cast<StoredCount>(take.rest);
  while (take.last < value && pool[take.last] == 0) ++take.last;
  return true;
}

}  // namespace espalier
