#include "service/client/connection.hpp"

#include <cstdlib>
#include <limits>
#include <mutex>
#include <utility>

#include "service/wire/address.hpp"
#include "service/wire/status.hpp"
#include "service/wire/trace_context.hpp"

namespace espalier {

namespace {

// Hands on with every call the trace that this process is a part of, as TRACEPARENT of its
// environment names it.
class TraceOfProcess final : public grpc::ClientContext::GlobalCallbacks {
 public:
  explicit TraceOfProcess(std::string trace_parent) : trace_parent_(std::move(trace_parent)) {}

  void DefaultConstructor(grpc::ClientContext* context) override {
    context->AddMetadata(kTraceParent, trace_parent_);
  }
  void Destructor(grpc::ClientContext*) override {}

 private:
  const std::string trace_parent_;
};

void HandOnTrace() {
  static std::once_flag once;
  std::call_once(once, [] {
    const char* trace_parent = std::getenv("TRACEPARENT");
    if (trace_parent == nullptr || ReadTraceParent(trace_parent) == TraceContext()) return;
    grpc::ClientContext::SetGlobalCallbacks(new TraceOfProcess(trace_parent));  // for good
  });
}

}  // namespace

Result<Connection> Connection::Open(const std::string& address, std::chrono::milliseconds timeout) {
  const auto parsed = ParseAddress(address);
  if (!parsed) return tl::unexpected(parsed.error());
  HandOnTrace();
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
