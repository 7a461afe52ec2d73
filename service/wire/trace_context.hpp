// Reads where a call stands in a trace (W3C Trace Context).
#pragma once

#include <string>
#include <string_view>

namespace espalier {

// The name of the metadata that carries it.
inline constexpr const char* kTraceParent = "traceparent";

// A trace that a client takes; empty: none.
struct TraceContext {
  std::string trace_id;   // 32 hex digits
  std::string parent_id;  // 16: the client's span

  bool operator==(const TraceContext&) const = default;
};

// Reads the value of `traceparent`. A value that the recommendation calls invalid is no context.
TraceContext ReadTraceParent(std::string_view text);

}  // namespace espalier
