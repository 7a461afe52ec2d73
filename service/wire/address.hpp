// Addresses where a server listens and a client connects.
#pragma once

#include <string>
#include <string_view>

#include "host/model/result.hpp"

namespace espalier {

struct Address {
  std::string path;  // of a unix socket; empty: TCP
  std::string host;  // without brackets
  int port = 0;      // 0 to 65535

  bool is_unix() const { return !path.empty(); }
  // Returns the address as users write it, with this port for TCP.
  std::string ToString(int with_port) const;
  std::string ToString() const { return ToString(port); }

  // Returns the target for gRPC, to listen or to connect. A unix path is percent-encoded, as gRPC
  // treats it as a part of a URI and decodes what follows a percent sign.
  std::string GrpcTarget() const;
};

// Reads "unix:PATH" (1 to 107 bytes) or "HOST:PORT", with IPv6 hosts in brackets. Errors:
// kBadInput.
Result<Address> ParseAddress(std::string_view text);

// Reads an address in the same way, but refuses unix sockets.
Result<Address> ParseTcpAddress(std::string_view text);

}  // namespace espalier
