#include "service/wire/request_log_file.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

// The last digit is the version of the form.
constexpr std::string_view kMagic = "ESPREQ 1";
// The bytes in front of each record: the size of its head, that of its payload, and the CRC-32 of
// all but itself; each 32 bits, the lowest byte first.
constexpr std::size_t kFrame = 12;

void PutNumber(std::uint32_t number, char* to) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<char>(number >> (8 * i) & 0xff);
}

std::uint32_t GetNumber(const char* from) {
  std::uint32_t number = 0;
  for (int i = 0; i < 4; ++i) {
    number |= static_cast<std::uint32_t>(static_cast<unsigned char>(from[i])) << (8 * i);
  }
  return number;
}

std::uint32_t Checksum(std::uint32_t before, const void* bytes, std::size_t size) {
  return static_cast<std::uint32_t>(::crc32_z(before, static_cast<const Bytef*>(bytes), size));
}

bool WriteAll(int descriptor, const void* bytes, std::size_t size) {
  const auto* from = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = ::write(descriptor, from, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    from += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

tl::unexpected<Error> CannotWrite(const std::string& path) {
  return tl::unexpected(
      Error{ErrorClass::kUnavailable,
            fmt::format("{}: cannot be written: {}", Excerpt(path), std::strerror(errno))});
}

}  // namespace

Result<RequestLogWriter> RequestLogWriter::Create(const std::string& path,
                                                  const v1::RequestLogFile& file) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return CannotWrite(path);
  RequestLogWriter writer(path, descriptor);
  if (!WriteAll(descriptor, kMagic.data(), kMagic.size())) return CannotWrite(path);
  writer.bytes_ = static_cast<std::int64_t>(kMagic.size());
  if (auto begun = writer.Append(file.SerializeAsString(), {}); !begun) {
    return tl::unexpected(begun.error());
  }
  return writer;
}

RequestLogWriter::RequestLogWriter(RequestLogWriter&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      bytes_(other.bytes_) {}

RequestLogWriter& RequestLogWriter::operator=(RequestLogWriter&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

RequestLogWriter::~RequestLogWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> RequestLogWriter::Write(const v1::RequestLogPiece& piece,
                                     const grpc::ByteBuffer& payload) {
  std::vector<grpc::Slice> slices;
  if (payload.Valid() && !payload.Dump(&slices).ok()) {
    errno = ENOMEM;
    return CannotWrite(path_);
  }
  return Append(piece.SerializeAsString(), slices);
}

Result<void> RequestLogWriter::Sync() {
  if (::fsync(descriptor_) != 0) return CannotWrite(path_);
  return {};
}

std::int64_t RequestLogWriter::BytesOf(const v1::RequestLogPiece& piece,
                                       const grpc::ByteBuffer& payload) {
  return static_cast<std::int64_t>(kFrame + piece.ByteSizeLong() +
                                   (payload.Valid() ? payload.Length() : 0));
}

Result<void> RequestLogWriter::Append(const std::string& head,
                                      const std::vector<grpc::Slice>& payload) {
  std::size_t payload_bytes = 0;
  for (const grpc::Slice& slice : payload) payload_bytes += slice.size();
  std::array<char, kFrame> frame;
  PutNumber(static_cast<std::uint32_t>(head.size()), frame.data());
  PutNumber(static_cast<std::uint32_t>(payload_bytes), frame.data() + 4);
  std::uint32_t checksum = Checksum(0, frame.data(), 8);
  checksum = Checksum(checksum, head.data(), head.size());
  for (const grpc::Slice& slice : payload) {
    checksum = Checksum(checksum, slice.begin(), slice.size());
  }
  PutNumber(checksum, frame.data() + 8);
  bool written = WriteAll(descriptor_, frame.data(), frame.size()) &&
                 WriteAll(descriptor_, head.data(), head.size());
  for (const grpc::Slice& slice : payload) {
    written = written && WriteAll(descriptor_, slice.begin(), slice.size());
  }
  if (!written) {
    auto error = CannotWrite(path_);
    // The part that was written is taken back, as far as that is possible.
    [[maybe_unused]] const int ignored = ::ftruncate(descriptor_, bytes_);
    return error;
  }
  bytes_ += static_cast<std::int64_t>(kFrame + head.size() + payload_bytes);
  return {};
}

Result<RequestLogReader> RequestLogReader::Open(const std::string& path) {
  const auto cannot = [&](int error) {
    return tl::unexpected(
        Error{ErrorClass::kNotFound,
              fmt::format("{}: cannot be read: {}", Excerpt(path), std::strerror(error))});
  };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return cannot(errno);
  struct stat status = {};
  int error = ::fstat(descriptor, &status) == 0 ? 0 : errno;
  if (error == 0 && !S_ISREG(status.st_mode)) error = EINVAL;
  void* mapped = nullptr;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (error == 0 && size > 0) {
    mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapped == MAP_FAILED) error = errno;
  }
  ::close(descriptor);
  if (error != 0) return cannot(error);
  RequestLogReader reader(path, {static_cast<const char*>(mapped), size});
  constexpr std::string_view kAnyVersion = kMagic.substr(0, kMagic.size() - 1);
  if (reader.bytes_.starts_with(kAnyVersion) && !reader.bytes_.starts_with(kMagic)) {
    return BadInput(fmt::format("{}: is of the form \"{}\"; this release reads \"{}\"",
                                Excerpt(path), Excerpt(reader.bytes_.substr(0, kMagic.size())),
                                kMagic));
  }
  if (!reader.bytes_.starts_with(kMagic)) {
    return BadInput(fmt::format("{}: is no file of a request log of this version", Excerpt(path)));
  }
  reader.next_ = kMagic.size();
  std::string_view head;
  std::string_view payload;
  const auto first = reader.NextRecord(head, payload);
  if (!first) return tl::unexpected(first.error());
  if (!*first || !reader.file_.ParseFromArray(head.data(), static_cast<int>(head.size()))) {
    return BadInput(fmt::format("{}: ends before it says whose calls it has", Excerpt(path)));
  }
  return reader;
}

RequestLogReader::RequestLogReader(RequestLogReader&& other) noexcept
    : path_(std::move(other.path_)),
      bytes_(std::exchange(other.bytes_, {})),
      next_(other.next_),
      unfinished_(other.unfinished_),
      file_(std::move(other.file_)) {}

RequestLogReader::~RequestLogReader() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

Result<bool> RequestLogReader::Next(v1::RequestLogPiece& piece, std::string_view& payload) {
  std::string_view head;
  const auto found = NextRecord(head, payload);
  if (!found || !*found) return found;
  if (!piece.ParseFromArray(head.data(), static_cast<int>(head.size()))) {
    return Damaged("the record before it is none of a call");
  }
  return true;
}

Result<bool> RequestLogReader::NextRecord(std::string_view& head, std::string_view& payload) {
  const std::string_view rest = bytes_.substr(next_);
  if (rest.empty()) return false;
  if (rest.size() < kFrame) {
    unfinished_ = rest.size();
    return false;
  }
  const std::size_t head_bytes = GetNumber(rest.data());
  const std::size_t payload_bytes = GetNumber(rest.data() + 4);
  constexpr std::size_t kMostHeadBytes = std::size_t{1} << 20;
  if (head_bytes > kMostHeadBytes) return Damaged("a record with an impossible length");
  if (rest.size() - kFrame < head_bytes + payload_bytes) {
    unfinished_ = rest.size();
    return false;
  }
  const std::uint32_t checksum =
      Checksum(Checksum(0, rest.data(), 8), rest.data() + kFrame, head_bytes + payload_bytes);
  if (checksum != GetNumber(rest.data() + 8)) {
    return Damaged("a record whose checksum is not that of its bytes");
  }
  head = rest.substr(kFrame, head_bytes);
  payload = rest.substr(kFrame + head_bytes, payload_bytes);
  next_ += kFrame + head_bytes + payload_bytes;
  return true;
}

tl::unexpected<Error> RequestLogReader::Damaged(std::string_view what) const {
  return tl::unexpected(Error{ErrorClass::kBadInput, fmt::format("{}: is damaged at byte {}: {}",
                                                                 Excerpt(path_), next_, what)});
}

}  // namespace espalier
