// The life of a call: admitted or refused, computed on a worker, finished once, counted until gone.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

#include <grpcpp/support/server_callback.h>

#include "service/server/work_queue.hpp"

namespace espalier {

class Calls {
 public:
  // Counts a call from its admission to its end.
  class Ticket {
   public:
    explicit Ticket(Calls& calls);
    ~Ticket();
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;

   private:
    Calls& calls_;
  };

  // `queue` outlives this.
  explicit Calls(WorkQueue& queue) : queue_(queue) {}

  // Answers a unary call with what `work` returns, computed on a worker. Refused are: calls while
  // draining (UNAVAILABLE), past their deadline on arrival or when their turn comes
  // (DEADLINE_EXCEEDED), and those that find the queue full (RESOURCE_EXHAUSTED).
  grpc::ServerUnaryReactor* Run(grpc::CallbackServerContext* context,
                                std::function<grpc::Status()> work);

  // Why a call that arrives now is refused; OK when it is not.
  grpc::Status Admit(const grpc::CallbackServerContext& context) const;

  // Runs `work`, or refuses it, and hands the status to `done`, for calls that Run cannot serve.
  void Post(const grpc::CallbackServerContext& context, std::function<grpc::Status()> work,
            std::function<void(const grpc::Status&)> done);

  // Calls that are computed or wait; streams count from their first chunk on.
  int under_way() const;

  void StopAdmission();

  // True when no call was left before `deadline`.
  bool WaitUntilIdle(std::chrono::steady_clock::time_point deadline);

 private:
  WorkQueue& queue_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable idle_;
  int under_way_ = 0;
  bool draining_ = false;
};

}  // namespace espalier
