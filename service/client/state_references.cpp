#include "service/client/state_references.hpp"

#include <map>
#include <set>
#include <string_view>
#include <vector>

#include <google/protobuf/descriptor.h>

namespace espalier {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

bool IsPosition(const FieldDescriptor& field) {
  return field.message_type() == v1::StatePosition::descriptor();
}

bool IsHoldId(const FieldDescriptor& field) {
  static const std::set<std::string_view> ids = {
      "espalier.v1.Hold.id",
      "espalier.v1.LostHold.id",
      "espalier.v1.HoldProblem.id",
      "espalier.v1.PlaceResponse.hold_ids",
      "espalier.v1.ConfirmHoldsRequest.ids",
      "espalier.v1.ReleaseHoldsRequest.ids",
      "espalier.v1.ExtendHoldsRequest.ids",
  };
  return ids.contains(field.full_name());
}

// Fields of one kind.
using IsWanted = bool (*)(const FieldDescriptor& field);
using Known = std::map<const Descriptor*, bool>;

bool Search(const Descriptor& type, IsWanted is_wanted, Known& known) {
  const auto [entry, added] = known.emplace(&type, false);  // until proven; types may be recursive
  if (!added) return entry->second;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const Descriptor* inner = field.message_type();
    if (is_wanted(field) || (inner != nullptr && Search(*inner, is_wanted, known))) {
      return known[&type] = true;
    }
  }
  return false;
}

// Returns whether messages of a type have wanted fields in them.
template <IsWanted is_wanted>
bool Has(const Descriptor& type) {
  thread_local Known answers;
  const auto found = answers.find(&type);
  if (found != answers.end()) return found->second;
  Known known;
  return answers[&type] = Search(type, is_wanted, known);
}

// Calls visit(owner, field) for every wanted field that is set.
template <IsWanted is_wanted>
void ForEach(Message& message,
             const std::function<void(Message& owner, const FieldDescriptor& field)>& visit) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (is_wanted(*field)) {
      visit(message, *field);
    } else if (field->message_type() != nullptr && Has<is_wanted>(*field->message_type())) {
      if (!field->is_repeated()) {
        ForEach<is_wanted>(*reflection.MutableMessage(&message, field), visit);
        continue;
      }
      for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
        ForEach<is_wanted>(*reflection.MutableRepeatedMessage(&message, field, i), visit);
      }
    }
  }
}

}  // namespace

bool HasPositions(const Descriptor& type) { return Has<IsPosition>(type); }

void ForEachPosition(Message& message, const std::function<void(v1::StatePosition&)>& visit) {
  ForEach<IsPosition>(message, [&](Message& owner, const FieldDescriptor& field) {
    const Reflection& reflection = *owner.GetReflection();
    if (!field.is_repeated()) {
      return visit(static_cast<v1::StatePosition&>(*reflection.MutableMessage(&owner, &field)));
    }
    for (int i = 0; i < reflection.FieldSize(owner, &field); ++i) {
      visit(static_cast<v1::StatePosition&>(*reflection.MutableRepeatedMessage(&owner, &field, i)));
    }
  });
}

bool HasHoldIds(const Descriptor& type) { return Has<IsHoldId>(type); }

void ForEachHoldId(Message& message, const std::function<void(std::string&)>& visit) {
  ForEach<IsHoldId>(message, [&](Message& owner, const FieldDescriptor& field) {
    const Reflection& reflection = *owner.GetReflection();
    if (!field.is_repeated()) {
      std::string id = reflection.GetString(owner, &field);
      visit(id);
      return reflection.SetString(&owner, &field, std::move(id));
    }
    for (int i = 0; i < reflection.FieldSize(owner, &field); ++i) {
      std::string id = reflection.GetRepeatedString(owner, &field, i);
      visit(id);
      reflection.SetRepeatedString(&owner, &field, i, std::move(id));
    }
  });
}

}  // namespace espalier
