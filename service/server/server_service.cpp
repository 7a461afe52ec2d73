#include "service/server/server_service.hpp"

#include <chrono>
#include <utility>

#include "host/model/excerpt.hpp"
#include "host/packing/flavor_state.hpp"
#include "host/what_if/flavor_use.hpp"
#include "service/backends/backends.hpp"
#include "service/server/row_bytes.hpp"
#include "service/server/unix_time.hpp"
#include "service/wire/cluster_state.hpp"

namespace espalier {
namespace {

constexpr std::size_t kErrorBytes = 1024;

Result<void> AddUse(const FlavorState& flavor, std::string_view name, WorkBudget& budget,
                    v1::FlavorUse& answer) {
  const FlavorSnapshot& snapshot = flavor.snapshot();
  const FlavorUse use = UseOf(flavor, budget);
  if (budget.stopped()) return budget.Check();
  answer.set_name(std::string(name));
  answer.set_nodes(snapshot.node_count());
  for (std::size_t i = 0; i < use.capacity.size(); ++i) {
    const std::string& resource = snapshot.resources()[i];
    const std::int64_t bytes = kBytesOfRow + std::ssize(resource);
    if (!budget.Charge(bytes) || !budget.ChargeAnswer(bytes)) return budget.Check();
    v1::ResourceUse& row = *answer.add_resources();
    row.set_resource(resource);
    row.set_capacity(use.capacity[i]);
    row.set_used(use.used[i]);
  }
  for (std::size_t i = 0; i < use.levels.size(); ++i) {
    const FlavorUse::Level& level = use.levels[i];
    v1::LevelUse& row = *answer.add_levels();
    row.set_level(snapshot.levels()[i]);
    row.set_domains(level.domains);
    row.set_unused_domains(level.unused_domains);
    row.mutable_most_free()->Add(level.most_free.begin(), level.most_free.end());
    const std::int64_t bytes = kBytesOfRow + std::ssize(level.most_free) * 10;
    if (!budget.Charge(bytes) || !budget.ChargeAnswer(bytes)) return budget.Check();
  }
  return {};
}

}  // namespace

grpc::ServerUnaryReactor* ServerService::Info(grpc::CallbackServerContext* context,
                                              const grpc::ByteBuffer* request,
                                              grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::ServerInfoRequest, v1::ServerInfoResponse>(
      context, queue_, request, response,
      [this](const v1::ServerInfoRequest&, WorkBudget&, v1::ServerInfoResponse& answer) {
        answer = described_.get();
        return grpc::Status::OK;
      });
}

grpc::ServerUnaryReactor* ServerService::Status(grpc::CallbackServerContext* context,
                                                const grpc::ByteBuffer* request,
                                                grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::ServerStatusRequest, v1::ServerStatusResponse>(
      context, queue_, request, response,
      [this](const v1::ServerStatusRequest& message, WorkBudget& budget,
             v1::ServerStatusResponse& answer) { return Answer(message, budget, answer); });
}

grpc::Status ServerService::Answer(const v1::ServerStatusRequest& request, WorkBudget& budget,
                                   v1::ServerStatusResponse& response) const {
  response.set_now_ms(UnixMilliseconds(std::chrono::system_clock::now()));
  for (const auto& [name, store] : sources_.states.WithUnnamed()) {
    const auto added = AddState(name, *store, request.with_use(), budget, *response.add_states());
    if (!added) return ToStatus(added.error());
  }
  response.set_calls_under_way(calls_.in_flight() - 1);
  response.set_calls_waiting(
      static_cast<std::int64_t>(sources_.queue.waiting() + sources_.state_queue.waiting()));
  response.set_memory_held_bytes(calls_.memory().held());
  if (const auto device = StatusOfDevice(sources_.backend)) {
    v1::DeviceState& state = *response.mutable_device();
    state.set_name(device->device);
    state.set_ready(device->ready);
    state.set_faults(static_cast<std::int64_t>(device->faults));
    if (device->fault) state.set_last_fault(Excerpt(device->fault->message));
  }
  AddFiles(response);
  const auto failures = sources_.journal.ByCause();
  for (std::size_t i = 0; i < failures.size(); ++i) {
    if (failures[i].calls == 0) continue;
    v1::Refusals& refusals = *response.add_refusals();
    refusals.set_cause(CallJournal::kCauses[i]);
    refusals.set_calls(failures[i].calls);
    v1::RefusedCall& last = *refusals.mutable_last();
    last.set_call(failures[i].last.call);
    last.set_method(failures[i].last.method);
    last.set_time_ms(UnixMilliseconds(failures[i].last.time));
    last.set_message(failures[i].last.message);
  }
  if (sources_.keeper != nullptr) *response.mutable_state_dir() = sources_.keeper->Status();
  return grpc::Status::OK;
}

// Looks at the files, so that wrong ones show where nobody connects.
void ServerService::AddFiles(v1::ServerStatusResponse& response) const {
  if (tls_ != nullptr) {
    tls_->Refresh();
    const ServerTls::Status status = tls_->status();
    v1::TlsState& tls = *response.mutable_tls();
    tls.set_expires_ms(UnixMilliseconds(status.expires));
    tls.set_client_ca_expires_ms(UnixMilliseconds(status.ca_expires));
    tls.set_reloads(status.reloads);
    tls.set_failed_reloads(status.failures);
    tls.set_error(Excerpt(status.error, kErrorBytes));
  }
  access_->Refresh();
  const Access::Status status = access_->status();
  v1::AccessState& access = *response.mutable_access();
  access.set_has_file(status.has_file);
  access.set_rules(status.rules);
  access.set_reloads(status.reloads);
  access.set_failed_reloads(status.failures);
  access.set_error(Excerpt(status.error, kErrorBytes));
  std::int64_t denied = 0;
  for (const Access::Denied& each : status.denied) denied += each.calls;
  access.set_denied_calls(denied);
}

Result<void> ServerService::AddState(const std::string& name, StateStore& store, bool with_use,
                                     WorkBudget& budget, v1::StateStatus& status) {
  const std::int64_t bytes = kBytesOfRow + std::ssize(name);
  if (!budget.Charge(bytes) || !budget.ChargeAnswer(bytes)) return budget.Check();
  const auto checked = store.TryCurrentChecked(budget);
  if (!checked) return tl::unexpected(checked.error());
  const auto snapshot = *checked ? (*checked)->snapshot : store.Current();
  if (*checked) status.set_checksum((*checked)->checksum);
  status.set_state_name(name);
  *status.mutable_state() = ToProto(snapshot->position);
  status.set_changed_ms(UnixMilliseconds(snapshot->published));
  status.set_nodes(snapshot->nodes);
  status.set_workloads(static_cast<std::int64_t>(snapshot->admitted->size()));
  status.set_holds(snapshot->holds);
  status.set_warm_shapes(static_cast<std::int64_t>(snapshot->shapes->size()));
  if (!with_use) return {};
  for (const std::string_view flavor : snapshot->state.FlavorNames()) {
    const auto added = AddUse(*snapshot->state.Find(flavor), flavor, budget, *status.add_flavors());
    if (!added) return added;
  }
  return {};
}

}  // namespace espalier
