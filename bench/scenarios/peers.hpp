// Times of other schedulers for the same work, as recorded in another run and on another machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

struct PeerFigure {
  std::string system;    // name and version
  std::string machine;   // machine and date
  std::string scenario;  // full name of the scenario with the same work
  std::string what;      // what was measured
  double total_seconds = 0;
  std::optional<double> gang_seconds;  // median of one gang
};

// Returns the figures of bench/peers, which are part of the program.
const std::vector<PeerFigure>& PeerFigures();

// Returns the figure for a scenario, or null when there is none.
const PeerFigure* FindPeer(std::string_view scenario);

}  // namespace espalier
