// Writes the log as JSON, an object on each line.
#pragma once

#include <memory>

#include <spdlog/formatter.h>

namespace espalier {

// Returns a formatter of lines with `time`, `level` and `message`; those of calls also have `call`,
// `method`, `code`, `milliseconds` and, where the client takes a trace, `traceId` and
// `parentSpanId`.
std::unique_ptr<spdlog::formatter> MakeJsonLogFormatter();

}  // namespace espalier
