#include "host/conformance/case_json.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

EncodedValues ReadEncodedValues(JsonValue object, const ReadContext& context) {
  CheckMembers(object, {"universal", "individual"}, context);
  if (Member(object, "universal")) return TextMember(object, "universal", context);
  const JsonValue individual = RequiredObject(object, "individual", context);
  CheckMembers(individual, {"prefix", "suffix", "roots"}, context);
  return IndividualValues{TextMember(individual, "prefix", context),
                          TextMember(individual, "suffix", context),
                          TextListMember(individual, "roots", context)};
}

std::vector<std::int32_t> ReadCounts(JsonValue object, const ReadContext& context) {
  std::vector<std::int32_t> counts;
  const auto list = ArrayMember(object, "individual", context);
  if (!list) {
    context.Missing(object, "individual", "universal or individual");
    return counts;
  }
  for (const JsonValue item : *list) {
    std::int64_t count = 0;
    if (item.get(count) != simdjson::SUCCESS || !std::in_range<std::int32_t>(count)) {
      context.Error(item, "it is not a pod count", "a 32-bit integer");
    }
    counts.push_back(static_cast<std::int32_t>(count));
  }
  return counts;
}

EncodedSlice ReadEncodedSlice(JsonValue object, const ReadContext& context) {
  CheckMembers(object, {"domainCount", "valuesPerLevel", "podCounts"}, context);
  EncodedSlice slice;
  slice.domain_count = Int32Member(object, "domainCount", context).value_or(0);
  slice.values_per_level = ReadList(object, "valuesPerLevel", context, [&](JsonValue values) {
    return ReadEncodedValues(values, context);
  });
  const JsonValue counts = RequiredObject(object, "podCounts", context);
  CheckMembers(counts, {"universal", "individual"}, context);
  if (const auto universal = Int32Member(counts, "universal", context)) {
    slice.pod_counts = *universal;
  } else {
    slice.pod_counts = ReadCounts(counts, context);
  }
  return slice;
}

}  // namespace

JsonValue RequiredObject(JsonValue parent, std::string_view name, const ReadContext& context) {
  if (!Member(parent, name)) context.Missing(parent, name, "an object");
  return ObjectMember(parent, name, context).value_or(parent);
}

std::int64_t RequiredInt64(JsonValue parent, std::string_view name, const ReadContext& context) {
  if (!Member(parent, name)) context.Missing(parent, name, "an integer");
  return Int64Member(parent, name, context).value_or(0);
}

std::vector<JsonValue> Items(JsonValue parent, std::string_view name, const ReadContext& context) {
  return ReadList(parent, name, context, [](JsonValue item) { return item; });
}

std::vector<std::pair<std::string_view, JsonValue>> Members(JsonValue object,
                                                            const ReadContext& context) {
  std::vector<std::pair<std::string_view, JsonValue>> members;
  for (const auto [name, value] : simdjson::dom::object(object.get_object().value_unsafe())) {
    if (value.is_object()) {
      members.emplace_back(name, value);
    } else {
      context.Error(value, "it is not an object", "an object");
    }
  }
  return members;
}

void CheckMembers(JsonValue object, std::initializer_list<std::string_view> known,
                  const ReadContext& context) {
  for (const auto& [name, value] : Fields(object)) {
    if (std::ranges::find(known, name) != known.end()) continue;
    context.Error(value, fmt::format("cases have no field {}", Excerpt(name)),
                  fmt::format("one of {}", fmt::join(known, ", ")));
  }
}

Resources ReadAmounts(JsonValue parent, std::string_view name, const ReadContext& context) {
  Resources amounts;
  const auto object = ObjectMember(parent, name, context);
  if (!object) return amounts;
  for (const auto [resource, value] : simdjson::dom::object(object->get_object().value_unsafe())) {
    Amount amount = 0;
    if (value.get(amount) != simdjson::SUCCESS) {
      context.Error(value, "it is not a canonical amount", "a 64-bit integer");
    }
    amounts.Set(resource, amount);
  }
  return amounts;
}

FeatureGates ReadGates(JsonValue root, const ReadContext& context) {
  FeatureGates gates;
  const auto object = ObjectMember(root, "gates", context);
  if (!object) return gates;
  for (const auto [name, value] : simdjson::dom::object(object->get_object().value_unsafe())) {
    bool on = false;
    if (value.get(on) != simdjson::SUCCESS) {
      context.Error(value, "it is not true or false", "true or false");
    } else if (const auto set = SetFeatureGate(gates, name, on); !set) {
      context.Error(value, set.error().message, "a known feature gate");
    }
  }
  return gates;
}

TopologyAssignment ReadPlainAssignment(JsonValue object, const ReadContext& context) {
  CheckMembers(object, {"levels", "domains"}, context);
  TopologyAssignment assignment{TextListMember(object, "levels", context), {}};
  assignment.domains = ReadList(object, "domains", context, [&](JsonValue item) {
    CheckMembers(item, {"values", "count"}, context);
    TopologyDomainAssignment domain{TextListMember(item, "values", context),
                                    Int32Member(item, "count", context).value_or(0)};
    if (domain.values.size() != assignment.levels.size()) {
      context.Error(item, fmt::format("it has {} values", domain.values.size()),
                    fmt::format("one per level, which is {}", assignment.levels.size()));
    }
    return domain;
  });
  return assignment;
}

EncodedAssignment ReadEncodedAssignment(JsonValue object, const ReadContext& context) {
  CheckMembers(object, {"levels", "slices"}, context);
  return {TextListMember(object, "levels", context),
          ReadList(object, "slices", context,
                   [&](JsonValue slice) { return ReadEncodedSlice(slice, context); })};
}

}  // namespace espalier
