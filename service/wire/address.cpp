#include "service/wire/address.hpp"

#include <charconv>

#include <fmt/format.h>
#include <sys/un.h>

#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";

tl::unexpected<Error> NotAnAddress(std::string_view text) {
  return BadInput(fmt::format(
      "\"{}\" is not an address; write unix:/path/to/socket or HOST:PORT, as in 127.0.0.1:50051",
      Excerpt(text)));
}

}  // namespace

std::string Address::ToString(int with_port) const {
  if (is_unix()) return fmt::format("unix:{}", path);
  const bool brackets = host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", brackets ? "[" : "", host, brackets ? "]" : "", with_port);
}

std::string Address::GrpcTarget() const {
  constexpr std::string_view kPlain = "-._~/";
  if (!is_unix()) return ToString();
  std::string target(kUnixPrefix);
  for (const char c : path) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || kPlain.find(c) != std::string_view::npos) {
      target += c;
    } else {
      target += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return target;
}

Result<Address> ParseAddress(std::string_view text) {
  Address address;
  if (text.starts_with(kUnixPrefix)) {
    address.path = text.substr(kUnixPrefix.size());
    if (address.path.starts_with("//")) address.path.erase(0, 2);     // unix:///absolute/path
    while (address.path.starts_with("//")) address.path.erase(0, 1);  // no authority of a URI
    constexpr std::size_t kLongest = sizeof(sockaddr_un::sun_path) - 1;
    if (address.path.empty() || address.path.size() > kLongest) {
      return BadInput(fmt::format("\"{}\" has a path of {} bytes; a unix socket has 1 to {}",
                                  Excerpt(text), address.path.size(), kLongest));
    }
    return address;
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return NotAnAddress(text);
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return NotAnAddress(text);
  }
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  const bool is_port = error == std::errc() && end == port.data() + port.size() &&
                       address.port >= 0 && address.port <= 65535;
  if (host.empty() || !is_port) return NotAnAddress(text);
  address.host = host;
  return address;
}

Result<Address> ParseTcpAddress(std::string_view text) {
  Result<Address> address = ParseAddress(text);
  if (address && !address->is_unix()) return address;
  return BadInput(fmt::format("\"{}\" is not an address; write HOST:PORT, as in 127.0.0.1:9464",
                              Excerpt(text)));
}

}  // namespace espalier
