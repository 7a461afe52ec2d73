#include "tests/oracle/victims.hpp"

namespace espalier::oracle {
namespace {

// The placement without what these victims use.
WorkloadAnswer AnswerWithout(OracleInput input, const WorkloadRequest& request,
                             const std::vector<Victim>& gone) {
  for (const Victim& victim : gone) {
    for (const auto& [leaf, usage] : victim.usage) {
      for (const auto& [resource, amount] : usage) input.tas_usage[leaf][resource] -= amount;
    }
  }
  return Answer(input, request);
}

}  // namespace

VictimsAnswer FindVictims(const OracleInput& input, const WorkloadRequest& request,
                          const std::vector<Victim>& victims) {
  VictimsAnswer found;
  std::vector<Victim> targets;
  while (!Fits(AnswerWithout(input, request, targets)) && targets.size() < victims.size()) {
    targets.push_back(victims[targets.size()]);
  }
  found.result = AnswerWithout(input, request, targets);
  found.fits = Fits(found.result);
  if (!found.fits) return found;
  found.prefix = targets.size();
  for (int i = static_cast<int>(targets.size()) - 2; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    std::vector<Victim> fewer = targets;
    fewer.erase(fewer.begin() + i);
    if (!Fits(AnswerWithout(input, request, fewer))) continue;
    targets[at] = targets.back();
    targets.pop_back();
  }
  for (const Victim& victim : targets) found.targets.push_back(victim.name);
  found.result = AnswerWithout(input, request, targets);
  return found;
}

}  // namespace espalier::oracle
