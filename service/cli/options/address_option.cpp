#include "service/cli/options/address_option.hpp"

#include <string>

#include "service/wire/address.hpp"

namespace espalier {
namespace {

template <class Parse>
CLI::Validator CheckedBy(Parse parse) {
  return CLI::Validator(
      [parse](const std::string& text) {
        const auto address = parse(text);
        return address ? std::string() : address.error().message;
      },
      "ADDRESS");
}

}  // namespace

CLI::Validator IsAddress() { return CheckedBy(ParseAddress); }

CLI::Validator IsTcpAddress() { return CheckedBy(ParseTcpAddress); }

}  // namespace espalier
