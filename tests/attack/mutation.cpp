#include "tests/attack/mutation.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>

namespace espalier::attack {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// `method` is a path, as "/espalier.v1.Placement/Place".
std::unique_ptr<Message> NewRequest(const std::string& method) {
  std::string name = method.substr(1);
  std::ranges::replace(name, '/', '.');
  const auto* found = google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name);
  if (found == nullptr) throw std::invalid_argument(method);
  const Message* prototype =
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(found->input_type());
  return std::unique_ptr<Message>(prototype->New());
}

std::int64_t AnyNumber(Random& random) {
  constexpr std::int64_t kNumbers[] = {0,
                                       1,
                                       2,
                                       3,
                                       7,
                                       -1,
                                       1000,
                                       std::numeric_limits<std::int32_t>::max(),
                                       std::numeric_limits<std::int32_t>::min(),
                                       std::numeric_limits<std::uint32_t>::max(),
                                       std::numeric_limits<std::int64_t>::max(),
                                       std::numeric_limits<std::int64_t>::min()};
  if (random.Below(4) == 0) return static_cast<std::int64_t>(random.Next());
  return kNumbers[random.Below(std::size(kNumbers))];
}

std::string AnyText(Random& random) {
  const std::string texts[] = {
      "", "main", "host-000001", "kubernetes.io/hostname", "\x1b[31m", std::string(5000, 'x')};
  return texts[random.Below(std::size(texts))];
}

// Gives a number field any value: the one of a singular field, or one more of a repeated one.
void PutNumber(Message& message, const FieldDescriptor& field, Random& random) {
  const Reflection& r = *message.GetReflection();
  const std::int64_t value = AnyNumber(random);
  const auto put = [&](auto set, auto add, auto converted) {
    if (field.is_repeated()) {
      (r.*add)(&message, &field, converted);
    } else {
      (r.*set)(&message, &field, converted);
    }
  };
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return put(&Reflection::SetInt32, &Reflection::AddInt32, static_cast<std::int32_t>(value));
    case FieldDescriptor::CPPTYPE_INT64:
      return put(&Reflection::SetInt64, &Reflection::AddInt64, value);
    case FieldDescriptor::CPPTYPE_UINT32:
      return put(&Reflection::SetUInt32, &Reflection::AddUInt32, static_cast<std::uint32_t>(value));
    case FieldDescriptor::CPPTYPE_UINT64:
      return put(&Reflection::SetUInt64, &Reflection::AddUInt64, static_cast<std::uint64_t>(value));
    case FieldDescriptor::CPPTYPE_BOOL:
      return put(&Reflection::SetBool, &Reflection::AddBool, value % 2 == 0);
    case FieldDescriptor::CPPTYPE_ENUM:
      return put(&Reflection::SetEnumValue, &Reflection::AddEnumValue, static_cast<int>(value));
    default:
      return;
  }
}

void ChangeField(Message& message, Random& random) {
  const Reflection& r = *message.GetReflection();
  const auto* descriptor = message.GetDescriptor();
  if (descriptor->field_count() == 0) return;
  const FieldDescriptor& field = *descriptor->field(
      static_cast<int>(random.Below(static_cast<unsigned>(descriptor->field_count()))));
  const int size = field.is_repeated() ? r.FieldSize(message, &field) : 0;
  const int element = size == 0 ? 0 : static_cast<int>(random.Below(static_cast<unsigned>(size)));
  const bool is_message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  if (is_message && random.Below(4) != 0) {  // something within it
    if (size > 0) return ChangeField(*r.MutableRepeatedMessage(&message, &field, element), random);
    if (!field.is_repeated()) return ChangeField(*r.MutableMessage(&message, &field), random);
  }
  const auto what = random.Below(4);
  if (what == 0) return r.ClearField(&message, &field);
  if (what == 1 && size > 0) return r.RemoveLast(&message, &field);
  if (what == 2 && size > 1) return r.SwapElements(&message, &field, 0, element);
  if (is_message) {
    if (!field.is_repeated()) return;
    Message& added = *r.AddMessage(&message, &field);
    if (size > 0) added.CopyFrom(r.GetRepeatedMessage(message, &field, element));
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    if (field.is_repeated()) return r.AddString(&message, &field, AnyText(random));
    r.SetString(&message, &field, AnyText(random));
  } else {
    PutNumber(message, field, random);
  }
}

void ChangeBytes(std::string& bytes, Random& random) {
  const std::size_t at = random.Below(bytes.size() + 1);
  const std::size_t length = random.Below(std::min<std::size_t>(bytes.size() - at, 64) + 1);
  switch (random.Below(6)) {
    case 0:
      bytes.resize(at);
      return;
    case 1:
      bytes.erase(at, length);
      return;
    case 2:
      bytes.insert(at, bytes.substr(at, length));
      return;
    case 3:
      bytes.insert(at, std::string(1 + random.Below(10), '\xff'));
      return;
    case 4:
      bytes.insert(at, 1, static_cast<char>(random.Next()));
      return;
    default:
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.Below(8)));
      return;
  }
}

}  // namespace

std::string Mutated(const std::string& method, const std::string& sound, Random& random) {
  const std::unique_ptr<Message> message = NewRequest(method);
  std::string bytes = sound;
  const auto changes = 1 + random.Below(4);
  if (random.Below(3) != 0 && message->ParseFromString(sound)) {
    for (std::size_t i = 0; i < changes; ++i) ChangeField(*message, random);
    bytes = message->SerializePartialAsString();
  }
  if (random.Below(3) == 0) {
    for (std::size_t i = 0; i < changes; ++i) ChangeBytes(bytes, random);
  }
  return bytes;
}

}  // namespace espalier::attack
