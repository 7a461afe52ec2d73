// Names the folders with the input files of tests of the command.
#pragma once

#include <string>

namespace espalier {

inline const std::string kData = ESPALIER_SOURCE_DIR "/tests/cli/data/";
inline const std::string kDumps = ESPALIER_SOURCE_DIR "/tests/data/dumps/";

}  // namespace espalier
