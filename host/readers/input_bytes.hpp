// Reads the bytes of an input: a file, standard input or gzip.
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
#include "host/model/work_budget.hpp"

namespace espalier {

// Largest size of a file, plain or unpacked: the JSON parser counts in 32 bits.
inline constexpr std::uint64_t kMostInputBytes = 0xFFFFFFFF;

// Bounds what one command reads in all, plain or unpacked, so that neither endless input nor a gzip
// bomb can use up the memory.
class InputLimit {
 public:
  explicit InputLimit(std::uint64_t bytes) : bytes_(bytes), left_(bytes) {}

  std::uint64_t bytes() const { return bytes_; }
  // Returns how many bytes may still be read of one file.
  std::uint64_t left() const { return std::min(left_, kMostInputBytes); }
  // Counts `bytes` as read. Returns Exceeded() when they are more than what is left.
  Result<void> Take(std::uint64_t bytes);
  // Returns the error for input that is longer than left(), without the name of the file, and sets
  // what is left to 0.
  tl::unexpected<Error> Exceeded();
  bool exceeded() const { return exceeded_; }

 private:
  std::uint64_t bytes_;
  std::uint64_t left_;
  bool exceeded_ = false;
};

// Returns the default input limit: a sixteenth of the machine's memory, as a byte of JSON takes up
// to 15 bytes while it is parsed, and at most what the parser can count.
std::uint64_t DefaultMaxInput();

struct InputFile {
  std::string path;          // `-`: standard input
  bool from_folder = false;  // found in a folder, not named by the user
};

// Replaces every folder by the files in it and below it that end in .json, .yaml or .yml, each also
// with .gz, in order of their paths. Other paths, and `-` for standard input, stay as they are.
// Each file found counts as a KiB of the limit.
Result<std::vector<InputFile>> ExpandPaths(const std::vector<std::string>& paths,
                                           InputLimit& limit);

// Returns the name of a path for messages: "standard input" for `-`.
std::string InputName(const std::string& path);

// The bytes of one input.
class InputStream {
 public:
  // Opens a file, or standard input for `-`. Errors name it.
  static Result<InputStream> Open(const std::string& path);
  // Takes ownership of `file`; closes it unless it is standard input.
  InputStream(std::string path, std::FILE* file);

  const std::string& path() const { return path_; }
  // Reads up to `size` bytes and returns how many there were; 0 at the end and when reading failed.
  std::size_t Read(char* bytes, std::size_t size);
  bool failed() const { return std::ferror(file_.get()) != 0; }
  // Makes Rewind() possible; must be called before anything is read. Copies what comes through a
  // pipe to an unnamed file in TMPDIR, /var/tmp or /tmp.
  void KeepForRewind();
  // Restarts at the beginning; nothing is copied after that. Returns an error when the copy found
  // no room.
  Result<void> Rewind();

 private:
  using File = std::unique_ptr<std::FILE, void (*)(std::FILE*)>;

  std::string path_;
  File file_;
  std::int64_t start_ = 0;  // where it began in the file; negative: it can be read only once
  File copy_;               // of what was read; null: none is kept, or no room was left
  bool replays_ = false;    // the copy is read first
  bool began_ = false;      // whether anything was read
};

// Returns everything in an input, which is at most what is left of the limit and is not counted
// yet, as it may be gzip. Calls `on_bytes` with the number of bytes that came since the last call.
// The string has capacity for `spare` more bytes. Errors name the file.
Result<std::string> ReadBytes(InputStream& stream, std::size_t spare, InputLimit& limit,
                              const std::function<void(std::size_t)>& on_bytes);

// The text of an input, unpacked, block by block.
class TextBlocks {
 public:
  // Reads `stream`, which must outlive it.
  explicit TextBlocks(InputStream& stream);
  ~TextBlocks();
  TextBlocks(const TextBlocks&) = delete;
  TextBlocks& operator=(const TextBlocks&) = delete;

  // Returns the next block, valid until the next call: empty at the end of the text, nullopt when
  // the input cannot be read or unpacked.
  std::optional<std::string_view> Next();
  // Returns the number of bytes read from the input.
  std::uint64_t bytes_read() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

bool IsGzip(std::string_view bytes);
// Returns all members of a gzip stream, with capacity for `spare` more bytes. They are at most what
// is left of the limit and are not counted yet. Charges `budget` for them; the error is why that
// was stopped, if it was.
Result<std::string> Gunzip(std::string_view bytes, std::size_t spare, InputLimit& limit,
                           WorkBudget& budget = WorkBudget::Unlimited());

// Returns everything in a file, or in standard input for `-`, unpacked where it is gzip: at most
// what is left of the limit, and not counted yet. Errors name the file.
Result<std::string> ReadUnpacked(const std::string& path, InputLimit& limit);

}  // namespace espalier
