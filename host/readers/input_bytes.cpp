#include "host/readers/input_bytes.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include "host/model/machine_memory.hpp"

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunk = std::size_t{1} << 20;
// A path takes memory, and so does what is kept of an empty file.
constexpr std::uint64_t kBytesOfAFile = 1024;

bool HasInputName(std::string_view name) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return name.ends_with(".json") || name.ends_with(".yaml") || name.ends_with(".yml");
}

tl::unexpected<Error> NotReadable(const std::string& path, const std::string& reason) {
  return tl::unexpected<Error>(
      Error{ErrorClass::kNotFound, fmt::format("{}: cannot be read: {}", InputName(path), reason)});
}

tl::unexpected<Error> TooLarge(const std::string& path, InputLimit& limit) {
  return BadInput(fmt::format("{}: {}", InputName(path), limit.Exceeded().value().message));
}

void Close(std::FILE* file) {
  if (file != stdin) std::fclose(file);
}

// Returns a new file that is gone when it is closed; null where none can be made.
std::FILE* OpenNameless() {
  for (const char* folder : {static_cast<const char*>(std::getenv("TMPDIR")), "/var/tmp", "/tmp"}) {
    if (folder == nullptr) continue;
    std::string path = std::string(folder) + "/espalier-XXXXXX";
    const int fd = mkostemp(path.data(), O_CLOEXEC);
    if (fd < 0) continue;
    unlink(path.c_str());
    return fdopen(fd, "w+b");
  }
  return nullptr;
}

// Makes `bytes` longer by one chunk, and keeps `spare` bytes of capacity behind it.
void AddRoom(std::string& bytes, std::size_t spare) {
  const std::size_t wanted = bytes.size() + kChunk + spare;
  if (bytes.capacity() < wanted) bytes.reserve(2 * wanted);
  bytes.resize(bytes.size() + kChunk);
}

// One inflate state, ended in any case.
class Inflater {
 public:
  Inflater() { ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK; }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  bool ready() const { return ready_; }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

}  // namespace

Result<InputStream> InputStream::Open(const std::string& path) {
  std::FILE* file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) return NotReadable(path, std::strerror(errno));
  return InputStream(path, file);
}

InputStream::InputStream(std::string path, std::FILE* file)
    : path_(std::move(path)), file_(file, Close), start_(ftello(file)), copy_(nullptr, Close) {}

void InputStream::KeepForRewind() {
  if (start_ < 0) copy_.reset(OpenNameless());
}

std::size_t InputStream::Read(char* bytes, std::size_t size) {
  began_ = true;
  if (replays_) {
    const std::size_t got = std::fread(bytes, 1, size, copy_.get());
    if (got > 0) return got;
    replays_ = false;
    copy_.reset();
  }
  const std::size_t got = std::fread(bytes, 1, size, file_.get());
  if (copy_ && std::fwrite(bytes, 1, got, copy_.get()) != got) copy_.reset();
  return got;
}

Result<void> InputStream::Rewind() {
  if (!began_) return {};
  if (start_ >= 0) {
    std::clearerr(file_.get());
    if (fseeko(file_.get(), start_, SEEK_SET) == 0) return {};
    return NotReadable(path_, std::strerror(errno));
  }
  if (!copy_ || std::fflush(copy_.get()) != 0 || std::fseek(copy_.get(), 0, SEEK_SET) != 0) {
    return NotReadable(path_,
                       "it has to be read again from the beginning, and there was no room for a "
                       "copy in TMPDIR, /var/tmp or /tmp; want it in a file");
  }
  replays_ = true;
  return {};
}

class TextBlocks::Impl {
 public:
  explicit Impl(InputStream& stream) : stream_(stream) {}

  std::optional<std::string_view> Next() {
    if (!inflater_) {
      const std::optional<std::string_view> block = Read();
      if (!block || !begins_ || !IsGzip(*block)) {
        begins_ = false;
        return block;
      }
      inflater_.emplace();
      if (!inflater_->ready()) return std::nullopt;
      SetInput(*block);
      text_.resize(kChunk);
    }
    return Inflate();
  }

  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  std::optional<std::string_view> Read() {
    bytes_.resize(kChunk);
    const std::size_t got = stream_.Read(bytes_.data(), kChunk);
    if (stream_.failed()) return std::nullopt;
    bytes_read_ += got;
    return std::string_view(bytes_.data(), got);
  }

  void SetInput(std::string_view block) {
    inflater_->stream().next_in = reinterpret_cast<Bytef*>(const_cast<char*>(block.data()));
    inflater_->stream().avail_in = static_cast<uInt>(block.size());
  }

  std::optional<std::string_view> Inflate() {
    z_stream& stream = inflater_->stream();
    stream.next_out = reinterpret_cast<Bytef*>(text_.data());
    stream.avail_out = kChunk;
    while (stream.avail_out == kChunk) {
      if (stream.avail_in == 0 && !has_more_) {
        const std::optional<std::string_view> block = Read();
        if (!block) return std::nullopt;
        if (block->empty()) return member_ended_ ? block : std::nullopt;
        SetInput(*block);
      }
      if (std::exchange(member_ended_, false)) inflateReset(&stream);  // another one follows
      const int code = inflate(&stream, Z_NO_FLUSH);
      const bool needs_input = code == Z_BUF_ERROR && stream.avail_in == 0;
      if (code != Z_OK && code != Z_STREAM_END && !needs_input) return std::nullopt;
      member_ended_ = code == Z_STREAM_END;
      has_more_ = !member_ended_ && stream.avail_out == 0;
    }
    return std::string_view(text_.data(), kChunk - stream.avail_out);
  }

  InputStream& stream_;
  bool begins_ = true;
  std::optional<Inflater> inflater_;
  bool member_ended_ = false;
  bool has_more_ = false;  // the inflated text did not fit a block
  std::string bytes_;      // of the input
  std::string text_;       // inflated
  std::uint64_t bytes_read_ = 0;
};

TextBlocks::TextBlocks(InputStream& stream) : impl_(std::make_unique<Impl>(stream)) {}
TextBlocks::~TextBlocks() = default;

std::optional<std::string_view> TextBlocks::Next() { return impl_->Next(); }

std::uint64_t TextBlocks::bytes_read() const { return impl_->bytes_read(); }

Result<void> InputLimit::Take(std::uint64_t bytes) {
  if (bytes > left()) return Exceeded();
  left_ -= bytes;
  return {};
}

tl::unexpected<Error> InputLimit::Exceeded() {
  const bool is_parsers = left_ > kMostInputBytes;
  left_ = 0;
  exceeded_ = true;
  if (is_parsers) return BadInput("it is larger than 4 GiB; want several smaller files");
  return BadInput(fmt::format(
      "the input is larger than {} in all, unpacked; want less, or a higher --max-input",
      BytesText(static_cast<std::int64_t>(bytes_))));
}

std::uint64_t DefaultMaxInput() {
  return std::min(static_cast<std::uint64_t>(MachineMemoryBytes()) / 16, kMostInputBytes);
}

std::string InputName(const std::string& path) { return path == "-" ? "standard input" : path; }

Result<std::vector<InputFile>> ExpandPaths(const std::vector<std::string>& paths,
                                           InputLimit& limit) {
  std::vector<InputFile> files;
  for (const std::string& path : paths) {
    std::error_code failure;
    if (path == "-" || !fs::is_directory(path, failure)) {
      files.push_back({path, false});
      continue;
    }
    std::vector<std::string> found;
    fs::recursive_directory_iterator entry(path, failure);
    for (; !failure && entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
      std::error_code no_file;
      if (HasInputName(entry->path().filename().string()) && entry->is_regular_file(no_file)) {
        if (!limit.Take(kBytesOfAFile)) return TooLarge(path, limit);
        found.push_back(entry->path().string());
      }
    }
    if (failure) return NotReadable(path, failure.message());
    if (found.empty()) {
      return BadInput(fmt::format(
          "{}: the folder holds no input; want files that end in .json, .yaml, .yml or with .gz",
          path));
    }
    std::sort(found.begin(), found.end());
    for (std::string& file : found) files.push_back({std::move(file), true});
  }
  return files;
}

Result<std::string> ReadBytes(InputStream& stream, std::size_t spare, InputLimit& limit,
                              const std::function<void(std::size_t)>& on_bytes) {
  const std::string& path = stream.path();
  std::error_code no_size;  // a pipe has none
  const std::uintmax_t size = path == "-" ? 0 : fs::file_size(path, no_size);
  if (!no_size && size > limit.left()) return TooLarge(path, limit);
  std::string bytes;
  bytes.reserve((no_size ? 0 : size) + kChunk + spare);
  while (true) {
    const std::size_t old_size = bytes.size();
    AddRoom(bytes, spare);
    const std::size_t got = stream.Read(bytes.data() + old_size, kChunk);
    bytes.resize(old_size + got);
    if (got == 0) break;
    if (bytes.size() > limit.left()) return TooLarge(path, limit);
    if (on_bytes) on_bytes(got);
  }
  if (stream.failed()) return NotReadable(path, std::strerror(errno));
  return bytes;
}

bool IsGzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

Result<std::string> Gunzip(std::string_view bytes, std::size_t spare, InputLimit& limit,
                           WorkBudget& budget) {
  Inflater inflater;
  if (!inflater.ready()) {
    return tl::unexpected<Error>(Error{ErrorClass::kUnavailable, "no memory to unpack gzip"});
  }
  z_stream& stream = inflater.stream();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib only reads it
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  while (true) {
    const std::size_t old_size = text.size();
    const std::size_t old_capacity = text.capacity();
    AddRoom(text, spare);
    budget.Charge(static_cast<std::int64_t>(text.capacity() - old_capacity));
    if (!budget.MayContinue()) return tl::unexpected(budget.Check().error());
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + old_size);
    stream.avail_out = kChunk;
    const int code = inflate(&stream, Z_NO_FLUSH);
    text.resize(text.size() - stream.avail_out);
    if (text.size() > limit.left()) return limit.Exceeded();
    if (code == Z_STREAM_END) {
      if (stream.avail_in == 0) return text;
      inflateReset(&stream);  // another member follows
    } else if (code == Z_BUF_ERROR ||
               (code == Z_OK && stream.avail_in == 0 && stream.avail_out != 0)) {
      return BadInput("the gzip stream is truncated; want the whole file");
    } else if (code != Z_OK) {
      return BadInput(fmt::format("the gzip stream is damaged ({}); want an intact file",
                                  stream.msg != nullptr ? stream.msg : "unknown data"));
    }
  }
}

Result<std::string> ReadUnpacked(const std::string& path, InputLimit& limit) {
  Result<InputStream> stream = InputStream::Open(path);
  if (!stream) return tl::unexpected(stream.error());
  Result<std::string> text = ReadBytes(*stream, 0, limit, {});
  if (!text || !IsGzip(*text)) return text;
  return Gunzip(*text, 0, limit).map_error([&](Error error) {
    error.message = fmt::format("{}: {}", InputName(path), error.message);
    return error;
  });
}

}  // namespace espalier
