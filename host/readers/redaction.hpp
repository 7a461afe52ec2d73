// Cluster dumps without the names in them, for others to look at.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "host/model/result.hpp"

namespace espalier {

// Replaces the texts of Kubernetes objects by numbers, the same text by the same number. The
// numbers are in the order of the texts, as decisions follow that order. Kept are field names,
// label keys, resources, amounts, times, uids, and the few words that Kubernetes and Kueue define;
// texts that decisions do not depend on, such as images and commands, are left out.
//
// All texts are to be added before the first is written.
class Redaction {
 public:
  Redaction();
  ~Redaction();

  // Takes in the names of a JSON text of one object or list. Errors say what is wrong with it.
  Result<void> Add(std::string_view json);

  // Returns that text without its names, as JSON in one line.
  Result<std::string> Write(std::string_view json);

 private:
  class Walk;

  std::map<std::string, std::size_t, std::less<>> numbers_;
  bool numbered_ = false;
};

}  // namespace espalier
