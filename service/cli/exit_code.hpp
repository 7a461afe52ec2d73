// The exit codes scripts may rely on; the same for every command.
#pragma once

namespace espalier {

enum ExitCode : int {
  kExitOk = 0,        // done, and the answer is "yes": all placed, all passed
  kExitNo = 1,        // done, and the answer is "no" for something: not all placed, a case failed
  kExitUsage = 2,     // the command line is wrong
  kExitBadInput = 3,  // a file or a value in it is wrong or cannot be read
  kExitUnavailable = 4,  // a server, an address or the GPU asked for is not to be had
  kExitInternal = 5,     // a bug here
};

}  // namespace espalier
