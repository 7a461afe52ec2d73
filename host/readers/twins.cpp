#include "host/readers/twins.hpp"

#include <fmt/format.h>

#include "host/readers/object_metadata.hpp"
#include "host/readers/sources/source_kinds.hpp"

namespace espalier {

namespace {

bool SaySameValue(JsonValue a, JsonValue b);

// Returns whether the API server notes the field of its own work: it says nothing of the object.
bool IsBookkeeping(std::string_view field) {
  return field == "resourceVersion" || field == "generation" || field == "managedFields" ||
         field == "selfLink" || field == "kubectl.kubernetes.io/last-applied-configuration";
}

// Returns whether two maps `depth` levels below the object say the same, as SaySame does.
bool SaySameFields(JsonValue a, JsonValue b, int depth) {
  const auto counts = [&](std::string_view field) { return depth == 0 || !IsBookkeeping(field); };
  std::size_t of_b = 0;
  for (const auto field : Fields(b)) of_b += counts(field.key) ? 1 : 0;
  for (const auto [name, value] : Fields(a)) {
    if (!counts(name)) continue;
    JsonValue other;
    if (of_b-- == 0 || Fields(b).at_key(name).get(other) != simdjson::SUCCESS) return false;
    const bool in_metadata =
        (depth == 0 && name == "metadata") || (depth == 1 && name == "annotations");
    const bool both = value.is_object() && other.is_object();
    const bool same =
        in_metadata && both ? SaySameFields(value, other, depth + 1) : SaySameValue(value, other);
    if (!same) return false;
  }
  return of_b == 0;
}

bool SaySameValue(JsonValue a, JsonValue b) {
  if (a.is_object() && b.is_object()) {
    const simdjson::dom::object fields = Fields(a);
    if (fields.size() != Fields(b).size()) return false;
    for (const auto [name, value] : fields) {
      JsonValue other;
      if (Fields(b).at_key(name).get(other) != simdjson::SUCCESS || !SaySameValue(value, other)) {
        return false;
      }
    }
    return true;
  }
  if (a.is_array() && b.is_array()) {
    const simdjson::dom::array items = Items(a);
    if (items.size() != Items(b).size()) return false;
    auto other = Items(b).begin();
    for (const JsonValue item : items) {
      if (!SaySameValue(item, *other)) return false;
      ++other;
    }
    return true;
  }
  return a.type() == b.type() && !a.is_object() && !a.is_array() &&
         std::string(simdjson::minify(a)) == std::string(simdjson::minify(b));
}

}  // namespace

bool SaySame(JsonValue a, JsonValue b) {
  return a.is_object() && b.is_object() ? SaySameFields(a, b, 0) : SaySameValue(a, b);
}

bool ReportTwin(const IndexedObject& first, const IndexedObject& second, bool same,
                const ObjectIndex& index, const ReadContext& context) {
  const std::string places = fmt::format("{} and {}", index.PlaceOf(first), index.PlaceOf(second));
  if (same) {
    context.Warn(
        second.value,
        fmt::format("it is in the input twice with the same content, and counts once: {}", places),
        "each object once");
  } else {
    context.ErrorOfInput(second.value, fmt::format("it is in the input twice: {}", places),
                         "each object once");
  }
  return same;
}

const IndexedObject* SeenObjects::FindOrAdd(std::string_view group, std::string_view kind,
                                            const IndexedObject& object) {
  const auto metadata = Member(object.value, "metadata");
  if (!metadata || !metadata->is_object()) return nullptr;
  const std::string_view name = TextOf(*metadata, "name");
  if (name.empty()) return nullptr;  // gets one of its own, or is reported
  std::string_view name_space = TextOf(*metadata, "namespace");
  if (name_space.empty()) name_space = kDefaultNamespace;
  const auto [first, is_new] = seen_.try_emplace(Key(group, kind, name_space, name), object);
  return is_new ? nullptr : &first->second;
}

const IndexedObject* SeenObjects::FindOrAdd(const SourceObject& object) {
  std::string_view group;
  const std::size_t slash = object.version.find('/');
  if (object.source != nullptr) {
    group = object.source->group;
  } else if (slash != object.version.npos) {
    group = object.version.substr(0, slash);
  }
  return FindOrAdd(group, object.kind, object.object);
}

}  // namespace espalier
