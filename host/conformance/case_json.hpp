// What all kinds of cases have in common when they are read from JSON.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/kueue/assignment_encoding.hpp"
#include "host/readers/kubernetes_objects.hpp"

namespace espalier {

// Reports an absent object and returns `parent` in its place, so that reading can go on.
JsonValue RequiredObject(JsonValue parent, std::string_view name, const ReadContext& context);
std::int64_t RequiredInt64(JsonValue parent, std::string_view name, const ReadContext& context);

// The objects of a list; none when it is absent.
std::vector<JsonValue> Items(JsonValue parent, std::string_view name, const ReadContext& context);
// The members of an object whose values are objects.
std::vector<std::pair<std::string_view, JsonValue>> Members(JsonValue object,
                                                            const ReadContext& context);

// Resource name -> canonical integer.
Resources ReadAmounts(JsonValue parent, std::string_view name, const ReadContext& context);

// The member `gates` on top of the defaults.
FeatureGates ReadGates(JsonValue root, const ReadContext& context);

// `levels` and `domains`, each with one value per level.
TopologyAssignment ReadPlainAssignment(JsonValue object, const ReadContext& context);
// The v1beta2 form as it stands, not decoded.
EncodedAssignment ReadEncodedAssignment(JsonValue object, const ReadContext& context);

// Parses one line and reads it with `read(root, context)`; anything reported is the error.
template <class T, class Read>
Result<T> ReadLine(std::string_view line, const Read& read) {
  simdjson::dom::parser parser;
  JsonValue root;
  if (const auto code = parser.parse(line.data(), line.size()).get(root)) {
    return BadInput(std::string("not a JSON object: ") + simdjson::error_message(code));
  }
  if (!root.is_object()) return BadInput("not a JSON object");
  Diagnostics diagnostics;
  T value = read(root, ReadContext{diagnostics, {}, root, "case", "case"});
  if (!diagnostics.ok()) return BadInput(diagnostics.RenderErrors());
  return value;
}

}  // namespace espalier
