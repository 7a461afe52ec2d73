// Commits that are refused, lost and repeated.
#include <chrono>

#include "service/server/committed_replies.hpp"
#include "tests/server/test_server.hpp"

namespace espalier::commit_test {
namespace {

v1::PlaceRequest CommitOf(const v1::StatePosition& state, const std::string& token, int pods = 4) {
  v1::PlaceRequest request =
      MakePlaceRequest({MakeGang("gang", pods, "block")}, v1::PLACEMENT_MODE_SEQUENTIAL);
  request.set_commit(true);
  *request.mutable_state() = state;
  request.set_commit_token(token);
  return request;
}

TEST(Commit, AnAnswerThatIsTooLargeBooksNothing) {
  ServerOptions options;
  options.max_message_bytes = 4096;
  TestServer server(options);
  ASSERT_TRUE(server.Load(SmallCluster()).ok());
  // Gangs that do not fit have short questions and long answers.
  std::vector<WorkloadRequest> gangs(1, MakeGang("fits", 1));
  for (int i = 0; i < 100; ++i) {
    gangs.push_back(MakeGang("", 1000 + i));
  }
  for (const auto naming : {v1::DOMAIN_NAMING_INDEX, v1::DOMAIN_NAMING_NAME}) {
    v1::PlaceRequest request = MakePlaceRequest(gangs, v1::PLACEMENT_MODE_SEQUENTIAL);
    request.set_commit(true);
    request.set_domain_naming(naming);
    ASSERT_LT(request.ByteSizeLong(), 4096u);
    const grpc::Status status = server.Place(request);
    EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED) << status.error_message();
    EXPECT_EQ(server.Summary().state().generation(), 1u);
  }
}

TEST(Commit, ADeadlineThatPassesMeanwhileBooksNothing) {
  TestServer server;
  v1::StatePosition position;
  ASSERT_TRUE(server.Load(SmallCluster(), &position).ok());
  server.backend->Close();
  server.PlacePastTheDeadline(CommitOf(position, "token"));
  const int entered = server.backend->entered();
  server.backend->Open();
  EXPECT_TRUE(server.server->Drain(std::chrono::minutes(1)));
  EXPECT_EQ(server.backend->entered(), entered);
}

TEST(Commit, IsAnsweredAgainByItsToken) {
  TestServer server;
  v1::StatePosition position;
  ASSERT_TRUE(server.Load(SmallCluster(), &position).ok());
  const v1::PlaceRequest request = CommitOf(position, "a");
  v1::PlaceResponse first;
  ASSERT_TRUE(server.Place(request, &first).ok());
  EXPECT_EQ(first.committed().generation(), 2u);
  for (int i = 0; i < 3; ++i) {
    v1::PlaceResponse again;
    ASSERT_TRUE(server.Place(request, &again).ok());
    EXPECT_EQ(again.SerializeAsString(), first.SerializeAsString());
  }
  EXPECT_EQ(server.Summary().state().generation(), 2u);

  const grpc::Status other = server.Place(CommitOf(position, "a", 2));
  EXPECT_EQ(other.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(other.error_message().find("commit_token: was given to another request"), 0u);
  EXPECT_EQ(server.Place(CommitOf(position, "b")).error_code(), grpc::FAILED_PRECONDITION);
}

TEST(Commit, OfAFailedPreconditionDoesNotUseUpItsToken) {
  TestServer server;
  v1::StatePosition position;
  ASSERT_TRUE(server.Load(SmallCluster(), &position).ok());
  ASSERT_TRUE(server.Load(SmallCluster(), nullptr).ok());
  EXPECT_EQ(server.Place(CommitOf(position, "a")).error_code(), grpc::FAILED_PRECONDITION);
  *(&position) = server.Summary().state();
  EXPECT_TRUE(server.Place(CommitOf(position, "a")).ok());
}

TEST(Commit, ATokenNeedsWhatMakesItSafe) {
  TestServer server;
  v1::StatePosition position;
  ASSERT_TRUE(server.Load(SmallCluster(), &position).ok());
  v1::PlaceRequest request = CommitOf(position, "a");
  request.clear_state();
  EXPECT_EQ(server.Place(request).error_message(),
            "commit_token: needs `commit` and the `state` that is committed to");
  request = CommitOf(position, "a");
  request.set_commit(false);
  EXPECT_EQ(server.Place(request).error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(server.Place(CommitOf(position, std::string(129, 't'))).error_message(),
            "commit_token: has 129 bytes; 1 to 128 expected");
}

TEST(CommittedReplies, ForgetTheOldest) {
  CommittedReplies replies;
  const auto key = [](int i) {
    const std::string token = "token " + std::to_string(i);
    return CommittedReplies::KeyOf(token, CommitOf({}, token, i));
  };
  const std::string text(1 << 20, 'x');
  const grpc::Slice slice(text);
  const grpc::ByteBuffer megabyte(&slice, 1);
  for (int i = 0; i < 20; ++i) replies.Keep(key(i), megabyte);
  for (int i = 0; i < 20; ++i) EXPECT_EQ((*replies.Find(key(i))).has_value(), i >= 4) << i;
  for (int i = 100; i < 1200; ++i) replies.Keep(key(i), {});
  EXPECT_FALSE((*replies.Find(key(19))).has_value());
  EXPECT_TRUE((*replies.Find(key(1199))).has_value());
}

}  // namespace
}  // namespace espalier::commit_test
