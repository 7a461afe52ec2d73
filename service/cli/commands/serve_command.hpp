// Implements `espalier serve`: the engine behind gRPC.
#pragma once

#include <chrono>
#include <string>

#include "service/cli/options/backend_options.hpp"
#include "service/server/server.hpp"

namespace espalier {

struct ServeCommandOptions {
  ServerOptions server;
  BackendOptions backend;  // its threads are shared by all calls
  std::chrono::milliseconds drain_patience{30'000};
  std::string log_format = "text";  // or json
};

// Serves until a signal. Once calls are taken, prints "listening on ADDRESS" to standard output, a
// line per address, then "metrics on URL" if there are any. Returns an ExitCode: kExitOk after a
// clean drain, kExitNo when calls were cut off, kExitUnavailable when an address or the GPU is not
// available.
int RunServeCommand(const ServeCommandOptions& options);

}  // namespace espalier
