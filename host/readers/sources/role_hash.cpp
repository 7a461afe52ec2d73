#include "host/readers/sources/role_hash.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "host/model/quantity_text.hpp"
#include "host/model/sha256.hpp"
#include "host/readers/json_text.hpp"

namespace espalier {
namespace {

using Names = std::span<const std::string_view>;

// Members of Kubernetes' types in the order in which Go writes them. One list serves several types
// that have no member in common at different places.
constexpr std::string_view kAffinity[] = {"nodeAffinity",
                                          "podAffinity",
                                          "podAntiAffinity",
                                          "requiredDuringSchedulingIgnoredDuringExecution",
                                          "preferredDuringSchedulingIgnoredDuringExecution",
                                          "nodeSelectorTerms",
                                          "weight",
                                          "preference",
                                          "podAffinityTerm",
                                          "labelSelector",
                                          "namespaces",
                                          "topologyKey",
                                          "namespaceSelector",
                                          "matchLabelKeys",
                                          "mismatchLabelKeys",
                                          "matchLabels",
                                          "matchExpressions",
                                          "matchFields",
                                          "key",
                                          "operator",
                                          "values"};
constexpr std::string_view kToleration[] = {"key", "operator", "value", "effect",
                                            "tolerationSeconds"};
constexpr std::string_view kSpread[] = {"maxSkew",
                                        "topologyKey",
                                        "whenUnsatisfiable",
                                        "labelSelector",
                                        "minDomains",
                                        "nodeAffinityPolicy",
                                        "nodeTaintsPolicy",
                                        "matchLabelKeys",
                                        "matchLabels",
                                        "matchExpressions",
                                        "key",
                                        "operator",
                                        "values"};
constexpr std::string_view kClaim[] = {"name", "resourceClaimName", "resourceClaimTemplateName"};
constexpr std::string_view kPort[] = {"name", "hostPort", "containerPort", "protocol", "hostIP"};

// Go writes these three as escapes, so that JSON may stand in HTML.
void AppendText(std::string& json, std::string_view text) {
  std::string quoted;
  AppendJsonString(quoted, text);
  for (const char c : quoted) {
    if (c == '<' || c == '>' || c == '&') {
      json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      json += c;
    }
  }
}

bool IsEmpty(JsonValue value) {
  std::string_view text;
  simdjson::dom::array list;
  if (value.get(text) == simdjson::SUCCESS) return text.empty();
  return value.is_null() || (value.get(list) == simdjson::SUCCESS && list.size() == 0);
}

void AppendValue(std::string& json, JsonValue value, Names names);

// Writes the members that are not empty: those in `names` in its order, then others by name, as of
// a map.
void AppendObject(std::string& json, JsonValue object, Names names) {
  std::vector<std::pair<std::string_view, JsonValue>> members;
  for (const auto [name, value] : Fields(object)) {
    if (names.empty() || !IsEmpty(value)) members.emplace_back(name, value);
  }
  std::ranges::sort(members, {}, [&](const auto& member) {
    return std::pair(std::ranges::find(names, member.first) - names.begin(), member.first);
  });
  json += '{';
  for (const auto& [name, value] : members) {
    if (json.back() != '{') json += ',';
    AppendText(json, name);
    json += ':';
    AppendValue(json, value, name == "matchLabels" ? Names() : names);
  }
  json += '}';
}

void AppendValue(std::string& json, JsonValue value, Names names) {
  std::string_view text;
  if (value.is_object()) {
    AppendObject(json, value, names);
  } else if (value.is_array()) {
    json += '[';
    for (const JsonValue item : Items(value)) {
      if (json.back() != '[') json += ',';
      AppendValue(json, item, names);
    }
    json += ']';
  } else if (value.get(text) == simdjson::SUCCESS) {
    AppendText(json, text);
  } else {
    json += simdjson::minify(value);
  }
}

void AppendMember(std::string& json, JsonValue parent, std::string_view name, Names names) {
  const auto value = Member(parent, name);
  if (value) {
    AppendValue(json, *value, names);
  } else {
    json += "null";
  }
}

using QuantityTexts = std::map<std::string_view, std::string>;

void AddQuantities(JsonValue object, QuantityTexts& texts) {
  if (!object.is_object()) return;
  for (const auto [name, value] : Fields(object)) {
    std::string_view text;
    std::string number;
    if (value.get(text) != simdjson::SUCCESS) text = number = simdjson::minify(value);
    const Result<std::string> canonical = CanonicalText(text);
    if (canonical) texts.emplace(name, *canonical);
  }
}

void AppendQuantities(std::string& json, const QuantityTexts& texts) {
  json += '{';
  for (const auto& [name, text] : texts) {
    if (json.back() != '{') json += ',';
    AppendText(json, name);
    json += ':';
    AppendText(json, text);
  }
  json += '}';
}

// The member's quantities; null where neither it nor `instead` is there.
void AppendQuantitiesOf(std::string& json, JsonValue parent, std::string_view name,
                        std::string_view instead = "") {
  const auto quantities = Member(parent, name);
  const auto others = instead.empty() ? std::nullopt : Member(parent, instead);
  if (!quantities && !others) {
    json += "null";
    return;
  }
  QuantityTexts texts;
  if (quantities) AddQuantities(*quantities, texts);
  if (others) AddQuantities(*others, texts);
  AppendQuantities(json, texts);
}

// The ports of a container, of which the protocol is TCP where it is not given.
void AppendPorts(std::string& json, JsonValue container) {
  const auto ports = Member(container, "ports");
  if (!ports || !ports->is_array()) {
    json += "null";
    return;
  }
  json += '[';
  for (const JsonValue port : Items(*ports)) {
    if (!port.is_object()) continue;
    if (json.back() != '[') json += ',';
    std::string one = "{";
    for (const std::string_view name : kPort) {
      const auto value = Member(port, name);
      std::int64_t number = 0;
      const bool is_zero = value && value->get(number) == simdjson::SUCCESS && number == 0;
      const bool is_absent = !value || IsEmpty(*value) || (is_zero && name == "hostPort");
      if (is_absent && name != "protocol") continue;
      if (one.back() != '{') one += ',';
      AppendText(one, name);
      one += ':';
      if (is_absent) {
        AppendText(one, "TCP");
      } else {
        AppendValue(one, *value, {});
      }
    }
    json += one + '}';
  }
  json += ']';
}

void AppendContainers(std::string& json, JsonValue pod_spec, std::string_view name) {
  const auto containers = Member(pod_spec, name);
  if (!containers || !containers->is_array() || Items(*containers).size() == 0) {
    json += "null";
    return;
  }
  json += '[';
  for (const JsonValue container : Items(*containers)) {
    if (json.back() != '[') json += ',';
    json += "{\"ports\":";
    AppendPorts(json, container);
    json += ",\"resources\":{\"requests\":";
    const auto resources = Member(container, "resources");
    if (resources && resources->is_object()) {
      AppendQuantitiesOf(json, *resources, "requests", "limits");
    } else {
      json += "null";
    }
    json += "}}";
  }
  json += ']';
}

// Returns what of a PodSpec bears on admission. Names come in the order of the alphabet, as of a
// map.
std::string Shape(JsonValue spec) {
  std::string json = "{\"spec\":{\"affinity\":";
  AppendMember(json, spec, "affinity", kAffinity);
  json += ",\"containers\":";
  AppendContainers(json, spec, "containers");
  json += ",\"initContainers\":";
  AppendContainers(json, spec, "initContainers");
  json += ",\"nodeSelector\":";
  AppendMember(json, spec, "nodeSelector", {});
  json += ",\"overhead\":";
  AppendQuantitiesOf(json, spec, "overhead");
  json += ",\"priority\":";
  AppendMember(json, spec, "priority", {});
  json += ",\"resourceClaims\":";
  AppendMember(json, spec, "resourceClaims", kClaim);
  // Only pods with resources of their own have this member.
  if (const auto resources = Member(spec, "resources"); resources && resources->is_object()) {
    json += ",\"resources\":";
    AppendQuantitiesOf(json, *resources, "requests");
  }
  json += ",\"runtimeClassName\":";
  AppendMember(json, spec, "runtimeClassName", {});
  json += ",\"tolerations\":";
  AppendMember(json, spec, "tolerations", kToleration);
  json += ",\"topologySpreadConstraints\":";
  AppendMember(json, spec, "topologySpreadConstraints", kSpread);
  return json + "}}";
}

}  // namespace

std::string RoleHash(JsonValue pod_spec) {
  constexpr std::size_t kDigits = 8;
  return Sha256Hex(Shape(pod_spec)).substr(0, kDigits);
}

}  // namespace espalier
