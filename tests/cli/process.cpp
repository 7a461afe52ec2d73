#include "tests/cli/process.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace espalier {
namespace {

constexpr const char* kBinary = ESPALIER_BINARY_DIR "/espalier";

// A file of its own that goes away with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content = "") {
    descriptor_ = mkstemp(path_.data());
    if (descriptor_ < 0) throw std::runtime_error("mkstemp");
    std::ofstream(path_) << content;
  }
  ~TemporaryFile() {
    close(descriptor_);
    unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int descriptor() const { return descriptor_; }
  std::string Content() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_ = "/tmp/espalier-test-XXXXXX";
  int descriptor_ = -1;
};

std::vector<std::string> EspalierWith(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {kBinary};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

// Descriptors below 0 are inherited.
int Spawn(std::vector<std::string> words, int input, int output, int errors) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const int targets[] = {input, output, errors};
  for (int i = 0; i < 3; ++i) {
    if (targets[i] >= 0) posix_spawn_file_actions_adddup2(&actions, targets[i], i);
  }
  int pid = -1;
  const int failed = posix_spawn(&pid, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("cannot start " + words[0]);
  return pid;
}

int WaitFor(int pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

ProcessResult Run(const std::vector<std::string>& words, const std::string& input) {
  const TemporaryFile in(input);
  const TemporaryFile out;
  const TemporaryFile err;
  const int pid = Spawn(words, in.descriptor(), out.descriptor(), err.descriptor());
  const int exit_code = WaitFor(pid);
  return {exit_code, out.Content(), err.Content()};
}

}  // namespace

std::string SocketAddress() {
  return "unix:/tmp/espalier-test-" + std::to_string(getpid()) + ".sock";
}

ProcessResult RunEspalier(const std::vector<std::string>& arguments, const std::string& input) {
  return Run(EspalierWith(arguments), input);
}

ProcessResult RunShell(const std::string& script, const std::string& input) {
  return Run({"/bin/sh", "-c", std::string("E=") + kBinary + "; " + script}, input);
}

TerminalEspalier::TerminalEspalier(const std::vector<std::string>& arguments,
                                   unsigned short columns) {
  int ends[2];
  terminal_ = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal_ < 0 || grantpt(terminal_) != 0 || unlockpt(terminal_) != 0 ||
      pipe2(ends, O_CLOEXEC) != 0) {
    throw std::runtime_error("posix_openpt");
  }
  const int side = open(ptsname(terminal_), O_RDWR | O_NOCTTY | O_CLOEXEC);
  const winsize size{.ws_row = 50, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  ioctl(side, TIOCSWINSZ, &size);
  pid_ = Spawn(EspalierWith(arguments), ends[0], side, side);
  close(side);
  close(ends[0]);
  input_ = ends[1];
}

TerminalEspalier::~TerminalEspalier() {
  close(terminal_);
  if (input_ >= 0) close(input_);
  kill(pid_, SIGKILL);
  WaitFor(pid_);
}

bool TerminalEspalier::Read() {
  char buffer[4096];
  const ssize_t size = read(terminal_, buffer, sizeof buffer);  // fails when nobody writes any more
  if (size > 0) shown_.append(buffer, static_cast<std::size_t>(size));
  return size > 0;
}

bool TerminalEspalier::ReadUntil(const std::string& text) {
  while (shown_.find(text) == std::string::npos) {
    if (!Read()) return false;
  }
  return true;
}

std::string TerminalEspalier::Finish(const std::string& input) {
  std::string_view left = input;
  while (!left.empty()) {
    const ssize_t size = write(input_, left.data(), left.size());
    if (size <= 0) break;
    left.remove_prefix(static_cast<std::size_t>(size));
  }
  close(input_);
  input_ = -1;
  while (Read()) {
  }
  std::erase(shown_, '\r');
  return shown_;
}

BackgroundEspalier::BackgroundEspalier(const std::vector<std::string>& arguments,
                                       std::int64_t data_limit) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  std::vector<std::string> words = EspalierWith(arguments);
  if (data_limit > 0) {
    words.insert(words.begin(), {"/usr/bin/prlimit", "--data=" + std::to_string(data_limit)});
  }
  pid_ = Spawn(std::move(words), -1, ends[1], -1);
  close(ends[1]);
  output_ = ends[0];
}

BackgroundEspalier::~BackgroundEspalier() {
  close(output_);
  Kill();
}

void BackgroundEspalier::Kill() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  WaitFor(pid_);
  pid_ = -1;
}

bool BackgroundEspalier::Running() {
  if (pid_ < 0) return false;
  if (waitpid(pid_, nullptr, WNOHANG) == 0) return true;
  pid_ = -1;
  return false;
}

std::string BackgroundEspalier::ReadLine() {
  std::string line;
  for (char c = 0; read(output_, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

int BackgroundEspalier::Stop() {
  kill(pid_, SIGTERM);
  const int exit_code = WaitFor(pid_);
  pid_ = -1;
  return exit_code;
}

}  // namespace espalier
