// What gRPC does not tell or do about the addresses it listens on.
#pragma once

#include <string>

#include "service/wire/address.hpp"

namespace espalier {

// gRPC takes a socket over from a server that still uses it, so this looks first: a socket nobody
// listens on is removed. kUnavailable when someone does, or when the path is something else.
Result<void> ClaimUnixSocket(const std::string& path);

// Why binding the address fails, in words of the operating system; for error messages only.
std::string ExplainBindFailure(const Address& address);

}  // namespace espalier
