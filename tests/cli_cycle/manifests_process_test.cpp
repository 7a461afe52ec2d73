// A folder of what users write, as Kueue's documents show it and with what goes wrong in practice:
// what `espalier place` and `espalier cycle` make of all of it, byte for byte.
#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"
#include "tests/cli_cycle/files.hpp"

namespace espalier {
namespace {

using testing::IsEmpty;

// With a folder of tests/data/manifests; from the root, so that messages have the same paths in
// every clone.
ProcessResult RunOn(const std::string& command, const std::string& folder) {
  return RunShell("cd " ESPALIER_SOURCE_DIR " && \"$E\" " + command + " tests/data/manifests/" +
                  folder);
}

TEST(Manifests, AreAnswered) {
  for (const auto& [command, golden] : {std::array{"place", "manifests.place"},
                                        std::array{"cycle --until-stable", "manifests.cycle"}}) {
    const ProcessResult result = RunOn(command, "answered");
    EXPECT_EQ(result.exit_code, 1) << "some do not fit";
    EXPECT_EQ(result.output, FileContent(kData + golden)) << command;
    EXPECT_EQ(result.errors, FileContent(kData + golden + "-notes")) << command;
  }
}

TEST(Manifests, WithTyposAreRefusedWhenStrict) {
  const ProcessResult result = RunOn("place --strict", "answered");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.output, IsEmpty());
  EXPECT_EQ(result.errors, FileContent(kData + "manifests.strict"));
}

TEST(Manifests, ThatCannotBeReadAreAllNamed) {
  for (const char* command : {"place", "cycle"}) {
    const ProcessResult result = RunOn(command, "refused");
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_THAT(result.output, IsEmpty());
    EXPECT_EQ(result.errors, FileContent(kData + "manifests.refused"));
  }
}

}  // namespace
}  // namespace espalier
