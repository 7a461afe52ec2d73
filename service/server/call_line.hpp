// A line of the log about a call.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <grpcpp/support/status.h>

#include "service/wire/trace_context.hpp"

namespace espalier {

// A call that ended, as the log tells it.
struct CallLine {
  std::int64_t call = 0;  // its number in this process
  std::string_view method;
  std::string_view code;
  std::chrono::duration<double, std::milli> took{};
  const TraceContext& trace;
  std::string message;  // of the status; empty: none
};

// Writes a line to the default logger: an error for INTERNAL, else information.
void LogCall(const CallLine& line, grpc::StatusCode code);

// Returns the line that this thread is writing, for formatters that write its parts as fields;
// null: the line is of no call.
const CallLine* LineBeingWritten();

// Returns the name of a gRPC code, as RESOURCE_EXHAUSTED.
std::string_view CodeName(grpc::StatusCode code);

}  // namespace espalier
