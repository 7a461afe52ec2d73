#include "service/wire/message_bytes.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>

namespace espalier {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// The depth to which messages may be nested, as in the parser of protobuf.
constexpr int kDeepest = 100;
// Lists grow by doubling; an arena keeps what they have outgrown.
constexpr std::int64_t kGrowth = 4;
constexpr std::int64_t kBytesOfString = sizeof(std::string) + sizeof(void*);
constexpr std::int64_t kBytesOfUnknownField = 64;
// The node of a map with a string as its key.
constexpr std::int64_t kBytesOfMapEntry = 160;

// A type of messages, by what is known before any of them is read.
struct ScannedType {
  struct Field {
    bool known = false;
    const ScannedType* message = nullptr;  // null: the field holds no messages
    // Bytes of memory for each on the wire, where the field is a packed list; 0: it is a string.
    std::int64_t bytes_per_byte = 0;
  };

  // Returns the field of a number; null when the type has none.
  const Field* Find(std::uint32_t number) const {
    return number < fields.size() && fields[number].known ? &fields[number] : nullptr;
  }

  std::int64_t bytes = 0;     // of an empty message
  std::vector<Field> fields;  // by number: those of our messages are small
};

// All types that messages were scanned for. Thread-safe.
class ScannedTypes {
 public:
  static const ScannedType& Of(const Descriptor& type) {
    static ScannedTypes types;
    const std::lock_guard lock(types.mutex_);
    const auto known = types.types_.find(&type);
    if (known != types.types_.end()) return known->second;
    ByDescriptor fresh;  // whole, or not at all when memory runs out
    types.Add(type, fresh);
    types.types_.merge(fresh);
    return types.types_.at(&type);
  }

 private:
  using ByDescriptor = std::map<const Descriptor*, ScannedType>;  // keeps the addresses of types

  // Adds a type and those inside of it to `fresh`, where they are not known yet.
  const ScannedType& Add(const Descriptor& type, ByDescriptor& fresh) const {
    const auto known = types_.find(&type);
    if (known != types_.end()) return known->second;
    const auto [it, is_new] = fresh.try_emplace(&type);
    ScannedType& scanned = it->second;
    if (!is_new) return scanned;
    scanned.bytes = BytesOf(type);
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      const auto number = static_cast<std::size_t>(field.number());
      scanned.fields.resize(std::max(scanned.fields.size(), number + 1));
      const Descriptor* message = field.message_type();
      scanned.fields[number] = {true, message == nullptr ? nullptr : &Add(*message, fresh),
                                BytesPerByte(field.cpp_type())};
    }
    return scanned;
  }

  static std::int64_t BytesOf(const Descriptor& type) {
    if (type.options().map_entry()) return kBytesOfMapEntry;
    const auto* empty = google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type);
    return static_cast<std::int64_t>(empty->SpaceUsedLong() + kGrowth * sizeof(void*));
  }

  // An element of a packed list takes at least a byte on the wire.
  static std::int64_t BytesPerByte(FieldDescriptor::CppType type) {
    switch (type) {
      case FieldDescriptor::CPPTYPE_STRING:
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return 0;
      case FieldDescriptor::CPPTYPE_BOOL:
        return sizeof(bool);
      case FieldDescriptor::CPPTYPE_INT64:
      case FieldDescriptor::CPPTYPE_UINT64:
        return sizeof(std::int64_t);
      default:
        return sizeof(std::int32_t);
    }
  }

  std::mutex mutex_;  // guards all below
  ByDescriptor types_;
};

// Adds up what the fields of a message take.
class Scanner {
 public:
  explicit Scanner(CodedInputStream& input) : input_(input) {}

  bool Scan(const ScannedType& type, int depth) {
    while (const std::uint32_t tag = input_.ReadTag()) {
      const int number = WireFormatLite::GetTagFieldNumber(tag);
      if (number == 0) return false;
      const ScannedType::Field* field = type.Find(static_cast<std::uint32_t>(number));
      if (!ScanField(field, WireFormatLite::GetTagWireType(tag), depth)) return false;
    }
    return input_.ConsumedEntireMessage();
  }

  std::int64_t bytes() const { return bytes_; }

 private:
  bool ScanField(const ScannedType::Field* field, WireFormatLite::WireType wire_type, int depth) {
    std::uint64_t ignored = 0;
    std::uint32_t ignored_32 = 0;
    bytes_ += field == nullptr ? kBytesOfUnknownField : kGrowth * sizeof(std::int64_t);
    switch (wire_type) {
      case WireFormatLite::WIRETYPE_VARINT:
        return input_.ReadVarint64(&ignored);
      case WireFormatLite::WIRETYPE_FIXED64:
        return input_.ReadLittleEndian64(&ignored);
      case WireFormatLite::WIRETYPE_FIXED32:
        return input_.ReadLittleEndian32(&ignored_32);
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
        return ScanDelimited(field, depth);
      default:
        return false;  // groups: no message of ours has them
    }
  }

  bool ScanDelimited(const ScannedType::Field* field, int depth) {
    std::uint32_t length = 0;
    if (!input_.ReadVarint32(&length) || length > kMostLength) return false;
    if (field != nullptr && field->message != nullptr) {
      if (depth == kDeepest) return false;
      bytes_ += field->message->bytes;
      const auto limit = input_.PushLimit(static_cast<int>(length));
      const bool sound = Scan(*field->message, depth + 1);
      input_.PopLimit(limit);
      return sound;
    }
    if (field == nullptr || field->bytes_per_byte == 0) {
      bytes_ += kBytesOfString + length;
    } else {
      bytes_ += length * field->bytes_per_byte * kGrowth;
    }
    return input_.Skip(static_cast<int>(length));
  }

  static constexpr std::uint32_t kMostLength = std::numeric_limits<std::int32_t>::max();

  CodedInputStream& input_;
  std::int64_t bytes_ = 0;
};

tl::unexpected<Error> NoMessage(const Descriptor& type) {
  return BadInput(
      fmt::format("the bytes are no {}: they are cut off, or text in them is not UTF-8, or they "
                  "are another message",
                  type.full_name()));
}

}  // namespace

Result<std::int64_t> ParsedBytes(const Descriptor& type, const grpc::ByteBuffer& bytes) {
  grpc::ByteBuffer source(bytes);
  grpc::ProtoBufferReader reader(&source);
  if (!reader.status().ok()) return NoMessage(type);
  CodedInputStream input(&reader);
  Scanner scanner(input);
  if (!scanner.Scan(ScannedTypes::Of(type), 0)) return NoMessage(type);
  return scanner.bytes();
}

Result<void> Parse(const grpc::ByteBuffer& bytes, WorkBudget& budget,
                   google::protobuf::Message& message) {
  const Descriptor& type = *message.GetDescriptor();
  if (!bytes.Valid()) return NoMessage(type);
  const Result<std::int64_t> parsed = ParsedBytes(type, bytes);
  if (!parsed) return tl::unexpected(parsed.error());
  if (!budget.Charge(*parsed)) return budget.Check();
  grpc::ByteBuffer source(bytes);
  grpc::ProtoBufferReader reader(&source);
  if (!message.ParseFromZeroCopyStream(&reader)) return NoMessage(type);
  return {};
}

namespace {

bool HasMaps(const Descriptor& type, std::set<const Descriptor*>& seen) {
  if (!seen.insert(&type).second) return false;
  for (int i = 0; i < type.field_count(); ++i) {
    const Descriptor* field = type.field(i)->message_type();
    if (field != nullptr && (type.field(i)->is_map() || HasMaps(*field, seen))) return true;
  }
  return false;
}

}  // namespace

bool HasMaps(const Descriptor& type) {
  std::set<const Descriptor*> seen;
  return HasMaps(type, seen);
}

grpc::Slice ToSlice(const google::protobuf::MessageLite& message) {
  grpc::Slice slice(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(const_cast<std::uint8_t*>(slice.begin()));
  return slice;
}

grpc::ByteBuffer ToBytes(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice = ToSlice(message);
  return {&slice, 1};
}

}  // namespace espalier
