// The one CUDA context of a process, which all its devices share.
#pragma once

#include <mutex>

namespace espalier {

// Counts the devices that use the context, so that none of them resets it under another.
// Thread-safe.
class SharedContext {
 public:
  // Joins a device. When `works()` is false, as after a fault, calls `reset()` first; returns false
  // instead while other devices use the context, whose memory a reset would destroy.
  template <class Works, class Reset>
  bool Join(const Works& works, const Reset& reset) {
    const std::lock_guard lock(mutex_);
    if (!works()) {
      if (devices_ > 0) return false;
      reset();
    }
    ++devices_;
    return true;
  }

  // Leaves the context; called once for each Join that returned true.
  void Leave() {
    const std::lock_guard lock(mutex_);
    --devices_;
  }

 private:
  std::mutex mutex_;
  int devices_ = 0;  // guarded by mutex_
};

}  // namespace espalier
