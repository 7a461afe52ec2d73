// Counts how many domains hold how much, up to a bound. One lane reads it where teams of many lanes
// go through the domains together.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/views.hpp"

namespace espalier {

class Histogram {
 public:
  static constexpr StoredCount kMost = 1023;

  Histogram() { Clear(); }
  // Counts `size` values >= 0. When one is larger than kMost, only `fits()` may be used.
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

  // Replaces `from`, which was added, by `to`.
  void Replace(StoredCount from, StoredCount to) {
    GrowTo(to);
    if (!fits()) return;
    ++domains_[to];
    --domains_[from];
    while (domains_[most_] == 0) --most_;
  }

  ESPALIER_HD bool fits() const { return most_ <= kMost; }
  // Returns the largest value.
  ESPALIER_HD StoredCount most() const { return most_; }
  // Returns how many domains hold `value`, 0 to most().
  ESPALIER_HD std::int32_t operator[](StoredCount value) const { return domains_[value]; }
  // Returns the sum of all values.
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

  // Adds many values to several tables, so that additions of equal neighbours do not wait for each
  // other.
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

}  // namespace espalier
