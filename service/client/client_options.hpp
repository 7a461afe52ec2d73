// Declares how a client reaches its server.
#pragma once

#include <chrono>
#include <string>

namespace espalier {

// The time that a call may take where nobody says otherwise.
inline constexpr std::chrono::milliseconds kCallTimeout = std::chrono::minutes(5);

// PEM files of a client; all empty: no TLS.
struct ClientTls {
  std::string ca;           // authorities of the server's certificate; needed for TLS
  std::string certificate;  // what the client shows, with its key; both or none
  std::string key;
  std::string server_name;  // the name in the server's certificate; empty: the host of the address

  bool any() const {
    return !ca.empty() || !certificate.empty() || !key.empty() || !server_name.empty();
  }
};

}  // namespace espalier
