#include "host/readers/object_metadata.hpp"

namespace espalier {

ObjectKey ReadObjectKey(JsonValue object, const ReadContext& context) {
  const auto metadata = ObjectMember(object, "metadata", context);
  if (!metadata) {
    context.Missing(object, "metadata", "an object with the name");
    return {};
  }
  return {TextMember(*metadata, "namespace", context), RequiredText(*metadata, "name", context)};
}

std::string ReadObjectName(JsonValue object, const ReadContext& context) {
  return ReadObjectKey(object, context).name;
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
                     .message = TextMember(condition, "message", context)};
  });
}

}  // namespace espalier
