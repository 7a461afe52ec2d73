// Where a server listens and a client connects to.
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
  // As users write it; TCP with this port.
  std::string ToString(int with_port) const;
  std::string ToString() const { return ToString(port); }

  // Returns what gRPC is to be told, to listen or to connect: it takes a unix path for a part of a
  // URI and decodes what is behind a percent sign, so the path is percent-encoded.
  std::string GrpcTarget() const;
};

// "unix:PATH" (1 to 107 bytes) or "HOST:PORT", IPv6 hosts in brackets. kBadInput.
Result<Address> ParseAddress(std::string_view text);

// The same without unix sockets.
Result<Address> ParseTcpAddress(std::string_view text);

}  // namespace espalier
