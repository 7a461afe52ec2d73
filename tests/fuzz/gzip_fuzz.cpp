// Input files of unknown content: gzip or plain, JSON or YAML. Packing makes no difference.
#include <array>

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

}  // namespace

void RunOne(std::string_view bytes) {
  InputLimit limit(kMostInputBytes);
  const auto read = ReadClusterText("input", std::string(bytes));
  if (IsGzip(bytes)) {
    const auto text = Gunzip(bytes, 0, limit);
    Expect(text || !read, "an input whose gzip is damaged is refused");
    return;
  }
  const std::string packed = Gzip(bytes);
  const auto unpacked = Gunzip(packed, 16, limit);
  Expect(unpacked && *unpacked == bytes, "gzip is undone");
  const auto reread = ReadClusterText("input", packed);
  Expect(read.has_value() == reread.has_value(), "gzip changes nothing");
  if (!read) Expect(read.error() == reread.error(), "gzip changes no message");
}

}  // namespace espalier::fuzz
