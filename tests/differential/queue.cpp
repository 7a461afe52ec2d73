#include "tests/differential/queue.hpp"

#include "tests/differential/generator.hpp"

namespace espalier::differential {

Queue GenerateQueue(std::uint64_t seed, std::int64_t most) {
  Queue queue{Generate(seed), {}};
  queue.instance.gates.elastic_jobs_via_workload_slices_with_tas = false;
  Random random(~seed);
  for (std::int64_t i = random.Between(2, most); i > 0; --i) {
    queue.requests.push_back(GeneratePlainRequest(random, queue.instance.cluster));
  }
  return queue;
}

}  // namespace espalier::differential
