// Keeps values by key within a number of bytes and of entries; the least recently used ones give
// way.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <list>
#include <unordered_set>
#include <utility>

namespace espalier {

// A cache. Not thread-safe: who shares it guards it. A failed allocation leaves it as it was, but
// for entries that gave way.
template <class Key, class Value, class Hash = std::hash<Key>>
class LruByBytes {
 public:
  struct Entry {
    Key key;
    Value value;
    std::size_t bytes = 0;
  };

  explicit LruByBytes(std::size_t max_bytes,
                      std::size_t max_entries = std::numeric_limits<std::size_t>::max())
      : max_bytes_(max_bytes), max_entries_(max_entries) {}

  std::size_t size() const { return entries_.size(); }
  // Returns the bytes of all entries, as they were put.
  std::size_t bytes() const { return bytes_; }
  // Iterates over the entries, the most recently used one first.
  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }

  // Returns the value of a key, which is the most recently used one from now on; null: there is
  // none.
  Value* Find(const Key& key) {
    const auto known = by_key_.find(key);
    if (known == by_key_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, *known);
    return &entries_.front().value;
  }

  // Returns the value of a key and leaves the order as it is; null: there is none.
  const Value* Peek(const Key& key) const {
    const auto known = by_key_.find(key);
    return known == by_key_.end() ? nullptr : &(*known)->value;
  }

  // Keeps a value as the most recently used one, in place of another of its key. Others give way;
  // the last one stays whatever its size. Returns it.
  Value& Put(Key key, Value value, std::size_t bytes) {
    std::list<Entry> fresh;  // of its own until nothing can fail any more
    fresh.push_front({std::move(key), std::move(value), bytes});
    Drop(fresh.front().key);
    MakeRoom(bytes);
    by_key_.insert(fresh.begin());
    entries_.splice(entries_.begin(), fresh);
    bytes_ += bytes;
    return entries_.front().value;
  }

  // Gives an entry another key, of which there is none. Returns its value, which is the most
  // recently used one from now on; null: there is none of the old key.
  Value* ChangeKey(const Key& from, Key to) {
    const auto known = by_key_.find(from);
    if (known == by_key_.end()) return nullptr;
    const Position entry = *known;
    auto node = by_key_.extract(known);
    entry->key = std::move(to);
    by_key_.insert(std::move(node));
    entries_.splice(entries_.begin(), entries_, entry);
    return &entry->value;
  }

  // Drops entries until one more of `bytes` is within the limits, or none is left.
  void MakeRoom(std::size_t bytes) {
    while (!entries_.empty() && (bytes_ + bytes > max_bytes_ || size() >= max_entries_)) {
      Erase(std::prev(entries_.end()));
    }
  }

  // Returns the least recently used entry, or null where there is none.
  Entry* Oldest() { return entries_.empty() ? nullptr : &entries_.back(); }

  void Drop(const Key& key) {
    if (const auto known = by_key_.find(key); known != by_key_.end()) Erase(*known);
  }

  // Drops the entries for which drop(entry) is true.
  template <class Condition>
  void DropIf(const Condition& drop) {
    for (Position entry = entries_.begin(); entry != entries_.end();) {
      const Position next = std::next(entry);
      if (drop(std::as_const(*entry))) Erase(entry);
      entry = next;
    }
  }

 private:
  using Position = typename std::list<Entry>::iterator;
  struct HashOfKey {
    using is_transparent = void;
    std::size_t operator()(const Key& key) const { return Hash{}(key); }
    std::size_t operator()(Position entry) const { return Hash{}(entry->key); }
  };
  struct SameKey {
    using is_transparent = void;
    bool operator()(Position a, Position b) const { return a->key == b->key; }
    bool operator()(const Key& a, Position b) const { return a == b->key; }
    bool operator()(Position a, const Key& b) const { return a->key == b; }
  };

  void Erase(Position entry) {
    bytes_ -= entry->bytes;
    by_key_.erase(entry);
    entries_.erase(entry);
  }

  std::size_t max_bytes_;
  std::size_t max_entries_;
  std::size_t bytes_ = 0;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_set<Position, HashOfKey, SameKey> by_key_;
};

}  // namespace espalier
