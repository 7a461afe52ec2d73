// Writes tables of distinct rows into messages. References are 1 + position, and 0 is nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <google/protobuf/repeated_ptr_field.h>

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

 private:
  std::uint32_t Intern(std::string_view text) {
    if (const auto it = refs_.find(text); it != refs_.end()) return it->second;
    std::string& row = *strings_.Add();
    row = text;  // stays where it is when the table grows
    return refs_[row] = static_cast<std::uint32_t>(strings_.size());
  }

  google::protobuf::RepeatedPtrField<std::string>& strings_;
  std::unordered_map<std::string_view, std::uint32_t> refs_;
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

 private:
  google::protobuf::RepeatedPtrField<Row>& rows_;
  std::unordered_map<std::string, std::uint32_t> refs_;
};

}  // namespace espalier
