// Shows a progress bar on standard error for work that takes longer than a second.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

namespace espalier {

// A progress bar. Draws nothing when standard error is not a terminal or the work is over within a
// second. Draws from a thread of its own, so that it also moves while the work reports nothing.
class ProgressBar {
 public:
  // Starts the bar. `total` may be 0 when it is not known; the bar then shows the progress and the
  // time.
  explicit ProgressBar(std::string what, std::size_t total = 0);
  ~ProgressBar();  // removes the bar
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Sets the progress; may be called from any thread.
  void Update(std::size_t done) { done_.store(done, std::memory_order_relaxed); }

 private:
  void Draw();

  std::string what_;
  std::size_t total_;
  std::atomic<std::size_t> done_ = 0;
  std::mutex mutex_;
  std::condition_variable over_changed_;
  bool over_ = false;
  std::thread drawer_;  // not running when standard error is not a terminal
};

// Returns one line of a bar: "placing [#########.....]  64% 6400/10000, 12 s left"; `elapsed` is in
// seconds.
std::string ProgressLine(const std::string& what, std::size_t done, std::size_t total,
                         double elapsed);

}  // namespace espalier
