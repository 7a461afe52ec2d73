#include "host/readers/sources/pod_search.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace espalier {
namespace {

// Kinds that hold templates, or the pods of which others count.
constexpr std::array<std::string_view, 5> kOnlyKeepTemplates = {
    "PodTemplate", "ControllerRevision", "CustomResourceDefinition", "DaemonSet", "Binding"};

// Kinds whose pods are described without containers.
constexpr std::array<std::string_view, 2> kAskOtherwise = {"SparkApplication",
                                                           "ScheduledSparkApplication"};

bool HoldsContainers(JsonValue object) {
  simdjson::dom::array list;
  if (object["containers"].get(list) == simdjson::SUCCESS && list.size() > 0) {
    return list.at(0).value_unsafe().is_object();
  }
  return object["container"]["image"].is_string();
}

// Appends to `path` the way to the first containers; leaves it as it is where there are none.
bool Find(JsonValue value, std::string& path) {
  const std::size_t length = path.size();
  if (value.is_object()) {
    if (HoldsContainers(value)) return true;
    for (const auto [name, field] : Fields(value)) {
      if (!field.is_object() && !field.is_array()) continue;
      path.append(path.empty() ? "" : ".").append(name);
      if (Find(field, path)) return true;
      path.resize(length);
    }
  } else if (value.is_array()) {
    std::size_t index = 0;
    for (const JsonValue item : Items(value)) {
      path += fmt::format("[{}]", index++);
      if (Find(item, path)) return true;
      path.resize(length);
    }
  }
  return false;
}

}  // namespace

std::string FindPods(JsonValue object, std::string_view kind) {
  if (std::ranges::find(kOnlyKeepTemplates, kind) != kOnlyKeepTemplates.end()) return "";
  if (std::ranges::find(kAskOtherwise, kind) != kAskOtherwise.end()) return "spec";
  const auto spec = Member(object, "spec");
  std::string path = "spec";
  return spec && Find(*spec, path) ? path : std::string();
}

bool HoldsPods(JsonValue value) {
  std::string path;
  return Find(value, path);
}

}  // namespace espalier
