// How a command ends when something failed.
#pragma once

#include "host/model/result.hpp"
#include "service/cli/exit_code.hpp"

namespace espalier {

// Prints "espalier: MESSAGE" on standard error and returns the exit code that goes with the class.
ExitCode ReportError(const Error& error);

}  // namespace espalier
