// Where the input files of tests of the command are.
#pragma once

#include <string>

namespace espalier {

inline const std::string kData = ESPALIER_SOURCE_DIR "/tests/cli/data/";
inline const std::string kDumps = ESPALIER_SOURCE_DIR "/tests/data/dumps/";

}  // namespace espalier
