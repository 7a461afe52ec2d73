#include "host/readers/sources/made_objects.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/readers/json_text.hpp"

namespace espalier {

void ObjectText::Add(std::string_view name, JsonValue value) {
  AddJson(name, std::string(simdjson::minify(value)));
}

void ObjectText::AddJson(std::string_view name, std::string_view json) {
  if (!empty()) json_ += ',';
  AppendJsonString(json_, name);
  json_ += ':';
  json_ += json;
}

void ObjectText::AddText(std::string_view name, std::string_view text) {
  std::string json;
  AppendJsonString(json, text);
  AddJson(name, json);
}

void ObjectText::AddFields(JsonValue object, std::initializer_list<std::string_view> but) {
  for (const auto [name, value] : Fields(object)) {
    if (std::find(but.begin(), but.end(), name) == but.end()) Add(name, value);
  }
}

std::string ObjectText::Take() {
  json_ += '}';
  return std::move(json_);
}

std::string ListText(const std::vector<std::string>& items) {
  return fmt::format("[{}]", fmt::join(items, ","));
}

QuietContext::QuietContext(const SourceContext& of)
    : read_{.diagnostics = dropped_,
            .file = of.read.file,
            .root = of.read.root,
            .kind = of.read.kind,
            .takes_byte_suffix = of.read.takes_byte_suffix},
      context_{read_, of.defaults, of.find, of.kind, of.version, of.group, of.as_kueue} {}

}  // namespace espalier
