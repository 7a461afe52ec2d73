// A small sorted map in contiguous memory: node labels and resource lists are short, many and
// mostly read. Its keys are a list of their own, which maps share: most nodes of a cluster have the
// same labels and the same resources, of different values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace espalier {

// Keys of maps, in byte-wise order (R1.9) and distinct; null: none. The list was made as one that
// is not const, and is written only by a map that is the last to hold it.
using SharedKeys = std::shared_ptr<const std::vector<std::string>>;

// Remembers the last few lists of keys that were asked for, so that maps of equal keys share one.
class RecentKeys {
 public:
  // Returns a list of `keys`, which are in order.
  SharedKeys Of(std::span<const std::string_view> keys) {
    if (keys.empty()) return nullptr;
    for (const SharedKeys& recent : lists_) {
      if (recent != nullptr && std::ranges::equal(*recent, keys)) return recent;
    }
    const auto made = std::make_shared<std::vector<std::string>>(keys.begin(), keys.end());
    if (keys.size() <= kLongest) lists_[made_++ % lists_.size()] = made;
    return made;
  }

 private:
  static constexpr std::size_t kLongest = 256;  // longer lists are rare, and are not kept alive

  std::array<SharedKeys, 4> lists_;
  std::size_t made_ = 0;
};

// A map whose keys are unique and in byte-wise order (R1.9); iteration yields pairs of references
// in that order. Copies share the keys until one of them gains or loses one.
template <class Value>
class FlatMap {
 public:
  using Entry = std::pair<std::string, Value>;
  using ConstEntry = std::pair<const std::string&, const Value&>;

  class Iterator {
   public:
    using value_type = ConstEntry;
    using reference = ConstEntry;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    using iterator_concept = std::forward_iterator_tag;

    Iterator() = default;
    Iterator(const std::string* key, const Value* value) : key_(key), value_(value) {}

    ConstEntry operator*() const { return {*key_, *value_}; }
    Iterator& operator++() {
      ++key_;
      ++value_;
      return *this;
    }
    Iterator operator++(int) { return {key_++, value_++}; }
    bool operator==(const Iterator& other) const { return key_ == other.key_; }

   private:
    const std::string* key_ = nullptr;
    const Value* value_ = nullptr;
  };

  FlatMap() = default;
  FlatMap(std::initializer_list<Entry> entries) {
    for (const Entry& entry : entries) Set(entry.first, entry.second);
  }

  // Makes a map of entries in any order; of equal keys the last one is kept.
  explicit FlatMap(std::vector<Entry> entries) {
    SortDistinct(entries);
    if (entries.empty()) return;
    Keys& keys = OwnKeys();
    keys.reserve(entries.size());
    values_.reserve(entries.size());
    for (Entry& entry : entries) {
      keys.push_back(std::move(entry.first));
      values_.push_back(std::move(entry.second));
    }
  }
  // Makes the same, with keys that are shared with other maps where `recent` knows them.
  FlatMap(std::vector<std::pair<std::string_view, Value>> entries, RecentKeys& recent) {
    SortDistinct(entries);
    std::vector<std::string_view> keys;
    keys.reserve(entries.size());
    values_.reserve(entries.size());
    for (auto& [key, value] : entries) {
      keys.push_back(key);
      values_.push_back(std::move(value));
    }
    keys_ = recent.Of(keys);
  }

  // Makes a map of keys that are in order and the value of each.
  FlatMap(SharedKeys keys, std::vector<Value> values)
      : keys_(std::move(keys)), values_(std::move(values)) {}

  // Returns the value under `key`, or null.
  const Value* Find(std::string_view key) const {
    const std::size_t at = LowerBound(key);
    return HasAt(at, key) ? &values_[at] : nullptr;
  }
  bool Contains(std::string_view key) const { return Find(key) != nullptr; }

  // Inserts or replaces the value under `key`.
  void Set(std::string_view key, Value value) { (*this)[key] = std::move(value); }

  // Returns the value under `key`; inserts a default-made one when there is none.
  Value& operator[](std::string_view key) {
    const std::size_t at = LowerBound(key);
    if (!HasAt(at, key)) {
      // Nothing can fail once the keys have changed.
      if (values_.size() == values_.capacity()) values_.reserve(2 * values_.size() + 1);
      Keys& keys = OwnKeys();
      keys.emplace(keys.begin() + static_cast<std::ptrdiff_t>(at), key);
      values_.emplace(values_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return values_[at];
  }

  // Calls combine(value, theirs) for each entry of `other` with the value under its key here, which
  // is default-made first when it is absent. Takes time in proportion to the length of both.
  template <class Combine>
  void Merge(const FlatMap& other, const Combine& combine) {
    if (other.empty()) return;
    if (!HasKeysOf(other)) AddKeysOf(other);
    const bool same = keys_ == other.keys_;
    std::size_t at = 0;
    for (std::size_t i = 0; i < other.size(); ++i, ++at) {
      while (!same && (*keys_)[at] != (*other.keys_)[i]) ++at;
      combine(values_[at], other.values_[i]);
    }
  }

  void Erase(std::string_view key) {
    const std::size_t at = LowerBound(key);
    if (!HasAt(at, key)) return;
    Keys& keys = OwnKeys();
    keys.erase(keys.begin() + static_cast<std::ptrdiff_t>(at));
    values_.erase(values_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  // Makes room for `n` entries in a map that has none.
  void Reserve(std::size_t n) {
    OwnKeys().reserve(n);
    values_.reserve(n);
  }
  bool empty() const { return values_.empty(); }
  std::size_t size() const { return values_.size(); }
  Iterator begin() const { return empty() ? Iterator() : Iterator(keys_->data(), values_.data()); }
  Iterator end() const {
    return empty() ? Iterator() : Iterator(keys_->data() + size(), values_.data() + size());
  }

  // Returns the list of the keys. Two maps that return the same list have the same keys.
  const SharedKeys& keys() const { return keys_; }
  // Returns the values, in the order of their keys.
  std::span<Value> values() { return values_; }
  std::span<const Value> values() const { return values_; }

  bool operator==(const FlatMap& other) const {
    return values_ == other.values_ && (empty() || keys_ == other.keys_ || *keys_ == *other.keys_);
  }

 private:
  using Keys = std::vector<std::string>;

  // Sorts entries by their keys and keeps the last one of each.
  template <class Pair>
  static void SortDistinct(std::vector<Pair>& entries) {
    const auto key_order = [](const Pair& a, const Pair& b) { return a.first < b.first; };
    if (!std::is_sorted(entries.begin(), entries.end(), key_order)) {
      std::stable_sort(entries.begin(), entries.end(), key_order);
    }
    const auto same_key = [](const Pair& a, const Pair& b) { return a.first == b.first; };
    const auto kept = std::unique(entries.rbegin(), entries.rend(), same_key);
    entries.erase(entries.begin(), kept.base());
  }

  std::size_t LowerBound(std::string_view key) const {
    const auto before = [](const std::string& a, std::string_view b) { return a.compare(b) < 0; };
    if (empty() || before(keys_->back(), key)) return size();  // input is usually sorted already
    return static_cast<std::size_t>(std::lower_bound(keys_->begin(), keys_->end(), key, before) -
                                    keys_->begin());
  }
  bool HasAt(std::size_t at, std::string_view key) const {
    return at < size() && (*keys_)[at] == key;
  }
  // Returns whether every key of `other`, which has some, is here.
  bool HasKeysOf(const FlatMap& other) const {
    return keys_ == other.keys_ || (!empty() && std::ranges::includes(*keys_, *other.keys_));
  }

  void AddKeysOf(const FlatMap& other) {
    if (empty()) {
      values_.resize(other.size());
      keys_ = other.keys_;
      return;
    }
    const auto keys = std::make_shared<Keys>();
    keys->reserve(size() + other.size());
    std::ranges::set_union(*keys_, *other.keys_, std::back_inserter(*keys));
    std::vector<Value> values(keys->size());
    std::size_t at = 0;
    for (std::size_t i = 0; i < size(); ++i, ++at) {
      while ((*keys)[at] != (*keys_)[i]) ++at;
      values[at] = std::move(values_[i]);
    }
    keys_ = keys;
    values_ = std::move(values);
  }

  // Returns the keys for changes, which other maps do not see.
  Keys& OwnKeys() {
    if (keys_ == nullptr) {
      keys_ = std::make_shared<Keys>();
    } else if (keys_.use_count() > 1) {
      keys_ = std::make_shared<Keys>(*keys_);
    }
    return const_cast<Keys&>(*keys_);
  }

  SharedKeys keys_;            // null: no entries
  std::vector<Value> values_;  // by key
};

using StringMap = FlatMap<std::string>;

}  // namespace espalier
