// Sees every call of a server as it arrives.
#pragma once

#include <memory>
#include <string>

#include <google/protobuf/message.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/server_interceptor.h>
#include <grpcpp/support/status.h>

#include "host/model/access_rules.hpp"

namespace espalier {

class Access;
class Acceptor;
struct Caller;

// Returns an interceptor that finds out who calls and what `access` lets them do, and that ends a
// connection that has more than `most` calls under way. HTTP/2 bounds the streams that are open;
// one that is reset at once is open no more, but its call goes on until all of the server has seen
// that. `acceptor` must outlive all calls.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeArrivals(
    Acceptor& acceptor, int most, std::shared_ptr<Access> access);

// Returns why a call is refused as it arrives, or OK: it is beyond what its connection may have
// under way, so that no work should go into it (RESOURCE_EXHAUSTED), or its client may not make it
// (PERMISSION_DENIED).
grpc::Status CheckArrival(const grpc::CallbackServerContext& context);

// Returns whether the client of a call may ask what this request asks: PERMISSION_DENIED for a
// field that needs more than the method (method_permissions.cpp).
grpc::Status CheckRequest(const grpc::CallbackServerContext& context,
                          const google::protobuf::Message& request);

// Returns whether the client of a call has a permission.
bool HasPermission(const grpc::CallbackServerContext& context, Permission permission);

// Returns the same as a status: OK, or PERMISSION_DENIED that says why the permission is needed.
grpc::Status CheckPermission(const grpc::CallbackServerContext& context, Permission permission,
                             const std::string& why);

// Returns who makes a call.
const Caller& CallerOf(const grpc::CallbackServerContext& context);

}  // namespace espalier
