// Commits that fail: what was refused is not booked, and what may have been can be asked again.
#include <gtest/gtest.h>

#include "tests/attack/client.hpp"
#include "tests/attack/messages.hpp"

namespace espalier::attack::commit_test {
namespace {

// Returns whether `pods` pods of 4 cpu find room, anywhere.
bool HasRoomFor(Client& client, int pods) {
  const Reply reply = client.Call(kPlace, Gangs({.pods = pods}));
  EXPECT_TRUE(reply.ok()) << reply.Text();
  const auto response = reply.As<v1::PlaceResponse>();
  return response.answers().outcomes_size() == 1 &&
         response.answers().outcomes(0) == v1::POD_SET_OUTCOME_PLACED;
}

// So large that it is still computed when a call's deadline passes.
v1::PlaceRequest GiantCommit(const v1::StatePosition& base, const std::string& token = "") {
  return Commit(Gangs({.gangs = 20'000, .pods = 2, .distinct = true, .level = "rack"}), base,
                token);
}

class Commits : public testing::Test {
 protected:
  explicit Commits(const std::vector<std::string>& flags = {}) : server_(flags) {}

  ServerProcess server_;
  Client client_{server_.address()};
};

class CommitsOfShortMessages : public Commits {
 protected:
  CommitsOfShortMessages() : Commits({"--max-message-bytes", "64KiB"}) {}
};

TEST_F(CommitsOfShortMessages, WithAnAnswerTooLongToSendBookNothing) {
  constexpr int kNodes = 20'000;
  const v1::StatePosition base = client_.Load(Cluster(kNodes, 250));
  v1::PlaceRequest request = Commit(Gangs({.pods = kNodes, .cpu = 8000}), base);
  for (const v1::DomainNaming naming : {v1::DOMAIN_NAMING_INDEX, v1::DOMAIN_NAMING_NAME}) {
    request.set_domain_naming(naming);
    const Reply reply = client_.Call(kPlace, request);
    EXPECT_EQ(reply.code(), grpc::RESOURCE_EXHAUSTED) << reply.Text();
    EXPECT_EQ(client_.Position().generation(), base.generation());
  }
  const Reply next = client_.Call(kPlace, Commit(Gangs({.pods = 32, .level = "rack"}), base));
  ASSERT_TRUE(next.ok()) << next.Text();
  const auto response = next.As<v1::PlaceResponse>();
  EXPECT_EQ(response.committed().generation(), base.generation() + 1);
  EXPECT_EQ(response.answers().domains(0), 0);  // the first host is free as before
}

TEST_F(Commits, WhoseDeadlinePassesInTheComputationBookNothing) {
  const v1::StatePosition base = client_.Load(Cluster(20'000));
  for (const char* token : {"", "one"}) {
    const Reply reply =
        client_.Call(kPlace, GiantCommit(base, token), std::chrono::milliseconds(300));
    EXPECT_EQ(reply.code(), grpc::DEADLINE_EXCEEDED) << reply.Text();
  }
  ASSERT_TRUE(server_.BecomesIdle());
  EXPECT_EQ(client_.Position().generation(), base.generation());
}

TEST_F(Commits, ThatAreCancelledInTheComputationBookNothing) {
  const v1::StatePosition base = client_.Load(Cluster(20'000));
  {
    const auto cancelled = client_.Start(kPlace, GiantCommit(base, "one"));
    server_.WaitUntilComputing();
  }
  ASSERT_TRUE(server_.BecomesIdle());
  EXPECT_EQ(client_.Position().generation(), base.generation());
}

TEST_F(Commits, OfOneTokenBookOnce) {
  const v1::StatePosition base = client_.Load(Cluster(16));
  const v1::PlaceRequest request = Commit(Gangs({.pods = 20}), base, "token");
  const Reply first = client_.Call(kPlace, request);
  ASSERT_TRUE(first.ok()) << first.Text();
  for (int i = 0; i < 3; ++i) {
    Client other(server_.address());
    const Reply again = other.Call(kPlace, request);
    ASSERT_TRUE(again.ok()) << again.Text();
    EXPECT_EQ(again.bytes, first.bytes);
  }
  EXPECT_EQ(client_.Position().generation(), base.generation() + 1);
  EXPECT_TRUE(HasRoomFor(client_, 12));
  EXPECT_FALSE(HasRoomFor(client_, 13));

  const Reply other = client_.Call(kPlace, Commit(Gangs({.pods = 3}), base, "token"));
  EXPECT_EQ(other.code(), grpc::INVALID_ARGUMENT) << other.Text();
  EXPECT_EQ(client_.Position().generation(), base.generation() + 1);
}

TEST_F(Commits, NeedAStateForAToken) {
  client_.Load(Cluster(16));
  v1::PlaceRequest request = Commit(Gangs({.pods = 2}), {}, "token");
  request.clear_state();
  EXPECT_EQ(client_.Call(kPlace, request).code(), grpc::INVALID_ARGUMENT);
  v1::PlaceRequest nominate = Gangs({.pods = 2});
  nominate.set_commit_token("token");
  *nominate.mutable_state() = client_.Position();
  EXPECT_EQ(client_.Call(kPlace, nominate).code(), grpc::INVALID_ARGUMENT);
}

// Deadlines from before a commit begins to after its end: whatever became of the first try, the
// next ones with the token lead to one booking.
TEST_F(Commits, AreRepeatedWithATokenUntilTheAnswerComes) {
  constexpr int kCommits = 80;
  v1::StatePosition base = client_.Load(Cluster(kCommits));
  const std::uint64_t before = base.generation();
  int lost = 0;
  for (int i = 0; i < kCommits; ++i) {
    const v1::PlaceRequest request =
        Commit(Gangs({.pods = 2, .level = "rack"}), base, "token-" + std::to_string(i));
    Reply reply = client_.Call(kPlace, request, std::chrono::microseconds(20 * i));
    for (; !reply.ok(); ++lost) {
      ASSERT_EQ(reply.code(), grpc::DEADLINE_EXCEEDED) << reply.Text();
      reply = client_.Call(kPlace, request);
    }
    base = reply.As<v1::PlaceResponse>().committed();
    ASSERT_EQ(base.generation(), before + static_cast<std::uint64_t>(i) + 1);
  }
  EXPECT_GT(lost, 0);
  EXPECT_FALSE(HasRoomFor(client_, 1));
}

}  // namespace
}  // namespace espalier::attack::commit_test
