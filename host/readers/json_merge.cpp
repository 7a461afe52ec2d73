#include "host/readers/json_merge.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/readers/json_text.hpp"

namespace espalier {
namespace {

bool AllHaveNames(JsonValue list) {
  return std::ranges::all_of(Items(list), [](JsonValue item) {
    return item.is_object() && !TextOf(item, "name").empty();
  });
}

std::string MergedObjects(JsonValue base, JsonValue patch) {
  std::vector<std::string> members;
  const auto add = [&](std::string_view name, const std::string& value) {
    std::string& member = members.emplace_back();
    AppendJsonString(member, name);
    member += ':';
    member += value;
  };
  for (const auto [name, value] : Fields(base)) {
    JsonValue change;
    if (patch[name].get(change) != simdjson::SUCCESS) {
      add(name, simdjson::minify(value));
    } else if (!change.is_null()) {
      add(name, MergedJson(value, change));
    }
  }
  for (const auto [name, value] : Fields(patch)) {
    JsonValue old;
    if (!value.is_null() && base[name].get(old) != simdjson::SUCCESS) {
      add(name, simdjson::minify(value));
    }
  }
  return fmt::format("{{{}}}", fmt::join(members, ","));
}

std::string MergedByName(JsonValue base, JsonValue patch) {
  std::vector<std::string> items;
  std::vector<std::string_view> names;
  for (const JsonValue item : Items(base)) {
    names.push_back(TextOf(item, "name"));
    std::string text = simdjson::minify(item);
    for (const JsonValue change : Items(patch)) {
      if (TextOf(change, "name") == names.back()) text = MergedJson(item, change);
    }
    items.push_back(std::move(text));
  }
  for (const JsonValue item : Items(patch)) {
    if (std::ranges::find(names, TextOf(item, "name")) == names.end()) {
      items.emplace_back(simdjson::minify(item));
    }
  }
  return fmt::format("[{}]", fmt::join(items, ","));
}

}  // namespace

std::string MergedJson(JsonValue base, JsonValue patch) {
  if (base.is_object() && patch.is_object()) return MergedObjects(base, patch);
  if (base.is_array() && patch.is_array() && AllHaveNames(base) && AllHaveNames(patch)) {
    return MergedByName(base, patch);
  }
  return simdjson::minify(patch);
}

MadeJson::MadeJson(const std::string& text) {
  if (parser_.parse(text).get(value_) == simdjson::SUCCESS) return;
  std::ignore = parser_.parse(std::string("null")).get(value_);
}

}  // namespace espalier
