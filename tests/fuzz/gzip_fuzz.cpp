// Input files of unknown content: gzip or plain, JSON or YAML. Packing makes no difference.
#include <cstdio>
#include <optional>

#include <zlib.h>

#include "host/readers/cluster_files.hpp"
#include "host/readers/input_bytes.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace espalier::fuzz {
namespace {

std::string Gzip(std::string_view bytes) {
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib only reads it
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// The text of a file in blocks; nothing where it cannot be unpacked.
std::optional<std::string> InBlocks(std::string_view bytes) {
  InputStream stream("fuzzed", fmemopen(const_cast<char*>(bytes.data()), bytes.size(), "rb"));
  TextBlocks blocks(stream);
  std::string text;
  while (const auto block = blocks.Next()) {
    if (block->empty()) return text;
    text += *block;
  }
  return std::nullopt;
}

}  // namespace

void RunOne(std::string_view bytes) {
  InputLimit limit(kMostInputBytes);
  const auto read = ReadClusterText("input", std::string(bytes));
  if (IsGzip(bytes)) {
    const auto text = Gunzip(bytes, 0, limit);
    const auto in_blocks = InBlocks(bytes);
    Expect(text.has_value() == in_blocks.has_value(), "blocks fail where all at once does");
    Expect(!text || *text == *in_blocks, "blocks are the text");
    Expect(text || !read, "an input whose gzip is damaged is refused");
    return;
  }
  const std::string packed = Gzip(bytes);
  const auto unpacked = Gunzip(packed, 16, limit);
  Expect(unpacked && *unpacked == bytes, "gzip is undone");
  Expect(InBlocks(packed) == bytes, "gzip is undone in blocks");
  const auto reread = ReadClusterText("input", packed);
  Expect(read.has_value() == reread.has_value(), "gzip changes nothing");
  if (!read) Expect(read.error() == reread.error(), "gzip changes no message");
}

}  // namespace espalier::fuzz
