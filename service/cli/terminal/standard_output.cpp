#include "service/cli/terminal/standard_output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "host/model/excerpt.hpp"
#include "service/cli/terminal/exit_code.hpp"

namespace espalier {
namespace {

void WriteTo(std::FILE* file, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), file);
}

}  // namespace

void ReserveStandardDescriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free descriptor is taken, which is this one; for the direction that nobody uses.
    ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void WriteOutput(std::string_view text) {
  if (std::ferror(stdout) == 0) WriteTo(stdout, text);
}

void Tell(std::string_view text) {
  std::string lines = "espalier: ";
  while (true) {
    const std::size_t end = text.find('\n');
    lines += EscapeControls(text.substr(0, end)) + '\n';
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  WriteTo(stderr, lines);
}

int FinishOutput(int exit_code) {
  errno = 0;
  const bool lost_before = std::ferror(stdout) != 0 || !std::cout;
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && !lost_before) return exit_code;
  Tell(fmt::format("standard output cannot be written: {}",
                   errno != 0 ? std::strerror(errno) : "the disk may be full"));
  return kExitUnavailable;
}

}  // namespace espalier
