// Numbers calls, counts those that fail by cause, and tells the log of them.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <grpcpp/support/server_interceptor.h>
#include <grpcpp/support/status.h>

namespace espalier {

class RequestLog;

// The calls that get a line in the log; one that ends with INTERNAL always has one.
enum class LoggedCalls { kNone, kFailed, kAll };

// The journal of a server's calls. gRPC may drop a call a moment after its server is gone, so that
// whoever watches calls shares it. Thread-safe.
class CallJournal : public std::enable_shared_from_this<CallJournal> {
 public:
  // `requests` gets every call but those that ask how the server fares; null: none.
  explicit CallJournal(LoggedCalls logged, std::shared_ptr<RequestLog> requests = nullptr)
      : logged_(logged), requests_(std::move(requests)) {}

  RequestLog* requests() const { return requests_.get(); }

  // Why calls fail. The names are those of Refusals in server.proto.
  static constexpr std::array kCauses = {"bad_request", "not_found", "stale",    "denied",
                                         "queue_full",  "limits",    "draining", "deadline",
                                         "client_left", "internal",  "other"};
  static constexpr std::size_t kCauseCount = kCauses.size();

  struct Failure {
    std::int64_t call = 0;
    std::string method;  // espalier.v1.Placement/Place
    std::chrono::system_clock::time_point time;
    std::string message;  // an excerpt
  };
  struct Failures {
    std::int64_t calls = 0;
    Failure last;
  };
  // Returns the failures since the start, by cause.
  std::array<Failures, kCauseCount> ByCause() const;

  // Returns an interceptor that sees every call of espalier.v1.
  std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeInterceptor();

 private:
  class WatchedCall;

  void NoteEnd(std::int64_t call, std::string_view method, const grpc::Status& status);

  const LoggedCalls logged_;
  const std::shared_ptr<RequestLog> requests_;
  std::atomic<std::int64_t> last_call_ = 0;
  mutable std::mutex mutex_;  // guards the rest
  std::array<Failures, kCauseCount> failures_;
};

}  // namespace espalier
