// Splits JSON texts that follow each other, as when `kubectl get ... -o json` writes twice into one
// file.
#pragma once

#include <string_view>
#include <vector>

namespace espalier {

// Splits the text between top-level values by brackets and quotes alone; the last one may be
// incomplete.
std::vector<std::string_view> SplitJsonDocuments(std::string_view text);

}  // namespace espalier
