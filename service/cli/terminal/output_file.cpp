#include "service/cli/terminal/output_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

namespace espalier {
namespace {

tl::unexpected<Error> CannotWrite(ErrorClass error_class, const std::string& path, int error) {
  return tl::unexpected(
      Error{error_class, fmt::format("{}: cannot be written: {}", path,
                                     error != 0 ? std::strerror(error) : "the disk may be full")});
}

}  // namespace

struct OutputFile::Stream {
  std::string path;
  gzFile file = nullptr;
  bool failed = false;
  int error = 0;
  ~Stream() {
    if (file != nullptr) gzclose(file);
  }
};

Result<OutputFile> OutputFile::Create(const std::string& path) {
  auto stream = std::make_unique<Stream>();
  stream->path = path;
  errno = 0;
  stream->file = gzopen(path.c_str(), path.ends_with(".gz") ? "wb6" : "wbT");  // T: as it is
  if (stream->file == nullptr) return CannotWrite(ErrorClass::kBadInput, path, errno);
  return OutputFile(std::move(stream));
}

Result<OutputFile> OutputFile::CreateFile(const std::string& path) {
  const auto refuse = [&](std::string_view why) {
    return tl::unexpected(
        Error{ErrorClass::kBadInput,
              fmt::format("{}: cannot be written: {}; want the name of a file", path, why)});
  };
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISFIFO(status.st_mode)) return refuse("it is a pipe");
    if (S_ISSOCK(status.st_mode)) return refuse("it is a socket");
    if (S_ISDIR(status.st_mode)) return refuse("it is a directory");
    if (S_ISBLK(status.st_mode)) return refuse("it is a disk");
  }
  return Create(path);
}

OutputFile::OutputFile(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {}
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

void OutputFile::Write(std::string_view text) {
  constexpr std::size_t kMost = 1 << 30;  // zlib counts in 32 bits
  while (!text.empty() && !stream_->failed) {
    const std::size_t size = std::min(text.size(), kMost);
    errno = 0;
    if (gzwrite(stream_->file, text.data(), static_cast<unsigned>(size)) <= 0) {
      stream_->failed = true;
      stream_->error = errno;
    }
    text.remove_prefix(size);
  }
}

Result<void> OutputFile::Close() {
  errno = 0;
  const bool closed = gzclose(std::exchange(stream_->file, nullptr)) == Z_OK;
  if (stream_->failed) {
    return CannotWrite(ErrorClass::kUnavailable, stream_->path, stream_->error);
  }
  if (!closed) return CannotWrite(ErrorClass::kUnavailable, stream_->path, errno);
  return {};
}

}  // namespace espalier
