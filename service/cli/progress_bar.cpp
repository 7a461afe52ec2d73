#include "service/cli/progress_bar.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace espalier {
namespace {

constexpr std::chrono::seconds kQuiet{1};
constexpr std::chrono::milliseconds kBetweenDraws{100};
constexpr const char* kEraseLine = "\r\033[K";

}  // namespace

std::string ProgressLine(const std::string& what, std::size_t done, std::size_t total,
                         double elapsed) {
  if (total == 0) return fmt::format("{} {}", what, done);
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  constexpr std::size_t kWidth = 30;
  const auto filled = static_cast<std::size_t>(share * kWidth);
  std::string line = fmt::format("{} [{:.<{}}] {:3.0f}% {}/{}", what, std::string(filled, '#'),
                                 kWidth, share * 100, done, total);
  if (done > 0) line += fmt::format(", {:.0f} s left", elapsed * (1 - share) / share);
  return line;
}

ProgressBar::ProgressBar(std::string what, std::size_t total)
    : what_(std::move(what)),
      total_(total),
      on_terminal_(isatty(STDERR_FILENO) != 0),
      next_draw_(start_ + kQuiet) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::fputs(kEraseLine, stderr);
}

void ProgressBar::Update(std::size_t done) {
  if (!on_terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_draw_) return;
  next_draw_ = now + kBetweenDraws;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  std::fputs((kEraseLine + ProgressLine(what_, done, total_, elapsed)).c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace espalier
