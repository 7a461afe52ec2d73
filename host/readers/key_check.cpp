#include "host/readers/key_check.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/model/excerpt.hpp"
#include "host/model/nearest_name.hpp"
#include "host/readers/kept_fields.hpp"
#include "host/readers/known_fields.hpp"

namespace espalier {
namespace {

// Kueue's keys are all of kueue.x-k8s.io.
bool MayBeKueues(std::string_view key) {
  return key.find("kueue") != key.npos || key.find("x-k8s.io/") != key.npos;
}

// The first value that is read whose key another field before it has.
std::optional<std::pair<std::string_view, JsonValue>> RepeatedKey(
    const simdjson::dom::object& fields, const UnreadFields& unread,
    std::vector<std::string_view>& keys) {
  constexpr std::size_t kFew = 16;
  keys.clear();
  for (const auto field : fields) {
    if (unread.Inside(field.key, field.value)) keys.push_back(field.key);
  }
  std::string_view repeated;
  if (keys.size() <= kFew) {
    for (auto key = keys.begin(); key != keys.end(); ++key) {
      if (std::find(keys.begin(), key, *key) != key) repeated = *key;
    }
  } else {
    std::sort(keys.begin(), keys.end());
    const auto twin = std::adjacent_find(keys.begin(), keys.end());
    if (twin != keys.end()) repeated = *twin;
  }
  if (repeated.data() == nullptr) return std::nullopt;
  bool seen = false;
  for (const auto field : fields) {
    if (field.key != repeated || !unread.Inside(field.key, field.value)) continue;
    if (seen) return std::pair(field.key, field.value);
    seen = true;
  }
  return std::nullopt;
}

class KeyCheck {
 public:
  // With `repeated`, reports duplicate keys.
  explicit KeyCheck(const ReadContext& context, bool repeated = true)
      : context_(context), check_repeated_(repeated) {}

  // Says the same of an object with all its fields and of what is kept of it.
  void Check(JsonValue value, const KnownFields* known, const UnreadFields& unread) {
    if (value.is_array()) {
      for (const JsonValue item : Items(value)) Check(item, known, unread);
      return;
    }
    if (!value.is_object()) return;
    const simdjson::dom::object fields = Fields(value);
    if (check_repeated_) ReportRepeated(fields, unread);
    for (const auto field : fields) {
      if (!field.value.is_object() && !field.value.is_array() && known == nullptr) continue;
      const auto unread_inside = unread.Inside(field.key, field.value);
      if (!unread_inside) continue;
      const KnownFields* inside = known == nullptr ? nullptr : Know(*known, field);
      Check(field.value, inside, *unread_inside);
    }
  }

 private:
  void ReportRepeated(const simdjson::dom::object& fields, const UnreadFields& unread) {
    const auto repeated = RepeatedKey(fields, unread, keys_);
    if (!repeated) return;
    context_.Error(repeated->second,
                   fmt::format("the key {} is there twice", Excerpt(repeated->first)),
                   "each key once");
  }

  // Warns of an unknown field. Returns what is known of its value.
  const KnownFields* Know(const KnownFields& known, const simdjson::dom::key_value_pair& field) {
    if (known.others() == KnownFields::Others::kLabels && !MayBeKueues(field.key)) return nullptr;
    const auto fields = known.all();
    const auto it = std::ranges::find(fields, field.key, &KnownFields::Field::name);
    if (it != fields.end()) return it->inside;
    std::vector<std::string_view> names;
    for (const KnownFields::Field& one : fields) names.push_back(one.name);
    const std::string_view nearest = NearestName(field.key, names);
    if (nearest.empty() && known.others() == KnownFields::Others::kMatter) {
      context_.Warn(field.value,
                    fmt::format("the key {} is unknown, and not honoured", Excerpt(field.key)),
                    fmt::format("{}", fmt::join(names, ", ")));
    }
    if (nearest.empty()) return nullptr;
    context_.Warn(field.value, fmt::format("the key {} is unknown", Excerpt(field.key)),
                  fmt::format("{}, if that is meant", nearest));
    return nullptr;
  }

  const ReadContext& context_;
  const bool check_repeated_;
  std::vector<std::string_view> keys_;
};

}  // namespace

void CheckVersion(std::string_view kind, std::string_view versions, JsonValue object,
                  const ReadContext& context) {
  std::string_view version;
  const auto value = Member(object, "apiVersion");
  if (!value || value->get(version) != simdjson::SUCCESS || version.empty()) return;
  std::string_view known = versions;
  while (!known.empty()) {
    const std::string_view one = known.substr(0, known.find(' '));
    if (one == version) return;
    known.remove_prefix(std::min(known.size(), one.size() + 1));
  }
  std::string wanted(versions);
  for (std::size_t at = 0; (at = wanted.find(' ', at)) != wanted.npos; at += 2) {
    wanted.replace(at, 1, ", ");
  }
  context.Warn(*value, fmt::format("this version of a {} is unknown", kind), wanted);
}

void CheckKeys(ObjectKind kind, JsonValue object, const ReadContext& context) {
  const KnownFields known = KnownFieldsOf(kind);
  CheckVersion(KindName(kind), KnownVersionsOf(kind), object, context);
  KeyCheck(context).Check(object, &known, UnreadFields::Of(object));
}

void CheckRepeatedKeys(JsonValue object, const ReadContext& context) {
  KeyCheck(context).Check(object, nullptr, UnreadFields::Of(object));
}

void CheckTemplateKeys(JsonValue pod_template, const ReadContext& context) {
  const KnownFields known = KnownTemplateFields();
  KeyCheck(context, false).Check(pod_template, &known, UnreadFields());
}

}  // namespace espalier
