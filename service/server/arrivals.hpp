// Sees every call of a server as it arrives.
#pragma once

#include <memory>

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_interceptor.h>

namespace espalier {

class Acceptor;

// Returns an interceptor that ends a connection that has more than `most` calls under way. HTTP/2
// bounds the streams that are open; one that is reset at once is open no more, but its call goes on
// until all of the server has seen that. `acceptor` must outlive all calls.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeArrivals(
    Acceptor& acceptor, int most);

// Returns whether a call is beyond what its connection may have under way, so that no work should
// go into it.
bool IsOneOfTooMany(const grpc::CallbackServerContext& context);

}  // namespace espalier
