// The calls in the files of a request log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/support/status.h>

#include "espalier/v1/request_log.pb.h"
#include "host/model/result.hpp"
#include "service/wire/request_log_file.hpp"

namespace espalier {

// A call as it came over the wire. Messages are parts of the files.
struct LoggedCall {
  std::int64_t call = 0;
  std::string method;  // espalier.v1.Placement/Place
  std::int64_t time_ns = 0;
  std::vector<std::string_view> requests;
  std::vector<std::string_view> answers;
  bool ended = false;   // false: it was under way when the server ended
  grpc::Status status;  // of a call that ended
  // The position of what no client sent (RequestLogPiece.position); nullopt: a call of a client.
  std::optional<v1::StatePosition> position;
};

// The calls of one start of a server, in the order in which they ended; then those that did not.
struct LoggedRun {
  v1::RequestLogFile file;  // its first one that is there
  std::int64_t files = 0;
  std::vector<LoggedCall> calls;
};

struct LoggedRequests {
  std::vector<RequestLogReader> readers;  // hold the messages
  std::vector<LoggedRun> runs;            // the earliest first
  std::vector<std::string> notes;         // what could not be read, a sentence each
};

// Reads files, and all files of a request log in folders. Errors: kNotFound for a path that is not
// there or a folder without such files; kBadInput for one that is damaged, with the place.
Result<LoggedRequests> ReadRequestLog(const std::vector<std::string>& paths);

}  // namespace espalier
