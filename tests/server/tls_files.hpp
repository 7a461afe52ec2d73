// Files of certificates for tests.
#pragma once

#include <filesystem>
#include <string>

#include <unistd.h>

#include "service/client/remote_engine.hpp"
#include "tests/server/certificates.hpp"
#include "tests/server/test_server.hpp"

namespace espalier {

// A folder with an authority, and what a server and a client show.
class TlsFiles : public testing::Test {
 protected:
  TlsFiles() { std::filesystem::create_directories(folder_); }
  ~TlsFiles() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  std::string Write(const std::string& name, const std::string& text) const {
    WriteText(Path(name), text);
    return Path(name);
  }
  // Writes NAME.crt and NAME.key.
  void WriteIdentity(const std::string& name, const TestCertificate& certificate) const {
    Write(name + ".crt", certificate.Pem());
    Write(name + ".key", certificate.KeyPem());
  }

  TlsPaths ServerPaths() const {
    return {Path("server.crt"), Path("server.key"), Path("client-ca.crt")};
  }
  ServerOptions Options() const {
    ServerOptions options;
    options.listen = {"127.0.0.1:0"};
    options.tls = ServerPaths();
    return options;
  }
  ClientTls ClientPaths() const {
    return {Path("ca.crt"), Path("client.crt"), Path("client.key"), "espalier.test"};
  }

  std::string StartError() const {
    const auto started = Server::Start(Options(), MakeCpuBackend(1));
    if (started) return "no error";
    EXPECT_EQ(started.error().error_class, ErrorClass::kUnavailable);
    return started.error().message;
  }
  static std::string ConnectError(const std::string& address, const ClientTls& tls) {
    const auto connected = RemoteEngine::Connect(address, kCallTimeout, tls);
    return connected ? "no error" : connected.error().message;
  }

  void WriteAll() const {
    WriteIdentity("server", server_);
    WriteIdentity("client", client_);
    Write("ca.crt", authority_.Pem());
    Write("client-ca.crt", authority_.Pem());
  }

  const std::string folder_ = testing::TempDir() + "espalier-tls-" + std::to_string(::getpid());
  const TestCertificate authority_{{.common_name = "authority", .is_authority = true}};
  const TestCertificate server_{{.common_name = "server", .alternative_names = "DNS:espalier.test"},
                                &authority_};
  const TestCertificate client_{{.common_name = "client"}, &authority_};
};

}  // namespace espalier
