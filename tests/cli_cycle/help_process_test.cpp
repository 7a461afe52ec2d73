// The help of commands, whose form depends on the library that prints it.
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"

namespace espalier::help_process_test {
namespace {

using testing::HasSubstr;

TEST(HelpOfCommands, TeachesWithExamples) {
  for (const auto& [command, flags] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"cycle",
            {"--until-stable", "--feature-gates", "--threads", "--output", "--strict",
             "--verbose"}},
           {"ungate", {"--workload", "--output"}},
           {"validate-objects", {"--feature-gates", "--output"}}}) {
    const ProcessResult help = RunEspalier({command, "--help"});
    EXPECT_EQ(help.exit_code, 0) << command;
    for (const std::string& flag : flags) EXPECT_THAT(help.output, HasSubstr(flag)) << command;
    EXPECT_THAT(help.output, HasSubstr("FILES")) << command;
    EXPECT_THAT(help.output, HasSubstr("Examples:")) << command;
    EXPECT_THAT(help.output, HasSubstr("Exit codes:")) << command;
  }
}

}  // namespace
}  // namespace espalier::help_process_test
