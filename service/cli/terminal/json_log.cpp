#include "service/cli/terminal/json_log.hpp"

#include <chrono>
#include <string>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "service/cli/reports/object_writer.hpp"
#include "service/server/call_line.hpp"

namespace espalier {
namespace {

std::string TimeText(spdlog::log_clock::time_point time) {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch());
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(spdlog::log_clock::to_time_t(time)),
                     since.count() % 1000);
}

class JsonLogFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& to) override {
    const auto text = [](const spdlog::string_view_t& view) {
      return std::string_view(view.data(), view.size());
    };
    const auto writer = MakeJsonLineWriter();
    writer->BeginMap();
    writer->Field("time", std::string_view(TimeText(message.time)));
    writer->Field("level", text(spdlog::level::to_string_view(message.level)));
    if (const CallLine* line = LineBeingWritten(); line == nullptr) {
      writer->Field("message", std::string_view(EscapeControls(text(message.payload))));
    } else {
      writer->Field("message", std::string_view(EscapeControls(line->message)));
      writer->Field("call", line->call);
      writer->Field("method", line->method);
      writer->Field("code", line->code);
      writer->Field("milliseconds", static_cast<std::int64_t>(line->took.count()));
      if (!line->trace.trace_id.empty()) {
        writer->Field("traceId", std::string_view(line->trace.trace_id));
        writer->Field("parentSpanId", std::string_view(line->trace.parent_id));
      }
    }
    writer->EndMap();
    const std::string line = writer->Finish();
    to.append(line.data(), line.data() + line.size());
  }

  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<JsonLogFormatter>();
  }
};

}  // namespace

std::unique_ptr<spdlog::formatter> MakeJsonLogFormatter() {
  return std::make_unique<JsonLogFormatter>();
}

}  // namespace espalier
