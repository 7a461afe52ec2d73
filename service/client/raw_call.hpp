// Makes any call with messages as bytes.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/grpcpp.h>

namespace espalier {

struct RawAnswer {
  std::vector<std::string> messages;
  grpc::Status status;
};

// Calls `method`, such as espalier.v1.Placement/Place, with these messages, and waits for the end.
RawAnswer CallRaw(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                  const std::vector<std::string_view>& requests, std::chrono::milliseconds timeout);

}  // namespace espalier
