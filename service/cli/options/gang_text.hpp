// Reads gangs as people write them on a command line.
#pragma once

#include <string_view>

#include "host/engine/request.hpp"
#include "host/model/result.hpp"

namespace espalier {

// Reads a gang such as "8x{cpu=16,nvidia.com/gpu=8}": the number of pods and the requests of each,
// as Kubernetes quantities; without "8x" it is one pod. The flavor stays empty. Errors (kBadInput)
// quote what is wrong and say what is expected.
Result<PodSetRequest> ParseGang(std::string_view text);

}  // namespace espalier
