// Runs one test text on every kind of Team.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/team/serial_team.hpp"
#include "kernels/team/thread_team.hpp"

namespace espalier {

// Awkward sizes of inputs: none, one, around the lane counts, around a warp, several tiles.
inline constexpr std::int32_t kAwkwardSizes[] = {0, 1, 2, 3, 6, 7, 8, 31, 32, 33, 100};

// One team under test; one lane is SerialTeam.
class TeamRunner {
 public:
  explicit TeamRunner(std::int32_t lanes) : lanes_(lanes) {}
  // Makes a team of one lane that knows what all leaves hold.
  explicit TeamRunner(const SliceIndex* index) : lanes_(1), index_(index) {}

  std::int32_t lanes() const { return lanes_; }
  std::string name() const {
    return lanes_ == 1 ? "SerialTeam" : "ThreadTeam of " + std::to_string(lanes_);
  }

  // Calls `body(team)` on every lane.
  template <class Body>
  void Run(const Body& body) const {
    if (lanes_ == 1) {
      SerialTeam team(index_);
      body(team);
    } else {
      ThreadTeam::Run(lanes_, body);
    }
  }

  // Calls `decide(team)` on every lane; all of them must come to the same answer, which is
  // returned. Answers compare with == and own what they hold.
  template <class Decide>
  auto Ask(const Decide& decide) const {
    using Answer = decltype(decide(std::declval<SerialTeam&>()));
    std::vector<std::optional<Answer>> answers(static_cast<std::size_t>(lanes_));
    Run([&](auto& team) { answers[static_cast<std::size_t>(team.rank())].emplace(decide(team)); });
    for (std::size_t rank = 1; rank < answers.size(); ++rank) {
      EXPECT_TRUE(*answers[rank] == *answers[0]) << "lane " << rank << " and lane 0 disagree";
    }
    return *answers[0];
  }

 private:
  std::int32_t lanes_;
  const SliceIndex* index_ = nullptr;
};

// Calls `body(runner)` once per team. Shared arrays belong inside the body: every team needs fresh
// ones.
template <class Body>
void RunOnTeams(const Body& body) {
  for (const std::int32_t lanes : {1, 2, 3, 7}) {
    const TeamRunner runner(lanes);
    SCOPED_TRACE(runner.name());
    body(runner);
  }
}

}  // namespace espalier
