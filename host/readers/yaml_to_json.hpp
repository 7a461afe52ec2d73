// YAML manifests as JSON text, so that one set of readers serves both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/model/result.hpp"

namespace espalier {

// One JSON text per YAML document; empty documents are left out. Plain scalars are typed by
// YAML 1.1 as kubectl does (`yes`, `on`, 0x1f, 017 and 1_000 are not strings; quoted ones are);
// times stay strings. Anchors and aliases work; merge keys (`<<`) are refused. The result is at
// most 16 MiB + 8 times the input, so that nested aliases cannot exhaust memory. Errors name line
// and column.
Result<std::vector<std::string>> YamlToJson(std::string_view text);

}  // namespace espalier
