#include "service/server/arrivals.hpp"

#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <spdlog/spdlog.h>

#include "host/model/excerpt.hpp"
#include "service/server/acceptor.hpp"
#include "service/server/access.hpp"
#include "service/server/method_permissions.hpp"

namespace espalier {
namespace {

// The facts that are known of a call that has arrived.
struct ArrivedCall {
  bool too_many = false;     // of its connection
  Access* access = nullptr;  // null: nobody is asked whether it may be made
  CallAccess may = {};
};

// gRPC hands handlers the metadata of the client, among which the address of an ArrivedCall is put;
// what a client sends under that name is taken out.
constexpr const char* kArrivedKey = "espalier-arrived";

// Calls under way by connection.
class CallsOfConnections {
 public:
  CallsOfConnections(Acceptor& acceptor, int most) : acceptor_(acceptor), most_(most) {}

  // Returns false for a call that is one of too many.
  bool Begin(const std::string& peer) {
    {
      const std::lock_guard lock(mutex_);
      const int calls = ++calls_[peer];
      if (calls <= most_) return true;
      if (calls > most_ + 1) return false;
    }
    spdlog::warn("{} has more than {} calls under way, most of them taken back; it is closed",
                 Excerpt(peer), most_);
    acceptor_.Close(peer);
    return false;
  }

  void End(const std::string& peer) {
    const std::lock_guard lock(mutex_);
    if (const auto found = calls_.find(peer); --found->second == 0) calls_.erase(found);
  }

 private:
  Acceptor& acceptor_;
  const int most_;
  std::mutex mutex_;
  std::unordered_map<std::string, int> calls_;
};

// Lives as long as gRPC keeps the call.
class Arrival final : public grpc::experimental::Interceptor {
 public:
  Arrival(std::shared_ptr<CallsOfConnections> calls, const Acceptor& acceptor,
          std::shared_ptr<Access> access, grpc::experimental::ServerRpcInfo& call)
      : calls_(std::move(calls)), access_(std::move(access)), peer_(call.server_context()->peer()) {
    arrived_.too_many = !calls_->Begin(peer_);
    const std::string_view method = call.method();
    if (arrived_.too_many || !method.starts_with(kMethodPaths))
      return;  // health and reflection are open
    arrived_.access = access_.get();
    arrived_.may = access_->Judge(Recognise(acceptor.UserOf(peer_), Acceptor::IsUnix(peer_),
                                            call.server_context()->auth_context().get()),
                                  method.substr(1));
  }
  ~Arrival() override { calls_->End(peer_); }

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    using grpc::experimental::InterceptionHookPoints;
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_INITIAL_METADATA)) {
      auto& metadata = *methods->GetRecvInitialMetadata();
      metadata.erase(kArrivedKey);
      metadata.emplace(kArrivedKey, grpc::string_ref(reinterpret_cast<const char*>(&address_),
                                                     sizeof(address_)));
    }
    methods->Proceed();
  }

 private:
  const std::shared_ptr<CallsOfConnections> calls_;
  const std::shared_ptr<Access> access_;
  const std::string peer_;
  ArrivedCall arrived_;
  const ArrivedCall* const address_ = &arrived_;
};

class Arrivals final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  Arrivals(Acceptor& acceptor, int most, std::shared_ptr<Access> access)
      : acceptor_(acceptor),
        calls_(std::make_shared<CallsOfConnections>(acceptor, most)),
        access_(std::move(access)) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* call) override {
    return new Arrival(calls_, acceptor_, access_, *call);  // gRPC deletes it
  }

 private:
  const Acceptor& acceptor_;
  const std::shared_ptr<CallsOfConnections> calls_;
  const std::shared_ptr<Access> access_;
};

// Returns what is known of a call; nothing on a server without such an interceptor.
const ArrivedCall& ArrivedCallOf(const grpc::CallbackServerContext& context) {
  static const ArrivedCall unknown;
  const auto found = context.client_metadata().find(kArrivedKey);
  const ArrivedCall* arrived = nullptr;
  if (found == context.client_metadata().end() || found->second.size() != sizeof(arrived)) {
    return unknown;
  }
  std::memcpy(&arrived, found->second.data(), sizeof(arrived));
  return *arrived;
}

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeArrivals(
    Acceptor& acceptor, int most, std::shared_ptr<Access> access) {
  return std::make_unique<Arrivals>(acceptor, most, std::move(access));
}

grpc::Status CheckArrival(const grpc::CallbackServerContext& context) {
  const ArrivedCall& call = ArrivedCallOf(context);
  if (call.too_many) {
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, "the connection has too many calls under way"};
  }
  return call.access == nullptr ? grpc::Status::OK : call.access->Check(call.may);
}

grpc::Status CheckRequest(const grpc::CallbackServerContext& context,
                          const google::protobuf::Message& request) {
  const ArrivedCall& call = ArrivedCallOf(context);
  return call.access == nullptr ? grpc::Status::OK : call.access->CheckFields(call.may, request);
}

bool HasPermission(const grpc::CallbackServerContext& context, Permission permission) {
  const ArrivedCall& call = ArrivedCallOf(context);
  return call.access == nullptr || call.may.may.Has(permission);
}

grpc::Status CheckPermission(const grpc::CallbackServerContext& context, Permission permission,
                             const std::string& why) {
  const ArrivedCall& call = ArrivedCallOf(context);
  return call.access == nullptr ? grpc::Status::OK : call.access->Check(call.may, permission, why);
}

const Caller& CallerOf(const grpc::CallbackServerContext& context) {
  return ArrivedCallOf(context).may.caller;
}

}  // namespace espalier
