// Computes one short digest of thousands of answers.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "host/engine/gang_batch.hpp"

namespace espalier {

// SHA-256 of data that is added in pieces. Integers count as eight bytes, least significant first.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void Add(std::string_view bytes);
  void Add(std::int64_t number);
  std::string Hex();  // called once, at the end

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// Returns the digest of the first `gangs` answers: status, level and shares of each; of a failure,
// all its counts.
std::string DigestOf(const GangAnswers& answers, std::size_t gangs);

}  // namespace espalier
