// JSON texts one after the other, as `kubectl get ... -o json` twice into one file leaves them.
#pragma once

#include <string_view>
#include <vector>

namespace espalier {

// Cuts the text between top-level values by brackets and quotes alone; the last one may be
// incomplete.
std::vector<std::string_view> SplitJsonDocuments(std::string_view text);

}  // namespace espalier
