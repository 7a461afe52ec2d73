// Reads certificates and keys from PEM files, and says what is wrong with them.
#pragma once

#include <chrono>
#include <string>

#include "host/model/result.hpp"

namespace espalier {

// The certificates that a server or client shows to the other side, with their key.
struct PemIdentity {
  std::string certificates;  // its own first, then those that vouch for it
  std::string key;
  std::chrono::system_clock::time_point expires;  // its own certificate
};

// The authorities of which one must have signed the other side's certificate.
struct PemAuthorities {
  std::string certificates;
  std::chrono::system_clock::time_point expires;  // the last of them
};

// Reads a certificate and its key. Errors, all kUnavailable, name the file: one that cannot be read
// or holds no such thing, a key with a password or of another certificate, a certificate that is
// not valid at `now`, or one that OpenSSL takes for too weak.
Result<PemIdentity> ReadIdentity(
    const std::string& certificate_path, const std::string& key_path,
    std::chrono::system_clock::time_point now = std::chrono::system_clock::now());

// Reads certificates of authorities. kUnavailable likewise; one that has expired is no error while
// another is valid, as when they are replaced.
Result<PemAuthorities> ReadAuthorities(
    const std::string& path,
    std::chrono::system_clock::time_point now = std::chrono::system_clock::now());

}  // namespace espalier
