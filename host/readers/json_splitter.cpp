#include "host/readers/json_splitter.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

namespace espalier {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";
constexpr std::string_view kItemsBegin = R"({"items":[)";
constexpr std::string_view kItemsEnd = "]}";
constexpr std::string_view kNameOfItems = R"("items")";

constexpr std::uint64_t kOnes = 0x0101010101010101;

// Marks the bytes of `word` that are `c`, exactly up to the first one.
constexpr std::uint64_t BytesThatAre(std::uint64_t word, char c) {
  const std::uint64_t zero_where_c = word ^ (kOnes * static_cast<unsigned char>(c));
  return (zero_where_c - kOnes) & ~zero_where_c & (kOnes << 7);
}

// The offset of the first byte from `at` on that `marks(word)` marks in eight bytes at a time and
// `is(c)` tells by itself; the size of the text where there is none.
std::size_t Find(std::string_view text, std::size_t at, auto marks, auto is) {
  if constexpr (std::endian::native == std::endian::little) {
    for (; at + sizeof(std::uint64_t) <= text.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + at, sizeof(word));
      const std::uint64_t marked = marks(word);
      if (marked != 0) return at + static_cast<std::size_t>(std::countr_zero(marked)) / 8;
    }
  }
  while (at < text.size() && !is(text[at])) ++at;
  return at;
}

std::size_t FindBracketOrQuote(std::string_view text, std::size_t at) {
  constexpr char kLower = 0x20;  // makes braces of brackets
  return Find(
      text, at,
      [](std::uint64_t word) {
        const std::uint64_t lower = word | (kOnes * kLower);
        return BytesThatAre(lower, '{') | BytesThatAre(lower, '}') | BytesThatAre(word, '"');
      },
      [](char c) {
        return static_cast<char>(c | kLower) == '{' || static_cast<char>(c | kLower) == '}' ||
               c == '"';
      });
}

std::size_t FindQuoteOrBackslash(std::string_view text, std::size_t at) {
  return Find(
      text, at,
      [](std::uint64_t word) { return BytesThatAre(word, '"') | BytesThatAre(word, '\\'); },
      [](char c) { return c == '"' || c == '\\'; });
}

std::size_t FindNoSpace(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(kSpaces, at), text.size());
}

}  // namespace

bool JsonSplitter::Add(std::string_view bytes, std::vector<JsonPiece>& pieces) {
  bytes_ = bytes;
  at_ = from_ = 0;
  while (at_ < bytes.size()) {
    if (escaped_) {
      escaped_ = false;
      ++at_;
    } else if (in_string_) {
      EndString();
    } else if (depth_ == 0) {
      if (!BeginDocument()) return false;
    } else if (cut_next_) {
      if (!Cut(pieces)) return false;
    } else {
      at_ = FindBracketOrQuote(bytes, at_);
      if (at_ == bytes.size()) break;
      if (bytes[at_] == '"') {
        if (depth_ == 1) {
          Flush();
          name_begin_ = document_.size();
        }
        in_string_ = true;
        ++at_;
      } else if (bytes[at_] == '{' || bytes[at_] == '[') {
        Open();
      } else if (!Close(pieces)) {
        return false;
      }
    }
  }
  Flush();
  return true;
}

// Looks for the next document.
bool JsonSplitter::BeginDocument() {
  at_ = from_ = FindNoSpace(bytes_, at_);
  if (at_ == bytes_.size()) return true;
  had_items_ = after_comma_ = false;
  name_end_ = 0;
  depth_ = 1;
  return bytes_[at_++] == '{';
}

// Looks for the end of the string, or for the next escape in it.
void JsonSplitter::EndString() {
  at_ = FindQuoteOrBackslash(bytes_, at_);
  if (at_ == bytes_.size()) return;
  escaped_ = bytes_[at_] == '\\';
  in_string_ = escaped_;
  ++at_;
  if (in_string_ || depth_ != 1) return;
  Flush();
  if (std::string_view(document_).substr(name_begin_) == kNameOfItems) {
    name_end_ = document_.size();
  }
}

void JsonSplitter::Open() {
  bool begins_items = bytes_[at_] == '[' && depth_ == 1 && !had_items_;
  if (begins_items) {
    Flush();
    begins_items = IsAfterNameOfItems();
  }
  ++at_;
  ++depth_;
  if (!begins_items) return;
  Flush();
  in_items_ = had_items_ = true;
  BeginPiece();
}

void JsonSplitter::BeginPiece() {
  items_.reserve(kItemsBegin.size() + piece_bytes_ + spare_);
  items_ = kItemsBegin;
}

bool JsonSplitter::IsAfterNameOfItems() const {
  if (name_end_ == 0) return false;
  const std::string_view between = std::string_view(document_).substr(name_end_);
  const std::size_t colon = between.find_first_not_of(kSpaces);
  return colon != between.npos && between[colon] == ':' &&
         between.find_first_not_of(kSpaces, colon + 1) == between.npos;
}

bool JsonSplitter::Close(std::vector<JsonPiece>& pieces) {
  --depth_;
  if (in_items_ && depth_ == 1) {
    Flush();
    in_items_ = false;
    if (!EmitItems(pieces)) return false;
  }
  ++at_;
  if (in_items_) {
    cut_next_ = depth_ == 2 && items_.size() + (at_ - from_) >= piece_bytes_;
  } else if (depth_ == 0) {
    Flush();
    document_.reserve(document_.size() + spare_);
    pieces.push_back({std::exchange(document_, {}), false});
  }
  return true;
}

// Cuts at the comma behind an item; anything else is not its place.
bool JsonSplitter::Cut(std::vector<JsonPiece>& pieces) {
  at_ = FindNoSpace(bytes_, at_);
  if (at_ == bytes_.size()) return true;
  cut_next_ = false;
  if (bytes_[at_] != ',') return true;
  Flush();
  if (!EmitItems(pieces)) return false;
  from_ = ++at_;
  after_comma_ = true;
  BeginPiece();
  return true;
}

// Returns false where a comma has no item behind it, which the pieces would hide.
bool JsonSplitter::EmitItems(std::vector<JsonPiece>& pieces) {
  const bool blank = items_.find_first_not_of(kSpaces, kItemsBegin.size()) == items_.npos;
  if (!blank) {
    items_.reserve(items_.size() + kItemsEnd.size() + spare_);
    items_ += kItemsEnd;
    pieces.push_back({std::exchange(items_, {}), true});
  }
  return !blank || !after_comma_;
}

void JsonSplitter::Flush() {
  (in_items_ ? items_ : document_).append(bytes_, from_, at_ - from_);
  from_ = at_;
}

}  // namespace espalier
