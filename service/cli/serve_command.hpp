// `espalier serve`: the engine behind gRPC.
#pragma once

#include <chrono>

#include "service/cli/backend_options.hpp"
#include "service/server/server.hpp"

namespace espalier {

struct ServeCommandOptions {
  ServerOptions server;
  BackendOptions backend;  // threads over all calls
  std::chrono::milliseconds drain_patience{30'000};
};

// Serves until a signal. Prints "listening on ADDRESS" per address to standard output when calls
// are taken, one line each, then "metrics on URL" where there are any. Returns an ExitCode: kExitOk
// after a clean drain, kExitNo when calls were cut off, kExitUnavailable when an address or the GPU
// is not to be had.
int RunServeCommand(const ServeCommandOptions& options);

}  // namespace espalier
