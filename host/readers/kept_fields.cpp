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

// A field that is left out, or fields below it.
struct UnreadFields::Field {
  constexpr explicit Field(std::string_view of) : name(of) {}
  template <std::size_t kSize>
  constexpr Field(std::string_view of, const Field (&fields)[kSize])
      : name(of), below(fields), size(kSize) {}

  // Left out only where it is an empty list.
  static constexpr Field IfEmpty(std::string_view of) {
    Field field(of);
    field.if_empty = true;
    return field;
  }

  std::string_view name;
  bool if_empty = false;
  const Field* below = nullptr;  // of each item where it is a list; null: all of it
  std::size_t size = 0;
};

namespace {

using Unread = UnreadFields::Field;

constexpr Unread kManaged[] = {Unread("managedFields")};
constexpr Unread kNodeMetadata[] = {Unread("managedFields"), Unread("annotations")};
constexpr Unread kKeptNodeSpec[] = {Unread("podCIDR"), Unread("podCIDRs"), Unread("providerID")};
constexpr Unread kNodeCondition[] = {Unread("lastHeartbeatTime"), Unread("lastTransitionTime"),
                                     Unread("message"), Unread("reason")};
constexpr Unread kKeptNodeStatus[] = {Unread("addresses"),
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
constexpr Unread kNode[] = {Unread("metadata", kNodeMetadata), Unread("spec", kKeptNodeSpec),
                            Unread("status", kKeptNodeStatus)};

constexpr Unread kKeptContainer[] = {Unread("args"),          Unread("command"),
                                     Unread("env"),           Unread("envFrom"),
                                     Unread("lifecycle"),     Unread("livenessProbe"),
                                     Unread("ports"),         Unread("readinessProbe"),
                                     Unread("startupProbe"),  Unread("securityContext"),
                                     Unread("volumeDevices"), Unread("volumeMounts")};
constexpr Unread kPendingContainer[] = {
    Unread("args"),           Unread("command"),      Unread("env"),
    Unread("envFrom"),        Unread("lifecycle"),    Unread("livenessProbe"),
    Unread("readinessProbe"), Unread("startupProbe"), Unread("securityContext"),
    Unread("volumeDevices"),  Unread("volumeMounts")};
constexpr Unread kKeptPodSpec[] = {Unread("containers", kKeptContainer),
                                   Unread("initContainers", kKeptContainer), Unread("volumes")};
// Pods without a node are still to be placed, so more of their fields matter.
constexpr Unread kPendingPodSpec[] = {Unread::IfEmpty("volumes"),
                                      Unread("containers", kPendingContainer),
                                      Unread("initContainers", kPendingContainer)};
constexpr Unread kKeptPodStatus[] = {Unread("conditions"), Unread("containerStatuses"),
                                     Unread("initContainerStatuses")};
constexpr Unread kPod[] = {Unread("metadata", kManaged), Unread("spec", kKeptPodSpec),
                           Unread("status", kKeptPodStatus)};
constexpr Unread kPendingPod[] = {Unread("metadata", kManaged), Unread("spec", kPendingPodSpec),
                                  Unread("status", kKeptPodStatus)};
constexpr Unread kAny[] = {Unread("metadata", kManaged)};

bool IsEmptyList(JsonValue value) {
  simdjson::dom::array list;
  return value.get(list) == simdjson::SUCCESS && list.size() == 0;
}

void Append(JsonValue value, UnreadFields unread, std::string& json);

void AppendFields(JsonValue object, UnreadFields unread, std::string& json) {
  json += '{';
  bool first = true;
  for (const auto [name, value] : Fields(object)) {
    if (unread.LeavesOut(name, value)) continue;
    if (!std::exchange(first, false)) json += ',';
    AppendJsonString(json, name);
    json += ':';
    Append(value, unread.Below(name), json);
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
  if (kind == "Node") return UnreadFields(kNode);
  if (kind != "Pod") return UnreadFields(kAny);
  return UnreadFields(object["spec"]["nodeName"].is_string() ? std::span(kPod)
                                                             : std::span(kPendingPod));
}

bool UnreadFields::LeavesOut(std::string_view name, JsonValue value) const {
  const Field* field = Find(name);
  return field != nullptr && field->below == nullptr && (!field->if_empty || IsEmptyList(value));
}

UnreadFields UnreadFields::Below(std::string_view name) const {
  const Field* field = Find(name);
  return field == nullptr ? UnreadFields() : UnreadFields({field->below, field->size});
}

const UnreadFields::Field* UnreadFields::Find(std::string_view name) const {
  const auto field = std::ranges::find(fields_, name, &Field::name);
  return field == fields_.end() ? nullptr : &*field;
}

void AppendKeptFields(JsonValue object, std::string& json) {
  Append(object, UnreadFields::Of(object), json);
}

}  // namespace espalier
