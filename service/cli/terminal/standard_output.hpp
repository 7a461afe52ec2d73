// Writes to standard output and standard error: writing never throws, and lost results are reported
// at the end.
#pragma once

#include <string_view>

namespace espalier {

// Opens those of the descriptors 0 to 2 that are closed, so that no file or socket takes their
// place. Reading or writing one of them still fails.
void ReserveStandardDescriptors();

// Writes a part of the results to standard output. FinishOutput reports a failure.
void WriteOutput(std::string_view text);

// Writes "espalier: TEXT" and a newline to standard error, with control characters other than
// newlines escaped. Ignores failures.
void Tell(std::string_view text);

// Flushes standard output. Returns `exit_code`, or kExitUnavailable, with a message on standard
// error, when any part of the results was lost.
int FinishOutput(int exit_code);

}  // namespace espalier
