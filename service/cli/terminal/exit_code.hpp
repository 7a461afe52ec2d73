// The exit codes that scripts may rely on; the same for every command.
#pragma once

namespace espalier {

enum ExitCode : int {
  kExitOk = 0,        // done, and the answer is "yes": all placed, all passed
  kExitNo = 1,        // done, and the answer is "no" for something: not all placed, a case failed
  kExitUsage = 2,     // the command line is wrong
  kExitBadInput = 3,  // a file or a value in it is wrong or cannot be read
  // A server, an address, the requested GPU or memory is not available, or results could not be
  // written.
  kExitUnavailable = 4,
  kExitInternal = 5,  // a bug here
};

}  // namespace espalier
