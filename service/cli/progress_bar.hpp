// A progress bar on standard error for work that takes longer than a second.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace espalier {

// Draws nothing when standard error is no terminal or the work is over within a second. Not safe
// to update from several threads at once.
class ProgressBar {
 public:
  // `total` may be 0 when it is not known; then only the count is shown.
  ProgressBar(std::string what, std::size_t total);
  ~ProgressBar();  // removes the bar
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void Update(std::size_t done);

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  std::size_t total_;
  bool on_terminal_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_draw_;
};

// One line of a bar: "placing [#########.....]  64% 6400/10000, 12 s left"; `elapsed` in seconds.
std::string ProgressLine(const std::string& what, std::size_t done, std::size_t total,
                         double elapsed);

}  // namespace espalier
