#include "host/readers/slice_constraints.hpp"

#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

namespace espalier {
namespace {

// `read` takes a value that is there; null counts as absent.
template <class Read>
bool ReadMember(simdjson::dom::element object, const char* name, const Read& read) {
  simdjson::dom::element value;
  if (object[name].get(value) != simdjson::SUCCESS || value.is_null()) return true;
  return read(value);
}

// Returns whether the text ends before what it has begun, which has an own message in Go.
bool IsCutShort(std::string_view json) {
  int open = 0;
  bool in_string = false;
  bool any = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    any |= c != ' ' && c != '\t' && c != '\n' && c != '\r';
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      open += (c == '[' || c == '{') - (c == ']' || c == '}');
    }
  }
  return in_string || open > 0 || !any;
}

}  // namespace

Result<std::vector<SliceConstraint>> ParseSliceConstraints(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::array list;
  if (const auto code = parser.parse(json.data(), json.size()).get(list)) {
    return BadInput(IsCutShort(json) ? "unexpected end of JSON input"
                                     : simdjson::error_message(code));
  }
  std::vector<SliceConstraint> constraints;
  for (const simdjson::dom::element item : list) {
    const std::size_t index = constraints.size();
    SliceConstraint& constraint = constraints.emplace_back();
    if (!item.is_object()) return BadInput(fmt::format("entry {} is not an object", index));
    const bool has_topology = ReadMember(item, "topology", [&](simdjson::dom::element value) {
      std::string_view text;
      if (value.get(text) != simdjson::SUCCESS) return false;
      constraint.topology = text;
      return true;
    });
    if (!has_topology) return BadInput(fmt::format("topology of entry {} is not a string", index));
    const bool has_size = ReadMember(item, "size", [&](simdjson::dom::element value) {
      std::int64_t size = 0;
      if (value.get(size) != simdjson::SUCCESS || !std::in_range<std::int32_t>(size)) return false;
      constraint.size = static_cast<std::int32_t>(size);
      return true;
    });
    if (!has_size) return BadInput(fmt::format("size of entry {} is not a 32-bit integer", index));
  }
  return constraints;
}

}  // namespace espalier
