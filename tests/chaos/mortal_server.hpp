// A server that is killed and stopped under its clients, who wait for events alone.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "tests/attack/identities.hpp"
#include "tests/attack/server_process.hpp"

namespace espalier::chaos {

class MortalServer {
 public:
  // Logs requests to `log_folder`, where that is not empty.
  explicit MortalServer(const std::string& log_folder);

  const std::string& address() const { return process_.address(); }
  // Returns the address of the server that is up or was last, where its clients show who they are.
  std::string tcp_address() {
    const std::lock_guard lock(mutex_);
    return tcp_address_;
  }
  attack::Identities& identities() { return identities_; }
  std::string socket_path() const { return process_.socket_path(); }
  bool Running() { return process_.Running(); }

  // Waits until it is up and returns the number of its life.
  std::int64_t WaitUp();
  // Returns whether it is up, in the life of that number.
  bool IsUp(std::int64_t life);

  // Kills it with SIGKILL, stopped or not, and starts another one at the same address.
  void KillAndRestart();
  void Stop();      // SIGSTOP, in effect
  void Continue();  // SIGCONT
  // Lets it write no byte to a file any more that is beyond `bytes`, as on a full disk.
  void FillDisk(std::int64_t bytes);

 private:
  attack::Identities identities_;
  attack::ServerProcess process_;
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::string tcp_address_ = process_.tcp_address();
  bool up_ = true;
  std::int64_t life_ = 1;
};

// Counts what clients do, so that others can wait for it.
class Pulse {
 public:
  // A call, or a wait for other clients, from construction to destruction.
  class Busy {
   public:
    explicit Busy(Pulse& pulse) : pulse_(pulse) { pulse_.Change(1, 0); }
    ~Busy() { pulse_.Change(-1, 1); }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    Pulse& pulse_;
  };

  // Waits until so many more things have ended.
  void WaitForMore(std::int64_t ends);
  // Waits until so many clients are busy at once, or as many things have ended.
  void WaitUntilBusy(int clients);

 private:
  void Change(int busy, std::int64_t ended);

  std::mutex mutex_;  // guards both below
  std::condition_variable changed_;
  int busy_ = 0;
  std::int64_t ended_ = 0;
};

}  // namespace espalier::chaos
