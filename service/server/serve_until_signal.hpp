// Runs a server for the life of a process.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "host/model/result.hpp"
#include "service/server/server.hpp"

namespace espalier {

// Serves until SIGTERM or SIGINT, then drains; a second signal ends the process at once. SIGPIPE,
// SIGHUP, SIGUSR1, SIGUSR2 and SIGXFSZ are ignored, and the logs of gRPC and protobuf become debug
// messages of the process's logger. Must be called before the process has other threads, which
// would have to block the signals too; those that `make_backend` starts do. `started` is called
// once, when calls are taken. Returns false when calls had to be cut off at the end of
// `drain_patience`; the process should then exit without further clean-up, as one may still be
// computing. Errors are those of `make_backend` and of Server::Start.
Result<bool> ServeUntilSignal(const ServerOptions& options,
                              std::chrono::milliseconds drain_patience,
                              const std::function<Result<std::shared_ptr<Backend>>()>& make_backend,
                              const std::function<void(const Server&)>& started);

}  // namespace espalier
