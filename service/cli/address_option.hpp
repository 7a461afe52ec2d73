// Addresses on the command line: a wrong one is a wrong command line, whatever the command.
#pragma once

#include <CLI/CLI.hpp>

namespace espalier {

// Accepts unix:PATH and HOST:PORT.
CLI::Validator IsAddress();

// Accepts HOST:PORT.
CLI::Validator IsTcpAddress();

}  // namespace espalier
