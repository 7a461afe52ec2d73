// Checks addresses on the command line, so that every command reports a wrong one as a usage error.
#pragma once

#include <CLI/CLI.hpp>

namespace espalier {

// Accepts unix:PATH and HOST:PORT.
CLI::Validator IsAddress();

// Accepts HOST:PORT.
CLI::Validator IsTcpAddress();

}  // namespace espalier
