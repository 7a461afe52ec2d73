// The log of differences: what its lines say, and what is said of those that are wrong.
#include "host/readers/difference_log.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

namespace espalier::difference_log_test {
namespace {

using testing::HasSubstr;

constexpr const char* kChosen =
    R"({"fits":true,"podSets":[{"name":"main","flavor":"gpu","topologyAssignment":{"levels":["rack"],)"
    R"("slices":[{"domainCount":2,"valuesPerLevel":[{"individual":{"prefix":"r","roots":["1","2"]}}],)"
    R"("podCounts":{"universal":3}}]}}]})";
constexpr const char* kHere =
    R"({"fits":false,"podSets":[{"name":"main","flavor":"gpu","reason":"no room"}]})";

std::string Line(const std::string& verdict, const std::string& chosen = kChosen,
                 const std::string& here = kHere) {
  return fmt::format(
      R"({{"time":"2026-11-27T19:55:13.25Z","workload":"team/a","verdict":"{}",)"
      R"("reservedAt":"2026-11-27T19:55:12Z","generation":7,"chosen":{},"here":{}}})",
      verdict, chosen, here);
}

class DifferenceLog : public testing::Test {
 protected:
  ~DifferenceLog() override { std::filesystem::remove(path_); }

  Result<void> Read(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    InputLimit limit(std::uint64_t{1} << 20);
    return ReadDifferenceLog(path_, limit, differences_, findings_);
  }

  const std::string path_ = testing::TempDir() + "log-" + std::to_string(::getpid());
  std::vector<LoggedDifference> differences_;
  Diagnostics findings_;
};

TEST_F(DifferenceLog, SaysWhatWasDecidedOnBothSides) {
  ASSERT_TRUE(Read(Line("different") + "\n" + Line("late")));
  EXPECT_EQ(findings_.RenderErrors(), "");
  ASSERT_EQ(differences_.size(), 2u);
  const LoggedDifference& first = differences_[0];
  EXPECT_EQ(first.time, "2026-11-27T19:55:13.25Z");
  EXPECT_EQ(first.reserved_at, "2026-11-27T19:55:12Z");
  EXPECT_EQ(first.workload, "team/a");
  EXPECT_EQ(first.generation, 7);
  EXPECT_FALSE(first.late);
  EXPECT_TRUE(differences_[1].late);
  ASSERT_EQ(first.chosen.size(), 1u);
  EXPECT_EQ(first.chosen[0].name, "main");
  EXPECT_EQ(first.chosen[0].flavor, "gpu");
  ASSERT_TRUE(first.chosen[0].assignment);
  ASSERT_EQ(first.chosen[0].assignment->domains.size(), 2u);
  EXPECT_EQ(first.chosen[0].assignment->domains[1].values, std::vector<std::string>{"r2"});
  EXPECT_EQ(first.chosen[0].assignment->domains[1].count, 3);
  ASSERT_EQ(first.here.size(), 1u);
  EXPECT_EQ(first.here[0].reason, "no room");
  EXPECT_FALSE(first.here[0].assignment);
}

TEST_F(DifferenceLog, NamesEachLineThatIsWrongAndReadsTheOthers) {
  const std::string deep(100000, '[');
  ASSERT_TRUE(Read(Line("different") + "\n" + Line("late").substr(0, 200) + "\n[]\n\n" + deep +
                   "\n\xFF\n{\"generation\":1e999}\n" + Line("late") + "\n"));
  EXPECT_EQ(differences_.size(), 2u);
  const std::string said = findings_.RenderErrors();
  EXPECT_EQ(findings_.error_count(), 6u) << said;
  EXPECT_THAT(
      said, HasSubstr(path_ + ", line 2: column 186: a text begins here and has no closing quote"));
  EXPECT_THAT(said, HasSubstr(path_ + ", line 3: it is not an object; want a difference"));
  for (const char* line : {", line 4: ", ", line 5: ", ", line 6: ", ", line 7: "}) {
    EXPECT_THAT(said, HasSubstr(path_ + line));
  }
}

TEST_F(DifferenceLog, NamesTheFieldThatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"{}", "difference: workload: "},
      {Line("equal"), R"(verdict: it is not a verdict, got "equal"; want different or late)"},
      {Line("late", "[]"), "chosen: "},
      {Line("late", "{}"), "chosen.podSets: "},
      {Line("late", kHere), "chosen.podSets[0].topologyAssignment: "},
      {Line("late", kChosen, R"({"podSets":[{"name":"a","reason":"b","topologyAssignment":{}}]})"),
       "here.podSets[0].reason: it stands beside a topologyAssignment"},
      {Line("late", R"({"podSets":[{"name":"a","topologyAssignment":{"levels":["x"],"slices":[)"
                    R"({"domainCount":100000,"valuesPerLevel":[{"universal":"y"}],)"
                    R"("podCounts":{"universal":1}}]}}]})"),
       "slices[0].domainCount: all domains of the slice are the same one"},
  };
  for (const auto& [line, says] : wrong) {
    findings_ = Diagnostics();
    ASSERT_TRUE(Read(line));
    EXPECT_THAT(findings_.RenderErrors(), HasSubstr(says));
  }
  EXPECT_TRUE(differences_.empty());
}

TEST_F(DifferenceLog, IsReadWhereRotationPackedIt) {
  const std::string text = Line("different") + "\n" + Line("late") + "\n";
  const gzFile file = gzopen(path_.c_str(), "wb");
  ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())),
            static_cast<int>(text.size()));
  ASSERT_EQ(gzclose(file), Z_OK);
  InputLimit limit(std::uint64_t{1} << 20);
  ASSERT_TRUE(ReadDifferenceLog(path_, limit, differences_, findings_));
  EXPECT_EQ(differences_.size(), 2u);
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 5);
  const auto cut = ReadDifferenceLog(path_, limit, differences_, findings_);
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message, HasSubstr(path_ + ": the gzip stream is truncated"));
}

TEST_F(DifferenceLog, IsHeldToTheLimitAndNamesAFileThatCannotBeRead) {
  const auto read = Read(std::string((1 << 20) + 1, ' '));
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr(path_));
  InputLimit limit(1000);
  const auto none = ReadDifferenceLog("/nowhere/log", limit, differences_, findings_);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("/nowhere/log"));
}

}  // namespace
}  // namespace espalier::difference_log_test
