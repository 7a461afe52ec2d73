// The espalier binary as a child process whose standard output and standard error are read here.
#pragma once

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace espalier {

inline const std::string kEspalier = ESPALIER_BINARY_DIR "/espalier";

// A child process whose standard output and standard error are read here.
class Process {
 public:
  explicit Process(std::vector<std::string> arguments, const std::string& program = kEspalier) {
    arguments.insert(arguments.begin(), program);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::array<int, 2> output = {};
    std::array<int, 2> errors = {};
    EXPECT_EQ(::pipe2(output.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(errors.data(), O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
    EXPECT_EQ(::posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(output[1]);
    ::close(errors[1]);
    output_ = ::fdopen(output[0], "r");
    errors_ = ::fdopen(errors[0], "r");
  }
  ~Process() {
    if (pid_ > 0) {
      Kill(SIGKILL);
      Wait();
    }
    CloseOutputs();
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  std::string ReadLine() {
    std::string line;
    for (int c = std::fgetc(output_); c != EOF && c != '\n'; c = std::fgetc(output_)) {
      line.push_back(static_cast<char>(c));
    }
    return line;
  }
  std::string ReadAll() { return ReadToEnd(output_); }
  std::string ReadErrors() { return ReadToEnd(errors_); }

  // Leaves whatever the process writes from now on without a reader.
  void CloseOutputs() {
    for (std::FILE** file : {&output_, &errors_}) {
      if (*file != nullptr) std::fclose(std::exchange(*file, nullptr));
    }
  }

  void Kill(int signal) { ::kill(pid_, signal); }

  // Returns the file behind one of its descriptors.
  std::string FileOf(int descriptor) const {
    const std::string link = "/proc/" + std::to_string(pid_) + "/fd/" + std::to_string(descriptor);
    std::array<char, 256> target = {};
    const ssize_t size = ::readlink(link.c_str(), target.data(), target.size());
    return std::string(target.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  }

  // Returns the exit code, or 128 + the signal.
  int Wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  static std::string ReadToEnd(std::FILE* file) {
    std::string text;
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
      text.push_back(static_cast<char>(c));
    }
    return text;
  }

  pid_t pid_ = 0;
  std::FILE* output_ = nullptr;
  std::FILE* errors_ = nullptr;
};

struct Outcome {
  std::string output;
  int exit_code;
  bool operator==(const Outcome&) const = default;
};

inline Outcome RunToEnd(std::vector<std::string> arguments) {
  Process process(std::move(arguments));
  std::string output = process.ReadAll();
  return {std::move(output), process.Wait()};
}

}  // namespace espalier
