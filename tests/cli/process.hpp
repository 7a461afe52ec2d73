// Runs the espalier binary as a user would.
#pragma once

#include <string>
#include <vector>

namespace espalier {

struct ProcessResult {
  int exit_code = 0;  // -1: ended by a signal
  std::string output;
  std::string errors;
};

// Waits until it has ended; `input` is its standard input.
ProcessResult RunEspalier(const std::vector<std::string>& arguments, const std::string& input = "");

// Runs a script of /bin/sh that calls the binary as "$E"; for redirections, pipes and limits.
ProcessResult RunShell(const std::string& script, const std::string& input = "");

// A process that goes on; killed when it is not stopped before.
class BackgroundEspalier {
 public:
  explicit BackgroundEspalier(const std::vector<std::string>& arguments);
  ~BackgroundEspalier();
  BackgroundEspalier(const BackgroundEspalier&) = delete;
  BackgroundEspalier& operator=(const BackgroundEspalier&) = delete;

  // The next line of its standard output, without the newline; empty at the end of it.
  std::string ReadLine();
  // Sends SIGTERM, waits and returns the exit code.
  int Stop();

 private:
  int pid_ = -1;
  int output_ = -1;
};

}  // namespace espalier
