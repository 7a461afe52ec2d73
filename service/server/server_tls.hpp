// Certificates of a server, read anew when their files change.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <grpc/grpc_security.h>
#include <grpcpp/security/server_credentials.h>

#include "service/server/file_stamp.hpp"
#include "service/tls/pem_files.hpp"

namespace espalier {

// Paths of PEM files; all empty: no TLS.
struct TlsPaths {
  std::string certificate;
  std::string key;
  std::string client_ca;  // authorities of the clients' certificates; empty: none are asked for

  bool any() const { return !certificate.empty() || !key.empty() || !client_ca.empty(); }
};

// Takes new files up with the next connection, and at each Refresh. What is wrong with them is
// logged, and what was read before stays in use; calls under way notice nothing. Thread-safe.
class ServerTls {
 public:
  // Errors: those of ReadIdentity and ReadAuthorities.
  static Result<std::unique_ptr<ServerTls>> Open(TlsPaths paths);

  // Returns credentials for TLS 1.2 and newer, which this must outlive. Can be called once.
  std::shared_ptr<grpc::ServerCredentials> MakeCredentials();

  // Reads the files where they have changed since they were last looked at.
  void Refresh();

  struct Status {
    std::chrono::system_clock::time_point expires;     // the server's certificate
    std::chrono::system_clock::time_point ca_expires;  // the last authority; epoch: none
    std::int64_t reloads = 0;
    std::int64_t failures = 0;
    std::string error;  // of the present files; empty: they are in use
  };
  Status status() const;

 private:
  explicit ServerTls(TlsPaths paths) : paths_(std::move(paths)) {}
  static grpc_ssl_certificate_config_reload_status Fetch(
      void* self, grpc_ssl_server_certificate_config** config);
  std::vector<FileStamp> LookAtFiles() const;
  Result<void> Read();

  const TlsPaths paths_;
  mutable std::mutex mutex_;  // guards all below
  std::vector<FileStamp> stamps_;
  PemIdentity identity_;
  PemAuthorities clients_;
  bool handed_out_ = false;  // gRPC has what was read last
  Status status_;
};

}  // namespace espalier
