#include "service/client/connection.hpp"

#include <cstdlib>
#include <limits>
#include <mutex>
#include <utility>

#include "service/tls/pem_files.hpp"
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

Result<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(const Address& address,
                                                                  const ClientTls& tls) {
  if (!tls.any()) return grpc::InsecureChannelCredentials();
  if (address.is_unix()) return BadInput("a unix socket has no TLS; leave --tls-... out");
  if (tls.ca.empty()) {
    return BadInput("TLS needs --tls-ca, the authorities that the server's certificate is of");
  }
  if (tls.certificate.empty() != tls.key.empty()) {
    return BadInput("a certificate needs both --tls-cert and --tls-key");
  }
  grpc::SslCredentialsOptions options;
  auto authorities = ReadAuthorities(tls.ca);
  if (!authorities) return tl::unexpected(authorities.error());
  options.pem_root_certs = std::move(authorities->certificates);
  if (!tls.certificate.empty()) {
    auto identity = ReadIdentity(tls.certificate, tls.key);
    if (!identity) return tl::unexpected(identity.error());
    options.pem_cert_chain = std::move(identity->certificates);
    options.pem_private_key = std::move(identity->key);
  }
  return grpc::SslCredentials(options);
}

}  // namespace

Result<Connection> Connection::Open(const std::string& address, std::chrono::milliseconds timeout,
                                    const ClientTls& tls) {
  const auto parsed = ParseAddress(address);
  if (!parsed) return tl::unexpected(parsed.error());
  const auto credentials = MakeCredentials(*parsed, tls);
  if (!credentials) return tl::unexpected(credentials.error());
  HandOnTrace();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(std::numeric_limits<int>::max());
  if (!tls.server_name.empty()) arguments.SetSslTargetNameOverride(tls.server_name);
  Connection connection;
  connection.address_ = parsed->ToString();
  if (tls.any()) {
    connection.unreachable_ = tls.certificate.empty()
                                  ? " over TLS, or it wants a certificate (--tls-cert, --tls-key)"
                                  : " over TLS, or it refuses the certificate";
  }
  connection.timeout_ = timeout;
  connection.channel_ = grpc::CreateCustomChannel(parsed->GrpcTarget(), *credentials, arguments);
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
      return fmt::format("no server answers at {}{}: {}", address_, unreachable_,
                         status.error_message());
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
