#include "host/readers/object_metadata.hpp"

namespace espalier {

namespace {

std::string ReadName(JsonValue metadata, const ReadContext& context) {
  if (auto name = GeneratedName(metadata, context.generated)) return *std::move(name);
  return RequiredText(metadata, "name", context);
}

std::optional<JsonValue> ReadMetadata(JsonValue object, const ReadContext& context) {
  auto metadata = ObjectMember(object, "metadata", context);
  if (!metadata) context.Missing(object, "metadata", "an object with the name");
  return metadata;
}

}  // namespace

ObjectKey ReadObjectKey(JsonValue object, const ReadContext& context) {
  const auto metadata = ReadMetadata(object, context);
  if (!metadata) return {};
  return {NamespaceOf(*metadata, context), ReadName(*metadata, context)};
}

std::string ReadObjectName(JsonValue object, const ReadContext& context) {
  const auto metadata = ReadMetadata(object, context);
  return metadata ? ReadName(*metadata, context) : std::string();
}

std::string NamespaceOf(JsonValue metadata, const ReadContext& context) {
  std::string name = TextMember(metadata, "namespace", context);
  return name.empty() ? std::string(kDefaultNamespace) : name;
}

std::vector<OwnerReference> ReadOwners(JsonValue metadata, const ReadContext& context) {
  return ReadList(metadata, "ownerReferences", context, [&](JsonValue owner) {
    return OwnerReference{.api_version = TextMember(owner, "apiVersion", context),
                          .kind = TextMember(owner, "kind", context),
                          .name = TextMember(owner, "name", context),
                          .uid = TextMember(owner, "uid", context),
                          .controller = BoolMember(owner, "controller", context).value_or(false)};
  });
}

std::vector<Condition> ReadConditions(JsonValue status, const ReadContext& context) {
  return ReadList(status, "conditions", context, [&](JsonValue condition) {
    return Condition{.type = TextMember(condition, "type", context),
                     .status = TextMember(condition, "status", context),
                     .reason = TextMember(condition, "reason", context),
                     .message = TextMember(condition, "message", context),
                     .since_seconds = TimeMember(condition, "lastTransitionTime", context)};
  });
}

}  // namespace espalier
