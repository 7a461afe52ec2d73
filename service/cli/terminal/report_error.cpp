#include "service/cli/terminal/report_error.hpp"

#include "service/cli/terminal/standard_output.hpp"

namespace espalier {

ExitCode ReportError(const Error& error) {
  Tell(error.message);
  switch (error.error_class) {
    case ErrorClass::kBadInput:
    case ErrorClass::kNotFound:
      return kExitBadInput;
    case ErrorClass::kStale:
    case ErrorClass::kUnavailable:
    case ErrorClass::kExhausted:
    case ErrorClass::kCancelled:
    case ErrorClass::kDeviceFault:
      return kExitUnavailable;
    case ErrorClass::kInternal:
      break;
  }
  return kExitInternal;
}

}  // namespace espalier
