// A progress bar on standard error for work that takes longer than a second.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

namespace espalier {

// Draws nothing when standard error is no terminal or the work is over within a second. It draws
// from a thread of its own, so that work that reports nothing shows too that it goes on.
class ProgressBar {
 public:
  // `total` may be 0 when it is not known; then what is done and the time are shown.
  explicit ProgressBar(std::string what, std::size_t total = 0);
  ~ProgressBar();  // removes the bar
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // May be called from any thread.
  void Update(std::size_t done) { done_.store(done, std::memory_order_relaxed); }

 private:
  void Draw();

  std::string what_;
  std::size_t total_;
  std::atomic<std::size_t> done_ = 0;
  std::mutex mutex_;
  std::condition_variable over_changed_;
  bool over_ = false;
  std::thread drawer_;  // none when standard error is no terminal
};

// One line of a bar: "placing [#########.....]  64% 6400/10000, 12 s left"; `elapsed` in seconds.
std::string ProgressLine(const std::string& what, std::size_t done, std::size_t total,
                         double elapsed);

}  // namespace espalier
