// Writes tables of distinct rows into messages. References are 1 + position, and 0 is nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <google/protobuf/repeated_ptr_field.h>

#include "host/model/flat_map.hpp"
#include "host/packing/name_index.hpp"

namespace espalier {

class StringTable {
 public:
  // Appends rows to `strings`, which must be empty and outlive the table.
  explicit StringTable(google::protobuf::RepeatedPtrField<std::string>* strings)
      : strings_(*strings) {}

  // Returns the reference of a string that is always present: the empty one is 0.
  std::uint32_t Ref(std::string_view text) { return text.empty() ? 0 : Intern(text); }
  // Returns the reference of an optional string: 0 when absent, a row also when empty.
  std::uint32_t Ref(const std::optional<std::string>& text) { return text ? Intern(*text) : 0; }
  std::uint32_t Ref(const std::string& text) { return Ref(std::string_view(text)); }

  // Returns the reference of a string that stands at a place of an object. Objects that follow each
  // other mostly have the same there, which is tried first.
  std::uint32_t RefAt(std::size_t place, std::string_view text) {
    if (place >= kPlaces) return Ref(text);
    std::uint32_t& last = last_at_[place];
    if (last == 0 || strings_[static_cast<int>(last) - 1] != text) last = Ref(text);
    return last;
  }

  // Returns the references of the keys of a map, until it is asked for those of another one.
  std::span<const std::uint32_t> RefsOfKeys(const SharedKeys& keys) {
    if (keys == nullptr) return {};
    for (KnownKeys& known : known_keys_) {
      if (known.keys == nullptr || (known.keys != keys && *known.keys != *keys)) continue;
      known.keys = keys;
      return known.references;
    }
    KnownKeys& oldest = known_keys_[keys_known_++ % known_keys_.size()];
    oldest.keys = keys;
    oldest.references.clear();
    for (const std::string& key : *keys) oldest.references.push_back(Ref(key));
    return oldest.references;
  }

 private:
  static constexpr std::size_t kPlaces = 32;

  struct KnownKeys {
    SharedKeys keys;
    std::vector<std::uint32_t> references;
  };

  std::uint32_t Intern(std::string_view text) {
    const std::uint32_t hash = NameIndex::Hash(text);
    const std::int32_t known =
        rows_.FindIf(hash, [&](std::int32_t row) { return strings_[row] == text; });
    if (known >= 0) return static_cast<std::uint32_t>(known) + 1;
    strings_.Add()->assign(text);
    rows_.AddNew(strings_.size() - 1, hash);
    return static_cast<std::uint32_t>(strings_.size());
  }

  google::protobuf::RepeatedPtrField<std::string>& strings_;
  NameIndex rows_;
  std::array<std::uint32_t, kPlaces> last_at_{};  // by place; 0: none yet
  std::array<KnownKeys, 4> known_keys_;           // of the maps before
  std::size_t keys_known_ = 0;
};

// A table of messages, which are equal when their bytes are.
template <class Row>
class RowTable {
 public:
  explicit RowTable(google::protobuf::RepeatedPtrField<Row>* rows) : rows_(*rows) {}

  std::uint32_t Ref(Row row) {
    const auto [it, added] = refs_.try_emplace(row.SerializeAsString(), rows_.size() + 1);
    if (added) *rows_.Add() = std::move(row);
    return it->second;
  }

  // Adds a row that is known to be none of those that were there, and returns it and its reference.
  std::pair<Row&, std::uint32_t> AddNew() {
    Row& row = *rows_.Add();
    return {row, static_cast<std::uint32_t>(rows_.size())};
  }

 private:
  google::protobuf::RepeatedPtrField<Row>& rows_;
  std::unordered_map<std::string, std::uint32_t> refs_;
};

}  // namespace espalier
