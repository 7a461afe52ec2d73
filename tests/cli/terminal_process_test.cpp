// Tests what commands show on a terminal, and how shells complete them.
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "tests/cli/process.hpp"

namespace espalier::terminal_process_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kSmall = ESPALIER_SOURCE_DIR "/tests/cli/data/small.yaml";
constexpr const char* kNotPlaced = "\x1b[31mnot placed: ";

std::string FileContent(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Terminal : public testing::Test {
 protected:
  Terminal() {
    setenv("TERM", "xterm", 1);
    for (const char* name : {"NO_COLOR", "COLUMNS"}) unsetenv(name);
  }
  ~Terminal() override { unsetenv("NO_COLOR"); }

  static std::string Shown(const std::vector<std::string>& arguments, unsigned short columns) {
    return TerminalEspalier(arguments, columns).Finish("");
  }
};

TEST_F(Terminal, HasTablesOfItsWidth) {
  EXPECT_THAT(
      Shown({"place", kSmall, "--color", "never"}, 60),
      HasSubstr("\n    not placed: topology \"default\" allows to fit only 2 out\n    of 9"));
  EXPECT_THAT(Shown({"place", kSmall, "--color", "never"}, 0),
              HasSubstr(FileContent(ESPALIER_SOURCE_DIR "/tests/cli/data/small.table")));
}

TEST_F(Terminal, HasColorsUnlessNotWanted) {
  EXPECT_THAT(Shown({"place", kSmall}, 200), HasSubstr(kNotPlaced));
  EXPECT_THAT(Shown({"place", kSmall, "--color", "never"}, 200), Not(HasSubstr("\x1b[")));
  setenv("TERM", "dumb", 1);
  EXPECT_THAT(Shown({"place", kSmall}, 200), Not(HasSubstr("\x1b[")));
  setenv("TERM", "xterm", 1);
  setenv("NO_COLOR", "1", 1);
  EXPECT_THAT(Shown({"place", kSmall}, 200), Not(HasSubstr("\x1b[")));
  EXPECT_THAT(Shown({"place", kSmall, "--color", "always"}, 200), HasSubstr(kNotPlaced));
}

// The input does not come before the bar is seen, however long that takes.
TEST_F(Terminal, ShowsProgressOfWhatTakesLongAndRemovesIt) {
  TerminalEspalier command({"place", "-"}, 200);
  EXPECT_TRUE(command.ReadUntil("reading: "));
  const std::string shown = command.Finish(FileContent(kSmall));
  EXPECT_THAT(shown, AllOf(HasSubstr("\033[K"), HasSubstr("3 placed, 1 not placed")));
}

TEST(Completion, OfBashKnowsCommandsFlagsAndValues) {
  const auto complete = [](const std::string& words, int at) {
    return RunShell("bash -c 'eval \"$($0 completion bash)\"; COMP_WORDS=(" + words +
                    "); COMP_CWORD=" + std::to_string(at) +
                    "; _espalier; echo \"${COMPREPLY[*]}\"' \"$E\"")
        .output;
  };
  EXPECT_EQ(complete("espalier pl", 1), "place\n");
  EXPECT_THAT(complete("espalier \"\"", 1), AllOf(HasSubstr("snapshot"), HasSubstr("completion")));
  EXPECT_EQ(complete("espalier place --pict", 2), "--picture\n");
  EXPECT_EQ(complete("espalier place --output j", 3), "json\n");
  EXPECT_EQ(complete("espalier cycle -o \"\"", 3), "table wide json jsonl\n");
  EXPECT_EQ(complete("espalier place " ESPALIER_SOURCE_DIR "/README", 2),
            ESPALIER_SOURCE_DIR "/README.md\n");
}

TEST(Completion, IsThereForZshAndFish) {
  EXPECT_THAT(RunEspalier({"completion", "zsh"}).output,
              AllOf(testing::StartsWith("(( $+functions[compdef] )) || { autoload -Uz compinit && "
                                        "compinit }\nautoload -Uz bashcompinit"),
                    HasSubstr("place")));
  EXPECT_THAT(RunEspalier({"completion", "fish"}).output,
              AllOf(HasSubstr("__fish_use_subcommand -f -a place"),
                    HasSubstr("'__fish_seen_subcommand_from place' -s o -l output -x -a "
                              "'table wide json yaml'")));
  EXPECT_EQ(RunEspalier({"completion", "tcsh"}).exit_code, 2);
}

}  // namespace
}  // namespace espalier::terminal_process_test
