// Makes single allocations of a test fail. It replaces operator new of the whole executable, so
// only tests that are about memory link it.
#pragma once

#include <cstdint>
#include <new>

namespace espalier {

enum class AllocationsOf { kEveryThread, kThisThread };

// Fails the allocation with this number, from 0, of those made while the object lives.
class FailingAllocation {
 public:
  FailingAllocation(std::int64_t number, AllocationsOf whose);
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;

  // Returns whether the allocation was reached, and so failed.
  bool failed() const;
};

// Calls `body` and fails one of its allocations. Returns whether that was reached; `body` may have
// ended with std::bad_alloc then.
template <class Body>
bool FailAllocation(std::int64_t number, AllocationsOf whose, const Body& body) {
  const FailingAllocation failing(number, whose);
  try {
    body();
  } catch (const std::bad_alloc&) {
    if (!failing.failed()) throw;
  }
  return failing.failed();
}

}  // namespace espalier
