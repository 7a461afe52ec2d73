#include "service/server/server_tls.hpp"

#include <utility>

#include <grpc/grpc.h>
#include <spdlog/spdlog.h>

namespace espalier {
namespace {

// The C++ interface of gRPC has no credentials that ask for certificates with each connection; its
// C interface has.
class FetchedCredentials final : public grpc::ServerCredentials {
 public:
  explicit FetchedCredentials(grpc_server_credentials* credentials) : credentials_(credentials) {}
  ~FetchedCredentials() override { ::grpc_server_credentials_release(credentials_); }

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return ::grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  grpc_server_credentials* credentials_;
};

}  // namespace

Result<std::unique_ptr<ServerTls>> ServerTls::Open(TlsPaths paths) {
  std::unique_ptr<ServerTls> tls(new ServerTls(std::move(paths)));
  const std::lock_guard lock(tls->mutex_);
  tls->stamps_ = tls->LookAtFiles();
  if (auto read = tls->Read(); !read) return tl::unexpected(read.error());
  return tls;
}

std::shared_ptr<grpc::ServerCredentials> ServerTls::MakeCredentials() {
  const auto asked = paths_.client_ca.empty()
                         ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                         : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY;
  return std::make_shared<FetchedCredentials>(::grpc_ssl_server_credentials_create_with_options(
      ::grpc_ssl_server_credentials_create_options_using_config_fetcher(asked, &Fetch, this)));
}

grpc_ssl_certificate_config_reload_status ServerTls::Fetch(
    void* self, grpc_ssl_server_certificate_config** config) {
  auto& tls = *static_cast<ServerTls*>(self);
  tls.Refresh();
  const std::lock_guard lock(tls.mutex_);
  if (std::exchange(tls.handed_out_, true)) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  const grpc_ssl_pem_key_cert_pair pair = {tls.identity_.key.c_str(),
                                           tls.identity_.certificates.c_str()};
  // gRPC wants authorities even where no client is asked for a certificate, and does not use them.
  const std::string& clients =
      tls.paths_.client_ca.empty() ? tls.identity_.certificates : tls.clients_.certificates;
  *config = ::grpc_ssl_server_certificate_config_create(clients.c_str(), &pair, 1);
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

std::vector<FileStamp> ServerTls::LookAtFiles() const {
  return {FileStamp::Of(paths_.certificate), FileStamp::Of(paths_.key),
          FileStamp::Of(paths_.client_ca)};
}

void ServerTls::Refresh() {
  const std::lock_guard lock(mutex_);
  // Looked at before they are read: what changes meanwhile is read again next time.
  std::vector<FileStamp> stamps = LookAtFiles();
  if (stamps == stamps_) return;
  stamps_ = std::move(stamps);
  const auto read = Read();
  ++(read ? status_.reloads : status_.failures);
  status_.error = read ? std::string() : read.error().message;
  if (read) {
    spdlog::info("TLS: the files have changed and are in use for new connections");
  } else {
    spdlog::error("TLS: {}; what was read before stays in use", status_.error);
  }
}

Result<void> ServerTls::Read() {
  auto identity = ReadIdentity(paths_.certificate, paths_.key);
  if (!identity) return tl::unexpected(identity.error());
  Result<PemAuthorities> clients;
  if (!paths_.client_ca.empty()) clients = ReadAuthorities(paths_.client_ca);
  if (!clients) return tl::unexpected(clients.error());
  identity_ = *std::move(identity);
  clients_ = *std::move(clients);
  handed_out_ = false;
  status_.expires = identity_.expires;
  status_.ca_expires = clients_.expires;
  return {};
}

ServerTls::Status ServerTls::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

}  // namespace espalier
