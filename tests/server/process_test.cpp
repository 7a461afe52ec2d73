// `espalier serve` as a real process: the same bytes through it as without it, and its end.
#include <array>
#include <csignal>
#include <cstdio>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace espalier {
namespace {

const std::string kEspalier = ESPALIER_BINARY_DIR "/espalier";
const std::string kDump = ESPALIER_SOURCE_DIR "/tests/data/dumps/";

// A child process whose standard output is read here.
class Process {
 public:
  explicit Process(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), kEspalier);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::array<int, 2> pipe = {};
    EXPECT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
    EXPECT_EQ(::posix_spawn(&pid_, kEspalier.c_str(), &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(pipe[1]);
    output_ = ::fdopen(pipe[0], "r");
  }
  ~Process() {
    if (pid_ > 0) {
      Kill(SIGKILL);
      Wait();
    }
    std::fclose(output_);
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
  std::string ReadAll() {
    std::string text;
    for (int c = std::fgetc(output_); c != EOF; c = std::fgetc(output_)) {
      text.push_back(static_cast<char>(c));
    }
    return text;
  }

  void Kill(int signal) { ::kill(pid_, signal); }

  // The exit code, or 128 + the signal.
  int Wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_ = 0;
  std::FILE* output_ = nullptr;
};

struct Outcome {
  std::string output;
  int exit_code;
  bool operator==(const Outcome&) const = default;
};

Outcome RunToEnd(std::vector<std::string> arguments) {
  Process process(std::move(arguments));
  std::string output = process.ReadAll();
  return {std::move(output), process.Wait()};
}

class ServeProcess : public testing::Test {
 protected:
  static std::unique_ptr<Process> Serve(const std::string& address) {
    auto server = std::make_unique<Process>(std::vector<std::string>{"serve", "--listen", address});
    EXPECT_EQ(server->ReadLine(), "listening on " + address);
    return server;
  }

  const std::string address_ =
      "unix:" + testing::TempDir() + "espalier-process-" + std::to_string(::getpid());
};

TEST_F(ServeProcess, GivesTheSameBytesAsALocalRun) {
  const auto server = Serve(address_);
  for (const char* mode : {"sequential", "nominate"}) {
    for (const char* form : {"table", "json"}) {
      std::vector<std::string> arguments = {
          "place", kDump + "before.json.gz", kDump + "extra.json", "--mode", mode, "--output",
          form};
      const Outcome local = RunToEnd(arguments);
      EXPECT_GT(local.output.size(), 1000u);
      arguments.insert(arguments.end(), {"--connect", address_});
      EXPECT_EQ(RunToEnd(arguments), local) << mode << " " << form;
    }
  }
}

TEST_F(ServeProcess, DrainsOnASignalAndRemovesItsSocket) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const auto server = Serve(address_);
    server->Kill(signal);
    EXPECT_EQ(server->Wait(), 0);
    EXPECT_NE(::access(address_.substr(5).c_str(), F_OK), 0);
  }
}

TEST_F(ServeProcess, ASecondOneFailsAndTheFirstStays) {
  const auto first = Serve(address_);
  EXPECT_EQ(RunToEnd({"serve", "--listen", address_}), (Outcome{"", 4}));
  first->Kill(SIGTERM);
  EXPECT_EQ(first->Wait(), 0);
}

TEST_F(ServeProcess, SaysWhereItsMetricsAre) {
  Process server({"serve", "--listen", address_, "--metrics", "127.0.0.1:0"});
  EXPECT_EQ(server.ReadLine(), "listening on " + address_);
  const std::string line = server.ReadLine();
  std::smatch match;
  ASSERT_TRUE(
      std::regex_match(line, match, std::regex("metrics on http://(127.0.0.1:[1-9]\\d*)/metrics")))
      << line;
  EXPECT_EQ(RunToEnd({"serve", "--listen", address_ + "-2", "--metrics", match[1]}),
            (Outcome{"", 4}));
  server.Kill(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
}

TEST_F(ServeProcess, StartsAgainAfterKill) {
  const auto first = Serve(address_);
  first->Kill(SIGKILL);
  EXPECT_EQ(first->Wait(), 128 + SIGKILL);
  EXPECT_EQ(::access(address_.substr(5).c_str(), F_OK), 0);  // what it left behind
  const auto second = Serve(address_);
  second->Kill(SIGTERM);
  EXPECT_EQ(second->Wait(), 0);
}

TEST_F(ServeProcess, ExitCodes) {
  EXPECT_EQ(RunToEnd({"serve", "--listen", "nonsense"}).exit_code, 2);
  EXPECT_EQ(RunToEnd({"serve"}).exit_code, 2);
  EXPECT_EQ(RunToEnd({"serve", "--listen", address_, "--metrics", "unix:/tmp/m"}).exit_code, 2);
  EXPECT_EQ(RunToEnd({"place", kDump + "extra.json", "--connect", address_}).exit_code, 4);
}

}  // namespace
}  // namespace espalier
