// Errors are values below the service; the service maps ErrorClass to gRPC codes in one table.
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace espalier {

enum class ErrorClass {
  kBadInput,     // the caller's data is wrong; the message says what and where
  kNotFound,     // a name, file or address does not exist
  kStale,        // a generation or epoch that is no longer current
  kUnavailable,  // a peer or device is not available; trying again may help
  kExhausted,    // not enough memory or room; asking for less may help
  kCancelled,    // nobody waits for the result any more
  kDeviceFault,  // the accelerator failed
  kInternal,     // a bug here
};

struct Error {
  ErrorClass error_class = ErrorClass::kInternal;
  std::string message;  // "problem (why it matters) what would be right", no trailing newline

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> BadInput(std::string message) {
  return tl::unexpected<Error>(Error{ErrorClass::kBadInput, std::move(message)});
}

}  // namespace espalier
