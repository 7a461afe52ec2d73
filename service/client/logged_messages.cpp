#include "service/client/logged_messages.hpp"

#include <algorithm>
#include <charconv>

#include <google/protobuf/descriptor.h>

namespace espalier {
namespace {

using google::protobuf::Message;

constexpr std::string_view kUpdateState = "espalier.v1.ClusterState/UpdateState";
constexpr std::string_view kConfirmHolds = "espalier.v1.Placement/ConfirmHolds";

// Returns the position in a field of that name, or null.
const v1::StatePosition* PositionIn(const Message& message, const char* field_name) {
  const auto* field = message.GetDescriptor()->FindFieldByName(field_name);
  if (field == nullptr || field->message_type() != v1::StatePosition::descriptor() ||
      field->is_repeated() || !message.GetReflection()->HasField(message, field)) {
    return nullptr;
  }
  return &static_cast<const v1::StatePosition&>(
      message.GetReflection()->GetMessage(message, field));
}

}  // namespace

const google::protobuf::MethodDescriptor* FindMethod(const std::string& method) {
  std::string name = method;
  std::ranges::replace(name, '/', '.');
  return google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(name);
}

std::unique_ptr<Message> ReadMessage(const google::protobuf::Descriptor& type,
                                     std::string_view bytes) {
  std::unique_ptr<Message> message(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type)->New());
  if (!message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return nullptr;
  return message;
}

const v1::StatePosition* Produced(std::string_view method, const Message& answer) {
  const bool is_change = method == kLoadStateMethod || method == kUpdateState ||
                         method == kConfirmHolds || method == kReleaseHoldsMethod;
  return PositionIn(answer, is_change ? "state" : "committed");
}

std::string StateNameOf(const LoggedCall& call) {
  const auto* method = FindMethod(call.method);
  if (method == nullptr || call.requests.empty()) return "";
  const auto* field = method->input_type()->FindFieldByName("state_name");
  if (field == nullptr) return "";
  const auto request = ReadMessage(*method->input_type(), call.requests.front());
  return request == nullptr ? "" : request->GetReflection()->GetString(*request, field);
}

std::optional<v1::StatePosition> CurrentIn(const grpc::Status& status) {
  if (status.error_code() != grpc::StatusCode::FAILED_PRECONDITION) return std::nullopt;
  const auto stale = DetailIn<v1::StaleState>(status);
  return stale ? std::optional(stale->current()) : std::nullopt;
}

void ShiftHoldId(std::string& id, std::int64_t by) {
  const std::size_t number = id.rfind('@') + 1;
  std::int64_t generation = 0;
  const auto [end, error] = std::from_chars(id.data() + number, id.data() + id.size(), generation);
  if (number == 0 || error != std::errc() || end != id.data() + id.size()) return;
  id.replace(number, std::string::npos, std::to_string(generation + by));
}

}  // namespace espalier
