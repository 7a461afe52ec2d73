// A channel to a server, and how its errors are told.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "host/model/result.hpp"
#include "service/client/client_options.hpp"

namespace espalier {

// The memory that an answer may take.
inline constexpr std::int64_t kMaxAnswerBytes = std::int64_t{8} << 30;

class Connection {
 public:
  // Opens a channel, which connects with the first call. `timeout` bounds each call. Calls carry
  // the trace context of TRACEPARENT, if that is one. Errors: kBadInput for an address that is none
  // or that has no TLS, kUnavailable for files that cannot be used.
  static Result<Connection> Open(const std::string& address, std::chrono::milliseconds timeout,
                                 const ClientTls& tls = {});

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  std::chrono::milliseconds timeout() const { return timeout_; }

  // Bounds a call by the timeout.
  void SetDeadline(grpc::ClientContext& context) const;

  // Returns the error of a call in words that name the server.
  Result<void> Check(const grpc::Status& status) const;

  // Returns the answer, or an error that blames the server where it cannot be read.
  template <class T>
  Result<T> Readable(Result<T> answer) const {
    if (answer) return answer;
    return tl::unexpected(
        Error{ErrorClass::kInternal, fmt::format("the server at {} sent an answer that cannot be "
                                                 "read: {}",
                                                 address_, answer.error().message)});
  }

 private:
  std::string Explain(const grpc::Status& status) const;

  std::string address_;
  std::string unreachable_;  // what else may be why nobody answers
  std::chrono::milliseconds timeout_{};
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace espalier
