#include "tests/wire/schema_differences.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>
#include <google/protobuf/descriptor.pb.h>

namespace espalier {
namespace {

namespace pb = google::protobuf;

// Says how often a field may occur, and whether its absence can be told.
std::string LabelOf(const pb::FieldDescriptor& field) {
  if (field.is_map()) return "map";
  if (field.is_repeated()) return "repeated";
  if (field.is_required()) return "required";
  return field.has_optional_keyword() ? "optional" : "singular";
}

std::string TypeOf(const pb::FieldDescriptor& field) {
  if (field.is_map()) {
    const pb::Descriptor& entry = *field.message_type();
    return fmt::format("map<{}, {}>", TypeOf(*entry.map_key()), TypeOf(*entry.map_value()));
  }
  if (field.type() == pb::FieldDescriptor::TYPE_ENUM) return field.enum_type()->full_name();
  if (field.message_type() != nullptr) return field.message_type()->full_name();
  return field.type_name();
}

std::string OneofOf(const pb::FieldDescriptor& field) {
  const pb::OneofDescriptor* oneof = field.real_containing_oneof();
  return oneof == nullptr ? "no oneof" : "oneof " + oneof->name();
}

std::string CallOf(const pb::MethodDescriptor& method) {
  return fmt::format("({}{}) returns ({}{})", method.client_streaming() ? "stream " : "",
                     method.input_type()->full_name(), method.server_streaming() ? "stream " : "",
                     method.output_type()->full_name());
}

class Comparison {
 public:
  explicit Comparison(const std::vector<const pb::FileDescriptor*>& after) {
    for (const pb::FileDescriptor* file : after) {
      for (int i = 0; i < file->message_type_count(); ++i) Index(*file->message_type(i));
      for (int i = 0; i < file->enum_type_count(); ++i) {
        enums_[file->enum_type(i)->full_name()] = file->enum_type(i);
      }
      for (int i = 0; i < file->service_count(); ++i) {
        services_[file->service(i)->full_name()] = file->service(i);
      }
    }
  }

  void Compare(const pb::FileDescriptor& before) {
    for (int i = 0; i < before.message_type_count(); ++i) Compare(*before.message_type(i));
    for (int i = 0; i < before.enum_type_count(); ++i) Compare(*before.enum_type(i));
    for (int i = 0; i < before.service_count(); ++i) Compare(*before.service(i));
  }

  std::vector<std::string> Lines() && { return std::move(lines_); }

 private:
  void Index(const pb::Descriptor& message) {
    messages_[message.full_name()] = &message;
    for (int i = 0; i < message.nested_type_count(); ++i) Index(*message.nested_type(i));
    for (int i = 0; i < message.enum_type_count(); ++i) {
      enums_[message.enum_type(i)->full_name()] = message.enum_type(i);
    }
  }

  template <typename... Arguments>
  void Say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    lines_.push_back(fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  void CompareTexts(const std::string& of, const char* what, const std::string& before,
                    const std::string& after) {
    if (before != after) Say("{}: its {} was {} and is {}", of, what, before, after);
  }

  // Reserved numbers and names stay so, or somebody gives a number that old bytes have a new
  // meaning. `last` is added to the end of a range: those of messages are half open, those of enums
  // are not.
  template <typename Type>
  void CompareReserved(const Type& before, const Type& after, int last) {
    for (int i = 0; i < before.reserved_range_count(); ++i) {
      for (int number = before.reserved_range(i)->start;
           number <= before.reserved_range(i)->end + last; ++number) {
        if (!after.IsReservedNumber(number)) {
          Say("{}: number {} is reserved no longer", before.full_name(), number);
        }
      }
    }
    for (int i = 0; i < before.reserved_name_count(); ++i) {
      if (!after.IsReservedName(before.reserved_name(i))) {
        Say("{}: name {} is reserved no longer", before.full_name(), before.reserved_name(i));
      }
    }
  }

  void Compare(const pb::Descriptor& before) {
    if (before.options().map_entry()) return;  // part of its field's type
    const auto found = messages_.find(before.full_name());
    if (found == messages_.end()) return Say("{}: the message is gone", before.full_name());
    const pb::Descriptor& after = *found->second;
    for (int i = 0; i < before.field_count(); ++i) Compare(*before.field(i), after);
    CompareReserved(before, after, -1);
    for (int i = 0; i < before.nested_type_count(); ++i) Compare(*before.nested_type(i));
    for (int i = 0; i < before.enum_type_count(); ++i) Compare(*before.enum_type(i));
  }

  void Compare(const pb::FieldDescriptor& before, const pb::Descriptor& message) {
    const pb::FieldDescriptor* after = message.FindFieldByNumber(before.number());
    if (after == nullptr) {
      const pb::FieldDescriptor* moved = message.FindFieldByName(before.name());
      if (moved == nullptr) return Say("{}: field {} is gone", before.full_name(), before.number());
      return Say("{}: its number was {} and is {}", before.full_name(), before.number(),
                 moved->number());
    }
    CompareTexts(before.full_name(), "name", before.name(), after->name());
    CompareTexts(before.full_name(), "name in JSON", before.json_name(), after->json_name());
    CompareTexts(before.full_name(), "type", TypeOf(before), TypeOf(*after));
    CompareTexts(before.full_name(), "label", LabelOf(before), LabelOf(*after));
    CompareTexts(before.full_name(), "oneof", OneofOf(before), OneofOf(*after));
  }

  void Compare(const pb::EnumDescriptor& before) {
    const auto found = enums_.find(before.full_name());
    if (found == enums_.end()) return Say("{}: the enum is gone", before.full_name());
    const pb::EnumDescriptor& after = *found->second;
    for (int i = 0; i < before.value_count(); ++i) {
      const pb::EnumValueDescriptor& value = *before.value(i);
      const pb::EnumValueDescriptor* kept = after.FindValueByName(value.name());
      if (kept == nullptr) {
        Say("{}: value {} is gone", before.full_name(), value.name());
      } else if (kept->number() != value.number()) {
        Say("{}: the number of {} was {} and is {}", before.full_name(), value.name(),
            value.number(), kept->number());
      }
    }
    CompareReserved(before, after, 0);
  }

  void Compare(const pb::ServiceDescriptor& before) {
    const auto found = services_.find(before.full_name());
    if (found == services_.end()) return Say("{}: the service is gone", before.full_name());
    for (int i = 0; i < before.method_count(); ++i) {
      const pb::MethodDescriptor& method = *before.method(i);
      const pb::MethodDescriptor* kept = found->second->FindMethodByName(method.name());
      if (kept == nullptr) {
        Say("{}: the call is gone", method.full_name());
      } else {
        CompareTexts(method.full_name(), "form", CallOf(method), CallOf(*kept));
      }
    }
  }

  std::map<std::string, const pb::Descriptor*> messages_;
  std::map<std::string, const pb::EnumDescriptor*> enums_;
  std::map<std::string, const pb::ServiceDescriptor*> services_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> SchemaDifferences(
    const std::vector<const google::protobuf::FileDescriptor*>& before,
    const std::vector<const google::protobuf::FileDescriptor*>& after) {
  Comparison comparison(after);
  for (const google::protobuf::FileDescriptor* file : before) comparison.Compare(*file);
  return std::move(comparison).Lines();
}

}  // namespace espalier
