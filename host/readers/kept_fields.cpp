#include "host/readers/kept_fields.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "host/readers/fields/object_fields.hpp"
#include "host/readers/json_text.hpp"

namespace espalier {
namespace {

// Keeps all of templates inside objects of other kinds.
constexpr KnownFields::Field kAnyFields[] = {{"metadata", &fields::kMetadata}};
constexpr KnownFields kAny(kAnyFields);

bool IsEmptyList(JsonValue value) {
  simdjson::dom::array list;
  return value.get(list) == simdjson::SUCCESS && list.size() == 0;
}

void Append(JsonValue value, UnreadFields unread, std::string& json);

void AppendFields(JsonValue object, UnreadFields unread, std::string& json) {
  json += '{';
  bool first = true;
  for (const auto [name, value] : Fields(object)) {
    const auto inside = unread.Inside(name, value);
    if (!inside) continue;
    if (!std::exchange(first, false)) json += ',';
    AppendJsonString(json, name);
    json += ':';
    Append(value, *inside, json);
  }
  json += '}';
}

void Append(JsonValue value, UnreadFields unread, std::string& json) {
  using simdjson::dom::element_type;
  switch (value.type()) {
    case element_type::OBJECT:
      return AppendFields(value, unread, json);
    case element_type::ARRAY: {
      json += '[';
      bool first = true;
      for (const JsonValue item : Items(value)) {
        if (!std::exchange(first, false)) json += ',';
        Append(item, unread, json);
      }
      json += ']';
      return;
    }
    case element_type::STRING:
      return AppendJsonString(json, value.get_string().value_unsafe());
    default:
      json += simdjson::minify(value);
  }
}

}  // namespace

UnreadFields UnreadFields::Of(JsonValue object) {
  std::string_view kind;
  if (object.at_key("kind").get(kind) != simdjson::SUCCESS) return {};
  if (kind == "Node") return {KnownFieldsOf(ObjectKind::kNode), KnownFields::kInNodes};
  if (kind != "Pod") return {kAny, KnownFields::kInOthers};
  return {KnownFieldsOf(ObjectKind::kPod), object["spec"]["nodeName"].is_string()
                                               ? KnownFields::kInBoundPods
                                               : KnownFields::kInPendingPods};
}

std::optional<UnreadFields> UnreadFields::Inside(std::string_view name, JsonValue value) const {
  const auto field = std::ranges::find(fields_, name, &KnownFields::Field::name);
  if (field == fields_.end()) return UnreadFields();
  const bool left_out = (field->unread & in_) != 0 ||
                        ((field->unread & KnownFields::kIfEmpty) != 0 && IsEmptyList(value));
  if (left_out) return std::nullopt;
  return field->inside == nullptr ? UnreadFields() : UnreadFields(*field->inside, in_);
}

void AppendKeptFields(JsonValue object, std::string& json) {
  Append(object, UnreadFields::Of(object), json);
}

}  // namespace espalier
