#include "service/server/serve_until_signal.hpp"

#include <csignal>
#include <utility>

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <malloc.h>
#include <spdlog/spdlog.h>

#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

// Logs for debugging only: what matters of it comes back as errors of ours.
void LogOfGrpc(gpr_log_func_args* entry) {
  spdlog::debug("gRPC {}:{}: {}", entry->file, entry->line, Excerpt(entry->message));
}

void LogOfProtobuf(google::protobuf::LogLevel, const char* file, int line,
                   const std::string& message) {
  spdlog::debug("protobuf {}:{}: {}", file, line, Excerpt(message));
}

// Keeps the allocator from holding on to what large calls freed: a few arenas instead of eight per
// core, and large blocks that go back to the system one by one.
void BoundAllocator() {
  constexpr int kArenas = 4;
  constexpr int kLargeBlock = 1 << 20;
  ::mallopt(M_ARENA_MAX, kArenas);
  ::mallopt(M_MMAP_THRESHOLD, kLargeBlock);
}

void IgnoreOtherSignals() {
  for (const int signal : {SIGPIPE, SIGHUP, SIGUSR1, SIGUSR2, SIGXFSZ})
    std::signal(signal, SIG_IGN);
}

}  // namespace

Result<bool> ServeUntilSignal(const ServerOptions& options,
                              std::chrono::milliseconds drain_patience,
                              const std::function<Result<std::shared_ptr<Backend>>()>& make_backend,
                              const std::function<void(const Server&)>& started) {
  BoundAllocator();
  IgnoreOtherSignals();
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // threads made from here on inherit it

  gpr_set_log_function(LogOfGrpc);
  google::protobuf::SetLogHandler(LogOfProtobuf);
  auto backend = make_backend();
  if (!backend) return tl::unexpected(backend.error());
  auto server = Server::Start(options, *backend);
  if (!server) return tl::unexpected(server.error());
  started(**server);

  int signal = 0;
  sigwait(&signals, &signal);
  spdlog::info("{}: draining", signal == SIGTERM ? "SIGTERM" : "SIGINT");
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // the next one ends the process
  const bool clean = (*server)->Drain(drain_patience);
  if (!clean) {
    spdlog::warn("calls were cut off after {} ms", drain_patience.count());
    server->release();  // its destructor would wait for what does not stop without bound
  }
  return clean;
}

}  // namespace espalier
