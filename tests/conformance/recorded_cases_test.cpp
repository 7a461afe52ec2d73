// Every recorded case, one test a file.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/conformance/run.hpp"

namespace espalier::recorded_cases_test {
namespace {

std::vector<std::string> RecordedFiles() {
  std::vector<std::string> files;
  const std::filesystem::path folder =
      std::filesystem::path(ESPALIER_SOURCE_DIR) / "tests/data/cases";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

std::string TestName(const testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).stem().stem().string();
  std::ranges::replace(name, '-', '_');
  return name;
}

class RecordedCases : public testing::TestWithParam<std::string> {};

TEST_P(RecordedCases, AllAnswersAreRight) {
  constexpr int kShown = 5;
  ConformanceOptions options;
  options.make_backend = [] { return MakeCpuBackend(); };
  int shown = 0;
  const ConformanceReport report =
      RunConformance({GetParam()}, options, [&](const CaseFailure& failure) {
        if (shown++ >= kShown) return;
        ADD_FAILURE() << "line " << failure.line << ": " << failure.name << "\n"
                      << failure.difference;
      });
  EXPECT_TRUE(report.unreadable.empty());
  EXPECT_EQ(report.failed, 0u);
  EXPECT_GT(report.passed, 0u);
}

INSTANTIATE_TEST_SUITE_P(Files, RecordedCases, testing::ValuesIn(RecordedFiles()), TestName);

}  // namespace
}  // namespace espalier::recorded_cases_test
