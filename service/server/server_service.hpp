// Implements espalier.v1.Server: what the server is and how it fares.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <utility>

#include "espalier/v1/server.grpc.pb.h"
#include "host/engine/backend.hpp"
#include "host/live/named_states.hpp"
#include "service/server/access.hpp"
#include "service/server/call_journal.hpp"
#include "service/server/calls.hpp"
#include "service/server/server_tls.hpp"
#include "service/server/state_keeper.hpp"
#include "service/server/work_queue.hpp"

namespace espalier {

// Answers on a queue of its own, however long the others are.
class ServerService final : public v1::Server::WithRawCallbackMethod_Info<
                                v1::Server::WithRawCallbackMethod_Status<v1::Server::Service>> {
 public:
  // The objects that values are read from; all must outlive the service.
  struct Sources {
    const NamedStates& states;
    const WorkQueue& queue;
    const WorkQueue& state_queue;
    const Backend& backend;
    const CallJournal& journal;
    const StateKeeper* keeper = nullptr;  // null: no state is kept on disk
  };
  ServerService(Calls& calls, const Sources& sources) : calls_(calls), sources_(sources) {}

  // Sets, before any call comes, where certificates and access rules are told from; `tls` may be
  // null. Both must outlive the service.
  void Watch(Access& access, ServerTls* tls) {
    access_ = &access;
    tls_ = tls;
  }

  // Sets, once, what Info answers; calls of it that came before wait for it.
  void Describe(v1::ServerInfoResponse info) { info_.set_value(std::move(info)); }

  grpc::ServerUnaryReactor* Info(grpc::CallbackServerContext* context,
                                 const grpc::ByteBuffer* request,
                                 grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* Status(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* response) override;

 private:
  grpc::Status Answer(const v1::ServerStatusRequest& request, WorkBudget& budget,
                      v1::ServerStatusResponse& response) const;
  void AddFiles(v1::ServerStatusResponse& response) const;
  static Result<void> AddState(const std::string& name, StateStore& store, bool with_use,
                               WorkBudget& budget, v1::StateStatus& status);

  Calls& calls_;
  const Sources sources_;
  Access* access_ = nullptr;
  ServerTls* tls_ = nullptr;
  std::promise<v1::ServerInfoResponse> info_;
  const std::shared_future<v1::ServerInfoResponse> described_ = info_.get_future().share();
  WorkQueue queue_{1, 64};
};

}  // namespace espalier
