// Lets all thread blocks of a launch, which run at the same time, tell each other a few numbers.
#pragma once

#include <cstdint>

#ifndef __CUDA_ARCH__
#include <atomic>
#endif

#include "kernels/decisions/level_index.hpp"
#include "kernels/macros.hpp"

namespace espalier {

// One block's side of the exchange. Blocks call Least the same number of times, with equal counts.
class GridExchange {
 public:
  static constexpr std::int32_t kMostValues = 8;

  // Returns the words of memory that so many blocks need, zero when the launch begins.
  static constexpr ESPALIER_HD std::int64_t Words(std::int32_t blocks) {
    return std::int64_t{2} * blocks * kWords;
  }

  ESPALIER_HD GridExchange(std::uint64_t* words, std::int32_t blocks, std::int32_t block)
      : words_(words), blocks_(blocks), block_(block) {}

  // Replaces each value of a shared array by the least that a block has there. A barrier of all
  // blocks: what any lane wrote before, every lane sees afterwards.
  template <class Team>
  ESPALIER_HD void Least(Team& team, std::uint64_t* values, std::int32_t count) {
    ++round_;
    // Two sets of words in turn: nobody writes to one again before all have read it, as that takes
    // an exchange by the other.
    std::uint64_t* const words = words_ + (round_ & 1) * Words(blocks_) / 2;
    team.sync();
    if (team.rank() == 0) {
      std::uint64_t* const mine = words + block_ * kWords;
      for (std::int32_t i = 0; i < count; ++i) mine[i] = values[i];
      Tell(mine[kMostValues], round_);
    }
    team.sync();
    for (std::int32_t block = team.rank(); block < blocks_; block += team.size()) {
      const std::uint64_t* const of_block = words + block * kWords;
      Await(words[block * kWords + kMostValues], round_);
      for (std::int32_t i = 0; i < count; ++i) LowerTo(values[i], of_block[i]);
    }
    team.sync();
  }

 private:
  static constexpr std::int32_t kWords = kMostValues + 1;  // and the round that these are of

  // Writes a word after everything that the block wrote before its last barrier.
  static ESPALIER_HD void Tell(std::uint64_t& word, std::uint64_t value) {
#ifdef __CUDA_ARCH__
    asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(&word), "l"(value) : "memory");
#else
    const std::atomic_ref shared(word);
    shared.store(value, std::memory_order_release);
    shared.notify_all();
#endif
  }

  // Waits until a word has this value, before anything that the block reads behind its next
  // barrier.
  static ESPALIER_HD void Await(std::uint64_t& word, std::uint64_t wanted) {
#ifdef __CUDA_ARCH__
    std::uint64_t value = 0;
    do {
      asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(value) : "l"(&word) : "memory");
    } while (value != wanted);
#else
    const std::atomic_ref shared(word);
    for (;;) {
      const std::uint64_t value = shared.load(std::memory_order_acquire);
      if (value == wanted) return;
      shared.wait(value, std::memory_order_acquire);
    }
#endif
  }

  std::uint64_t* words_;
  std::int32_t blocks_;
  std::int32_t block_;
  std::uint64_t round_ = 0;
};

}  // namespace espalier
