// Shared by every conversion from a message: the place in the message, the first error, and a bound
// on the memory that a small message may expand to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/repeated_ptr_field.h>

#include "host/model/flat_map.hpp"
#include "host/model/result.hpp"
#include "host/model/work_budget.hpp"

namespace espalier {

// A place in a message, such as "workloads.updates[3].pod_set": a chain on the stack that is
// printed only for an error. The path of the message itself has an empty field.
class FieldPath {
 public:
  explicit FieldPath(std::string_view field, std::int64_t index = -1)
      : field_(field), index_(index) {}
  FieldPath(const FieldPath& parent, std::string_view field) : parent_(&parent), field_(field) {}
  FieldPath(const FieldPath& parent, std::string_view field, std::int64_t index)
      : parent_(&parent), field_(field), index_(index) {}

  std::string ToString() const;

 private:
  const FieldPath* parent_ = nullptr;
  std::string_view field_;
  std::int64_t index_ = -1;  // below 0: not an element of a list
};

// Resolves references and keeps the first error. After an error every lookup yields an empty value,
// so that conversions read straight through and check for the error once, at the end. Values are
// charged to a budget, as a few bytes of a message can ask for gigabytes; a stopped budget is an
// error too. A decoder belongs to the thread that owns the work, which may pause in it.
class Decoder {
 public:
  using Strings = google::protobuf::RepeatedPtrField<std::string>;

  Decoder(const Strings& strings, WorkBudget& budget) : strings_(strings), budget_(budget) {}

  bool ok() const { return !failed_; }
  const Error& error() const { return error_; }

  // Records an error at `path`, unless there was one before.
  template <class... Args>
  void Fail(const FieldPath& path, fmt::format_string<Args...> problem, Args&&... args) {
    if (!failed_) Keep(path, fmt::format(problem, std::forward<Args>(args)...));
  }

  // Returns the string that a reference names; empty for 0.
  const std::string& String(std::uint32_t reference, const FieldPath& path);

  // The keys of a map.
  struct MapKeys {
    std::vector<std::uint32_t> references;
    SharedKeys keys;         // what the references name
    std::vector<int> order;  // by key: its position among the references
    std::int64_t bytes = 0;  // that a map takes which has them alone
  };
  // Returns the keys that references name, in any order; null on an error, as when one of them is
  // named twice. Equal lists of references, as most elements of a message have, share their keys,
  // which are charged each time: a map that is changed gets keys of its own. Valid until the next
  // call.
  const MapKeys* Keys(std::span<const std::uint32_t> references, const FieldPath& path);

  // Returns the row of `table` that a reference names; null for 0.
  template <class Table>
  auto* Row(const Table& table, std::uint32_t reference, const FieldPath& path) {
    const bool known = reference >= 1 && reference <= static_cast<std::size_t>(table.size());
    if (!known && reference != 0) {
      Fail(path, "refers to row {} of a table of {}; references are 0 to {}", reference,
           table.size(), table.size());
    }
    return known ? &table[static_cast<int>(reference - 1)] : nullptr;
  }

  // Fails unless the column is as long as its list, or empty when it may be.
  void CheckColumn(int size, std::int64_t expected, bool may_be_empty, const FieldPath& path);

  // Fails unless `offsets` start at 0, never decrease and end at `end`.
  template <class Offsets>
  void CheckOffsets(const Offsets& offsets, std::int64_t end, const FieldPath& path) {
    std::int64_t previous = 0;
    for (int i = 0; i < offsets.size() && ok(); ++i) {
      const std::int64_t offset = offsets[i];
      if (i == 0 && offset != 0) Fail(path, "starts at {}; offsets start at 0", offset);
      if (offset < previous) {
        Fail(path, "entry {} is {}, below the one before, {}; offsets never decrease", i, offset,
             previous);
      }
      previous = offset;
    }
    if (previous != end) Fail(path, "ends at {}; the list it cuts has {} elements", previous, end);
  }

  // Returns the bytes that are charged to the budget.
  std::int64_t charged() const { return budget_.charged(); }

  // Charges `bytes` that values take.
  void Charge(std::int64_t bytes, const FieldPath& path);

 private:
  // The sets of keys to keep: as many as elements of one kind have different maps, and a few more.
  static constexpr std::size_t kKnownKeys = 4;

  void Keep(const FieldPath& path, const std::string& problem);

  const Strings& strings_;
  WorkBudget& budget_;
  std::array<MapKeys, kKnownKeys> known_keys_;  // those that were made last
  std::size_t keys_made_ = 0;
  std::int64_t charged_since_pause_ = 0;
  bool failed_ = false;
  Error error_;
};

}  // namespace espalier
