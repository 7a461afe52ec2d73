// Pieces of JSON texts as documents of what is read of them, on all threads.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "host/model/node.hpp"
#include "host/model/work_budget.hpp"

namespace espalier {

// A document, or some of its items, without the fields that nobody reads.
struct ParsedPiece {
  bool is_items = false;
  simdjson::dom::document json;  // of the items: a list of them
  // Nodes among the items that there is nothing to say about. They depend on no other object and
  // are read at once; in the list are their names.
  std::map<std::size_t, Node> nodes;
};

// Returns the next block of an input's text, empty at its end; nothing where it cannot be read.
using NextBlock = std::function<std::optional<std::string_view>()>;

// Parses a JSON text while it is read, in pieces of about `piece_bytes`, and returns them in order:
// the pieces of a document's items, then the document, whose list of items is empty where there
// were any. Returns nothing for what is not sound JSON objects one after the other, and for numbers
// out of range. What nodes take is charged to `budget`.
std::optional<std::vector<ParsedPiece>> ParseInPieces(const NextBlock& next,
                                                      std::size_t piece_bytes, WorkBudget& budget);

}  // namespace espalier
