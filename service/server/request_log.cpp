#include "service/server/request_log.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "espalier/v1/holds.pb.h"
#include "host/model/excerpt.hpp"
#include "host/model/work_budget.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/message_bytes.hpp"

namespace espalier {
namespace {

namespace fs = std::filesystem;

std::int64_t Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

v1::RequestLogPiece Piece(std::int64_t call, std::string_view method,
                          v1::RequestLogPiece::Kind kind) {
  v1::RequestLogPiece piece;
  piece.set_call(call);
  piece.set_method(std::string(method));
  piece.set_time_ns(Now());
  piece.set_kind(kind);
  return piece;
}

tl::unexpected<Error> CannotLog(const std::string& folder, std::string_view why) {
  return tl::unexpected(
      Error{ErrorClass::kUnavailable,
            fmt::format("requests cannot be logged in {}: {}", Excerpt(folder), why)});
}

}  // namespace

Result<std::unique_ptr<RequestLog>> RequestLog::Open(const RequestLogOptions& options,
                                                     v1::RequestLogFile file) {
  if (::mkdir(options.folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return CannotLog(options.folder, std::strerror(errno));
  }
  const std::string lock_path = options.folder + "/lock";
  const int lock = ::open(lock_path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
  if (lock < 0) return CannotLog(options.folder, std::strerror(errno));
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock);
    return CannotLog(options.folder, "another server does; choose another folder");
  }
  file.set_run(fmt::format("{:%Y%m%dT%H%M%SZ}-{}", fmt::gmtime(std::time(nullptr)), ::getpid()));
  std::unique_ptr<RequestLog> log(new RequestLog(options, std::move(file), lock));
  const std::lock_guard guard(log->mutex_);
  log->FindOldFiles();
  if (!log->Begin()) return CannotLog(options.folder, "see the line above");
  return log;
}

RequestLog::~RequestLog() { ::close(lock_); }

void RequestLog::OnNewFile(std::function<bool()> restore) {
  const std::lock_guard lock(mutex_);
  restore_ = std::move(restore);
}

// Finds the files of servers before this one; they count like its own.
void RequestLog::FindOldFiles() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(options_.folder, error)) {
    if (entry.path().extension() != kRequestLogSuffix || !entry.is_regular_file(error)) continue;
    old_files_.push_back(
        {entry.path().string(), static_cast<std::int64_t>(entry.file_size(error))});
    old_bytes_ += old_files_.back().bytes;
  }
  std::ranges::sort(old_files_, {}, &OldFile::path);
}

// Begins a file, with the calls that are under way.
bool RequestLog::Begin() {
  if (writer_) {
    old_files_.push_back({path_, writer_->bytes()});
    old_bytes_ += writer_->bytes();
  }
  while (std::ssize(old_files_) >= options_.files) {
    ::unlink(old_files_.front().path.c_str());
    old_bytes_ -= old_files_.front().bytes;
    old_files_.pop_front();
  }
  file_.set_number(file_.number() + 1);
  path_ =
      fmt::format("{}/{}-{:06}{}", options_.folder, file_.run(), file_.number(), kRequestLogSuffix);
  auto writer = RequestLogWriter::Create(path_, file_);
  if (!writer) {
    Fail(writer.error().message);
    return false;
  }
  writer_ = *std::move(writer);
  written_.fetch_add(writer_->bytes(), std::memory_order_relaxed);
  begun_with_ = writer_->bytes();
  restoring_ = true;
  for (const auto& [call, under_way] : under_way_) Write(under_way.piece, under_way.message);
  restoring_ = false;
  if (!writer_) return false;
  begun_with_ = writer_->bytes();
  return true;
}

// Removes old files until there is room for so many bytes.
bool RequestLog::MakeRoom(std::int64_t bytes) {
  while (old_bytes_ + writer_->bytes() + bytes > options_.bytes) {
    if (old_files_.empty()) {
      Fail(fmt::format("one file needs more than the {} that all may have",
                       BytesText(options_.bytes)));
      return false;
    }
    ::unlink(old_files_.front().path.c_str());
    old_bytes_ -= old_files_.front().bytes;
    old_files_.pop_front();
  }
  return true;
}

void RequestLog::Write(const v1::RequestLogPiece& piece, const grpc::ByteBuffer& message) {
  if (!writer_) return;
  const std::int64_t bytes = RequestLogWriter::BytesOf(piece, message);
  const std::int64_t own = writer_->bytes() - begun_with_;
  if (streams_.empty() && !restoring_ && own > 0 && own + bytes > options_.bytes / options_.files) {
    if (!Begin()) return;
    restore_wanted_ = restore_ != nullptr;
  }
  if (restore_wanted_ && !restoring_ && restore_()) {
    restore_wanted_ = false;
    restoring_ = true;
  }
  if (!MakeRoom(bytes)) return;
  const std::int64_t before = writer_->bytes();
  if (auto written = writer_->Write(piece, message); !written) {
    return Fail(written.error().message);
  }
  written_.fetch_add(writer_->bytes() - before, std::memory_order_relaxed);
}

void RequestLog::Fail(const std::string& why) {
  writer_.reset();
  failed_.store(true, std::memory_order_relaxed);
  spdlog::warn("requests are not logged any more: {}", why);
}

void RequestLog::Restore(std::string_view method, const StatePosition& position,
                         const std::function<bool(grpc::ByteBuffer&)>& next) {
  std::int64_t call = 0;
  for (bool more = true; more;) {
    grpc::ByteBuffer chunk;
    more = next(chunk);
    const std::lock_guard lock(mutex_);
    if (!writer_) return;
    if (call == 0) call = -++own_;
    v1::RequestLogPiece piece = Piece(call, method, v1::RequestLogPiece::KIND_REQUEST);
    *piece.mutable_position() = ToProto(position);
    Write(piece, chunk);
    if (writer_) begun_with_ += RequestLogWriter::BytesOf(piece, chunk);
  }
  const std::lock_guard lock(mutex_);
  v1::RequestLogPiece piece = Piece(call, method, v1::RequestLogPiece::KIND_END);
  *piece.mutable_position() = ToProto(position);
  Write(piece);
}

void RequestLog::Restored() {
  const std::lock_guard lock(mutex_);
  restoring_ = false;
  restored_.notify_all();
}

void RequestLog::Expired(const std::string& state_name, const StatePosition& position,
                         const std::vector<std::string>& ids) {
  v1::ReleaseHoldsRequest released;
  released.set_state_name(state_name);
  released.mutable_ids()->Add(ids.begin(), ids.end());
  const std::lock_guard lock(mutex_);
  const std::int64_t call = -++own_;
  v1::RequestLogPiece piece = Piece(call, kReleaseHoldsMethod, v1::RequestLogPiece::KIND_REQUEST);
  *piece.mutable_position() = ToProto(position);
  Write(piece, ToBytes(released));
  streams_.insert(call);  // so that both are in one file
  piece.set_kind(v1::RequestLogPiece::KIND_END);
  Write(piece);
  streams_.erase(call);
}

void RequestLog::Request(std::int64_t call, std::string_view method, bool is_stream,
                         const grpc::ByteBuffer& message) {
  const std::lock_guard lock(mutex_);
  if (!writer_) return;
  v1::RequestLogPiece piece = Piece(call, method, v1::RequestLogPiece::KIND_REQUEST);
  Write(piece, message);
  if (!writer_) return;
  if (!is_stream) {
    under_way_.emplace(call, UnderWay{std::move(piece), message});
  } else {
    streams_.insert(call);
  }
}

void RequestLog::Answer(std::int64_t call, std::string_view method,
                        const grpc::ByteBuffer& message) {
  const std::lock_guard lock(mutex_);
  Write(Piece(call, method, v1::RequestLogPiece::KIND_ANSWER), message);
}

void RequestLog::End(std::int64_t call, std::string_view method, const grpc::Status& status) {
  v1::RequestLogPiece piece = Piece(call, method, v1::RequestLogPiece::KIND_END);
  piece.set_code(status.error_code());
  piece.set_message(status.error_message());
  piece.set_details(status.error_details());
  const std::lock_guard lock(mutex_);
  Write(piece);
  under_way_.erase(call);
  streams_.erase(call);
}

void RequestLog::Close() {
  std::unique_lock lock(mutex_);
  writer_.reset();
  restored_.wait(lock, [this] { return !restoring_; });
}

}  // namespace espalier
