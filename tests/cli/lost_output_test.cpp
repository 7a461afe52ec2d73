// Tests what becomes of a command whose results cannot be written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"

namespace espalier::lost_output_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StrEq;

const std::string kSmall = ESPALIER_SOURCE_DIR "/tests/cli/data/small.yaml";
const std::string kDump = ESPALIER_SOURCE_DIR "/tests/data/dumps/after.json.gz";
const std::string kSequence =
    ESPALIER_SOURCE_DIR "/tests/data/cases/sequence-k8s-5000-gangs-of-1000.jsonl.gz";

// Every command that prints results, with small ones and with ones that a buffer cannot hold.
const std::vector<std::string> kPrinting = {
    "--version",
    "--help",
    "place --help",
    "place " + kSmall,
    "place -o yaml " + kSmall,
    "place " + kSmall + " --picture",
    "place -o json " + kDump,
    "cycle " + kSmall,
    "cycle -o jsonl " + kSmall,
    "validate-objects " + kSmall,
    "conformance --filter '^$' " + kSequence,
    "bench --list",
    "generate --list",
    "completion bash",
    "serve --help",
};

class LostOutput : public testing::TestWithParam<std::string> {};

TEST_P(LostOutput, OnAFullDiskIsExitCodeFour) {
  const ProcessResult result = RunShell("$E " + GetParam() + " > /dev/full");
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.errors, HasSubstr("espalier: standard output cannot be written: "));
  EXPECT_THAT(result.errors, Not(HasSubstr("terminate")));
}

TEST_P(LostOutput, WhenClosedIsExitCodeFour) {
  const ProcessResult result = RunShell("$E " + GetParam() + " >&-");
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.errors, HasSubstr("espalier: standard output cannot be written: "));
}

// The shell sees 128 + SIGPIPE, as of any filter, also where whoever started it ignores SIGPIPE.
TEST_P(LostOutput, OnAClosedPipeEndsQuietly) {
  constexpr const char* kUntilClosed = "(trap '' PIPE; while printf x 2>&-; do :; done); ";
  for (const char* before : {"", "trap '' PIPE; "}) {
    const ProcessResult result = RunShell(std::string("{ ") + kUntilClosed + before + "$E " +
                                          GetParam() + " 2>&-; echo $? >&2; } | :");
    EXPECT_THAT(result.errors, StrEq("141\n"));
  }
}

INSTANTIATE_TEST_SUITE_P(Commands, LostOutput, testing::ValuesIn(kPrinting));

TEST(LostOutputFile, IsExitCodeFour) {
  for (const char* name : {"/tmp/espalier-test-full.json", "/tmp/espalier-test-full.json.gz",
                           "/tmp/espalier-test-full.jsonl"}) {
    const ProcessResult result =
        RunShell(std::string("ln -sf /dev/full ") + name + "; $E generate T-DGXB200 --gangs 1 -o " +
                 name + "; code=$?; rm " + name + "; exit $code");
    EXPECT_EQ(result.exit_code, 4) << name;
    EXPECT_THAT(result.errors, HasSubstr(std::string(name) + ": cannot be written: "));
  }
}

TEST(LostErrors, LeaveTheExitCode) {
  for (const char* where : {"2>/dev/full", "2>&-"}) {
    EXPECT_EQ(RunShell(std::string("$E place /no-such-file ") + where).exit_code, 3);
    EXPECT_EQ(RunShell(std::string("$E no-such-command ") + where).exit_code, 2);
    EXPECT_EQ(RunShell(std::string("$E ") + where).exit_code, 2);
    const ProcessResult result = RunShell("$E place -v " + kSmall + " " + where);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.output, HasSubstr("3 placed, 1 not placed"));
  }
}

// Files and sockets must not take the place of standard output.
TEST(ClosedDescriptors, StayClosed) {
  const ProcessResult result = RunShell("$E place " + kSmall + " <&- >&- 2>&-");
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.output, IsEmpty());
  EXPECT_EQ(RunShell("$E place - <&-").exit_code, 3);
}

}  // namespace
}  // namespace espalier::lost_output_test
