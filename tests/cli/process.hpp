// Runs the espalier binary as a user would.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace espalier {

struct ProcessResult {
  int exit_code = 0;  // -1: ended by a signal
  std::string output;
  std::string errors;
};

// Returns the address of a unix socket for a server of this process.
std::string SocketAddress();

// Waits until it has ended; `input` is its standard input.
ProcessResult RunEspalier(const std::vector<std::string>& arguments, const std::string& input = "");

// Runs a script of /bin/sh that calls the binary as "$E"; for redirections, pipes and limits.
ProcessResult RunShell(const std::string& script, const std::string& input = "");

// A process whose standard output and standard error are a terminal, and whose standard input is a
// pipe.
class TerminalEspalier {
 public:
  TerminalEspalier(const std::vector<std::string>& arguments, unsigned short columns);
  ~TerminalEspalier();
  TerminalEspalier(const TerminalEspalier&) = delete;
  TerminalEspalier& operator=(const TerminalEspalier&) = delete;

  // Reads what it shows until that holds `text`. Returns whether it does.
  bool ReadUntil(const std::string& text);
  // Gives it its standard input, reads the rest of what it shows, and returns all of it, with the
  // ends of lines that a file would have.
  std::string Finish(const std::string& input);

 private:
  bool Read();

  int pid_ = -1;
  int input_ = -1;
  int terminal_ = -1;
  std::string shown_;
};

// A process that goes on; killed when it is not stopped before.
class BackgroundEspalier {
 public:
  // `data_limit` is how many bytes of memory of its own it can have at most (RLIMIT_DATA); 0: any.
  explicit BackgroundEspalier(const std::vector<std::string>& arguments,
                              std::int64_t data_limit = 0);
  ~BackgroundEspalier();
  BackgroundEspalier(const BackgroundEspalier&) = delete;
  BackgroundEspalier& operator=(const BackgroundEspalier&) = delete;

  // Returns the next line of its standard output, without the newline; empty at the end of it.
  std::string ReadLine();
  // Sends SIGTERM, waits and returns the exit code.
  int Stop();
  // Sends SIGKILL and waits.
  void Kill();
  // Returns whether it has not ended by itself.
  bool Running();
  int pid() const { return pid_; }

 private:
  int pid_ = -1;
  int output_ = -1;
};

}  // namespace espalier
