// Declares who the clients of an encrypted server are, and what they may do.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <grpcpp/security/credentials.h>

#include "tests/server/certificates.hpp"

namespace espalier::attack {

// A folder with an authority, a server's certificate, and those of two clients: `owner`, who may do
// everything, and `guest`, who may read and place.
class Identities {
 public:
  Identities();
  ~Identities();
  Identities(const Identities&) = delete;
  Identities& operator=(const Identities&) = delete;

  // Returns the flags of `espalier serve` by which its TCP addresses are encrypted.
  std::vector<std::string> Flags() const;
  std::shared_ptr<grpc::ChannelCredentials> Owner() const { return CredentialsOf(owner_); }
  std::shared_ptr<grpc::ChannelCredentials> Guest() const { return CredentialsOf(guest_); }

  // Gives the server another certificate, in one step as a projected volume does.
  void Replace();

 private:
  std::shared_ptr<grpc::ChannelCredentials> CredentialsOf(const TestCertificate& client) const;

  std::string folder_;
  int versions_ = 0;
  const TestCertificate authority_{{.common_name = "authority", .is_authority = true}};
  const TestCertificate owner_{{.common_name = "owner"}, &authority_};
  const TestCertificate guest_{{.common_name = "guest"}, &authority_};
};

}  // namespace espalier::attack
