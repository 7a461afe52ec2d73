#include "service/cli/plain_form.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace espalier {
namespace {

tl::unexpected<Error> Failed(const char* what) {
  return tl::unexpected(
      Error{ErrorClass::kInternal, fmt::format("{}: {}", what, std::strerror(errno))});
}

// This process's environment, but with the plain form.
std::vector<char*> PlainEnvironment(std::string& form) {
  std::vector<char*> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with("ESPALIER_SIMD=")) {
      environment.push_back(*variable);
    }
  }
  environment.push_back(form.data());
  environment.push_back(nullptr);
  return environment;
}

std::string ReadAll(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer;
  ssize_t size = 0;
  while ((size = read(descriptor, buffer.data(), buffer.size())) > 0 ||
         (size < 0 && errno == EINTR)) {
    if (size > 0) text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return text;
}

}  // namespace

Result<std::string> PlainFormDigest(const std::string& scenario, std::int64_t gangs) {
  std::vector<std::string> words = {
      "espalier", "bench", scenario,   "--gangs", std::to_string(gangs), "--threads", "1",
      "--repeat", "1",     "--output", "digest",  "--no-checks"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::string form = "ESPALIER_SIMD=plain";
  const std::vector<char*> environment = PlainEnvironment(form);

  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return Failed("pipe2");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(),
                                environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  const std::string output = error == 0 ? ReadAll(ends[0]) : "";
  close(ends[0]);
  if (error != 0) {
    errno = error;
    return Failed("cannot start this program again");
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return tl::unexpected(
        Error{ErrorClass::kInternal, fmt::format("ended with wait status {}", status)});
  }
  return output.substr(0, output.find(' '));
}

}  // namespace espalier
