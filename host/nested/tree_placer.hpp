// Places trees for the engine with the decision of nested gangs.
#pragma once

#include <functional>
#include <memory>

#include "host/engine/tree_placer.hpp"
#include "host/nested/nested_runner.hpp"

namespace espalier {

// Returns a placer that decides with runners from `make_runner`, which is called whenever more
// threads place trees at once than before and never returns null.
std::unique_ptr<TreePlacer> MakeTreePlacer(
    std::function<std::unique_ptr<NestedRunner>()> make_runner);

}  // namespace espalier
