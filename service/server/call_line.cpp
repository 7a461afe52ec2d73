#include "service/server/call_line.hpp"

#include <algorithm>
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

bool IsHex(std::string_view text, std::size_t digits) {
  return text.size() == digits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool IsZero(std::string_view text) { return text.find_first_not_of('0') == std::string_view::npos; }

}  // namespace

TraceContext ReadTraceParent(std::string_view text) {
  // version-trace-parent-flags; what a later version has behind that is not looked at.
  constexpr std::size_t kLength = 55;
  if (text.size() < kLength || text[2] != '-' || text[35] != '-' || text[52] != '-') return {};
  const std::string_view version = text.substr(0, 2);
  const std::string_view trace = text.substr(3, 32);
  const std::string_view parent = text.substr(36, 16);
  if (!IsHex(version, 2) || version == "ff" || !IsHex(trace, 32) || IsZero(trace) ||
      !IsHex(parent, 16) || IsZero(parent) || !IsHex(text.substr(53, 2), 2)) {
    return {};
  }
  if (text.size() > kLength && (version == "00" || text[kLength] != '-')) return {};
  return {std::string(trace), std::string(parent)};
}

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
