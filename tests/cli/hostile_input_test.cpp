// Input that is endless, or much larger than it looks, ends in an error that names it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"
#include "tests/sanitizers.hpp"

namespace espalier::hostile_input_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class HostileInput : public testing::TestWithParam<std::string> {
 protected:
  static void ExpectRefused(const ProcessResult& result, const std::string& name) {
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_THAT(result.errors,
                AllOf(HasSubstr("espalier: "), HasSubstr(name),
                      HasSubstr(": the input is larger than "), HasSubstr("--max-input")));
  }
  static std::string Command() { return "\"$E\" " + GetParam() + " "; }
};

TEST_P(HostileInput, EndlessStandardInput) {
  ExpectRefused(RunShell("cat /dev/zero | " + Command() + "--max-input 8MiB -"), "standard input");
}

TEST_P(HostileInput, EndlessFiles) {
  ExpectRefused(RunShell(Command() + "--max-input 8MiB /dev/zero"), "/dev/zero");
  ExpectRefused(RunShell("d=$(mktemp -d); mkfifo $d/fifo; cat /dev/zero > $d/fifo & " + Command() +
                         "--max-input 8MiB $d/fifo; code=$?; rm -r $d; exit $code"),
                "/fifo");
}

TEST_P(HostileInput, GzipBombs) {
  ExpectRefused(
      RunShell("head -c 50000000 /dev/zero | gzip -1 | " + Command() + "--max-input 8MiB -"),
      "standard input");
}

// The limit comes from the memory there is. Sanitizers reserve more than any such limit.
#if !defined(ESPALIER_SANITIZED)
TEST_P(HostileInput, EndlessInputInLittleMemory) {
  ExpectRefused(RunShell("ulimit -v 2000000; cat /dev/zero | " + Command() + "-"),
                "standard input: the input is larger than 122 MiB in all");
}
#endif

INSTANTIATE_TEST_SUITE_P(Commands, HostileInput,
                         testing::Values("place", "cycle", "ungate --workload a/b",
                                         "validate-objects", "conformance"));

TEST(HostileArguments, RegularExpressionsAreBounded) {
  for (const char* expression : {"(", "(a{1000}){1000}", "[", "*"}) {
    const ProcessResult result = RunEspalier({"conformance", "--filter", expression, "x"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.errors, HasSubstr("not a regular expression: "));
  }
  const std::string nested = std::string(30'000, '(') + std::string(30'000, ')');
  EXPECT_EQ(RunEspalier({"conformance", "--filter", nested, "/no/such/file"}).exit_code, 3);
}

TEST(MaxInput, TakesUnits) {
  EXPECT_EQ(RunEspalier({"place", "--max-input", "1KiB", "-"}, std::string(1024, ' ')).exit_code,
            0);
  EXPECT_EQ(RunEspalier({"place", "--max-input", "1KiB", "-"}, std::string(1025, ' ')).exit_code,
            3);
  for (const char* wrong : {"-1", "many", "1 parsec", "99999999999999999999", ""}) {
    const ProcessResult result = RunEspalier({"place", "--max-input", wrong, "-"});
    EXPECT_EQ(result.exit_code, 2) << wrong;
    EXPECT_THAT(result.errors, HasSubstr("--max-input"));
    EXPECT_THAT(result.output, IsEmpty());
  }
}

}  // namespace
}  // namespace espalier::hostile_input_test
