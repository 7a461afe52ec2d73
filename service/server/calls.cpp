#include "service/server/calls.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <grpcpp/server_context.h>
#include <malloc.h>

#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

using Clock = std::chrono::steady_clock;

// Bytes that a call takes besides its messages: contexts, closures, buffers of the connection.
constexpr std::int64_t kBytesOfCall = 16 << 10;
// The allocator keeps what calls freed for those to come; so much of it is returned when no call is
// left, and so much more while calls go on.
constexpr std::int64_t kWorthReturning = std::int64_t{32} << 20;
constexpr std::int64_t kWorthReturningMeanwhile = std::int64_t{512} << 20;
constexpr auto kLongestBetweenWatches = std::chrono::seconds(1);

grpc::Status CheckTime(const grpc::CallbackServerContext& context) {
  if (context.deadline() <= std::chrono::system_clock::now()) {
    return {grpc::StatusCode::DEADLINE_EXCEEDED,
            "the deadline passed before the call was answered"};
  }
  if (context.IsCancelled()) return grpc::Status::CANCELLED;
  return grpc::Status::OK;
}

Clock::time_point DeadlineOf(const grpc::CallbackServerContext& context) {
  using System = std::chrono::system_clock;
  const System::time_point deadline = context.deadline();
  constexpr auto kFar = std::chrono::hours(1);  // and no deadline at all
  const System::time_point now = System::now();
  if (deadline - kFar > now) return Clock::time_point::max();
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(deadline - now);
}

// Libraries may throw; our own code returns errors.
grpc::Status RunGuarded(const std::function<grpc::Status()>& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, "out of memory; ask for less at once"};
  } catch (const std::exception& error) {
    return {grpc::StatusCode::INTERNAL, Excerpt(error.what())};
  }
}

}  // namespace

Calls::Call::Call(Calls& calls, grpc::CallbackServerContext& context, WorkQueue& queue)
    : calls_(calls),
      context_(context),
      queue_(queue),
      budget_(calls.memory_, calls.limits_.call_memory),
      watched_(std::make_shared<Watched>()) {
  watched_->call = this;
  budget_.SetAnswerLimit(calls.limits_.message_bytes);
  const std::lock_guard lock(calls_.mutex_);
  place_ = calls_.calls_.insert(calls_.calls_.end(), watched_);
}

Calls::Call::~Call() {
  const std::lock_guard lock(calls_.mutex_);
  calls_.calls_.erase(place_);
  calls_.freed_ += budget_.charged();
  if (calls_.calls_.empty()) calls_.idle_.notify_all();
}

grpc::Status Calls::Call::Admit(std::size_t request_bytes) {
  if (const grpc::Status refusal = CheckArrival(context_); !refusal.ok()) return refusal;
  {
    const std::lock_guard lock(calls_.mutex_);
    if (calls_.draining_) {
      return {grpc::StatusCode::UNAVAILABLE, "the server is draining; call another or retry later"};
    }
  }
  if (!budget_.Charge(kBytesOfCall + static_cast<std::int64_t>(request_bytes))) {
    return ToStatus(budget_.Check().error());
  }
  return CheckTime(context_);
}

void Calls::Call::Post(std::function<grpc::Status()> work,
                       std::function<void(const grpc::Status&)> done) {
  const auto run = [this, work = std::move(work)] {
    result_ = CheckTime(context_);
    if (result_.ok()) {
      result_ = RunGuarded(work);
    } else {
      StopWork();
    }
    if (budget_.stopped()) result_ = ToStatus(budget_.Check().error());
    if (result_.error_code() == grpc::StatusCode::CANCELLED) {
      if (const grpc::Status late = CheckTime(context_); !late.ok()) result_ = late;
    }
  };
  if (!queue_.TryPost({.client = context_.peer(),
                       .budget = &budget_,
                       .run = run,
                       .done = [this, done] { done(result_); },
                       .deadline = DeadlineOf(context_)})) {
    done({grpc::StatusCode::RESOURCE_EXHAUSTED, kQueueFull});
  }
}

void Calls::Call::Leave() {
  const std::lock_guard lock(watched_->mutex);
  watched_->call = nullptr;
}

void Calls::Call::StopWork() {
  budget_.Stop({ErrorClass::kCancelled, "the client does not wait for the answer any more"});
}

void Calls::Call::GiveUp() { context_.TryCancel(); }

void Calls::Call::WaitForClient(bool waits) {
  const std::lock_guard lock(watched_->mutex);
  watched_->waits_since = waits ? Clock::now() : Clock::time_point();
}

namespace {

// A unary call.
class UnaryCall final : public Calls::Call, public grpc::ServerUnaryReactor {
 public:
  UnaryCall(Calls& calls, grpc::CallbackServerContext& context, WorkQueue& queue)
      : Call(calls, context, queue) {}

  void Begin(std::size_t request_bytes, std::function<grpc::Status(WorkBudget&)> work) {
    if (const grpc::Status refusal = Admit(request_bytes); !refusal.ok()) return Finish(refusal);
    Post([this, work = std::move(work)] { return work(budget()); },
         [this](const grpc::Status& status) {
           WaitForClient(true);
           Finish(status);
         });
  }

 private:
  void OnCancel() override { StopWork(); }
  void OnDone() override {
    Leave();
    delete this;
  }
};

// A call that is answered by a stream. What a message took is given back when it is on its way.
class StreamedCall final : public Calls::Call, public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  using NextBytes = std::function<grpc::Status(WorkBudget&, grpc::ByteBuffer& bytes, bool& more)>;

  StreamedCall(Calls& calls, grpc::CallbackServerContext& context, WorkQueue& queue, NextBytes next)
      : Call(calls, context, queue), calls_(calls), next_(std::move(next)) {}

  void Begin(std::size_t request_bytes) {
    if (const grpc::Status refusal = Admit(request_bytes); !refusal.ok()) return End(refusal);
    MakeNext();
  }

 private:
  void MakeNext() {
    Post(
        [this] {
          budget().SetAnswerLimit(calls_.limits().message_bytes);
          charged_before_ = budget().charged();
          more_ = false;
          return next_(budget(), bytes_, more_);
        },
        [this](const grpc::Status& status) {
          if (!status.ok() || !bytes_.Valid()) return End(status);
          WaitForClient(true);
          StartWrite(&bytes_);
        });
  }

  void OnWriteDone(bool ok) override {
    WaitForClient(false);
    if (!ok) return End(grpc::Status::CANCELLED);
    // All messages may need what the first one took, so of that only its bytes are released.
    const std::int64_t taken =
        std::exchange(first_, false)
            ? static_cast<std::int64_t>(bytes_.Length())
            : std::max(budget().charged() - charged_before_, std::int64_t{0});
    budget().Release(taken);
    calls_.NoteFreed(taken);
    bytes_ = grpc::ByteBuffer();
    if (more_) return MakeNext();
    End(grpc::Status::OK);
  }

  void OnCancel() override { StopWork(); }
  void OnDone() override {
    Leave();
    delete this;
  }

  // Once; whoever is first says how.
  void End(const grpc::Status& status) {
    if (!ended_.exchange(true, std::memory_order_acq_rel)) Finish(status);
  }

  Calls& calls_;
  NextBytes next_;
  grpc::ByteBuffer bytes_;
  bool first_ = true;
  bool more_ = false;
  std::int64_t charged_before_ = 0;
  std::atomic<bool> ended_ = false;
};

}  // namespace

Calls::Calls(WorkQueue& queue, WorkQueue& state_queue, const Limits& limits)
    : queue_(queue),
      state_queue_(state_queue),
      limits_(limits),
      memory_(limits.memory),
      watcher_([this] { Watch(); }) {}

Calls::~Calls() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  watch_.notify_all();
  watcher_.join();
}

grpc::ServerUnaryReactor* Calls::Run(grpc::CallbackServerContext* context, WorkQueue& queue,
                                     const grpc::ByteBuffer& request,
                                     std::function<grpc::Status(WorkBudget&)> work) {
  auto* call = new UnaryCall(*this, *context, queue);  // deletes itself when done
  call->Begin(request.Valid() ? request.Length() : 0, std::move(work));
  return call;
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* Calls::Stream(grpc::CallbackServerContext* context,
                                                          WorkQueue& queue,
                                                          const grpc::ByteBuffer& request,
                                                          NextBytes next) {
  auto* call = new StreamedCall(*this, *context, queue, std::move(next));  // deletes itself
  call->Begin(request.Valid() ? request.Length() : 0);
  return call;
}

grpc::Status Calls::Write(const google::protobuf::MessageLite& answer, WorkBudget& budget,
                          grpc::ByteBuffer& bytes) const {
  if (const auto fits = CheckAnswer(answer.ByteSizeLong(), budget); !fits) {
    return ToStatus(fits.error());
  }
  bytes = ToBytes(answer);
  return grpc::Status::OK;
}

Result<void> Calls::CheckAnswer(std::size_t bytes, WorkBudget& budget) const {
  const auto size = static_cast<std::int64_t>(bytes);
  if (size > limits_.message_bytes) {
    budget.Stop({ErrorClass::kExhausted,
                 fmt::format("the answer takes {}, more than the {} that one message may have; ask "
                             "for less at once",
                             BytesText(size), BytesText(limits_.message_bytes))});
  }
  budget.Charge(size);
  return budget.Check();
}

void Calls::NoteFreed(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  freed_ += bytes;
}

int Calls::in_flight() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(calls_.size());
}

void Calls::StopAdmission() {
  const std::lock_guard lock(mutex_);
  draining_ = true;
}

bool Calls::WaitUntilIdle(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return idle_.wait_until(lock, deadline, [this] { return calls_.empty(); });
}

// Looks now and then for calls whose clients keep them waiting, and returns memory to the system
// behind large ones.
void Calls::Watch() {
  const auto period = std::clamp<std::chrono::milliseconds>(
      limits_.patience / 4, std::chrono::milliseconds(1), kLongestBetweenWatches);
  std::unique_lock lock(mutex_);
  while (!watch_.wait_for(lock, period, [this] { return closed_; })) {
    const std::vector<std::shared_ptr<Call::Watched>> calls(calls_.begin(), calls_.end());
    const bool return_memory =
        freed_ > (calls.empty() ? kWorthReturning : kWorthReturningMeanwhile);
    if (return_memory) freed_ = 0;
    lock.unlock();
    const Clock::time_point now = Clock::now();
    for (const std::shared_ptr<Call::Watched>& watched : calls) {
      const std::lock_guard call_lock(watched->mutex);
      if (watched->call == nullptr || watched->waits_since == Clock::time_point()) continue;
      if (now - watched->waits_since >= limits_.patience) watched->call->GiveUp();
    }
    if (return_memory) ::malloc_trim(0);
    lock.lock();
  }
}

}  // namespace espalier
