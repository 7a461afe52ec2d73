// Implements espalier.v1.Questions on a StateStore.
#pragma once

#include <memory>

#include "espalier/v1/questions.grpc.pb.h"
#include "host/engine/engine.hpp"
#include "host/live/named_states.hpp"
#include "service/server/calls.hpp"

namespace espalier {

// Parses messages itself, once there is memory for them.
class QuestionsService final
    : public v1::Questions::WithRawCallbackMethod_WhatIf<
          v1::Questions::WithRawCallbackMethod_FindVictims<
              v1::Questions::WithRawCallbackMethod_Atlas<
                  v1::Questions::WithRawCallbackMethod_CountGangs<
                      v1::Questions::WithRawCallbackMethod_Explain<
                          v1::Questions::WithRawCallbackMethod_Validate<
                              v1::Questions::WithRawCallbackMethod_Drain<
                                  v1::Questions::WithRawCallbackMethod_Defragment<
                                      v1::Questions::WithRawCallbackMethod_Replay<
                                          v1::Questions::Service>>>>>>>>> {
 public:
  // Keeps references to `calls` and `states`, which must outlive the service; `gates` are the
  // defaults of requests.
  QuestionsService(Calls& calls, NamedStates& states, std::shared_ptr<Backend> backend,
                   FeatureGates gates);

  using Stream = grpc::ServerWriteReactor<grpc::ByteBuffer>;

  Stream* WhatIf(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) override;
  Stream* FindVictims(grpc::CallbackServerContext* context,
                      const grpc::ByteBuffer* request) override;
  Stream* Atlas(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) override;
  Stream* CountGangs(grpc::CallbackServerContext* context,
                     const grpc::ByteBuffer* request) override;
  Stream* Explain(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) override;
  grpc::ServerUnaryReactor* Validate(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* Drain(grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* Defragment(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override;
  Stream* Replay(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) override;

 private:
  // Answers a call about workloads by the messages that `Answers` makes one after the other.
  template <class Answers, class Request, class Response>
  Stream* AnswerInParts(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request);

  Calls& calls_;
  NamedStates& states_;
  std::shared_ptr<Backend> backend_;
  FeatureGates gates_;
};

}  // namespace espalier
