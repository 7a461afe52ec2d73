#include "service/server/call_journal.hpp"

#include <algorithm>
#include <utility>

#include <grpcpp/server_context.h>

#include "host/model/excerpt.hpp"
#include "service/server/call_line.hpp"
#include "service/server/calls.hpp"
#include "service/server/method_permissions.hpp"
#include "service/server/request_log.hpp"

namespace espalier {
namespace {

constexpr std::string_view kAboutServer = "espalier.v1.Server/";
constexpr std::size_t kMessageBytes = 256;

std::string_view CauseOf(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::OUT_OF_RANGE:
      return "bad_request";
    case grpc::StatusCode::NOT_FOUND:
      return "not_found";
    case grpc::StatusCode::FAILED_PRECONDITION:
      return "stale";
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
      return "denied";
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return status.error_message() == kQueueFull ? "queue_full" : "limits";
    case grpc::StatusCode::UNAVAILABLE:
      return "draining";
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return "deadline";
    case grpc::StatusCode::CANCELLED:
      return "client_left";
    case grpc::StatusCode::INTERNAL:
      return "internal";
    default:
      return "other";
  }
}

}  // namespace

// Lives as long as gRPC keeps the call.
class CallJournal::WatchedCall final : public grpc::experimental::Interceptor {
 public:
  WatchedCall(std::shared_ptr<CallJournal> journal, grpc::experimental::ServerRpcInfo& call)
      : journal_(std::move(journal)),
        number_(journal_->last_call_.fetch_add(1, std::memory_order_relaxed) + 1),
        method_(std::string_view(call.method()).substr(1)),
        is_stream_(call.type() == grpc::experimental::ServerRpcInfo::Type::CLIENT_STREAMING),
        requests_(method_.starts_with(kAboutServer) ? nullptr : journal_->requests()) {}

  ~WatchedCall() override {
    if (!answered_) End(grpc::Status::CANCELLED);  // the client left
  }

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    using grpc::experimental::InterceptionHookPoints;
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_INITIAL_METADATA)) {
      const auto* metadata = methods->GetRecvInitialMetadata();
      const auto found = metadata->find(kTraceParent);
      if (found != metadata->end()) {
        trace_ = ReadTraceParent({found->second.data(), found->second.size()});
      }
    }
    if (requests_ != nullptr) LogMessages(*methods);
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      answered_ = true;
      End(methods->GetSendStatus());  // before the client hears of it
    }
    methods->Proceed();
  }

 private:
  // All services of espalier.v1 take and give messages as bytes.
  void LogMessages(grpc::experimental::InterceptorBatchMethods& methods) {
    using grpc::experimental::InterceptionHookPoints;
    if (methods.QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_MESSAGE)) {
      const auto* message = static_cast<const grpc::ByteBuffer*>(methods.GetRecvMessage());
      if (message != nullptr) requests_->Request(number_, method_, is_stream_, *message);
    }
    if (methods.QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_MESSAGE)) {
      const grpc::ByteBuffer* message = methods.GetSerializedSendMessage();
      if (message != nullptr) requests_->Answer(number_, method_, *message);
    }
  }

  void End(const grpc::Status& status) {
    if (requests_ != nullptr) requests_->End(number_, method_, status);
    journal_->NoteEnd(number_, method_, status);
    const bool wanted = status.ok() ? journal_->logged_ == LoggedCalls::kAll
                                    : journal_->logged_ != LoggedCalls::kNone;
    if (!wanted && status.error_code() != grpc::StatusCode::INTERNAL) return;
    LogCall({.call = number_,
             .method = method_,
             .code = CodeName(status.error_code()),
             .took = std::chrono::steady_clock::now() - arrival_,
             .trace = trace_,
             .message = status.error_message()},
            status.error_code());
  }

  const std::shared_ptr<CallJournal> journal_;
  const std::int64_t number_;
  const std::string method_;
  const bool is_stream_;
  RequestLog* const requests_;  // null: the call is not logged
  const std::chrono::steady_clock::time_point arrival_ = std::chrono::steady_clock::now();
  TraceContext trace_;
  std::atomic<bool> answered_ = false;
};

std::array<CallJournal::Failures, CallJournal::kCauseCount> CallJournal::ByCause() const {
  const std::lock_guard lock(mutex_);
  return failures_;
}

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>
CallJournal::MakeInterceptor() {
  class Factory final : public grpc::experimental::ServerInterceptorFactoryInterface {
   public:
    explicit Factory(std::shared_ptr<CallJournal> journal) : journal_(std::move(journal)) {}

    grpc::experimental::Interceptor* CreateServerInterceptor(
        grpc::experimental::ServerRpcInfo* call) override {
      if (!std::string_view(call->method()).starts_with(kMethodPaths)) return nullptr;
      return new WatchedCall(journal_, *call);
    }

   private:
    const std::shared_ptr<CallJournal> journal_;
  };
  return std::make_unique<Factory>(shared_from_this());
}

void CallJournal::NoteEnd(std::int64_t call, std::string_view method, const grpc::Status& status) {
  if (status.ok()) return;
  const auto cause =
      static_cast<std::size_t>(std::ranges::find(kCauses, CauseOf(status)) - kCauses.begin());
  const std::lock_guard lock(mutex_);
  Failures& failures = failures_[cause];
  ++failures.calls;
  failures.last = {call, std::string(method), std::chrono::system_clock::now(),
                   Excerpt(status.error_message(), kMessageBytes)};
}

}  // namespace espalier
