#include "service/client/logged_calls.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> NotFound(const std::string& path, std::string_view why) {
  return tl::unexpected(Error{ErrorClass::kNotFound, fmt::format("{}: {}", Excerpt(path), why)});
}

Result<std::vector<std::string>> FilesOf(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    const std::size_t before = files.size();
    for (const auto& entry : fs::directory_iterator(path, error)) {
      if (entry.path().extension() == kRequestLogSuffix) files.push_back(entry.path().string());
    }
    if (error) return NotFound(path, error.message());
    if (files.size() == before) {
      return NotFound(path, fmt::format("has no file of a request log (*{})", kRequestLogSuffix));
    }
  }
  return files;
}

// Puts the pieces of calls together.
class Run {
 public:
  // Returns an error text, or "".
  std::string Add(const v1::RequestLogPiece& piece, std::string_view payload) {
    const auto [position, added] = under_way_.try_emplace(piece.call(), calls_.size());
    if (added) {
      LoggedCall& call = calls_.emplace_back();
      call.call = piece.call();
      call.method = piece.method();
      call.time_ns = piece.time_ns();
      if (piece.has_position()) call.position = piece.position();
    }
    LoggedCall& call = calls_[position->second];
    if (call.method != piece.method()) return "is of another method than the pieces before it";
    switch (piece.kind()) {
      case v1::RequestLogPiece::KIND_REQUEST:
        // The next file begins with the request again. A stream's chunks are in one file.
        if (again_.contains(piece.call())) {
          again_.erase(piece.call());
          return "";
        }
        call.requests.push_back(payload);
        return "";
      case v1::RequestLogPiece::KIND_ANSWER:
        call.answers.push_back(payload);
        return "";
      case v1::RequestLogPiece::KIND_END:
        call.ended = true;
        call.status = {static_cast<grpc::StatusCode>(piece.code()), piece.message(),
                       piece.details()};
        ended_.push_back(position->second);
        under_way_.erase(position);
        return "";
      default:
        return "is of no kind that this version knows";
    }
  }

  // Notes that a file begins, in which the requests of calls under way come again.
  void BeginFile() {
    again_.clear();
    for (const auto& [call, position] : under_way_) {
      if (!calls_[position].requests.empty()) again_.emplace(call, true);
    }
  }

  std::vector<LoggedCall> Take() {
    std::vector<LoggedCall> calls;
    for (const std::size_t position : ended_) calls.push_back(std::move(calls_[position]));
    for (const auto& [call, position] : under_way_) calls.push_back(std::move(calls_[position]));
    return calls;
  }

 private:
  std::vector<LoggedCall> calls_;
  std::vector<std::size_t> ended_;
  std::map<std::int64_t, std::size_t> under_way_;
  std::map<std::int64_t, bool> again_;
};

}  // namespace

Result<LoggedRequests> ReadRequestLog(const std::vector<std::string>& paths) {
  const auto files = FilesOf(paths);
  if (!files) return tl::unexpected(files.error());
  struct File {
    std::string path;
    RequestLogReader reader;
  };
  std::vector<File> opened;
  for (const std::string& path : *files) {
    auto reader = RequestLogReader::Open(path);
    if (!reader) return tl::unexpected(reader.error());
    opened.push_back({path, *std::move(reader)});
  }
  // A run's name begins with the time at which it began.
  std::map<std::pair<std::string, std::int64_t>, File*> in_order;
  for (File& file : opened) {
    const auto key = std::pair(file.reader.file().run(), file.reader.file().number());
    if (const auto [there, added] = in_order.emplace(key, &file); !added) {
      return BadInput(fmt::format("{}: is the same file as {}", Excerpt(file.path),
                                  Excerpt(there->second->path)));
    }
  }
  LoggedRequests log;
  Run run;
  std::int64_t last_number = 0;
  for (auto file = in_order.begin(); file != in_order.end(); ++file) {
    RequestLogReader& reader = file->second->reader;
    const auto& [name, number] = file->first;
    const bool first = log.runs.empty() || log.runs.back().file.run() != name;
    if (first) {
      log.runs.push_back({.file = reader.file(), .files = 0, .calls = {}});
    } else if (number != last_number + 1) {
      return BadInput(
          fmt::format("{}: is file {} of its run, but the one before it is file {}; "
                      "give all from the first to the last that you want",
                      Excerpt(file->second->path), number, last_number));
    }
    last_number = number;
    ++log.runs.back().files;
    run.BeginFile();
    v1::RequestLogPiece piece;
    std::string_view payload;
    while (true) {
      const auto more = reader.Next(piece, payload);
      if (!more) return tl::unexpected(more.error());
      if (!*more) break;
      if (const std::string wrong = run.Add(piece, payload); !wrong.empty()) {
        return BadInput(fmt::format("{}: a piece of call {} {}", Excerpt(file->second->path),
                                    piece.call(), wrong));
      }
    }
    const auto next = std::next(file);
    const bool last = next == in_order.end() || next->first.first != name;
    if (reader.unfinished_bytes() > 0) {
      const std::string what =
          fmt::format("{}: its last {} bytes are the beginning of a record that was never finished",
                      Excerpt(file->second->path), reader.unfinished_bytes());
      if (!last) return BadInput(what + "; the files behind it need it");
      log.notes.push_back(what);
    }
    if (last) log.runs.back().calls = std::exchange(run, {}).Take();
  }
  for (File& file : opened) log.readers.push_back(std::move(file.reader));
  return log;
}

}  // namespace espalier
