#include "service/server/committed_replies.hpp"

#include <algorithm>
#include <functional>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

namespace espalier {
namespace {

// The same for equal requests, however their maps are ordered.
std::size_t HashOf(const v1::PlaceRequest& request) {
  std::string text;
  google::protobuf::io::StringOutputStream stream(&text);
  {
    google::protobuf::io::CodedOutputStream output(&stream);
    output.SetSerializationDeterministic(true);
    request.SerializeToCodedStream(&output);
  }
  return std::hash<std::string>()(text);
}

}  // namespace

Result<std::optional<grpc::ByteBuffer>> CommittedReplies::Find(
    const v1::PlaceRequest& request) const {
  if (request.commit_token().empty()) return std::nullopt;
  const std::size_t hash = HashOf(request);
  const std::lock_guard lock(mutex_);
  const auto reply = std::ranges::find(replies_, request.commit_token(), &Reply::token);
  if (reply == replies_.end()) return std::nullopt;
  if (reply->request != hash) {
    return BadInput(
        "commit_token: was given to another request; a token names one commit, which is repeated "
        "as "
        "it was");
  }
  return reply->answer;
}

void CommittedReplies::Keep(const v1::PlaceRequest& request, const grpc::ByteBuffer& answer) {
  if (request.commit_token().empty()) return;
  const std::size_t hash = HashOf(request);
  const std::lock_guard lock(mutex_);
  replies_.push_front({request.commit_token(), hash, answer});
  bytes_ += answer.Length();
  while (replies_.size() > 1 && (replies_.size() > kMostReplies || bytes_ > kMostBytes)) {
    bytes_ -= replies_.back().answer.Length();
    replies_.pop_back();
  }
}

}  // namespace espalier
