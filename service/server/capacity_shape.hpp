// A gang shape for which a server reports how many more would fit.
#pragma once

#include <string>

#include "host/engine/request.hpp"

namespace espalier {

struct CapacityShape {
  std::string text;    // as its operator writes it; unique in a server
  PodSetRequest gang;  // of 1 pod or more; its flavor is ignored
};

}  // namespace espalier
