#include "service/client/connection.hpp"

#include <limits>

#include "service/wire/address.hpp"
#include "service/wire/status.hpp"

namespace espalier {

Result<Connection> Connection::Open(const std::string& address, std::chrono::milliseconds timeout) {
  const auto parsed = ParseAddress(address);
  if (!parsed) return tl::unexpected(parsed.error());
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(std::numeric_limits<int>::max());
  Connection connection;
  connection.address_ = parsed->ToString();
  connection.timeout_ = timeout;
  connection.channel_ = grpc::CreateCustomChannel(parsed->GrpcTarget(),
                                                  grpc::InsecureChannelCredentials(), arguments);
  return connection;
}

void Connection::SetDeadline(grpc::ClientContext& context) const {
  context.set_deadline(std::chrono::system_clock::now() + timeout_);
}

Result<void> Connection::Check(const grpc::Status& status) const {
  if (status.ok()) return {};
  return tl::unexpected(Error{ToErrorClass(status.error_code()), Explain(status)});
}

std::string Connection::Explain(const grpc::Status& status) const {
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
      return fmt::format("no server answers at {}: {}", address_, status.error_message());
    case grpc::StatusCode::UNIMPLEMENTED:
      return fmt::format(
          "the server at {} does not offer this call of espalier.v1; is it an "
          "espalier of this version?",
          address_);
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return fmt::format("the server at {} did not answer in time", address_);
    default:
      return fmt::format("the server at {}: {}", address_, status.error_message());
  }
}

}  // namespace espalier
