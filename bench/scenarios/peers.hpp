// What other schedulers took for the same work, as recorded on another run and machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

struct PeerFigure {
  std::string system;    // name and version
  std::string machine;   // and date
  std::string scenario;  // full name of the scenario with the same work
  std::string what;      // was measured
  double total_seconds = 0;
  std::optional<double> gang_seconds;  // median of one gang
};

// Those of bench/peers, which are part of the program.
const std::vector<PeerFigure>& PeerFigures();

// Null where nobody has done the same work.
const PeerFigure* FindPeer(std::string_view scenario);

}  // namespace espalier
