// The bytes of an input: files, standard input, gzip.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/result.hpp"

namespace espalier {

// No file may be larger, plain or unpacked: the JSON parser counts in 32 bits.
inline constexpr std::uint64_t kMostInputBytes = 0xFFFFFFFF;

// Bounds what one command reads in all, plain or unpacked, so that neither endless input nor a gzip
// bomb can use up the memory.
class InputLimit {
 public:
  explicit InputLimit(std::uint64_t bytes) : bytes_(bytes), left_(bytes) {}

  std::uint64_t bytes() const { return bytes_; }
  // Returns how many bytes may still be read of one file.
  std::uint64_t left() const { return std::min(left_, kMostInputBytes); }
  // Counts `bytes` as read. Returns Exceeded() where they are more than what is left.
  Result<void> Take(std::uint64_t bytes);
  // Returns the error for input that is longer than left(), without the name of the file. From then
  // on nothing is left.
  tl::unexpected<Error> Exceeded();
  bool exceeded() const { return exceeded_; }

 private:
  std::uint64_t bytes_;
  std::uint64_t left_;
  bool exceeded_ = false;
};

// Returns the limit to read by where nobody gives one: a sixteenth of the machine's memory, as a
// byte of JSON takes up to 15 bytes while it is parsed, and at most what the parser can count.
std::uint64_t DefaultMaxInput();

struct InputFile {
  std::string path;          // `-`: standard input
  bool from_folder = false;  // found in a folder, not named
};

// Replaces every folder by the files in it and below it that end in .json, .yaml or .yml, each also
// with .gz, in order of their paths. Other paths, and `-` for standard input, stay as they are.
// Each file found counts as a KiB of the limit.
Result<std::vector<InputFile>> ExpandPaths(const std::vector<std::string>& paths,
                                           InputLimit& limit);

// Returns how a path is called in messages: "standard input" for `-`.
std::string InputName(const std::string& path);

// Returns everything in a file, or in standard input for `-`. It is at most what is left of the
// limit and is not counted yet, as it may be gzip. `on_bytes` hears how many bytes came since the
// last call. The string has room for `spare` more bytes without moving. Errors name the file.
Result<std::string> ReadBytes(const std::string& path, std::size_t spare, InputLimit& limit,
                              const std::function<void(std::size_t)>& on_bytes);

// The text of a file, unpacked, block by block.
class TextBlocks {
 public:
  // Opens a regular file; nothing for what can be read only once, and for what cannot be opened.
  static std::optional<TextBlocks> Open(const std::string& path);
  // Reads and closes `file`.
  explicit TextBlocks(std::FILE* file);
  ~TextBlocks();
  TextBlocks(TextBlocks&&) noexcept;
  TextBlocks& operator=(TextBlocks&&) = delete;

  // Returns the next block, valid until the next call; empty at the end of the text, nothing where
  // the file cannot be read or unpacked.
  std::optional<std::string_view> Next();
  // Returns the bytes that were read of the file.
  std::uint64_t bytes_read() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

bool IsGzip(std::string_view bytes);
// Returns all members of a gzip stream, with room for `spare` more bytes. They are at most what is
// left of the limit and are not counted yet.
Result<std::string> Gunzip(std::string_view bytes, std::size_t spare, InputLimit& limit);

}  // namespace espalier
