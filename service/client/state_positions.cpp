#include "service/client/state_positions.hpp"

#include <map>
#include <vector>

#include <google/protobuf/descriptor.h>

namespace espalier {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

bool Search(const Descriptor& type, std::map<const Descriptor*, bool>& known) {
  if (&type == v1::StatePosition::descriptor()) return true;
  const auto [entry, added] = known.emplace(&type, false);  // until proven; types may be recursive
  if (!added) return entry->second;
  for (int i = 0; i < type.field_count(); ++i) {
    const Descriptor* inner = type.field(i)->message_type();
    if (inner != nullptr && Search(*inner, known)) return known[&type] = true;
  }
  return false;
}

}  // namespace

bool HasPositions(const Descriptor& type) {
  thread_local std::map<const Descriptor*, bool> answers;
  const auto found = answers.find(&type);
  if (found != answers.end()) return found->second;
  std::map<const Descriptor*, bool> known;
  return answers[&type] = Search(type, known);
}

void ForEachPosition(google::protobuf::Message& message,
                     const std::function<void(v1::StatePosition&)>& visit) {
  if (message.GetDescriptor() == v1::StatePosition::descriptor()) {
    return visit(static_cast<v1::StatePosition&>(message));
  }
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->message_type() == nullptr || !HasPositions(*field->message_type())) continue;
    if (!field->is_repeated()) {
      ForEachPosition(*reflection.MutableMessage(&message, field), visit);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      ForEachPosition(*reflection.MutableRepeatedMessage(&message, field, i), visit);
    }
  }
}

}  // namespace espalier
