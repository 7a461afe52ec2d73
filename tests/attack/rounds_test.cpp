// A few rounds of each random attack; `make attack` runs them for minutes.
#include "tests/attack/rounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::attack {
namespace {

using testing::IsEmpty;

TEST(Rounds, OfMutatedCallsChangeNoAnswer) { EXPECT_THAT(MutationRound(1, 1000), IsEmpty()); }

TEST(Rounds, OfKillsBookNothingTwice) { EXPECT_THAT(KillRound(1, 10), IsEmpty()); }

TEST(Rounds, OfCallsForALotOfMemoryStayWithinIt) { EXPECT_THAT(MemoryRound(1, 2), IsEmpty()); }

}  // namespace
}  // namespace espalier::attack
