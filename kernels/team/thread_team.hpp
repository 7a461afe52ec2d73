// Real threads with a real barrier: runs the decision text as a GPU block would, so that a missing
// sync() is a data race ThreadSanitizer sees and a diverging collective is caught at once.
#pragma once

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>
#include <type_traits>
#include <vector>

#include "kernels/team/scanning.hpp"
#include "kernels/team/selecting.hpp"
#include "kernels/team/team.hpp"

namespace espalier {

class ThreadTeam {
 public:
  // Runs `body(team)` on `lanes` threads and waits for all of them.
  template <class Body>
  static void Run(std::int32_t lanes, const Body& body) {
    Shared shared(lanes);
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(lanes));
    for (std::int32_t rank = 0; rank < lanes; ++rank) {
      threads.emplace_back([&shared, &body, rank, lanes] {
        ThreadTeam team(shared, rank, lanes);
        body(team);
        team.sync();  // a lane that leaves early meets the others at another line
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  static constexpr bool kOneLane = false;
  static const SliceIndex* slice_index() { return nullptr; }

  std::int32_t rank() const { return rank_; }
  std::int32_t size() const { return size_; }

  void sync(int line = __builtin_LINE()) { Meet(line); }

  template <class T>
  T broadcast(T value, std::int32_t root, int line = __builtin_LINE()) {
    return Exchange(value, line)[static_cast<std::size_t>(root)];
  }

  bool any(bool predicate, int line = __builtin_LINE()) {
    const std::vector<int> all = Exchange(predicate ? 1 : 0, line);
    return std::find(all.begin(), all.end(), 1) != all.end();
  }

  // Folds from the highest rank down: an operator that is not commutative shows.
  template <class T, class Op>
  T reduce(T value, T identity, Op op, int line = __builtin_LINE()) {
    const std::vector<T> all = Exchange(value, line);
    return std::accumulate(all.rbegin(), all.rend(), identity, op);
  }

  template <class T>
  ScanResult<T> exclusive_sum(T value, int line = __builtin_LINE()) {
    const std::vector<T> all = Exchange(value, line);
    return {std::accumulate(all.begin(), all.begin() + rank_, T{}),
            std::accumulate(all.begin(), all.end(), T{})};
  }

  template <class T, class Less>
  T minimum(T value, Less less, int line = __builtin_LINE()) {
    const std::vector<T> all = Exchange(value, line);
    return *std::min_element(all.rbegin(), all.rend(), less);
  }

  template <class T, class Less>
  void sort(T* first, std::int32_t n, Less less, int line = __builtin_LINE()) {
    sync(line);
    if (rank_ == 0) std::sort(first, first + n, less);
    sync(line);
  }

  template <class T, class Make, class Weigh, class Order>
  SortedFront sort_front(T* front, std::int32_t n, Make make, Weigh weigh, Order order,
                         std::int64_t need, int line = __builtin_LINE()) {
    sync(line);
    return SelectAndSort(*this, front, n, make, weigh, order, need);
  }

  std::int32_t first_tightest(const std::int32_t* values, const std::int32_t* ties, std::int32_t n,
                              std::int32_t need, int line = __builtin_LINE()) {
    sync(line);
    return ScanForTightest(*this, values, ties, n, need);
  }

 private:
  static constexpr std::size_t kSlotBytes = 128;
  // The data that one lane shows the others at a meeting.
  struct alignas(64) Slot {
    unsigned char bytes[kSlotBytes];
    int line = 0;  // of the collective it called
  };
  struct Shared {
    explicit Shared(std::int32_t lanes)
        : barrier(lanes),
          slots{std::vector<Slot>(static_cast<std::size_t>(lanes)),
                std::vector<Slot>(static_cast<std::size_t>(lanes))} {}
    std::barrier<> barrier;
    // Used in turn: while a slow lane still reads one, fast lanes fill the other.
    std::vector<Slot> slots[2];
  };

  ThreadTeam(Shared& shared, std::int32_t rank, std::int32_t size)
      : shared_(shared), rank_(rank), size_(size) {}

  // Publishes a value and meets the others: what every lane published, by rank.
  template <class T>
  std::vector<T> Exchange(const T& value, int line) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kSlotBytes);
    std::memcpy(shared_.slots[turn_][static_cast<std::size_t>(rank_)].bytes, &value, sizeof(T));
    const std::vector<Slot>& slots = Meet(line);
    std::vector<T> all(slots.size());
    for (std::size_t i = 0; i < all.size(); ++i) std::memcpy(&all[i], slots[i].bytes, sizeof(T));
    return all;
  }

  // Waits at one barrier. Lanes that meet at it from different source lines would hang or corrupt
  // on a GPU.
  const std::vector<Slot>& Meet(int line) {
    std::vector<Slot>& slots = shared_.slots[turn_];
    turn_ = 1 - turn_;
    slots[static_cast<std::size_t>(rank_)].line = line;
    shared_.barrier.arrive_and_wait();
    for (const Slot& other : slots) {
      if (other.line == line) continue;
      std::fprintf(stderr, "diverging collectives: lines %d and %d\n", line, other.line);
      std::abort();
    }
    return slots;
  }

  Shared& shared_;
  std::int32_t rank_;
  std::int32_t size_;
  int turn_ = 0;  // which of the slots comes next
};

}  // namespace espalier
