// Shows ThreadSanitizer what orders the threads of oneTBB. The library comes without its
// instrumentation: the end of all tasks comes before what follows a parallel loop or the wait of a
// task group, but nothing shows it. These definitions take the place of the library's, call them,
// and say so.
#include <oneapi/tbb/detail/_task.h>
#include <sanitizer/tsan_interface.h>

#include "tests/thread_sanitizer/replaced.hpp"

namespace tbb::detail::r1 {

// The last task of a loop calls this with the address of what its caller waits for.
void notify_waiters(std::uintptr_t waited_for) {
  static const auto notify = espalier::Replaced(&notify_waiters);
  __tsan_release(reinterpret_cast<void*>(waited_for));
  notify(waited_for);
}

void execute_and_wait(d1::task& task, d1::task_group_context& of_task, d1::wait_context& waited_for,
                      d1::task_group_context& of_wait) {
  static const auto execute = espalier::Replaced(&execute_and_wait);
  execute(task, of_task, waited_for, of_wait);
  __tsan_acquire(&waited_for);
}

// Waits as a task group does.
void wait(d1::wait_context& waited_for, d1::task_group_context& context) {
  static const auto wait_for = espalier::Replaced(static_cast<decltype(&wait)>(&wait));
  wait_for(waited_for, context);
  __tsan_acquire(&waited_for);
}

}  // namespace tbb::detail::r1
