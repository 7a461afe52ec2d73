// A few rounds of each random attack; `make attack` runs them for minutes.
#include "tests/attack/rounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/attack/client.hpp"
#include "tests/attack/messages.hpp"
#include "tests/attack/sound_questions.hpp"

namespace espalier::attack::rounds_test {
namespace {

using testing::IsEmpty;

// What is not sound to begin with is refused whatever is changed in it.
TEST(Rounds, BeginWithSoundQuestions) {
  ServerProcess server;
  Client client(server.address());
  client.Load(Cluster(64));
  for (const char* method : kQuestions) {
    const Reply reply = client.Stream(method, std::vector{SoundQuestion(method)});
    EXPECT_TRUE(reply.ok()) << method << ": " << reply.Text();
  }
}

TEST(Rounds, OfMutatedCallsChangeNoAnswer) { EXPECT_THAT(MutationRound(1, 1000), IsEmpty()); }

TEST(Rounds, OfKillsBookNothingTwice) { EXPECT_THAT(KillRound(1, 10), IsEmpty()); }

TEST(Rounds, OfCallsForALotOfMemoryStayWithinIt) { EXPECT_THAT(MemoryRound(1, 2), IsEmpty()); }

}  // namespace
}  // namespace espalier::attack::rounds_test
