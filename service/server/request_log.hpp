// Writes calls as they come over the wire to files that `espalier replay` reads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include "host/live/state_position.hpp"
#include "service/wire/request_log_file.hpp"

namespace espalier {

struct RequestLogOptions {
  std::string folder;              // empty: no log
  std::int64_t bytes = 1LL << 30;  // of all files together, 1 MiB or more
  int files = 8;                   // 2 or more
};

// A log of requests in a folder of its own. A file that is full is followed by another, which
// begins with the calls under way and with the states as they are, so that it can be replayed when
// the files before it are gone; the oldest files are removed. What cannot be written ends the log
// and no call. Thread-safe.
class RequestLog {
 public:
  // Makes the folder if need be, and the first file. Errors: kUnavailable when that is not possible
  // or another server writes there.
  static Result<std::unique_ptr<RequestLog>> Open(const RequestLogOptions& options,
                                                  v1::RequestLogFile file);
  ~RequestLog();

  // Sets what writes the states into a file that was begun: on another thread it is to call Restore
  // for each, and then Restored. It returns false when it cannot; then it is called again.
  void OnNewFile(std::function<bool()> restore);
  // A state, or with another method its holds (RequestLogPiece.position), message by message.
  void Restore(std::string_view method, const StatePosition& position,
               const std::function<bool(grpc::ByteBuffer&)>& next);
  void Restored();

  // Records that holds of a state expired, which led to `position`.
  void Expired(const std::string& state_name, const StatePosition& position,
               const std::vector<std::string>& ids);

  // Record a message of the client, one of the server, and the end of a call.
  void Request(std::int64_t call, std::string_view method, bool is_stream,
               const grpc::ByteBuffer& message);
  void Answer(std::int64_t call, std::string_view method, const grpc::ByteBuffer& message);
  void End(std::int64_t call, std::string_view method, const grpc::Status& status);

  // Writes nothing any more; waits for states that are being written.
  void Close();

  std::int64_t bytes_written() const { return written_.load(std::memory_order_relaxed); }
  // Returns whether something could not be written, which ended the log.
  bool failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  // A request that is under way.
  struct UnderWay {
    v1::RequestLogPiece piece;
    grpc::ByteBuffer message;
  };
  struct OldFile {
    std::string path;
    std::int64_t bytes = 0;
  };

  RequestLog(RequestLogOptions options, v1::RequestLogFile file, int lock)
      : options_(std::move(options)), file_(std::move(file)), lock_(lock) {}

  // For all below `mutex_` is held.
  void FindOldFiles();
  bool Begin();
  bool MakeRoom(std::int64_t bytes);
  void Write(const v1::RequestLogPiece& piece, const grpc::ByteBuffer& message = {});
  void Fail(const std::string& why);

  const RequestLogOptions options_;
  v1::RequestLogFile file_;
  const int lock_;  // descriptor of the folder's lock file
  std::atomic<std::int64_t> written_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;  // guards the rest
  std::condition_variable restored_;
  std::optional<RequestLogWriter> writer_;  // none: nothing is written any more
  std::string path_;
  std::deque<OldFile> old_files_;  // the oldest first
  std::int64_t old_bytes_ = 0;
  std::int64_t begun_with_ = 0;                 // bytes of the file that are none of its own calls
  std::map<std::int64_t, UnderWay> under_way_;  // calls whose request is one message
  // Loads under way; no file is begun meanwhile, as it would lack their chunks.
  std::set<std::int64_t> streams_;
  bool restoring_ = false;       // what a file begins with is being written
  bool restore_wanted_ = false;  // and could not be begun yet
  std::int64_t own_ = 0;         // calls that no client made
  std::function<bool()> restore_;
};

}  // namespace espalier
