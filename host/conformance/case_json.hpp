// Reads the parts of JSON that all kinds of cases have in common.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/kueue/objects/assignment_encoding.hpp"
#include "host/readers/kubernetes_objects.hpp"

namespace espalier {

// Returns a member that must be an object; when it is absent, reports it and returns `parent`, so
// that reading can go on.
JsonValue RequiredObject(JsonValue parent, std::string_view name, const ReadContext& context);
std::int64_t RequiredInt64(JsonValue parent, std::string_view name, const ReadContext& context);

// Returns the objects of a list; none when it is absent.
std::vector<JsonValue> Items(JsonValue parent, std::string_view name, const ReadContext& context);
// Returns the members of an object whose values are objects.
std::vector<std::pair<std::string_view, JsonValue>> Members(JsonValue object,
                                                            const ReadContext& context);

// Reports every member of the object that is not in `known`, as a recorded question with it would
// remain unanswered.
void CheckMembers(JsonValue object, std::initializer_list<std::string_view> known,
                  const ReadContext& context);

// Reads an object of canonical integers by resource name.
Resources ReadAmounts(JsonValue parent, std::string_view name, const ReadContext& context);

// Returns the defaults, changed by the member `gates`.
FeatureGates ReadGates(JsonValue root, const ReadContext& context);

// Reads `levels` and `domains`, each of which has one value per level.
TopologyAssignment ReadPlainAssignment(JsonValue object, const ReadContext& context);
// Reads the v1beta2 form without decoding it.
EncodedAssignment ReadEncodedAssignment(JsonValue object, const ReadContext& context);

// Parses one line and reads it with `read(root, context)`. Errors (kBadInput) are all that was
// reported.
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
