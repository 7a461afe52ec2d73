#include "tests/cuda/scores.hpp"

#include "kernels/team/serial_team.hpp"

namespace espalier {

void ScoresOnHost(const ScoresArgs& args) {
  SerialTeam team;
  RunScores(team, args);
}

}  // namespace espalier
