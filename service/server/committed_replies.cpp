#include "service/server/committed_replies.hpp"

#include <functional>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

namespace espalier {

CommittedReplies::Key CommittedReplies::KeyOf(const std::string& token,
                                              const google::protobuf::MessageLite& request) {
  if (token.empty()) return {};
  std::string text = request.GetTypeName();
  google::protobuf::io::StringOutputStream stream(&text);
  {
    google::protobuf::io::CodedOutputStream output(&stream);
    output.SetSerializationDeterministic(true);
    request.SerializeToCodedStream(&output);
  }
  return {token, std::hash<std::string>()(text)};
}

Result<std::optional<grpc::ByteBuffer>> CommittedReplies::Find(const Key& key) {
  if (key.token.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const Reply* reply = replies_.Find(key.token);
  if (reply == nullptr) return std::nullopt;
  if (reply->request != key.request) {
    return BadInput(
        "commit_token: was given to another request; a token names one commit, which is repeated "
        "as it was");
  }
  return reply->answer;
}

void CommittedReplies::Keep(const Key& key, const grpc::ByteBuffer& answer) {
  if (key.token.empty()) return;
  const std::lock_guard lock(mutex_);
  replies_.Put(key.token, {key.request, answer}, answer.Length());
}

}  // namespace espalier
