// A small sorted map in contiguous memory: node labels and resource lists are short, many and
// mostly read.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace espalier {

// A map whose keys are unique and in byte-wise order (R1.9); iteration yields pairs in that order.
template <class Value>
class FlatMap {
 public:
  using Entry = std::pair<std::string, Value>;

  FlatMap() = default;
  FlatMap(std::initializer_list<Entry> entries) {
    for (const Entry& entry : entries) Set(entry.first, entry.second);
  }

  // Makes a map of entries in any order; of equal keys the last one is kept.
  explicit FlatMap(std::vector<Entry> entries) : entries_(std::move(entries)) {
    const auto key_order = [](const Entry& a, const Entry& b) { return a.first < b.first; };
    if (!std::is_sorted(entries_.begin(), entries_.end(), key_order)) {
      std::stable_sort(entries_.begin(), entries_.end(), key_order);
    }
    const auto same_key = [](const Entry& a, const Entry& b) { return a.first == b.first; };
    const auto kept = std::unique(entries_.rbegin(), entries_.rend(), same_key);
    entries_.erase(entries_.begin(), kept.base());
  }

  // Returns the value under `key`, or null.
  const Value* Find(std::string_view key) const {
    const auto it = LowerBound(key);
    return it != entries_.end() && it->first == key ? &it->second : nullptr;
  }
  bool Contains(std::string_view key) const { return Find(key) != nullptr; }

  // Inserts or replaces the value under `key`.
  void Set(std::string_view key, Value value) { (*this)[key] = std::move(value); }

  // Returns the value under `key`; inserts a default-made one when there is none.
  Value& operator[](std::string_view key) {
    if (entries_.empty() || entries_.back().first < key) {  // input is usually sorted already
      return entries_.emplace_back(std::string(key), Value{}).second;
    }
    auto it = entries_.begin() + (LowerBound(key) - entries_.begin());
    if (it->first != key) it = entries_.emplace(it, std::string(key), Value{});
    return it->second;
  }

  // Calls combine(value, theirs) for each entry of `other` with the value under its key here, which
  // is default-made first when it is absent. Takes time in proportion to the length of both,
  // mostly.
  template <class Combine>
  void Merge(const FlatMap& other, const Combine& combine) {
    const std::size_t present = entries_.size();
    std::size_t at = 0;
    for (const Entry& theirs : other.entries_) {
      const auto begin = entries_.begin();
      const auto it = std::lower_bound(
          begin + static_cast<std::ptrdiff_t>(at), begin + static_cast<std::ptrdiff_t>(present),
          theirs.first, [](const Entry& e, const std::string& key) { return e.first < key; });
      at = static_cast<std::size_t>(it - begin);
      const bool found = at < present && it->first == theirs.first;
      Entry& entry = found ? *it : entries_.emplace_back(theirs.first, Value{});
      combine(entry.second, theirs.second);
    }
    if (present == 0 || present == entries_.size()) return;
    std::inplace_merge(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(present),
                       entries_.end(),
                       [](const Entry& a, const Entry& b) { return a.first < b.first; });
  }

  void Erase(std::string_view key) {
    const auto it = LowerBound(key);
    if (it != entries_.end() && it->first == key) entries_.erase(it);
  }

  void Reserve(std::size_t n) { entries_.reserve(n); }
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  bool operator==(const FlatMap&) const = default;

 private:
  auto LowerBound(std::string_view key) const {
    return std::lower_bound(entries_.begin(), entries_.end(), key,
                            [](const Entry& e, std::string_view k) { return e.first < k; });
  }
  std::vector<Entry> entries_;
};

using StringMap = FlatMap<std::string>;

}  // namespace espalier
