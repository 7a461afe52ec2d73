#include "tests/attack/identities.hpp"

#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <stdlib.h>

#include "tests/attack/client.hpp"

namespace espalier::attack {

Identities::Identities() {
  std::string pattern = std::filesystem::temp_directory_path() / "espalier-identities-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
  folder_ = pattern;
  WriteText(folder_ + "/ca.crt", authority_.Pem());
  WriteText(folder_ + "/access.yaml",
            "rules:\n"
            "- {who: certificate:owner, may: [read, place, commit, write-state, admin]}\n"
            "- {who: certificate:guest, may: [read, place]}\n");
  Replace();
}

Identities::~Identities() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::vector<std::string> Identities::Flags() const {
  return {"--tls-cert",      folder_ + "/now/tls.crt", "--tls-key", folder_ + "/now/tls.key",
          "--tls-client-ca", folder_ + "/ca.crt",      "--access",  folder_ + "/access.yaml"};
}

void Identities::Replace() {
  const TestCertificate server(
      {.common_name = "server", .alternative_names = std::string("DNS:") + kServerName},
      &authority_);
  const std::string version = fmt::format("v{}", versions_++);
  std::filesystem::create_directory(folder_ + "/" + version);
  WriteText(folder_ + "/" + version + "/tls.crt", server.Pem());
  WriteText(folder_ + "/" + version + "/tls.key", server.KeyPem());
  std::filesystem::create_symlink(version, folder_ + "/next");
  std::filesystem::rename(folder_ + "/next", folder_ + "/now");
}

std::shared_ptr<grpc::ChannelCredentials> Identities::CredentialsOf(
    const TestCertificate& client) const {
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = authority_.Pem();
  options.pem_cert_chain = client.Pem();
  options.pem_private_key = client.KeyPem();
  return grpc::SslCredentials(options);
}

}  // namespace espalier::attack
