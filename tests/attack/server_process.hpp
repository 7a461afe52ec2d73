// `espalier serve` as a process under a memory limit, and what it uses.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/cli/process.hpp"
#include "tests/sanitizers.hpp"

namespace espalier::attack {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
// True where a sanitizer is built in, which uses memory of its own without bound.
#if defined(ESPALIER_SANITIZED)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
// The longest that anything may take before a test gives up; far above what it takes.
constexpr auto kPatience = std::chrono::seconds(60);
// The same for computing to end that nobody waits for; what is given up takes longer by itself.
constexpr auto kIdlePatience = std::chrono::seconds(15);

// Limits of the memory that a server is told to use, in bytes.
struct ServerMemory {
  std::int64_t all = 1024 * kMiB;
  std::int64_t call = 512 * kMiB;

  // Returns what its process may have resident at most: what was allowed, and what every server has
  // without any call (code, libraries, stacks, connections).
  std::int64_t MostResident() const { return all + 256 * kMiB; }
};

class ServerProcess {
 public:
  // Returns when it listens. `flags` come after those for its address and memory. The limit that
  // the kernel holds it to is three times what it was told, so that a test sees it go over.
  explicit ServerProcess(const std::vector<std::string>& flags = {}, ServerMemory memory = {});
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  const std::string& address() const { return address_; }
  // Returns another address, where the server can tell clients apart; changes with each start.
  const std::string& tcp_address() const { return tcp_address_; }
  std::string socket_path() const { return address_.substr(5); }
  const ServerMemory& memory() const { return memory_; }

  bool Running() { return process_->Running(); }
  int pid() const { return process_->pid(); }
  void Kill() { process_->Kill(); }
  // Starts another process in place of one that has ended.
  void Restart();

  // Bytes of resident memory: now, and at most since the start. 0 when the process has ended.
  std::int64_t ResidentBytes() const;
  std::int64_t PeakBytes() const;
  // Returns whether the peak is within what the server was told.
  bool StayedWithinItsMemory() const { return kSanitized || PeakBytes() <= memory_.MostResident(); }
  // Waits until at most `bytes` are resident and returns whether that came about.
  bool ResidentFallsTo(std::int64_t bytes) const;

  // Returns the processor time it has used so far.
  std::chrono::milliseconds CpuTime() const;
  // Waits until it has computed something, or for a while where there is too little to compute.
  void WaitUntilComputing() const;
  // Waits until it has stopped computing and returns whether it has.
  bool BecomesIdle() const;

 private:
  std::int64_t ReadStatus(const std::string& field) const;

  const std::string address_;
  std::string tcp_address_;
  const ServerMemory memory_;
  std::vector<std::string> arguments_;
  std::unique_ptr<BackgroundEspalier> process_;
};

}  // namespace espalier::attack
