// Declares the counts of what happened in a run of chaos, and of what was found wrong.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace espalier::chaos {

struct Counts {
  // Faults.
  std::int64_t kills = 0;
  std::int64_t stops = 0;         // SIGSTOP and SIGCONT
  std::int64_t full_disks = 0;    // for the log of requests
  std::int64_t certificates = 0;  // that took the place of the server's
  std::int64_t half_open = 0;     // streams that never end, and answers that nobody reads
  std::int64_t vanished = 0;      // clients, and calls that were taken back
  // Calls and checks.
  std::int64_t calls = 0;
  std::int64_t loads = 0;
  std::int64_t updates = 0;
  std::int64_t commits = 0;
  std::int64_t holds = 0;
  std::int64_t confirms = 0;
  std::int64_t releases = 0;
  std::int64_t ended = 0;   // holds that expired or lost a node
  std::int64_t remade = 0;  // holds of a server that was killed, reported as usage of the next one
  std::int64_t checks = 0;  // of a quiet server against a fresh engine
  // Faults of the server; all of them must be 0.
  std::int64_t wrong = 0;  // contents, answers, codes
  std::int64_t double_booked = 0;
  std::int64_t lost = 0;  // confirmed workloads and live holds that the server does not have

  Counts& operator+=(const Counts& other);
  bool clean() const { return wrong + double_booked + lost == 0; }
  // Returns all of them in a line.
  std::string Text() const;
};

// Counts of several threads, with a sentence for each problem.
class Tally {
 public:
  void Add(std::int64_t Counts::*what, std::int64_t number = 1) {
    const std::lock_guard lock(mutex_);
    counts_.*what += number;
  }
  void Problem(std::int64_t Counts::*what, std::string text) {
    const std::lock_guard lock(mutex_);
    counts_.*what += 1;
    problems_.push_back(std::move(text));
  }
  Counts counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
  }
  std::vector<std::string> problems() const {
    const std::lock_guard lock(mutex_);
    return problems_;
  }

 private:
  mutable std::mutex mutex_;  // guards both below
  Counts counts_;
  std::vector<std::string> problems_;
};

}  // namespace espalier::chaos
