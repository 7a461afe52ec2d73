// Section 29: whose removal lets a workload fit, by trying each number of victims from scratch.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tests/oracle/oracle.hpp"

namespace espalier::oracle {

struct Victim {
  std::string name;
  std::map<std::string, Resources> usage;  // leaf id -> part of the leaf's TAS usage
};

struct VictimsAnswer {
  bool fits = false;
  std::size_t prefix = 0;
  std::vector<std::string> targets;
  WorkloadAnswer result;  // with exactly the targets removed; with all victims where it never fits
};

// Finds the victims of R29.3.
VictimsAnswer FindVictims(const OracleInput& input, const WorkloadRequest& request,
                          const std::vector<Victim>& victims);

}  // namespace espalier::oracle
