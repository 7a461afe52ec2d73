// The oracle gives every recorded answer of Kueue's own decision code.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/conformance/case_file.hpp"
#include "host/conformance/difference.hpp"
#include "tests/oracle/oracle_input.hpp"

namespace espalier::recorded_cases_test {
namespace {

const char* const kCaseFolder = ESPALIER_SOURCE_DIR "/tests/data/cases";

// Files of placement cases, without their ending.
std::vector<std::string> CaseFiles() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kCaseFolder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".jsonl.gz") || name.starts_with("sequence-")) continue;
    if (name.starts_with("encode.") || name.starts_with("ungate.")) continue;
    if (name.starts_with("jobs-")) continue;
    names.push_back(name.substr(0, name.find('.')));
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The smallest of the differences from the legal answers, empty when one of them is given.
std::string DifferenceOf(const PlacementCase& placement) {
  const WorkloadAnswer answer = oracle::Answer(
      oracle::MakeOracleInput(placement.cluster, placement.gates), placement.request);
  std::string text;
  for (const ExpectedAnswer& expected : placement.any_of) {
    const auto difference = Difference(expected, answer, placement.gates);
    if (!difference) return "";
    text += *difference + "\n";
  }
  return text;
}

class RecordedCases : public testing::TestWithParam<std::string> {};

TEST_P(RecordedCases, OracleAgrees) {
  InputLimit limit(std::uint64_t{1} << 30);
  const auto file = ReadCaseFile(std::string(kCaseFolder) + "/" + GetParam() + ".jsonl.gz", limit);
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_FALSE(file->lines.empty());
  for (const std::string& line : file->lines) {
    const auto recorded = ReadCase(line);
    ASSERT_TRUE(recorded) << recorded.error().message << "\n" << line;
    const auto* placement = std::get_if<PlacementCase>(&recorded->value);
    ASSERT_NE(placement, nullptr) << line;
    const std::string difference = DifferenceOf(*placement);
    EXPECT_EQ(difference, "") << recorded->name;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, RecordedCases, testing::ValuesIn(CaseFiles()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace espalier::recorded_cases_test
