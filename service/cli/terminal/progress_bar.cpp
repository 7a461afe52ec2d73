#include "service/cli/terminal/progress_bar.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace espalier {
namespace {

constexpr std::chrono::milliseconds kQuiet{1000};
constexpr std::chrono::milliseconds kBetweenDraws{100};
constexpr const char* kEraseLine = "\r\033[K";

}  // namespace

std::string ProgressLine(const std::string& what, std::size_t done, std::size_t total,
                         double elapsed) {
  if (total == 0) {
    const std::string count = done == 0 ? "" : fmt::format(" {},", done);
    return fmt::format("{}:{} {:.0f} s", what, count, elapsed);
  }
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  constexpr std::size_t kWidth = 30;
  const auto filled = static_cast<std::size_t>(share * kWidth);
  std::string line = fmt::format("{} [{:.<{}}] {:3.0f}% {}/{}", what, std::string(filled, '#'),
                                 kWidth, share * 100, done, total);
  if (done > 0) line += fmt::format(", {:.0f} s left", elapsed * (1 - share) / share);
  return line;
}

ProgressBar::ProgressBar(std::string what, std::size_t total)
    : what_(std::move(what)), total_(total) {
  if (isatty(STDERR_FILENO) != 0) drawer_ = std::thread([this] { Draw(); });
}

ProgressBar::~ProgressBar() {
  if (!drawer_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  over_changed_.notify_one();
  drawer_.join();
}

void ProgressBar::Draw() {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  std::chrono::milliseconds pause = kQuiet;
  bool drawn = false;
  while (!over_changed_.wait_for(lock, pause, [this] { return over_; })) {
    const double elapsed =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::fputs((kEraseLine + ProgressLine(what_, done_, total_, elapsed)).c_str(), stderr);
    std::fflush(stderr);
    drawn = true;
    pause = kBetweenDraws;
  }
  if (drawn) std::fputs(kEraseLine, stderr);
}

}  // namespace espalier
