#include "host/readers/kept_fields.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "host/readers/json_text.hpp"

namespace espalier {
namespace {

// A field that is left out, or fields below it.
struct Unread {
  constexpr explicit Unread(std::string_view of) : name(of) {}
  template <std::size_t kSize>
  constexpr Unread(std::string_view of, const Unread (&fields)[kSize])
      : name(of), below(fields), size(kSize) {}

  std::string_view name;
  const Unread* below = nullptr;  // of each item where it is a list; null: all of it
  std::size_t size = 0;
};

constexpr Unread kManaged[] = {Unread("managedFields")};
constexpr Unread kNodeMetadata[] = {Unread("managedFields"), Unread("annotations")};
constexpr Unread kNodeSpec[] = {Unread("podCIDR"), Unread("podCIDRs"), Unread("providerID")};
constexpr Unread kNodeCondition[] = {Unread("lastHeartbeatTime"), Unread("lastTransitionTime"),
                                     Unread("message"), Unread("reason")};
constexpr Unread kNodeStatus[] = {Unread("addresses"),
                                  Unread("capacity"),
                                  Unread("config"),
                                  Unread("daemonEndpoints"),
                                  Unread("features"),
                                  Unread("images"),
                                  Unread("nodeInfo"),
                                  Unread("runtimeHandlers"),
                                  Unread("volumesAttached"),
                                  Unread("volumesInUse"),
                                  Unread("conditions", kNodeCondition)};
constexpr Unread kNode[] = {Unread("metadata", kNodeMetadata), Unread("spec", kNodeSpec),
                            Unread("status", kNodeStatus)};

constexpr Unread kContainer[] = {Unread("args"),          Unread("command"),
                                 Unread("env"),           Unread("envFrom"),
                                 Unread("lifecycle"),     Unread("livenessProbe"),
                                 Unread("ports"),         Unread("readinessProbe"),
                                 Unread("startupProbe"),  Unread("securityContext"),
                                 Unread("volumeDevices"), Unread("volumeMounts")};
constexpr Unread kPodSpec[] = {Unread("containers", kContainer),
                               Unread("initContainers", kContainer), Unread("volumes")};
constexpr Unread kPodStatus[] = {Unread("conditions"), Unread("containerStatuses"),
                                 Unread("initContainerStatuses")};
constexpr Unread kPod[] = {Unread("metadata", kManaged), Unread("spec", kPodSpec),
                           Unread("status", kPodStatus)};
constexpr Unread kAny[] = {Unread("metadata", kManaged)};

std::span<const Unread> UnreadOf(JsonValue object) {
  std::string_view kind;
  if (object.at_key("kind").get(kind) != simdjson::SUCCESS) return {};
  if (kind == "Node") return kNode;
  if (kind == "Pod") return kPod;
  return kAny;
}

void Append(JsonValue value, std::span<const Unread> unread, std::string& json);

void AppendFields(JsonValue object, std::span<const Unread> unread, std::string& json) {
  json += '{';
  bool first = true;
  for (const auto [name, value] : Fields(object)) {
    const auto rule = std::find_if(unread.begin(), unread.end(),
                                   [&, name = name](const Unread& u) { return u.name == name; });
    const bool has_rule = rule != unread.end();
    if (has_rule && rule->below == nullptr) continue;
    if (!std::exchange(first, false)) json += ',';
    AppendJsonString(json, name);
    json += ':';
    Append(value, has_rule ? std::span(rule->below, rule->size) : std::span<const Unread>(), json);
  }
  json += '}';
}

void Append(JsonValue value, std::span<const Unread> unread, std::string& json) {
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

void AppendKeptFields(JsonValue object, std::string& json) {
  Append(object, UnreadOf(object), json);
}

}  // namespace espalier
