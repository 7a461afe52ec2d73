#include "service/server/arrivals.hpp"

#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include <spdlog/spdlog.h>

#include "host/model/excerpt.hpp"
#include "service/server/acceptor.hpp"

namespace espalier {
namespace {

// gRPC hands handlers the metadata of the client, among which this is put for a call that is one of
// too many; what a client sends under that name is taken out.
constexpr const char* kTooManyKey = "espalier-too-many";

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
  Arrival(std::shared_ptr<CallsOfConnections> calls, grpc::experimental::ServerRpcInfo& call)
      : calls_(std::move(calls)),
        peer_(call.server_context()->peer()),
        too_many_(!calls_->Begin(peer_)) {}
  ~Arrival() override { calls_->End(peer_); }

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    using grpc::experimental::InterceptionHookPoints;
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_INITIAL_METADATA)) {
      auto& metadata = *methods->GetRecvInitialMetadata();
      metadata.erase(kTooManyKey);
      if (too_many_) metadata.emplace(kTooManyKey, "");
    }
    methods->Proceed();
  }

 private:
  const std::shared_ptr<CallsOfConnections> calls_;
  const std::string peer_;
  const bool too_many_;
};

class Arrivals final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  Arrivals(Acceptor& acceptor, int most)
      : calls_(std::make_shared<CallsOfConnections>(acceptor, most)) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* call) override {
    return new Arrival(calls_, *call);  // gRPC deletes it
  }

 private:
  const std::shared_ptr<CallsOfConnections> calls_;
};

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeArrivals(
    Acceptor& acceptor, int most) {
  return std::make_unique<Arrivals>(acceptor, most);
}

bool IsOneOfTooMany(const grpc::CallbackServerContext& context) {
  return context.client_metadata().contains(kTooManyKey);
}

}  // namespace espalier
