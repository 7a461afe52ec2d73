// Section 9: the two orders of domains, the affinity tier and the tight-fit rule.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/oracle/counts.hpp"

namespace espalier::oracle {

struct OrderRules {
  bool affinity = false;  // gate TASRespectNodeAffinityPreferred
  bool least_free_capacity = false;
};

// Returns the rules of the request itself, and the same under best-fit (R9.6).
OrderRules RulesOf(const Problem& problem);
OrderRules BestFitRulesOf(const Problem& problem);

std::vector<Path> OrderA(const Tree& tree, OrderRules rules, std::vector<Path> list);
std::vector<Path> OrderB(const Tree& tree, OrderRules rules, std::vector<Path> list);

enum class Unit { kSlices, kPods };

// Return U or P, and UW or PW.
std::int64_t Units(const Counts& counts, Unit unit);
std::int64_t UnitsWithLeader(const Counts& counts, Unit unit);

// Returns TIGHT of the part of `list` from `first` on, which is not empty.
Path Tight(const Tree& tree, OrderRules rules, const std::vector<Path>& list, std::size_t first,
           std::int64_t need, std::int64_t leaders, Unit unit);

}  // namespace espalier::oracle
