// Runs calls: each is admitted or refused, computed on a worker, finished once, and counted until
// it is over.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include <google/protobuf/arena.h>
#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "host/model/work_budget.hpp"
#include "service/server/arrivals.hpp"
#include "service/server/work_queue.hpp"
#include "service/wire/message_bytes.hpp"
#include "service/wire/status.hpp"

namespace espalier {

// The error text of a call that finds the queue full.
inline constexpr const char* kQueueFull = "too many calls are waiting; retry later";

class Calls {
 public:
  struct Limits {
    std::int64_t memory = 0;         // bytes of all calls and all states
    std::int64_t call_memory = 0;    // bytes of one call
    std::int64_t message_bytes = 0;  // bytes of one answer
    // Time that a call may wait for its client: for the next chunk of a stream, or until its answer
    // is read.
    std::chrono::milliseconds patience = std::chrono::seconds(30);
  };

  // A call from its arrival to its end, which holds its memory.
  class Call {
   public:
    Call(Calls& calls, grpc::CallbackServerContext& context, WorkQueue& queue);
    virtual ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    WorkBudget& budget() { return budget_; }
    const grpc::CallbackServerContext& context() const { return context_; }

   protected:
    // Returns why the call is refused, or OK. It is refused when CheckArrival says so, when it
    // arrives while the server drains (UNAVAILABLE), when its client does not wait any more
    // (DEADLINE_EXCEEDED, CANCELLED), or when there is no memory for it and its `request_bytes`
    // (RESOURCE_EXHAUSTED).
    grpc::Status Admit(std::size_t request_bytes);

    // Runs `work` on a worker, or refuses it when the queue is full (RESOURCE_EXHAUSTED), and
    // passes its status to `done`. The result of `work` is ignored when the budget was stopped
    // meanwhile.
    void Post(std::function<grpc::Status()> work, std::function<void(const grpc::Status&)> done);

    // Stops the work; must be called when gRPC reports that the call was cancelled, by its client
    // or at its deadline.
    void StopWork();

    // Removes the call from the watch; must be called before anything of it is destroyed.
    void Leave();

    // Records that the call begins or ends to wait for its client; GiveUp ends a wait that takes
    // too long.
    void WaitForClient(bool waits);

    // Ends the call, which waited too long. The call may end at the same time on another thread.
    virtual void GiveUp();

   private:
    friend class Calls;
    // The watch's view of a call; outlives it.
    struct Watched {
      std::recursive_mutex mutex;  // guards all below; gRPC may end the call within GiveUp
      Call* call = nullptr;        // null: the call is over
      std::chrono::steady_clock::time_point waits_since{};  // the epoch: the call does not wait
    };

    Calls& calls_;
    grpc::CallbackServerContext& context_;
    WorkQueue& queue_;
    WorkBudget budget_;
    grpc::Status result_;
    const std::shared_ptr<Watched> watched_;
    std::list<std::shared_ptr<Watched>>::iterator place_;
  };

  // Uses `queue` for placements and the like, `state_queue` for calls on the state; both must
  // outlive this.
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

  // Runs `work` in the same way on the message that `request` is parsed into. INVALID_ARGUMENT when
  // it cannot be parsed.
  template <class Request>
  grpc::ServerUnaryReactor* RunParsed(
      grpc::CallbackServerContext* context, WorkQueue& queue, const grpc::ByteBuffer* request,
      std::function<grpc::Status(const Request&, WorkBudget&)> work) {
    // The message goes with the work, after the answer went out.
    return Run(context, queue, *request,
               [context, request, work = std::move(work),
                parsed_into = std::make_shared<ParsedInto<Request>>()](WorkBudget& budget) {
                 Request& message = *parsed_into->message;
                 const auto parsed = Parse(*request, budget, message);
                 if (!parsed) return ToStatus(parsed.error());
                 const grpc::Status may = CheckRequest(*context, message);
                 return may.ok() ? work(message, budget) : may;
               });
  }

  // Runs in the same way `work` that makes a message, which is written to `response`.
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

  // Makes the next message of a stream and tells whether another may follow; the message counts
  // either way.
  template <class Response>
  using NextMessage = std::function<grpc::Status(Response&, bool& more)>;

  // Answers a call with a stream of messages. `begin` returns a function that makes them, or why
  // there is none; that function is called for message after message on workers of `queue`, each
  // time the client has taken the message before.
  template <class Request, class Response>
  grpc::ServerWriteReactor<grpc::ByteBuffer>* StreamParsed(
      grpc::CallbackServerContext* context, WorkQueue& queue, const grpc::ByteBuffer* request,
      std::function<grpc::Status(const Request&, WorkBudget&, NextMessage<Response>&)> begin) {
    auto message = std::make_shared<Request>();
    auto next = std::make_shared<NextMessage<Response>>();
    return Stream(context, queue, *request,
                  [this, context, request, begin = std::move(begin), message, next](
                      WorkBudget& budget, grpc::ByteBuffer& bytes, bool& more) {
                    if (!*next) {
                      const auto parsed = Parse(*request, budget, *message);
                      if (!parsed) return ToStatus(parsed.error());
                      const grpc::Status may = CheckRequest(*context, *message);
                      if (!may.ok()) return may;
                      const grpc::Status begun = begin(*message, budget, *next);
                      if (!begun.ok() || !*next) return begun;
                    }
                    Response answer;
                    const grpc::Status made = (*next)(answer, more);
                    return made.ok() ? Write(answer, budget, bytes) : made;
                  });
  }

  // Charges an answer of `bytes` to `budget`. Errors: kExhausted when it is more than a message may
  // have, or the budget's error.
  Result<void> CheckAnswer(std::size_t bytes, WorkBudget& budget) const;

  // Records that a call in flight freed `bytes`, which count towards returning memory to the
  // system.
  void NoteFreed(std::int64_t bytes);

  // Returns the number of calls that are not over; streams count from their beginning on.
  int in_flight() const;

  void StopAdmission();

  // Waits until all calls are over. Returns false when some were left at `deadline`.
  bool WaitUntilIdle(std::chrono::steady_clock::time_point deadline);

 private:
  // A message and its memory: an arena, which takes and frees thousands of small messages in one
  // go. A message with maps has none: under the thread sanitizer protobuf's headers lay out maps
  // otherwise than its library does, which only arenas show.
  template <class Request>
  struct ParsedInto {
    ParsedInto() {
      static const bool has_maps = HasMaps(*Request::descriptor());
      if (has_maps) own = std::make_unique<Request>();
      message = has_maps ? own.get() : google::protobuf::Arena::CreateMessage<Request>(&arena);
    }
    ParsedInto(const ParsedInto&) = delete;
    ParsedInto& operator=(const ParsedInto&) = delete;

    google::protobuf::Arena arena;
    std::unique_ptr<Request> own;
    Request* message = nullptr;
  };

  // Makes the bytes of the next message, which stay empty when there is none, and tells whether
  // another may follow.
  using NextBytes = std::function<grpc::Status(WorkBudget&, grpc::ByteBuffer& bytes, bool& more)>;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* Stream(grpc::CallbackServerContext* context,
                                                     WorkQueue& queue,
                                                     const grpc::ByteBuffer& request,
                                                     NextBytes next);
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
  std::int64_t freed_ = 0;  // by calls, since memory was last returned to the system
  bool closed_ = false;
  std::condition_variable watch_;
  std::thread watcher_;
};

}  // namespace espalier
