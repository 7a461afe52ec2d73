// The files that these tests read.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace espalier {

inline const std::string kData = ESPALIER_SOURCE_DIR "/tests/cli_cycle/data/";
inline const std::string kDumps = ESPALIER_SOURCE_DIR "/tests/data/dumps/";

inline std::string FileContent(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace espalier
