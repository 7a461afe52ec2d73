// The files of gangs that tests of commands read.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace espalier {

inline const std::string kData = ESPALIER_SOURCE_DIR "/tests/data/workloads/";
inline const std::string kCluster = kData + "cluster.yaml";

inline std::string FileContent(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace espalier
