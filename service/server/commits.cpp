#include "service/server/commits.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "service/server/status_with_position.hpp"

namespace espalier {
namespace {

constexpr std::size_t kLongestToken = 128;

}  // namespace

Result<void> CheckToken(const std::string& token, bool commit, bool has_state) {
  if (token.empty()) return {};
  if (token.size() > kLongestToken) {
    return BadInput(
        fmt::format("commit_token: has {} bytes; 1 to {} expected", token.size(), kLongestToken));
  }
  if (!commit || !has_state) {
    return BadInput("commit_token: needs `commit` and the `state` that is committed to");
  }
  return {};
}

grpc::Status Commits::Answer(
    const CommittedReplies::Key& key, grpc::ByteBuffer& reply,
    const std::function<grpc::Status(const CommittedReplies::Key& key)>& decide) {
  auto known = replies_.Find(key);
  if (known && !*known) {
    const grpc::Status decided = decide(key);
    if (decided.error_code() != grpc::StatusCode::FAILED_PRECONDITION) return decided;
    // The call that is repeated here may have booked meanwhile.
    const std::lock_guard lock(mutex_);
    known = replies_.Find(key);
    if (known && !*known) return decided;
  }
  if (!known) return ToStatus(known.error());
  reply = **known;
  return grpc::Status::OK;
}

grpc::Status Commits::Book(const CommittedReplies::Key& key, const grpc::ByteBuffer& reply,
                           StateStore& store, const StatePosition& base, ClusterState booked,
                           WorkBudget& budget) {
  return Book(key, reply, [&] {
    const auto committed = store.Book(base, std::move(booked), budget);
    return committed ? grpc::Status::OK : StatusWithPosition(committed.error(), store);
  });
}

grpc::Status Commits::Book(const CommittedReplies::Key& key, const grpc::ByteBuffer& reply,
                           const std::function<grpc::Status()>& book) {
  const std::lock_guard lock(mutex_);
  const grpc::Status booked = book();
  if (booked.ok()) replies_.Keep(key, reply);
  return booked;
}

}  // namespace espalier
