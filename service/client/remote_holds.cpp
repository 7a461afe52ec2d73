#include "service/client/remote_holds.hpp"

#include <utility>

#include <grpcpp/grpcpp.h>

#include "espalier/v1/placement.grpc.pb.h"
#include "service/client/connection.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/feature_gates.hpp"
#include "service/wire/holds.hpp"
#include "service/wire/workloads.hpp"

namespace espalier {

class RemoteHolds::Impl {
 public:
  Impl(Connection connection, std::string state_name)
      : connection_(std::move(connection)),
        stub_(v1::Placement::NewStub(connection_.channel())),
        state_name_(std::move(state_name)) {}

  Result<Placed> Place(std::span<const WorkloadRequest> requests, std::int64_t hold_seconds,
                       const std::string& owner, const FeatureGates& gates) {
    v1::PlaceRequest request;
    request.set_state_name(state_name_);
    request.set_mode(v1::PLACEMENT_MODE_SEQUENTIAL);
    request.set_commit(true);
    request.set_hold_seconds(hold_seconds);
    request.set_hold_owner(owner);
    request.set_domain_naming(v1::DOMAIN_NAMING_NAME);
    WriteFeatureGates(gates, *request.mutable_feature_gates());
    auto batch = ToProto(requests);
    if (!batch) return tl::unexpected(batch.error());
    *request.mutable_workloads() = *std::move(batch);
    v1::PlaceResponse response;
    if (auto placed = Call(&v1::Placement::Stub::Place, request, response); !placed) {
      return tl::unexpected(placed.error());
    }
    WorkBudget budget(kMaxAnswerBytes);
    auto answers = connection_.Readable(FromProto(requests, response.answers(), budget));
    if (!answers) return tl::unexpected(answers.error());
    return Placed{*std::move(answers), {response.hold_ids().begin(), response.hold_ids().end()}};
  }

  Result<std::vector<RemoteHold>> List() {
    grpc::ClientContext context;
    connection_.SetDeadline(context);
    v1::ListHoldsRequest request;
    request.set_state_name(state_name_);
    const auto reader = stub_->ListHolds(&context, request);
    std::vector<RemoteHold> holds;
    for (v1::ListHoldsResponse page; reader->Read(&page);) {
      for (const v1::Hold& hold : page.holds()) {
        holds.push_back({hold.id(),
                         {hold.namespace_(), hold.name()},
                         hold.owner(),
                         hold.age_seconds(),
                         hold.seconds_left(),
                         hold.pods()});
      }
    }
    if (auto ended = connection_.Check(reader->Finish()); !ended) {
      return tl::unexpected(ended.error());
    }
    return holds;
  }

  Result<std::vector<LostHold>> Confirm(const std::vector<std::string>& ids,
                                        const StateDelta& delta, bool reported) {
    auto request = Of<v1::ConfirmHoldsRequest>(ids);
    *request.mutable_update() = ToProto(delta);
    request.set_reported(reported);
    v1::ConfirmHoldsResponse response;
    if (auto done = Call(&v1::Placement::Stub::ConfirmHolds, request, response); !done) {
      return tl::unexpected(done.error());
    }
    std::vector<LostHold> broken;
    for (const v1::LostHold& hold : response.broken_holds()) broken.push_back(FromProto(hold));
    return broken;
  }

  Result<void> Release(const std::vector<std::string>& ids) {
    v1::ReleaseHoldsResponse response;
    return Call(&v1::Placement::Stub::ReleaseHolds, Of<v1::ReleaseHoldsRequest>(ids), response);
  }

  Result<void> Extend(const std::vector<std::string>& ids, std::int64_t hold_seconds) {
    auto request = Of<v1::ExtendHoldsRequest>(ids);
    request.set_hold_seconds(hold_seconds);
    v1::ExtendHoldsResponse response;
    return Call(&v1::Placement::Stub::ExtendHolds, request, response);
  }

 private:
  template <class Request>
  Request Of(const std::vector<std::string>& ids) const {
    Request request;
    request.set_state_name(state_name_);
    request.mutable_ids()->Assign(ids.begin(), ids.end());
    return request;
  }

  template <class Request, class Response>
  Result<void> Call(grpc::Status (v1::Placement::Stub::*method)(grpc::ClientContext*,
                                                                const Request&, Response*),
                    const Request& request, Response& response) {
    grpc::ClientContext context;
    connection_.SetDeadline(context);
    return connection_.Check(((*stub_).*method)(&context, request, &response));
  }

  Connection connection_;
  std::unique_ptr<v1::Placement::Stub> stub_;
  std::string state_name_;
};

Result<RemoteHolds> RemoteHolds::Connect(const std::string& address, std::string state_name,
                                         std::chrono::milliseconds timeout, const ClientTls& tls) {
  auto connection = Connection::Open(address, timeout, tls);
  if (!connection) return tl::unexpected(connection.error());
  return RemoteHolds(std::make_unique<Impl>(*std::move(connection), std::move(state_name)));
}

RemoteHolds::RemoteHolds(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RemoteHolds::RemoteHolds(RemoteHolds&&) noexcept = default;
RemoteHolds& RemoteHolds::operator=(RemoteHolds&&) noexcept = default;
RemoteHolds::~RemoteHolds() = default;

Result<RemoteHolds::Placed> RemoteHolds::Place(std::span<const WorkloadRequest> requests,
                                               std::int64_t hold_seconds, const std::string& owner,
                                               const FeatureGates& gates) {
  return impl_->Place(requests, hold_seconds, owner, gates);
}
Result<std::vector<RemoteHold>> RemoteHolds::List() { return impl_->List(); }
Result<std::vector<LostHold>> RemoteHolds::Confirm(const std::vector<std::string>& ids,
                                                   const StateDelta& delta, bool reported) {
  return impl_->Confirm(ids, delta, reported);
}
Result<void> RemoteHolds::Release(const std::vector<std::string>& ids) {
  return impl_->Release(ids);
}
Result<void> RemoteHolds::Extend(const std::vector<std::string>& ids, std::int64_t hold_seconds) {
  return impl_->Extend(ids, hold_seconds);
}

}  // namespace espalier
