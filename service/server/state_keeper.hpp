// Keeps the states of a server on disk while they change.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "espalier/v1/state_dir.pb.h"
#include "host/live/named_states.hpp"
#include "service/server/state_folder.hpp"

namespace espalier {

// A thread of low priority that writes what has changed: of each state the newest generation, that
// which was written longest ago first. No call waits for it. After a write it rests for the time
// that StateDirOptions names, and for fifty times as long as the write took, so that it has at most
// a fiftieth of a core and of the disk. What cannot be written is tried again after a rest.
class StateKeeper {
 public:
  // All must outlive this; the memory that reading and writing need is taken from `memory`.
  StateKeeper(std::unique_ptr<StateFolder> folder, std::chrono::milliseconds rest,
              NamedStates& states, MemoryPool& memory);
  ~StateKeeper();
  StateKeeper(const StateKeeper&) = delete;
  StateKeeper& operator=(const StateKeeper&) = delete;

  // Loads the states that the folder has, before any call. `feature_gates` is the value of the
  // server's --feature-gates. Files that cannot be used are named in the log and left alone.
  void Restore(const std::string& feature_gates);

  // Begins to keep the states. Errors: kUnavailable when the folder cannot be written.
  Result<void> Start();

  // Writes what has changed, once no call changes anything any more, for `patience` at most. Where
  // `is_last` is set and all of it was written, the next start offers the states under their
  // positions. Writes nothing from then on.
  void Finish(bool is_last, std::chrono::milliseconds patience);

  v1::StateDirStatus Status() const;
  std::int64_t bytes_written() const { return written_.load(std::memory_order_relaxed); }
  // Returns whether the last attempt to write failed.
  bool failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;
  struct OnDisk {
    StatePosition position;
    std::chrono::system_clock::time_point written{};
    std::int64_t bytes = 0;
    std::uint64_t turn = 0;  // when it was written last, among others
  };
  enum class Phase { kKeeping, kFinishing, kFinished };

  void Run();
  Result<void> RestoreOne(const std::string& name, const std::string& feature_gates);
  // Returns the states that are loaded and not on disk as they are, in the order they are to be
  // written.
  std::vector<NamedStates::Named> Changed() const;
  void RemoveUnloaded();
  // Returns whether it was written.
  bool Write(const NamedStates::Named& state);
  void WriteAll();

  const std::unique_ptr<StateFolder> folder_;
  const std::chrono::milliseconds rest_;
  NamedStates& states_;
  MemoryPool& memory_;
  std::atomic<std::int64_t> written_ = 0;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> stop_ = false;  // a write under way is to end
  mutable std::mutex mutex_;        // guards the rest
  std::condition_variable wake_;
  Phase phase_ = Phase::kKeeping;
  bool is_last_ = false;
  std::map<std::string, OnDisk> on_disk_;  // what is on disk
  std::uint64_t turns_ = 0;
  std::vector<v1::IgnoredStateFile> ignored_;
  std::string failure_;
  std::thread thread_;
};

}  // namespace espalier
