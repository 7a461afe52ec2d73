// The steady state allocates nothing per gang. An executable of its own: it counts every allocation
// of the process.
#include <atomic>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/gang_batch.hpp"
#include "tests/engine/requests.hpp"
#include "tests/packing/states.hpp"

namespace {

std::atomic<std::int64_t> allocations{0};

void* Allocate(std::size_t size, std::size_t alignment) {
  ++allocations;
  const std::size_t padded = (size + alignment - 1) / alignment * alignment;
  if (void* memory = std::aligned_alloc(alignment, padded > 0 ? padded : alignment)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return Allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return Allocate(size, static_cast<std::size_t>(alignment));
}
// Not inlined: GCC 14 would warn that memory of operator new goes to std::free.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace espalier::allocation_test {
namespace {

TEST(AllocationTest, GangsInOrderAllocateNothingOnceWarm) {
  ClusterState state = BuildState(MakeRacks({.depth = 3,
                                             .racks = 64,
                                             .racks_of_block = 8,
                                             .hosts = 16,
                                             .has = {{"gpu", 100}, {"pods", 110}}}));
  std::vector<GangShape> shapes;
  for (const Amount gpus : {1, 2, 3}) {
    GangShape& shape = shapes.emplace_back();
    shape.workers = MakePodSet(0, Preferred(gpus == 2 ? "block" : "rack"));
    shape.workers.requests = {{"gpu", gpus}};
  }
  std::vector<GangRow> gangs;
  for (int i = 0; i < 600; ++i) gangs.push_back({i % 3, 1 + i % 40});
  const std::shared_ptr<Backend> backend = MakeCpuBackend(1);
  GangBatch batch(state, {}, shapes);
  GangAnswers answers;
  batch.PlaceInOrder(*backend, state, gangs, answers);
  ASSERT_TRUE(answers.failures.empty());

  const std::int64_t before = allocations;
  batch.PlaceInOrder(*backend, state, gangs, answers);
  const std::int64_t made = allocations - before;
  ASSERT_TRUE(answers.failures.empty());
  // Memory that grows with its contents, such as the state's log, may double a few times.
  EXPECT_LT(made, 20);
}

}  // namespace
}  // namespace espalier::allocation_test
