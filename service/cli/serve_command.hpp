// `espalier serve`: the engine behind gRPC.
#pragma once

#include <chrono>

#include "service/server/server.hpp"

namespace espalier {

struct ServeCommandOptions {
  ServerOptions server;
  int threads = 0;  // of the back end, over all calls; 0: one per core
  std::chrono::milliseconds drain_patience{30'000};
};

// Serves until a signal. Prints "listening on ADDRESS" per address to standard output when calls
// are taken, one line each. Returns an ExitCode: kExitOk after a clean drain, kExitNo when calls
// were cut off, kExitUnavailable when an address is not to be had.
int RunServeCommand(const ServeCommandOptions& options);

}  // namespace espalier
