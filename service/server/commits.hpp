// Commits to the states of a server, each of which can be repeated by its token.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include "host/live/state_store.hpp"
#include "service/server/batch_checks.hpp"
#include "service/server/committed_replies.hpp"
#include "service/wire/status.hpp"

namespace espalier {

// Returns a request's mode, in which what it wants to commit can be booked. kBadInput.
template <class Request>
Result<PlacementMode> ReadCommitMode(const Request& request) {
  auto mode = ReadMode(request.mode());
  if (mode && *mode == PlacementMode::kNominate && request.commit()) {
    return BadInput("commit: nothing can be booked in mode NOMINATE; use SEQUENTIAL");
  }
  return mode;
}

// Fails (kBadInput) where a token is too long, or without a commit or the state to commit to.
Result<void> CheckToken(const std::string& token, bool commit, bool has_state);

// Books what services of one server place. Thread-safe.
class Commits {
 public:
  // Answers a request with the reply that it was given when it was committed under its token, or
  // else with what `decide` writes to `reply`. `decide` calls Book with the request's key.
  template <class Request>
  grpc::Status Answer(const Request& request, grpc::ByteBuffer& reply,
                      const std::function<grpc::Status(const CommittedReplies::Key& key)>& decide) {
    const auto checked = CheckToken(request.commit_token(), request.commit(), request.has_state());
    if (!checked) return ToStatus(checked.error());
    return Answer(CommittedReplies::KeyOf(request.commit_token(), request), reply, decide);
  }

  // Books with `book` and keeps the reply for the request of `key` where that says OK.
  grpc::Status Book(const CommittedReplies::Key& key, const grpc::ByteBuffer& reply,
                    const std::function<grpc::Status()>& book);
  // Publishes `booked`, as StateStore::Book does, and keeps the reply for the request of `key`.
  grpc::Status Book(const CommittedReplies::Key& key, const grpc::ByteBuffer& reply,
                    StateStore& store, const StatePosition& base, ClusterState booked,
                    WorkBudget& budget);

 private:
  grpc::Status Answer(const CommittedReplies::Key& key, grpc::ByteBuffer& reply,
                      const std::function<grpc::Status(const CommittedReplies::Key& key)>& decide);

  std::mutex mutex_;  // held while something is booked and its reply kept
  CommittedReplies replies_;
};

}  // namespace espalier
