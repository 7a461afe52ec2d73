// Removes names from cluster dumps, so that others may see them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "host/model/result.hpp"

namespace espalier {

// Replaces the texts of Kubernetes objects by numbers, the same text by the same number. The
// numbers are in the order of the texts, as decisions follow that order. Field names, label keys,
// resources, amounts, times, uids, the words that Kubernetes, Kueue and KAI define, names that mean
// something, such as `default` and `worker`, and values of labels that are indexes or compared as
// numbers are kept, as are names of device classes that name a level of a Topology. A pattern of a
// HyperNode becomes a list of what it matches. Texts that decisions do not depend on, such as
// commands, are left out.
//
// All texts must be added before the first is written.
class Redaction {
 public:
  Redaction();
  ~Redaction();

  // Adds the names of a JSON text of one object or list. Errors say what is wrong with it.
  Result<void> Add(std::string_view json);

  // Returns that text without its names, as JSON in one line.
  Result<std::string> Write(std::string_view json);

 private:
  class Walk;

  void NumberNames();

  std::map<std::string, std::string, std::less<>> stand_ins_;  // by name
  std::set<std::string, std::less<>> number_labels_;           // keys of labels compared as numbers
  std::set<std::string, std::less<>> uids_;
  std::set<std::string, std::less<>> levels_;  // and what follows their slashes
  std::set<std::string, std::less<>> nodes_;
  std::map<std::string, std::int64_t, std::less<>> tiers_;  // of HyperNodes, by name
  bool numbered_ = false;
};

}  // namespace espalier
