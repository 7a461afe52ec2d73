// Bytes choose the life of a few elastic workloads; the planner of resizes, the cycles and the
// ungater keep to the rules in every step.
#include <algorithm>

#include "tests/fuzz/fuzz.hpp"
#include "tests/oracle/elastic_life.hpp"

namespace espalier::fuzz {

void RunOne(std::string_view bytes) {
  constexpr std::size_t kBytesOfStep = 8;
  constexpr std::size_t kMostSteps = 200;
  Random random(bytes);
  oracle::ElasticLife life(random);
  std::string steps;
  for (std::size_t i = 0; i < std::min(bytes.size() / kBytesOfStep + 1, kMostSteps); ++i) {
    const std::string problem = life.Step();
    steps += life.last_step() + "\n";
    Expect(problem.empty(), problem, steps);
  }
}

}  // namespace espalier::fuzz
