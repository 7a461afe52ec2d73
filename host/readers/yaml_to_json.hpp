// Converts YAML manifests to JSON text, so that one set of readers serves both.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/result.hpp"
#include "host/model/work_budget.hpp"

namespace espalier {

inline constexpr std::size_t kLongScalar = 128;  // bytes

// Returns one JSON text per YAML document; empty documents are left out. Plain scalars are typed by
// YAML 1.1 as kubectl does (`yes`, `on`, 0x1f, 017 and 1_000 are not strings; quoted ones are);
// times stay strings. Anchors, aliases and merge keys (`<<`) work: what a mapping has of its own
// stays, whatever it merges. So that no text can exhaust memory, the result and what anchors and
// merge keys stand for are together at most 16 MiB + 8 times the input, and at most `most_bytes`
// plus a few for the last brackets, and a scalar is at most 2 MiB. Errors are those of SyntaxError:
// line, column and the line itself. Scalars of `long_scalar` bytes and more bypass the parser,
// which saves time and changes nothing else. Charges `budget` for what it makes; once that is
// stopped the result is an error, whose text means nothing.
Result<std::vector<std::string>> YamlToJson(
    std::string_view text, std::size_t most_bytes = std::numeric_limits<std::size_t>::max(),
    std::size_t long_scalar = kLongScalar, WorkBudget& budget = WorkBudget::Unlimited());

}  // namespace espalier
