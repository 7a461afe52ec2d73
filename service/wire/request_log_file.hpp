// Writes and reads the files of a request log: records one after the other, each with its length
// and its checksum (docs/operations.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/support/byte_buffer.h>

#include "espalier/v1/request_log.pb.h"
#include "host/model/result.hpp"

namespace espalier {

// The method whose pieces hold a whole state, in request logs and in kept states.
inline constexpr const char* kLoadStateMethod = "espalier.v1.ClusterState/LoadState";

// The methods of what a request log says of holds (RequestLogPiece.position).
inline constexpr const char* kListHoldsMethod = "espalier.v1.Placement/ListHolds";
inline constexpr const char* kReleaseHoldsMethod = "espalier.v1.Placement/ReleaseHolds";

inline constexpr const char* kRequestLogSuffix = ".requests";

// A file of a request log that is being written.
class RequestLogWriter {
 public:
  // Makes a file that only its owner reads, and writes its first record. Errors (kUnavailable): the
  // file is there, or cannot be made or written.
  static Result<RequestLogWriter> Create(const std::string& path, const v1::RequestLogFile& file);
  RequestLogWriter(RequestLogWriter&& other) noexcept;
  RequestLogWriter& operator=(RequestLogWriter&& other) noexcept;
  ~RequestLogWriter();

  // Appends a record whose payload is `payload`. Errors (kUnavailable): it cannot be written; then
  // the file ends with the record before.
  Result<void> Write(const v1::RequestLogPiece& piece, const grpc::ByteBuffer& payload = {});

  // Waits until all of it is on the disk. Errors (kUnavailable): it cannot be written.
  Result<void> Sync();

  // Returns the bytes that a record with such a payload takes, at most.
  static std::int64_t BytesOf(const v1::RequestLogPiece& piece, const grpc::ByteBuffer& payload);

  std::int64_t bytes() const { return bytes_; }

 private:
  RequestLogWriter(std::string path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor) {}
  Result<void> Append(const std::string& head, const std::vector<grpc::Slice>& payload);

  std::string path_;
  int descriptor_ = -1;
  std::int64_t bytes_ = 0;
};

// A file of a request log that is read. The file must not change meanwhile.
class RequestLogReader {
 public:
  // Errors: kNotFound for a file that cannot be read, kBadInput for one that is not of a request
  // log.
  static Result<RequestLogReader> Open(const std::string& path);
  RequestLogReader(RequestLogReader&& other) noexcept;
  RequestLogReader& operator=(RequestLogReader&&) = delete;
  ~RequestLogReader();

  const v1::RequestLogFile& file() const { return file_; }

  // Reads the next record; `payload` is valid as long as the reader. Returns false at the end.
  // Errors (kBadInput) name the file and the byte at which it is damaged.
  Result<bool> Next(v1::RequestLogPiece& piece, std::string_view& payload);

  // Returns how many bytes at the end are the beginning of a record that was never finished.
  std::size_t unfinished_bytes() const { return unfinished_; }

 private:
  RequestLogReader(std::string path, std::string_view bytes)
      : path_(std::move(path)), bytes_(bytes) {}
  Result<bool> NextRecord(std::string_view& head, std::string_view& payload);
  tl::unexpected<Error> Damaged(std::string_view what) const;

  std::string path_;
  std::string_view bytes_;  // the whole file, mapped
  std::size_t next_ = 0;
  std::size_t unfinished_ = 0;
  v1::RequestLogFile file_;
};

}  // namespace espalier
