// Ends a command when something failed.
#pragma once

#include "host/model/result.hpp"
#include "service/cli/terminal/exit_code.hpp"

namespace espalier {

// Prints "espalier: MESSAGE" on standard error and returns the exit code for the error's class.
ExitCode ReportError(const Error& error);

}  // namespace espalier
