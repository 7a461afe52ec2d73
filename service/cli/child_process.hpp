// Runs another program and takes what it prints.
#pragma once

#include <string>
#include <vector>

#include "host/model/result.hpp"

namespace espalier {

struct ChildResult {
  int exit_code = 0;   // 128 and the number of the signal where one ended it
  std::string output;  // all of its standard output
  std::string errors;  // the first 64 KiB of its standard error
};

// Waits until the program has ended. `words` are its name, searched for on PATH when it has no
// slash, and its arguments; `environment` has the form NAME=VALUE and comes on top of this
// process's. Errors (kUnavailable) say why it cannot be started.
Result<ChildResult> RunChild(const std::vector<std::string>& words,
                             const std::vector<std::string>& environment = {});

}  // namespace espalier
