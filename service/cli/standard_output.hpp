// Standard output and standard error: writing never throws, and lost results are found at the end.
#pragma once

#include <string_view>

namespace espalier {

// Opens those of the descriptors 0 to 2 that are closed, so that no file or socket takes their
// place. Reading or writing one of them still fails.
void ReserveStandardDescriptors();

// Writes a part of the results to standard output. FinishOutput reports a failure.
void WriteOutput(std::string_view text);

// Writes "espalier: TEXT" and a newline to standard error, control characters escaped, newlines
// apart. What cannot be written there is lost.
void Tell(std::string_view text);

// Flushes standard output. Returns `exit_code`; where any part of the results was lost, says so on
// standard error and returns kExitUnavailable.
int FinishOutput(int exit_code);

}  // namespace espalier
