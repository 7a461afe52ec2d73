// Runs another program and captures its output.
#pragma once

#include <string>
#include <vector>

#include "host/model/result.hpp"

namespace espalier {

struct ChildResult {
  int exit_code = 0;   // 128 plus the number of the signal that ended it
  std::string output;  // all of its standard output
  std::string errors;  // the first 64 KiB of its standard error
};

// Runs a program until it ends. `words` are its name, searched for on PATH when it has no slash,
// and its arguments; `environment` has the form NAME=VALUE and is added to this process's. Errors
// (kUnavailable) say why it cannot be started.
Result<ChildResult> RunChild(const std::vector<std::string>& words,
                             const std::vector<std::string>& environment = {});

}  // namespace espalier
