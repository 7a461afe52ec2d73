// Splits a JSON text, while it is read, into pieces that can be parsed by themselves.
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

// Splits consecutive documents by brackets and quotes alone: the list `items` of a top-level object
// between any two items, everything else between documents. The pieces are valid JSON if and only
// if the whole text is, which only their parser finds out.
class JsonSplitter {
 public:
  // Makes pieces of items that end with the first item that reaches `piece_bytes`. Every text has
  // `spare` bytes of capacity after its end.
  JsonSplitter(std::size_t piece_bytes, std::size_t spare)
      : piece_bytes_(piece_bytes), spare_(spare) {}

  // Reads the next bytes of the text and appends the pieces that have become complete. Returns
  // false when the text cannot be split: it is not JSON, or some document is not an object.
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

  std::string_view bytes_;  // the bytes passed to Add
  std::size_t at_ = 0;      // position in bytes_
  std::size_t from_ = 0;    // bytes from here up to at_ are in neither string yet

  std::string document_;  // without items that were cut out
  std::string items_;     // items of the next piece
  std::size_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;    // the next character of a string is escaped
  bool in_items_ = false;   // inside the list of a top-level object; depth 2 is between items
  bool had_items_ = false;  // items of the document were cut out
  bool after_comma_ = false;
  bool cut_next_ = false;       // an item has ended and the piece is long enough
  std::size_t name_begin_ = 0;  // offset of the latest string of depth 1 in the document
  std::size_t name_end_ = 0;    // offset of its end
};

}  // namespace espalier
