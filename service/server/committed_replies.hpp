// Keeps answers of commits by the tokens of their clients, so that a commit whose reply was lost
// can be repeated.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>

#include "host/model/lru_by_bytes.hpp"
#include "host/model/result.hpp"

namespace espalier {

// A cache of the answers used last, bounded by a number and a size; the very last one is kept
// whatever its size. Thread-safe.
class CommittedReplies {
 public:
  static constexpr std::size_t kMostReplies = 1024;
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;

  // Identifies a request: equal for equal requests, however their maps are ordered.
  struct Key {
    std::string token;        // empty: the request has none
    std::size_t request = 0;  // hash
  };

  // Returns the key of a request. Takes as long as serializing it where it has a token.
  static Key KeyOf(const std::string& token, const google::protobuf::MessageLite& request);

  // Returns the answer that the request was given when it was committed under its token, if it is
  // known. Errors: kBadInput when the token was given to another request.
  Result<std::optional<grpc::ByteBuffer>> Find(const Key& key);

  // Keeps the answer of a request that was committed; one without a token is not kept.
  void Keep(const Key& key, const grpc::ByteBuffer& answer);

 private:
  struct Reply {
    std::size_t request = 0;  // hash
    grpc::ByteBuffer answer;
  };

  std::mutex mutex_;                                                  // guards all below
  LruByBytes<std::string, Reply> replies_{kMostBytes, kMostReplies};  // by token
};

}  // namespace espalier
