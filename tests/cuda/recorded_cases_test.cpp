// Recorded cases through the device back end.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "host/conformance/run.hpp"
#include "tests/cuda/device_under_test.hpp"

namespace espalier::recorded_cases_test {
namespace {

// Everything but encoding, ungating and the largest clusters.
std::vector<std::string> Files() {
  std::vector<std::string> files;
  const std::filesystem::path folder =
      std::filesystem::path(ESPALIER_SOURCE_DIR) / "tests/data/cases";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool placement = name.starts_with("random-") || name.starts_with("corners") ||
                           name.starts_with("kueue-tables") ||
                           name.starts_with("sequence-gpu-2560");
    if (placement && !name.starts_with("random-encode")) files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

std::string TestName(const testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).stem().stem().string();
  std::ranges::replace(name, '-', '_');
  return name;
}

class DeviceRecordedCases : public DeviceTest, public testing::WithParamInterface<std::string> {};

TEST_P(DeviceRecordedCases, AllAnswersAreRight) {
  constexpr int kShown = 5;
  ConformanceOptions options;
  options.make_backend = [&] { return backend_; };
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
  ExpectAllOnDevice();
}

INSTANTIATE_TEST_SUITE_P(Files, DeviceRecordedCases, testing::ValuesIn(Files()), TestName);

}  // namespace
}  // namespace espalier::recorded_cases_test
