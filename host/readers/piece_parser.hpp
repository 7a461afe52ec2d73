// Parses pieces of JSON texts on all threads.
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

// A document, or some of its items, without the fields that no reader uses.
struct ParsedPiece {
  bool is_items = false;
  simdjson::dom::document json;  // with is_items: a list of the items
  // Nodes among the items that were read without any finding, by index; the list holds only their
  // names. They depend on no other object, so they are read at once.
  std::map<std::size_t, Node> nodes;
};

// Returns the next block of an input's text: empty at its end, nullopt when it cannot be read.
using NextBlock = std::function<std::optional<std::string_view>()>;

// Parses a JSON text while it is read, in pieces of about `piece_bytes`, and returns them in order:
// the pieces of a document's items, then the document, whose list of items is empty where there
// were any. Returns nullopt for what is not a sequence of valid JSON objects, and for numbers out
// of range, and once `budget` is stopped. Charges the memory of nodes to it.
std::optional<std::vector<ParsedPiece>> ParseInPieces(const NextBlock& next,
                                                      std::size_t piece_bytes, WorkBudget& budget);

}  // namespace espalier
