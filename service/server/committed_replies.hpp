// Answers of commits by the tokens of their clients, so that a commit whose reply was lost can be
// repeated.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>

#include <grpcpp/support/byte_buffer.h>

#include "espalier/v1/placement.pb.h"
#include "host/model/result.hpp"

namespace espalier {

// Keeps the latest answers, up to a number and a size, the very last one whatever its size.
// Thread-safe.
class CommittedReplies {
 public:
  static constexpr std::size_t kMostReplies = 1024;
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;

  // Returns the answer that `request` was given when it was committed under its token, if it is
  // known. kBadInput where the token was given to another request.
  Result<std::optional<grpc::ByteBuffer>> Find(const v1::PlaceRequest& request) const;

  // Keeps the answer of a request that was committed; one without a token is not kept.
  void Keep(const v1::PlaceRequest& request, const grpc::ByteBuffer& answer);

 private:
  struct Reply {
    std::string token;
    std::size_t request = 0;  // hash
    grpc::ByteBuffer answer;
  };

  mutable std::mutex mutex_;  // guards all below
  std::list<Reply> replies_;  // latest first
  std::size_t bytes_ = 0;
};

}  // namespace espalier
