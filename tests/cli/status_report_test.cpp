// What the report of a server says of times, whatever its clock does.
#include "service/cli/reports/status_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/cli/reports/object_writer.hpp"

namespace espalier::status_report_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kChanged = 1'700'000'000'000;
constexpr ServingRule kAtMostAMinute{.max_age_seconds = 60};

// A server with one state, `milliseconds` after its last change by the server's clock.
ServerReport ReportAfter(std::int64_t milliseconds) {
  ServerReport report;
  report.status.set_now_ms(kChanged + milliseconds);
  v1::StateStatus& state = *report.status.add_states();
  state.mutable_state()->set_generation(1);
  state.set_changed_ms(kChanged);
  return report;
}

std::string Table(const ServerReport& report) { return RenderStatus(report, "", {}); }

std::string Json(const ServerReport& report) {
  const auto writer = MakeJsonWriter();
  writer->BeginMap();
  WriteStatus(report, "", *writer);
  writer->EndMap();
  return writer->Finish();
}

TEST(StatusReport, TellsTheAgeOfAState) {
  const ServerReport report = ReportAfter(61'000);
  EXPECT_THAT(Table(report), HasSubstr(" 1m 1s "));
  EXPECT_THAT(Json(report), HasSubstr("\"ageMilliseconds\": 61000"));
  EXPECT_EQ(WhyNotServing(report.status, kAtMostAMinute),
            "the state changed 1m 1s ago, more than 60 s");
  EXPECT_EQ(WhyNotServing(ReportAfter(60'000).status, kAtMostAMinute), "");
}

// As when the clock was put back after the state had changed.
TEST(StatusReport, OfAStateFromLaterThanNowHasNoNegativeAge) {
  for (const std::int64_t milliseconds : {std::int64_t{-1}, std::int64_t{-61'000}, -kChanged}) {
    const ServerReport report = ReportAfter(milliseconds);
    EXPECT_THAT(Table(report), HasSubstr(" 0s "));
    EXPECT_THAT(Json(report), HasSubstr("\"ageMilliseconds\": 0,"));
    EXPECT_EQ(WhyNotServing(report.status, kAtMostAMinute), "");
    EXPECT_EQ(WhyNotServing(report.status, {.max_age_seconds = 0}), "");
  }
}

}  // namespace
}  // namespace espalier::status_report_test
