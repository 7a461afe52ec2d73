// `espalier resize` as a process; all but this is in tests/cli/transcripts/resize*.txt.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"
#include "tests/cli_cycle/files.hpp"

namespace espalier::resize_process_test {
namespace {

// The client in Python is held to the same file.
TEST(ResizeAcrossClusters, ScriptsSeeWhoWritesWhat_W6) {
  const ProcessResult result =
      RunEspalier({"resize", "--multikueue", "--manager", kData + "multikueue/manager.yaml",
                   "--worker", "east=" + kData + "multikueue/worker.yaml", "-o", "json"});
  EXPECT_EQ(result.output, FileContent(kData + "multikueue/up.json"));
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

}  // namespace
}  // namespace espalier::resize_process_test
