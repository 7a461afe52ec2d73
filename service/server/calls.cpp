#include "service/server/calls.hpp"

#include <new>
#include <utility>

#include <grpcpp/server_context.h>
#include <spdlog/spdlog.h>

namespace espalier {
namespace {

class UnaryReactor : public grpc::ServerUnaryReactor {
 public:
  explicit UnaryReactor(Calls& calls) : ticket_(calls) {}

 private:
  void OnDone() override { delete this; }

  Calls::Ticket ticket_;
};

grpc::Status CheckTime(const grpc::CallbackServerContext& context) {
  if (context.deadline() <= std::chrono::system_clock::now()) {
    return {grpc::StatusCode::DEADLINE_EXCEEDED, "the deadline passed before work could start"};
  }
  if (context.IsCancelled()) return grpc::Status::CANCELLED;
  return grpc::Status::OK;
}

// Libraries may throw; our own code returns errors.
grpc::Status RunGuarded(const std::function<grpc::Status()>& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, "out of memory; send less at once"};
  } catch (const std::exception& error) {
    spdlog::error("a call failed: {}", error.what());
    return {grpc::StatusCode::INTERNAL, error.what()};
  }
}

}  // namespace

Calls::Ticket::Ticket(Calls& calls) : calls_(calls) {
  const std::lock_guard lock(calls_.mutex_);
  ++calls_.under_way_;
}

Calls::Ticket::~Ticket() {
  const std::lock_guard lock(calls_.mutex_);
  if (--calls_.under_way_ == 0) calls_.idle_.notify_all();
}

grpc::ServerUnaryReactor* Calls::Run(grpc::CallbackServerContext* context,
                                     std::function<grpc::Status()> work) {
  auto* reactor = new UnaryReactor(*this);  // deletes itself when done
  if (const grpc::Status refusal = Admit(*context); !refusal.ok()) {
    reactor->Finish(refusal);
  } else {
    Post(*context, std::move(work),
         [reactor](const grpc::Status& status) { reactor->Finish(status); });
  }
  return reactor;
}

grpc::Status Calls::Admit(const grpc::CallbackServerContext& context) const {
  {
    const std::lock_guard lock(mutex_);
    if (draining_) {
      return {grpc::StatusCode::UNAVAILABLE, "the server is draining; call another or retry later"};
    }
  }
  return CheckTime(context);
}

void Calls::Post(const grpc::CallbackServerContext& context, std::function<grpc::Status()> work,
                 std::function<void(const grpc::Status&)> done) {
  const bool posted = queue_.TryPost([&context, work = std::move(work), done] {
    const grpc::Status late = CheckTime(context);
    done(late.ok() ? RunGuarded(work) : late);
  });
  if (!posted) {
    done({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many calls are waiting; retry later"});
  }
}

int Calls::under_way() const {
  const std::lock_guard lock(mutex_);
  return under_way_;
}

void Calls::StopAdmission() {
  const std::lock_guard lock(mutex_);
  draining_ = true;
}

bool Calls::WaitUntilIdle(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return idle_.wait_until(lock, deadline, [this] { return under_way_ == 0; });
}

}  // namespace espalier
