#include "service/cli/bench/child_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace espalier {
namespace {

constexpr std::size_t kMostErrors = 64 << 10;

// A pipe whose ends are closed with it.
class Pipe {
 public:
  Pipe() : made_(pipe2(ends_.data(), O_CLOEXEC) == 0) {}
  ~Pipe() {
    CloseWriting();
    if (made_) close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  bool made() const { return made_; }
  int reading() const { return ends_[0]; }
  int writing() const { return ends_[1]; }
  void CloseWriting() {
    if (made_ && ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
  bool made_;
};

tl::unexpected<Error> CannotStart(const std::string& program, int error) {
  return tl::unexpected(
      Error{ErrorClass::kUnavailable,
            fmt::format("{} cannot be started: {}", program, std::strerror(error))});
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// This process's environment with `more` on top.
std::vector<std::string> Environment(const std::vector<std::string>& more) {
  std::vector<std::string> all = more;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view entry = *variable;
    const std::string_view name = entry.substr(0, entry.find('=') + 1);
    const bool replaced = std::ranges::any_of(
        more, [&](const std::string& other) { return other.starts_with(name); });
    if (!replaced) all.emplace_back(entry);
  }
  return all;
}

// Reads both until both are at their ends.
void ReadAll(int output, int errors, ChildResult& result) {
  std::array<pollfd, 2> open = {{{output, POLLIN, 0}, {errors, POLLIN, 0}}};
  std::array<char, 1 << 16> buffer;
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    if (poll(open.data(), open.size(), -1) < 0 && errno != EINTR) return;
    for (pollfd& one : open) {
      if (one.fd < 0 || one.revents == 0) continue;
      const ssize_t size = read(one.fd, buffer.data(), buffer.size());
      if (size == 0 || (size < 0 && errno != EINTR)) one.fd = -1;  // poll skips it
      if (size <= 0) continue;
      std::string& text = &one == &open[0] ? result.output : result.errors;
      const std::size_t most = &one == &open[0] ? std::string::npos : kMostErrors - text.size();
      text.append(buffer.data(), std::min(static_cast<std::size_t>(size), most));
    }
  }
}

}  // namespace

Result<ChildResult> RunChild(const std::vector<std::string>& words,
                             const std::vector<std::string>& environment) {
  std::vector<std::string> own_words = words;
  std::vector<std::string> own_environment = Environment(environment);
  Pipe output;
  Pipe errors;
  if (!output.made() || !errors.made()) return CannotStart(words[0], errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output.writing(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.writing(), STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, words[0].c_str(), &actions, nullptr,
                                 Pointers(own_words).data(), Pointers(own_environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return CannotStart(words[0], error);
  output.CloseWriting();
  errors.CloseWriting();
  ChildResult result;
  ReadAll(output.reading(), errors.reading(), result);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace espalier
