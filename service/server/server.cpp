#include "service/server/server.hpp"

#include <algorithm>
#include <future>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/server_builder_option.h>
#include <spdlog/spdlog.h>

#include "host/live/hold_expiry.hpp"
#include "host/live/named_states.hpp"
#include "host/model/machine_memory.hpp"
#include "service/backends/backends.hpp"
#include "service/server/acceptor.hpp"
#include "service/server/access.hpp"
#include "service/server/arrivals.hpp"
#include "service/server/call_journal.hpp"
#include "service/server/calls.hpp"
#include "service/server/capacity_gauges.hpp"
#include "service/server/cluster_state_service.hpp"
#include "service/server/dispatch_service.hpp"
#include "service/server/listen.hpp"
#include "service/server/logged_states.hpp"
#include "service/server/metrics.hpp"
#include "service/server/multikueue_service.hpp"
#include "service/server/placement_service.hpp"
#include "service/server/questions_service.hpp"
#include "service/server/request_log.hpp"
#include "service/server/scheduling_service.hpp"
#include "service/server/server_service.hpp"
#include "service/server/state_keeper.hpp"
#include "service/server/ungating_service.hpp"
#include "service/server/unix_time.hpp"
#include "service/server/work_queue.hpp"
#include "service/server/workloads_service.hpp"

namespace espalier {
namespace {

constexpr int kMaxWorkers = 1024;
constexpr int kMaxStates = 1024;
constexpr std::int64_t kLeastMemory = std::int64_t{16} << 20;
constexpr std::int64_t kLeastLog = std::int64_t{64} << 10;
constexpr std::int64_t kLeastStateBytes = std::int64_t{1} << 20;
constexpr const char* kDeviceHealth = "device";  // name of a health status
constexpr int kMostStreams = 1024;               // of one connection at a time
constexpr int kMostCalls = 2 * kMostStreams;     // of one connection, with those it has reset
// A TCP connection that has not begun to speak after so long is closed.
constexpr int kHandshakeMilliseconds = 10'000;
constexpr int kKeepaliveMilliseconds = 30'000;
constexpr auto kAfterPatience = std::chrono::seconds(1);
// For what is open at the end of a drain: watches of the health service, reflection.
constexpr auto kLastGoodbye = std::chrono::milliseconds(100);

// The reflection library adds itself to every server it is linked with; this takes it out again.
class NoReflection : public grpc::ServerBuilderOption {
 public:
  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    const std::string reflection = grpc::reflection::ProtoServerReflectionPlugin().name();
    std::erase_if(*plugins, [&](const auto& plugin) { return plugin->name() == reflection; });
  }
};

struct Addresses {
  std::vector<Address> listen;
  std::optional<Address> metrics;
};

Result<Addresses> CheckOptions(const ServerOptions& options) {
  if (options.listen.empty()) return BadInput("no address to listen on; name at least one");
  if (options.max_message_bytes < 1024 ||
      options.max_message_bytes > std::numeric_limits<int>::max()) {
    return BadInput(fmt::format("the message limit is {} bytes; 1024 to {} are possible",
                                options.max_message_bytes, std::numeric_limits<int>::max()));
  }
  if (options.workers < 0 || options.workers > kMaxWorkers) {
    return BadInput(fmt::format("the number of workers is {}; 1 to {} are possible, 0 chooses",
                                options.workers, kMaxWorkers));
  }
  if (options.max_states < 0 || options.max_states > kMaxStates) {
    return BadInput(fmt::format("the number of named states is {}; 0 to {} are possible",
                                options.max_states, kMaxStates));
  }
  if (options.max_queued_calls < 0) {
    return BadInput(
        fmt::format("the queue limit is {} calls; 0 or more expected", options.max_queued_calls));
  }
  if (const std::int64_t least = kLeastMemory;
      (options.memory != 0 && options.memory < least) ||
      (options.call_memory != 0 && options.call_memory < least)) {
    return BadInput(fmt::format("the memory limits are {} and {} bytes; {} or more expected",
                                options.memory, options.call_memory, least));
  }
  if (!options.requests.folder.empty() &&
      (options.requests.bytes < kLeastLog || options.requests.files < 2)) {
    return BadInput(
        fmt::format("the log of requests may have {} bytes in {} files; {} or more in "
                    "2 or more expected",
                    options.requests.bytes, options.requests.files, kLeastLog));
  }
  if (!options.state_dir.folder.empty() && options.state_dir.bytes < kLeastStateBytes) {
    return BadInput(fmt::format("the states on disk may have {} bytes; {} or more expected",
                                options.state_dir.bytes, kLeastStateBytes));
  }
  if (options.patience <= std::chrono::milliseconds(0)) {
    return BadInput("the time to wait for clients is 0 or less; more expected");
  }
  if (auto checked = CheckFeatureGateDependencies(options.gates); !checked) {
    return tl::unexpected(checked.error());
  }
  const bool has_tls = !options.tls.certificate.empty() && !options.tls.key.empty();
  if (options.tls.any() && !has_tls) {
    return BadInput("TLS needs both --tls-cert and --tls-key");
  }
  const bool is_mutual = has_tls && !options.tls.client_ca.empty();
  Addresses addresses;
  bool any_unix = false;
  bool any_tcp = false;
  for (const std::string& text : options.listen) {
    auto address = ParseAddress(text);
    if (!address) return tl::unexpected(address.error());
    if (!options.insecure && !is_mutual) {
      if (auto local = CheckIsLocal(*address); !local) return tl::unexpected(local.error());
    }
    (address->is_unix() ? any_unix : any_tcp) = true;
    addresses.listen.push_back(*std::move(address));
  }
  if (has_tls && !any_tcp) return BadInput("TLS is for TCP: --listen names no HOST:PORT");
  if ((options.socket_mode || !options.socket_group.empty()) && !any_unix) {
    return BadInput("--socket-mode and --socket-group are for unix sockets; --listen names none");
  }
  if (!options.metrics.empty()) {
    auto address = ParseTcpAddress(options.metrics);
    if (!address) return tl::unexpected(address.error());
    if (!options.insecure_metrics) {
      if (auto local = CheckIsLocal(*address, Reached::kMetrics); !local) {
        return tl::unexpected(local.error());
      }
    }
    addresses.metrics = *std::move(address);
  }
  return addresses;
}

// Parts of the memory: what connections buffer; the rest is for calls and states.
constexpr std::int64_t kConnectionParts = 8;

Calls::Limits LimitsOf(const ServerOptions& options) {
  const std::int64_t memory = options.memory > 0 ? options.memory : MachineMemoryBytes() / 4 * 3;
  const std::int64_t calls = memory - memory / kConnectionParts;
  return {.memory = calls,
          .call_memory = options.call_memory > 0 ? std::min(options.call_memory, calls) : calls / 2,
          .message_bytes = options.max_message_bytes,
          .patience = options.patience};
}

std::int64_t ConnectionMemory(const Calls::Limits& limits) {
  return limits.memory / (kConnectionParts - 1);
}

int WorkerCount(const ServerOptions& options) {
  if (options.workers > 0) return options.workers;
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 2, kMaxWorkers);
}

}  // namespace

// Connections may buffer their part of the memory, are asked for a sign of life when they are
// silent, and carry no compressed messages: a few bytes of those inflate to gigabytes before
// anybody can look at their size.
void BoundConnections(grpc::ServerBuilder& builder, const Calls::Limits& limits) {
  grpc::ResourceQuota quota("connections");
  quota.Resize(static_cast<std::size_t>(ConnectionMemory(limits)));
  builder.SetResourceQuota(quota);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostStreams);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  for (const auto algorithm : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP}) {
    builder.SetCompressionAlgorithmSupportStatus(algorithm, false);
  }
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
}

class Server::Impl {
 public:
  // `requests` and `folder` may be null.
  Impl(const ServerOptions& options, const std::shared_ptr<Backend>& backend,
       std::shared_ptr<RequestLog> requests, std::unique_ptr<StateFolder> folder)
      : backend_(backend),
        journal_(std::make_shared<CallJournal>(options.logged_calls, std::move(requests))),
        queue_(WorkerCount(options), options.max_queued_calls),
        state_queue_(1, options.max_queued_calls),
        calls_(queue_, state_queue_, LimitsOf(options)),
        states_(static_cast<std::size_t>(options.max_states)),
        last_write_(options.state_dir.last_write),
        keeper_(folder == nullptr
                    ? nullptr
                    : std::make_unique<StateKeeper>(std::move(folder), options.state_dir.rest,
                                                    states_, calls_.memory())),
        cluster_state_(calls_, states_, options.named_gates,
                       [this] { SetLoaded(states_.AnyLoaded()); }),
        hold_clock_(options.hold_clock != nullptr ? options.hold_clock
                                                  : std::make_shared<MachineHoldClock>()),
        hold_expiry_(states_, *hold_clock_, calls_.memory(),
                     [this](const std::string& name, const StateStore::Expired& expired) {
                       RequestLog* const log = journal_->requests();
                       if (log != nullptr) log->Expired(name, expired.position, expired.ids);
                     }),
        placement_(calls_, states_, commits_, hold_expiry_, backend, options.gates,
                   options.named_gates),
        questions_(calls_, states_, backend, options.gates),
        scheduling_(calls_, states_, backend, options.gates),
        ungating_(calls_),
        dispatching_(calls_, states_, backend, options.gates),
        multikueue_(calls_, backend, options.gates),
        workloads_(calls_, states_, commits_, backend, options.gates),
        about_(calls_, {.states = states_,
                        .queue = queue_,
                        .state_queue = state_queue_,
                        .backend = *backend_,
                        .journal = *journal_,
                        .keeper = keeper_.get()}),
        capacity_(**states_.Find(""), options.capacity_shapes, options.gates, backend_),
        acceptor_(RaiseDescriptorLimit()) {
    if (RequestLog* log = journal_->requests()) log->OnNewFile([this] { return LogStates(); });
  }

  ~Impl() {
    if (server_) {
      WatchDevice(*backend_, {});
      Drain(std::chrono::milliseconds(0));
      shutdown_.wait();
    }
    if (RequestLog* log = journal_->requests()) log->Close();
  }

  // Reads certificates and access rules. Before StartMetrics and Listen.
  Result<void> ReadFiles(const ServerOptions& options) {
    auto access = Access::Open(options.access);
    if (!access) return tl::unexpected(access.error());
    access_ = *std::move(access);
    if (options.tls.any()) {
      auto tls = ServerTls::Open(options.tls);
      if (!tls) return tl::unexpected(tls.error());
      tls_ = *std::move(tls);
    }
    about_.Watch(*access_, tls_.get());
    return {};
  }

  // Before Listen, which has calls counted.
  Result<void> StartMetrics(const ServerOptions& options, const Address& address) {
    Result<std::unique_ptr<Metrics>> started = Metrics::Start(
        address,
        {.states = states_,
         .calls = calls_,
         .queue = queue_,
         .state_queue = state_queue_,
         .backend = *backend_,
         .capacity = capacity_,
         .journal = *journal_,
         .acceptor = acceptor_,
         .access = *access_,
         .tls = tls_.get(),
         .keeper = keeper_.get(),
         .services = {v1::ClusterState::service_full_name(), v1::Placement::service_full_name(),
                      v1::Questions::service_full_name(), v1::Scheduling::service_full_name(),
                      v1::Ungating::service_full_name(), v1::Dispatching::service_full_name(),
                      v1::MultiKueue::service_full_name(), v1::Workloads::service_full_name(),
                      v1::Server::service_full_name()},
         .version = options.version,
         .commit = options.commit});
    if (!started) return tl::unexpected(started.error());
    metrics_ = *std::move(started);
    return {};
  }

  void RestoreStates(const ServerOptions& options) {
    if (keeper_ == nullptr) return;
    keeper_->Restore(options.named_gates);
    if (journal_->requests() != nullptr && states_.AnyLoaded()) LogStates();
  }

  Result<void> Listen(const ServerOptions& options, const std::vector<Address>& addresses) {
    SocketAccess access{options.socket_mode, std::nullopt};
    if (!options.socket_group.empty()) {
      const auto group = FindGroup(options.socket_group);
      if (!group) return tl::unexpected(group.error());
      access.group = *group;
    }
    for (const Address& address : addresses) {
      if (!address.is_unix()) continue;
      auto listener = UnixListener::Bind(address.path, access);
      if (!listener) return tl::unexpected(listener.error());
      acceptor_.AddUnix((*listener)->Release());
      unix_listeners_.push_back(*std::move(listener));
    }
    std::vector<int> ports(addresses.size(), 0);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      if (addresses[i].is_unix()) continue;
      const auto port = acceptor_.BindTcp(addresses[i]);
      if (!port) {
        return tl::unexpected<Error>(Error{
            ErrorClass::kUnavailable,
            fmt::format("cannot listen on {}: {}", addresses[i].ToString(), port.error().message)});
      }
      ports[i] = *port;
    }
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    BoundConnections(builder, calls_.limits());
    builder.SetMaxReceiveMessageSize(static_cast<int>(options.max_message_bytes));
    builder.SetMaxSendMessageSize(static_cast<int>(options.max_message_bytes));
    if (!options.reflection) builder.SetOption(std::make_unique<NoReflection>());
    auto tcp = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        tls_ ? tls_->MakeCredentials() : grpc::InsecureServerCredentials());
    builder.RegisterService(&cluster_state_);
    builder.RegisterService(&placement_);
    builder.RegisterService(&questions_);
    builder.RegisterService(&scheduling_);
    builder.RegisterService(&ungating_);
    builder.RegisterService(&dispatching_);
    builder.RegisterService(&multikueue_);
    builder.RegisterService(&workloads_);
    builder.RegisterService(&about_);
    std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> watchers;
    watchers.push_back(MakeArrivals(acceptor_, kMostCalls, access_));
    watchers.push_back(journal_->MakeInterceptor());
    if (metrics_) watchers.push_back(metrics_->MakeCallCounter());
    builder.experimental().SetInterceptorCreators(std::move(watchers));
    if (keeper_ != nullptr) {
      if (auto keeping = keeper_->Start(); !keeping) return keeping;
    }
    server_ = builder.BuildAndStart();
    if (!server_) {
      return tl::unexpected<Error>(Error{ErrorClass::kInternal, "gRPC does not start a server"});
    }
    acceptor_.Start(*server_, std::move(tcp));
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      addresses_.push_back(addresses[i].ToString(ports[i]));
    }
    about_.Describe(Describe(options));
    grpc::HealthCheckServiceInterface& health = *server_->GetHealthCheckService();
    health.SetServingStatus(v1::ClusterState::service_full_name(), true);
    health.SetServingStatus(v1::Ungating::service_full_name(), true);
    health.SetServingStatus(v1::Server::service_full_name(), true);
    health.SetServingStatus(v1::MultiKueue::service_full_name(), true);
    SetLoaded(states_.AnyLoaded());
    WatchDevice(*backend_, [this](const DeviceStatus& status) { NoteDevice(status); });
    return {};
  }

  std::string DescribeLimits() const {
    const Calls::Limits& limits = calls_.limits();
    return fmt::format(
        "memory: {} for calls and states, {} of it for one call, {} for connections; "
        "messages up to {}",
        BytesText(limits.memory), BytesText(limits.call_memory),
        BytesText(ConnectionMemory(limits)), BytesText(limits.message_bytes));
  }

  const std::vector<std::string>& addresses() const { return addresses_; }
  std::string metrics_address() const { return metrics_ ? metrics_->address() : std::string(); }

  bool Drain(std::chrono::milliseconds patience) {
    const std::lock_guard lock(drain_mutex_);
    if (!drained_) drained_ = DrainOnce(patience);
    return *drained_;
  }

  Result<StatePosition> AddHolds(const std::string& state_name, std::vector<Hold> holds) {
    const auto store = states_.Find(state_name);
    if (!store) return tl::unexpected(store.error());
    const HoldClock::TimePoint now = hold_clock_->Now();
    for (Hold& hold : holds) {
      hold.made = now;
      hold.expires = now + std::chrono::seconds(kLongestHold);
    }
    const auto placed = (*store)->PlaceHolds((*store)->Current()->position, std::move(holds));
    if (!placed) return tl::unexpected(placed.error().error);
    hold_expiry_.Expect(now + std::chrono::seconds(kLongestHold));
    return *placed;
  }

  Result<StatePosition> ExpireHolds(const std::string& state_name,
                                    const std::vector<std::string>& ids) {
    const auto store = states_.Find(state_name);
    if (!store) return tl::unexpected(store.error());
    const HoldClock::TimePoint now = hold_clock_->Now();
    if (const auto due = (*store)->ExtendHolds(ids, now, now); !due) {
      return tl::unexpected(due.error().error);
    }
    StateStore::Expired expired;
    const auto next = (*store)->ExpireHolds(now, WorkBudget::Unlimited(), &expired);
    if (!next) return tl::unexpected(next.error());
    return expired.position;
  }

 private:
  v1::ServerInfoResponse Describe(const ServerOptions& options) const {
    v1::ServerInfoResponse info;
    info.set_version(options.version);
    info.set_commit(options.commit);
    info.set_backend(DescribeBackend(*backend_));
    info.set_started_ms(UnixMilliseconds(std::chrono::system_clock::now()));
    info.mutable_addresses()->Add(addresses_.begin(), addresses_.end());
    info.set_metrics_address(metrics_address());
    const Calls::Limits& limits = calls_.limits();
    v1::ServerLimits& told = *info.mutable_limits();
    told.set_memory_bytes(limits.memory);
    told.set_connection_memory_bytes(ConnectionMemory(limits));
    told.set_call_memory_bytes(limits.call_memory);
    told.set_message_bytes(limits.message_bytes);
    told.set_calls(WorkerCount(options));
    told.set_queued_calls(options.max_queued_calls);
    told.set_named_states(options.max_states);
    told.set_idle_ms(limits.patience.count());
    return info;
  }

  // While the device is away the CPU answers, so that nothing else stops serving.
  void NoteDevice(const DeviceStatus& status) {
    server_->GetHealthCheckService()->SetServingStatus(kDeviceHealth, status.ready);
    if (!status.fault) return;
    if (status.ready) {
      spdlog::info("device \"{}\" is back", status.device);
    } else {
      spdlog::warn("device \"{}\": {}: {}; the CPU answers until it is back", status.device,
                   Name(status.fault->fault), status.fault->message);
    }
  }

  // Writes all states into the log of requests, on the worker of the state. Returns false when that
  // is not possible now.
  bool LogStates() {
    auto budget = std::make_shared<WorkBudget>(calls_.memory(), calls_.limits().call_memory);
    WorkBudget* const bound = budget.get();
    return state_queue_.TryPost({"", bound,
                                 [this, bound] {
                                   for (const auto& [name, store] : states_.WithUnnamed()) {
                                     LogState(name, *store, hold_clock_->Now(),
                                              *journal_->requests(), *bound);
                                   }
                                 },
                                 [this, budget] { journal_->requests()->Restored(); }});
  }

  // The services that need a state serve while any is loaded.
  void SetLoaded(bool loaded) {
    grpc::HealthCheckServiceInterface& health = *server_->GetHealthCheckService();
    health.SetServingStatus(v1::Placement::service_full_name(), loaded);
    health.SetServingStatus(v1::Questions::service_full_name(), loaded);
    health.SetServingStatus(v1::Scheduling::service_full_name(), loaded);
    health.SetServingStatus(v1::Dispatching::service_full_name(), loaded);
    health.SetServingStatus(v1::Workloads::service_full_name(), loaded);
  }

  // Order: health first, so that nobody new is sent here; then admission; then, once no call is
  // left or the patience is over, what states are kept on disk; then the connections.
  bool DrainOnce(std::chrono::milliseconds patience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    server_->GetHealthCheckService()->Shutdown();
    calls_.StopAdmission();
    const bool all_finished = calls_.WaitUntilIdle(end);
    if (keeper_ != nullptr) keeper_->Finish(all_finished, last_write_);
    // Shutdown cancels the calls but returns only when their computations have ended. A call that
    // came while it is under way would be told CANCELLED, behind it UNAVAILABLE.
    shutdown_ = std::async(std::launch::async, [this] {
      for (const auto& listener : unix_listeners_) listener->Stop();
      acceptor_.Stop();
      server_->Shutdown(std::chrono::system_clock::now() + kLastGoodbye);
    });
    shutdown_.wait_for(kAfterPatience);
    return all_finished;
  }

  std::shared_ptr<Backend> backend_;
  const std::shared_ptr<CallJournal> journal_;
  WorkQueue queue_;
  WorkQueue state_queue_;  // so that changes to the state do not wait for placements
  Calls calls_;
  NamedStates states_;
  const std::chrono::milliseconds last_write_;
  const std::unique_ptr<StateKeeper> keeper_;  // null: no state is kept on disk
  ClusterStateService cluster_state_;
  Commits commits_;
  const std::shared_ptr<HoldClock> hold_clock_;
  HoldExpiry hold_expiry_;
  PlacementService placement_;
  QuestionsService questions_;
  SchedulingService scheduling_;
  UngatingService ungating_;
  DispatchService dispatching_;
  MultiKueueService multikueue_;
  WorkloadsService workloads_;
  ServerService about_;
  CapacityGauges capacity_;
  std::unique_ptr<Metrics> metrics_;  // null: none; outlives the drain, which people watch on it
  std::unique_ptr<ServerTls> tls_;    // null: none
  std::shared_ptr<Access> access_;    // calls share it
  Acceptor acceptor_;                 // outlives all calls
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::unique_ptr<UnixListener>> unix_listeners_;
  std::vector<std::string> addresses_;
  std::mutex drain_mutex_;  // guards the two below
  std::optional<bool> drained_;
  std::future<void> shutdown_;
};

Result<std::unique_ptr<Server>> Server::Start(const ServerOptions& options,
                                              std::shared_ptr<Backend> backend) {
  auto addresses = CheckOptions(options);
  if (!addresses) return tl::unexpected(addresses.error());
  v1::RequestLogFile file;
  file.set_version(options.version);
  file.set_commit(options.commit);
  file.set_feature_gates(options.named_gates);
  std::shared_ptr<RequestLog> requests;
  if (!options.requests.folder.empty()) {
    auto opened = RequestLog::Open(options.requests, file);
    if (!opened) return tl::unexpected(opened.error());
    requests = *std::move(opened);
  }
  std::unique_ptr<StateFolder> folder;
  if (!options.state_dir.folder.empty()) {
    auto opened = StateFolder::Open(options.state_dir, std::move(file));
    if (!opened) return tl::unexpected(opened.error());
    folder = *std::move(opened);
  }
  auto impl = std::make_unique<Impl>(options, backend, std::move(requests), std::move(folder));
  if (auto read = impl->ReadFiles(options); !read) return tl::unexpected(read.error());
  impl->RestoreStates(options);
  if (addresses->metrics) {
    if (auto serving = impl->StartMetrics(options, *addresses->metrics); !serving) {
      return tl::unexpected(serving.error());
    }
  }
  if (auto listening = impl->Listen(options, addresses->listen); !listening) {
    return tl::unexpected(listening.error());
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

const std::vector<std::string>& Server::addresses() const { return impl_->addresses(); }

std::string Server::DescribeLimits() const { return impl_->DescribeLimits(); }

std::string Server::metrics_address() const { return impl_->metrics_address(); }

Result<StatePosition> Server::AddHolds(const std::string& state_name, std::vector<Hold> holds) {
  return impl_->AddHolds(state_name, std::move(holds));
}

Result<StatePosition> Server::ExpireHolds(const std::string& state_name,
                                          const std::vector<std::string>& ids) {
  return impl_->ExpireHolds(state_name, ids);
}

bool Server::Drain(std::chrono::milliseconds patience) { return impl_->Drain(patience); }

}  // namespace espalier
