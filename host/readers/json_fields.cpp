#include "host/readers/json_fields.hpp"

#include <array>
#include <bit>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "host/model/object_limits.hpp"
#include "host/model/parse_time.hpp"
#include "host/model/work_budget.hpp"
#include "host/readers/json_numbers.hpp"

namespace espalier {
namespace {

constexpr const char* kOutOfRange = "the number is out of range";
constexpr const char* kWantedNumber = "a number below 1.8e308";
constexpr std::size_t kLongestValueShown = 80;  // bytes

// Keys of the maps that this thread read last, as objects of a kind mostly have the same keys.
thread_local RecentKeys keys_of_thread;

// Two elements are the same place of the same document when they refer to the same tape index;
// the library has no comparison for that.
bool SamePlace(JsonValue a, JsonValue b) {
  static_assert(std::is_trivially_copyable_v<JsonValue> && sizeof(JsonValue) == 16);
  using Bits = std::array<std::uint64_t, 2>;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

void AppendName(std::string& path, std::string_view name) {
  if (name.find_first_of("./[] ") != std::string_view::npos) {
    path.append("[").append(name).append("]");
  } else {
    if (!path.empty()) path += '.';
    path += name;
  }
}

// Extends `path`, which leads to `from`, until it leads to `to`.
bool FindPath(JsonValue from, JsonValue to, std::string& path) {
  if (SamePlace(from, to)) return true;
  const std::size_t length = path.size();
  if (from.is_object()) {
    for (const auto [name, value] : Fields(from)) {
      AppendName(path, name);
      if (FindPath(value, to, path)) return true;
      path.resize(length);
    }
  } else if (from.is_array()) {
    std::size_t index = 0;
    for (const JsonValue item : Items(from)) {
      path += fmt::format("[{}]", index++);
      if (FindPath(item, to, path)) return true;
      path.resize(length);
    }
  }
  return false;
}

// Empty for objects and lists: their path says enough.
std::string ShortJson(JsonValue value) {
  if (value.is_object() || value.is_array()) return "";
  const auto number = UnreadableNumber(value);
  std::string text = number ? std::string(*number) : simdjson::minify(value);
  if (text.size() > kLongestValueShown) {
    text.resize(kLongestValueShown);
    text += "...";
  }
  return text;
}

Diagnostic Describe(const ReadContext& context, JsonValue at, std::string problem,
                    std::string expected) {
  Diagnostic diagnostic;
  diagnostic.file = ObjectPlace(context.file, context.number);
  diagnostic.object = context.object.empty()
                          ? ObjectTitle(context.root, context.kind, context.generated)
                          : std::string(context.object);
  FindPath(context.root, at, diagnostic.field);
  diagnostic.problem = std::move(problem);
  diagnostic.expected = std::move(expected);
  return diagnostic;
}

// A text member without a finding where there is none.
std::string_view TextOrNothing(JsonValue parent, std::string_view name) {
  std::string_view found;
  const auto value = Member(parent, name);
  return value && value->get(found) == simdjson::SUCCESS ? found : std::string_view();
}

std::optional<Quantity> ReadQuantity(JsonValue value, const ReadContext& context) {
  using simdjson::dom::element_type;
  std::string number;
  std::string_view text;
  switch (value.type()) {
    case element_type::STRING:
      text = value.get_string().value_unsafe();
      break;
    case element_type::INT64:
      return Quantity::FromWhole(value.get_int64().value_unsafe());
    case element_type::UINT64:
    case element_type::DOUBLE:
      number = simdjson::minify(value);
      text = number;
      break;
    default:
      break;
  }
  if (IsOutOfRange(text)) {
    context.Error(value, kOutOfRange, kWantedNumber);
    return std::nullopt;
  }
  const Result<Quantity> quantity = ParseQuantity(text);
  if (quantity) return *quantity;
  if (text.ends_with('B')) {
    const std::string_view shorter = text.substr(0, text.size() - 1);
    const Result<Quantity> without = ParseQuantity(shorter);
    if (without && context.takes_byte_suffix) {
      context.Warn(value, fmt::format("it is not a quantity, and read as {}", shorter),
                   std::string(shorter));
      return *without;
    }
  }
  context.Error(value, "it is not a quantity: " + quantity.error().message,
                "a number with an optional suffix, such as 2, 500m or 16Gi");
  return std::nullopt;
}

template <class T>
std::optional<T> TypedMember(JsonValue parent, std::string_view name, const ReadContext& context,
                             const char* type) {
  const auto value = Member(parent, name);
  if (!value) return std::nullopt;
  T typed{};
  if (value->get(typed) == simdjson::SUCCESS) return typed;
  context.Error(*value, fmt::format("it is not {}", type), type);
  return std::nullopt;
}

// Returns whether a map of entries of `size` bytes is to be made of `object`.
bool CheckEntries(JsonValue object, std::size_t size, const ReadContext& context) {
  const std::size_t entries = Fields(object).size();
  if (entries <= kMaxMapEntries) return context.Charge(object, entries, size);
  context.Error(object, fmt::format("it has more than {} entries", kMaxMapEntries),
                fmt::format("at most {}, which no object in a cluster exceeds", kMaxMapEntries));
  return false;
}

}  // namespace

void ReadContext::Error(JsonValue at, std::string problem, std::string expected) const {
  if (diagnostics.errors_full()) return diagnostics.AddError({});
  Diagnostic diagnostic = Describe(*this, at, std::move(problem), std::move(expected));
  diagnostic.value = ShortJson(at);
  diagnostics.AddError(std::move(diagnostic));
}

void ReadContext::ErrorOfInput(JsonValue at, std::string problem, std::string expected) const {
  Diagnostic diagnostic = Describe(*this, at, std::move(problem), std::move(expected));
  diagnostic.is_about_input = true;
  diagnostics.AddError(std::move(diagnostic));
}

void ReadContext::Warn(JsonValue at, std::string problem, std::string expected) const {
  if (diagnostics.warnings_full()) return diagnostics.AddWarning({});
  Diagnostic diagnostic = Describe(*this, at, std::move(problem), std::move(expected));
  diagnostic.value = ShortJson(at);
  diagnostics.AddWarning(std::move(diagnostic));
}

void ReadContext::Missing(JsonValue parent, std::string_view name, std::string expected) const {
  if (diagnostics.errors_full()) return diagnostics.AddError({});
  Diagnostic diagnostic = Describe(*this, parent, "it is missing", std::move(expected));
  AppendName(diagnostic.field, name);
  diagnostics.AddError(std::move(diagnostic));
}

namespace {

bool HasUnreadableNumber(JsonValue value, const ReadContext& context) {
  bool found = false;
  if (value.is_object()) {
    for (const auto [name, member] : Fields(value)) found |= HasUnreadableNumber(member, context);
  } else if (value.is_array()) {
    for (const JsonValue item : Items(value)) found |= HasUnreadableNumber(item, context);
  } else if (UnreadableNumber(value)) {
    context.Error(value, kOutOfRange, kWantedNumber);
    return true;
  }
  return found;
}

}  // namespace

bool ReadContext::HasUnreadableNumber() const { return espalier::HasUnreadableNumber(root, *this); }

bool ReadContext::Charge(JsonValue at, std::size_t count, std::size_t size) const {
  if (budget == nullptr) return true;
  constexpr std::size_t kUncounted = 0xFFFFFF;  // where the parser stops counting
  const bool stopped = budget->stopped();
  if (count < kUncounted && budget->Charge(static_cast<std::int64_t>(count * size))) return true;
  budget->Stop({ErrorClass::kExhausted, "no memory is left"});
  if (!stopped) {
    Error(at, "there is no memory left for what it describes",
          "less input, or a higher --max-input");
  }
  return false;
}

std::string ObjectPlace(std::string_view file, std::uint32_t number) {
  return number == 0 ? std::string(file) : fmt::format("{}, object {}", file, number);
}

std::string ObjectTitle(JsonValue object, std::string_view kind, std::uint32_t generated) {
  const auto metadata = Member(object, "metadata");
  const std::string_view own_kind = TextOrNothing(object, "kind");
  const std::string_view name_space = metadata ? TextOrNothing(*metadata, "namespace") : "";
  const auto generated_name = metadata ? GeneratedName(*metadata, generated) : std::nullopt;
  const std::string name = generated_name.value_or(
      std::string(metadata ? TextOrNothing(*metadata, "name") : std::string_view()));
  return fmt::format("{} {}{}{}", own_kind.empty() ? kind : own_kind, name_space,
                     name_space.empty() ? "" : "/", name.empty() ? "(no name)" : name);
}

std::optional<std::string> GeneratedName(JsonValue metadata, std::uint32_t generated) {
  const std::string_view start = TextOrNothing(metadata, "generateName");
  const auto name = Member(metadata, "name");
  const bool named = name && (!name->is_string() || !TextOrNothing(metadata, "name").empty());
  if (named || start.empty()) return std::nullopt;
  return fmt::format("{}?{}", start, generated);
}

simdjson::dom::object Fields(JsonValue object) {
  simdjson::dom::object fields;
  std::ignore = object.get(fields);
  return fields;
}

simdjson::dom::array Items(JsonValue list) {
  simdjson::dom::array items;
  std::ignore = list.get(items);
  return items;
}

std::optional<JsonValue> Member(JsonValue parent, std::string_view name) {
  JsonValue value;
  if (parent.at_key(name).get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
  return value;
}

std::string_view TextOf(JsonValue parent, std::string_view name, std::string_view otherwise) {
  std::string_view text;
  return parent.at_key(name).get(text) == simdjson::SUCCESS ? text : otherwise;
}

std::optional<JsonValue> ObjectMember(JsonValue parent, std::string_view name,
                                      const ReadContext& context) {
  const auto value = Member(parent, name);
  if (!value || value->is_object()) return value;
  context.Error(*value, "it is not an object", "an object");
  return std::nullopt;
}

std::optional<simdjson::dom::array> ArrayMember(JsonValue parent, std::string_view name,
                                                const ReadContext& context) {
  return TypedMember<simdjson::dom::array>(parent, name, context, "a list");
}

std::optional<std::string_view> StringMember(JsonValue parent, std::string_view name,
                                             const ReadContext& context) {
  return TypedMember<std::string_view>(parent, name, context, "a string");
}

std::optional<bool> BoolMember(JsonValue parent, std::string_view name,
                               const ReadContext& context) {
  return TypedMember<bool>(parent, name, context, "true or false");
}

std::optional<std::int64_t> Int64Member(JsonValue parent, std::string_view name,
                                        const ReadContext& context) {
  return TypedMember<std::int64_t>(parent, name, context, "a 64-bit integer");
}

std::optional<std::int32_t> Int32Member(JsonValue parent, std::string_view name,
                                        const ReadContext& context, std::int32_t smallest) {
  const auto value = Member(parent, name);
  return value ? Int32Value(*value, context, smallest) : std::nullopt;
}

std::optional<std::int32_t> Int32Value(JsonValue value, const ReadContext& context,
                                       std::int32_t smallest) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  std::int64_t number = 0;
  if (value.get(number) == simdjson::SUCCESS && number >= smallest && number <= kLargest) {
    return static_cast<std::int32_t>(number);
  }
  context.Error(value, "it is out of range or no integer",
                fmt::format("an integer from {} to {}", smallest, kLargest));
  return std::nullopt;
}

std::optional<std::int64_t> TimeMember(JsonValue parent, std::string_view name,
                                       const ReadContext& context) {
  const auto text = StringMember(parent, name, context);
  if (!text) return std::nullopt;
  const auto seconds = ParseTime(*text);
  if (!seconds) {
    context.Error(*Member(parent, name), "it is not a time",
                  "an RFC 3339 time such as 2026-01-31T12:00:00Z");
  }
  return seconds;
}

std::string TextMember(JsonValue parent, std::string_view name, const ReadContext& context) {
  return std::string(StringMember(parent, name, context).value_or(std::string_view()));
}

std::vector<std::string> TextListMember(JsonValue parent, std::string_view name,
                                        const ReadContext& context) {
  std::vector<std::string> texts;
  const auto list = ArrayMember(parent, name, context);
  if (!list || !context.Charge(*Member(parent, name), list->size(), sizeof(std::string))) {
    return texts;
  }
  texts.reserve(list->size());
  for (const JsonValue item : *list) {
    std::string_view text;
    if (item.get(text) == simdjson::SUCCESS) {
      texts.emplace_back(text);
    } else {
      context.Error(item, "it is not a string", "a string");
    }
  }
  return texts;
}

StringMap ReadTextMap(JsonValue object, const ReadContext& context) {
  std::vector<std::pair<std::string_view, std::string>> entries;
  const simdjson::dom::object fields = Fields(object);
  if (!CheckEntries(object, sizeof(StringMap::Entry), context)) return StringMap();
  entries.reserve(fields.size());
  for (const auto [name, value] : fields) {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) {
      entries.emplace_back(name, text);
    } else if (value.is_null()) {
      entries.emplace_back(name, "");
    } else {
      context.Error(value, "it is not a string", "a string (in YAML: in quotes)");
    }
  }
  return {std::move(entries), keys_of_thread};
}

StringMap TextMapMember(JsonValue parent, std::string_view name, const ReadContext& context) {
  const auto object = ObjectMember(parent, name, context);
  return object ? ReadTextMap(*object, context) : StringMap();
}

std::string RequiredText(JsonValue parent, std::string_view name, const ReadContext& context) {
  std::string text = TextMember(parent, name, context);
  if (text.empty()) {
    const auto value = Member(parent, name);
    if (!value || value->is_string()) context.Missing(parent, name, "a text that is not empty");
  }
  return text;
}

std::optional<Quantity> QuantityMember(JsonValue parent, std::string_view name,
                                       const ReadContext& context) {
  const auto value = Member(parent, name);
  return value ? ReadQuantity(*value, context) : std::nullopt;
}

QuantityMap ReadQuantities(JsonValue object, const ReadContext& context) {
  std::vector<std::pair<std::string_view, Quantity>> entries;
  const simdjson::dom::object fields = Fields(object);
  if (!CheckEntries(object, sizeof(QuantityMap::Entry), context)) return QuantityMap();
  entries.reserve(fields.size());
  for (const auto [name, value] : fields) {
    if (value.is_null()) continue;
    if (const auto quantity = ReadQuantity(value, context)) entries.emplace_back(name, *quantity);
  }
  return {std::move(entries), keys_of_thread};
}

QuantityMap QuantitiesMember(JsonValue parent, std::string_view name, const ReadContext& context) {
  const auto object = ObjectMember(parent, name, context);
  return object ? ReadQuantities(*object, context) : QuantityMap();
}

Resources ToCanonical(const QuantityMap& quantities) {
  std::vector<Amount> amounts;
  amounts.reserve(quantities.size());
  for (const auto& [name, quantity] : quantities) amounts.push_back(Canonical(quantity, name));
  return Resources(quantities.keys(), std::move(amounts));
}

Resources ReadResources(JsonValue object, const ReadContext& context) {
  return ToCanonical(ReadQuantities(object, context));
}

Resources ResourcesMember(JsonValue parent, std::string_view name, const ReadContext& context) {
  return ToCanonical(QuantitiesMember(parent, name, context));
}

}  // namespace espalier
