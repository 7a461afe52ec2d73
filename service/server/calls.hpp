// The life of a call: admitted or refused, computed on a worker, finished once, counted until gone.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "host/model/work_budget.hpp"
#include "service/server/work_queue.hpp"
#include "service/wire/message_bytes.hpp"
#include "service/wire/status.hpp"

namespace espalier {

class Calls {
 public:
  struct Limits {
    std::int64_t memory = 0;         // bytes of all calls and of what is loaded
    std::int64_t call_memory = 0;    // bytes of one call
    std::int64_t message_bytes = 0;  // of one answer
    // How long a call may wait for its client: for the next chunk of a stream, or to have its
    // answer read.
    std::chrono::milliseconds patience = std::chrono::seconds(30);
  };

  // A call from its arrival to its end, in which its memory is held.
  class Call {
   public:
    Call(Calls& calls, grpc::CallbackServerContext& context, WorkQueue& queue);
    virtual ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    WorkBudget& budget() { return budget_; }
    const grpc::CallbackServerContext& context() const { return context_; }

   protected:
    // Returns why the call is refused; OK when it is not: it arrives while the server drains
    // (UNAVAILABLE), its client does not wait any more (DEADLINE_EXCEEDED, CANCELLED), or there is
    // no memory for it and its `request_bytes` (RESOURCE_EXHAUSTED).
    grpc::Status Admit(std::size_t request_bytes);

    // Runs `work` on a worker, or refuses it where the queue is full (RESOURCE_EXHAUSTED), and
    // hands its status to `done`. What `work` says is void where the budget was stopped meanwhile.
    void Post(std::function<grpc::Status()> work, std::function<void(const grpc::Status&)> done);

    // Stops the work; to be called when gRPC says that the call was cancelled, by its client or at
    // its deadline.
    void StopWork();

    // Tells the watch that the call is over; before anything of it is destroyed.
    void Leave();

    // From now on the call waits for its client, which GiveUp ends when it takes too long; or waits
    // no more.
    void WaitForClient(bool waits);

    // Ends the call, which waited too long. It may end at any time on another thread.
    virtual void GiveUp();

   private:
    friend class Calls;
    // What the watch sees of a call; outlives it.
    struct Watched {
      std::recursive_mutex mutex;  // guards all below; gRPC may end the call within GiveUp
      Call* call = nullptr;        // null: it is gone
      std::chrono::steady_clock::time_point waits_since{};  // the epoch: it does not wait
    };

    Calls& calls_;
    grpc::CallbackServerContext& context_;
    WorkQueue& queue_;
    WorkBudget budget_;
    grpc::Status result_;
    const std::shared_ptr<Watched> watched_;
    std::list<std::shared_ptr<Watched>>::iterator place_;
  };

  // `queue` is for placements and the like, `state_queue` for calls on the state; both outlive
  // this.
  Calls(WorkQueue& queue, WorkQueue& state_queue, const Limits& limits);
  ~Calls();

  WorkQueue& queue() { return queue_; }
  WorkQueue& state_queue() { return state_queue_; }
  const Limits& limits() const { return limits_; }
  MemoryPool& memory() { return memory_; }
  const MemoryPool& memory() const { return memory_; }

  // Answers a unary call with the bytes that `work` makes, computed on a worker of `queue`.
  grpc::ServerUnaryReactor* Run(grpc::CallbackServerContext* context, WorkQueue& queue,
                                const grpc::ByteBuffer& request,
                                std::function<grpc::Status(WorkBudget&)> work);

  // The same for a work on the message that `request` is parsed into. INVALID_ARGUMENT where it
  // cannot be parsed.
  template <class Request>
  grpc::ServerUnaryReactor* RunParsed(
      grpc::CallbackServerContext* context, WorkQueue& queue, const grpc::ByteBuffer* request,
      std::function<grpc::Status(const Request&, WorkBudget&)> work) {
    // The message goes with the work, after the answer went out. It is not on an arena: under the
    // thread sanitizer protobuf's headers lay out maps otherwise than its library does, which only
    // arenas show.
    return Run(context, queue, *request,
               [request, work = std::move(work),
                message = std::make_shared<Request>()](WorkBudget& budget) {
                 const auto parsed = Parse(*request, budget, *message);
                 return parsed ? work(*message, budget) : ToStatus(parsed.error());
               });
  }

  // The same where the work makes a message too, which is written to `response`.
  template <class Request, class Response>
  grpc::ServerUnaryReactor* RunParsed(
      grpc::CallbackServerContext* context, WorkQueue& queue, const grpc::ByteBuffer* request,
      grpc::ByteBuffer* response,
      std::function<grpc::Status(const Request&, WorkBudget&, Response&)> work) {
    return RunParsed<Request>(
        context, queue, request,
        [this, response, work = std::move(work)](const Request& message, WorkBudget& budget) {
          Response answer;
          const grpc::Status status = work(message, budget, answer);
          return status.ok() ? Write(answer, budget, *response) : status;
        });
  }

  // Charges an answer of `bytes` to `budget`. kExhausted where it is more than a message may have,
  // or the budget's error.
  Result<void> CheckAnswer(std::size_t bytes, WorkBudget& budget) const;

  // Notes that more than a call's own memory became free.
  void NoteFreed(std::int64_t bytes);

  // Calls that are not over; streams count from their beginning on.
  int in_flight() const;

  void StopAdmission();

  // Returns false when calls were left at `deadline`.
  bool WaitUntilIdle(std::chrono::steady_clock::time_point deadline);

 private:
  grpc::Status Write(const google::protobuf::MessageLite& answer, WorkBudget& budget,
                     grpc::ByteBuffer& bytes) const;
  void Watch();

  WorkQueue& queue_;
  WorkQueue& state_queue_;
  const Limits limits_;
  MemoryPool memory_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable idle_;
  std::list<std::shared_ptr<Call::Watched>> calls_;
  bool draining_ = false;
  std::int64_t freed_ = 0;  // by calls that ended, since memory was returned to the system
  bool closed_ = false;
  std::condition_variable watch_;
  std::thread watcher_;
};

}  // namespace espalier
