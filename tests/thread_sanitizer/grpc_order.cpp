// Shows ThreadSanitizer what orders the threads of gRPC. gRPC and Abseil come without its
// instrumentation: whatever two of their threads hand over under a lock of Abseil, or as an
// operation of a call, looks like a race. These definitions take the place of the libraries', call
// them, and say what comes after what. Only the functions that gRPC calls are replaced.
#include <absl/base/config.h>
#include <absl/synchronization/mutex.h>
#include <grpc/grpc.h>
#include <sanitizer/tsan_interface.h>

#include "tests/thread_sanitizer/replaced.hpp"

using espalier::Replaced;

namespace absl {
ABSL_NAMESPACE_BEGIN

void Mutex::Lock() {
  static const auto lock = Replaced(&Mutex::Lock);
  (this->*lock)();
  __tsan_acquire(this);
}

bool Mutex::TryLock() {
  static const auto try_lock = Replaced(&Mutex::TryLock);
  const bool locked = (this->*try_lock)();
  if (locked) __tsan_acquire(this);
  return locked;
}

void Mutex::Unlock() {
  static const auto unlock = Replaced(&Mutex::Unlock);
  __tsan_release(this);
  (this->*unlock)();
}

void Mutex::ReaderLock() {
  static const auto lock = Replaced(&Mutex::ReaderLock);
  (this->*lock)();
  __tsan_acquire(this);
}

void Mutex::ReaderUnlock() {
  static const auto unlock = Replaced(&Mutex::ReaderUnlock);
  __tsan_release(this);
  (this->*unlock)();
}

void CondVar::Wait(Mutex* mutex) {
  static const auto wait = Replaced(&CondVar::Wait);
  __tsan_release(mutex);
  (this->*wait)(mutex);
  __tsan_acquire(mutex);
}

bool CondVar::WaitWithTimeout(Mutex* mutex, Duration timeout) {
  static const auto wait = Replaced(&CondVar::WaitWithTimeout);
  __tsan_release(mutex);
  const bool timed_out = (this->*wait)(mutex, timeout);
  __tsan_acquire(mutex);
  return timed_out;
}

bool CondVar::WaitWithDeadline(Mutex* mutex, Time deadline) {
  static const auto wait = Replaced(&CondVar::WaitWithDeadline);
  __tsan_release(mutex);
  const bool timed_out = (this->*wait)(mutex, deadline);
  __tsan_acquire(mutex);
  return timed_out;
}

ABSL_NAMESPACE_END
}  // namespace absl

// An operation of a call comes before its completion, whose first step gives the call back.
grpc_call_error grpc_call_start_batch(grpc_call* call, const grpc_op* ops, size_t count, void* tag,
                                      void* reserved) {
  static const auto start_batch = Replaced(&grpc_call_start_batch);
  __tsan_release(call);
  return start_batch(call, ops, count, tag, reserved);
}

void grpc_call_unref(grpc_call* call) {
  static const auto unref = Replaced(&grpc_call_unref);
  __tsan_acquire(call);
  unref(call);
}
