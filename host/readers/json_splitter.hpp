// A JSON text cut into pieces that can be parsed by themselves, while it is being read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

struct JsonPiece {
  // One JSON text: a whole document, or some items of one as {"items":[...]}. A document whose
  // items came in pieces before it has an empty list of items.
  std::string text;
  bool is_items = false;
};

// Cuts documents, one after the other, by brackets and quotes alone: the list `items` of a
// top-level object between any two items, everything else between documents. The pieces are
// sound JSON if and only if the whole text is; whoever parses them finds out.
class JsonSplitter {
 public:
  // A piece of items ends with the first that makes it `piece_bytes` long. Every text has `spare`
  // bytes of capacity behind its end.
  JsonSplitter(std::size_t piece_bytes, std::size_t spare)
      : piece_bytes_(piece_bytes), spare_(spare) {}

  // Takes the next bytes of the text and appends the pieces that have become complete. Returns
  // false where the text cannot be cut: it is no JSON, or some document is no object.
  bool Add(std::string_view bytes, std::vector<JsonPiece>& pieces);

  // Returns whether nothing is left over at the end of the text.
  bool Complete() const { return depth_ == 0; }

 private:
  bool BeginDocument();
  void EndString();
  void Open();
  void BeginPiece();
  bool Close(std::vector<JsonPiece>& pieces);
  bool Cut(std::vector<JsonPiece>& pieces);
  bool EmitItems(std::vector<JsonPiece>& pieces);
  bool IsAfterNameOfItems() const;
  void Flush();

  const std::size_t piece_bytes_;
  const std::size_t spare_;

  std::string_view bytes_;  // what is being cut
  std::size_t at_ = 0;      // in it
  std::size_t from_ = 0;    // what comes from here on up to `at_` is in neither string yet

  std::string document_;  // without items that were cut out
  std::string items_;     // of the next piece
  std::size_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;    // the next character of a string is
  bool in_items_ = false;   // of a top-level object; depth 2 is between them
  bool had_items_ = false;  // the document's list was cut out
  bool after_comma_ = false;
  bool cut_next_ = false;       // an item has ended and the piece is long enough
  std::size_t name_begin_ = 0;  // offset of the latest string of depth 1 in the document
  std::size_t name_end_ = 0;    // behind it
};

}  // namespace espalier
