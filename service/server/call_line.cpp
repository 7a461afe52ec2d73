#include "service/server/call_line.hpp"

#include <array>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

constexpr std::array kCodeNames = {
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
};
static_assert(kCodeNames.size() == grpc::StatusCode::UNAUTHENTICATED + 1);

thread_local const CallLine* being_written = nullptr;

std::string TextOf(const CallLine& line) {
  return fmt::format("call {} {}: {} after {:.1f} ms{}{}{}{}", line.call, line.method, line.code,
                     line.took.count(), line.message.empty() ? "" : ": ",
                     Excerpt(line.message, 4096), line.trace.trace_id.empty() ? "" : ", trace ",
                     line.trace.trace_id);
}

}  // namespace

void LogCall(const CallLine& line, grpc::StatusCode code) {
  being_written = &line;
  spdlog::log(code == grpc::StatusCode::INTERNAL ? spdlog::level::err : spdlog::level::info, "{}",
              TextOf(line));
  being_written = nullptr;
}

const CallLine* LineBeingWritten() { return being_written; }

std::string_view CodeName(grpc::StatusCode code) {
  const auto position = static_cast<std::size_t>(code);
  return kCodeNames[position < kCodeNames.size() ? position : std::size_t{2}];
}

}  // namespace espalier
