#include "service/server/metrics.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <fstream>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <grpcpp/server_context.h>
#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <unistd.h>

#include "service/backends/backends.hpp"
#include "service/server/acceptor.hpp"
#include "service/server/access.hpp"
#include "service/server/call_line.hpp"
#include "service/server/listen.hpp"
#include "service/server/request_log.hpp"
#include "service/server/server_tls.hpp"

namespace espalier {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::size_t kCodes = grpc::StatusCode::UNAUTHENTICATED + 1;
constexpr std::size_t kCancelled = grpc::StatusCode::CANCELLED;
constexpr std::size_t kDeadlineExceeded = grpc::StatusCode::DEADLINE_EXCEEDED;
constexpr std::size_t kUnknown = grpc::StatusCode::UNKNOWN;

// Upper bounds in seconds: a warm placement takes some 100 us, a load of a large cluster seconds.
constexpr std::array kDurations = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                   0.1,    0.25,    0.5,    1.0,   2.5,    5.0,   10.0, 30.0};

struct MethodCounts {
  std::array<prometheus::Counter*, kCodes> calls;
  prometheus::Histogram* durations;
};

// Lives as long as gRPC keeps the call.
class CountedCall final : public grpc::experimental::Interceptor {
 public:
  CountedCall(std::shared_ptr<const MethodCounts> counts, grpc::experimental::ServerRpcInfo& call)
      : counts_(std::move(counts)), call_(call) {}

  ~CountedCall() override {
    counts_->calls[Code()]->Increment();
    counts_->durations->Observe(Seconds(SteadyClock::now() - arrival_).count());
  }

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    using grpc::experimental::InterceptionHookPoints;
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      const auto code = static_cast<std::size_t>(methods->GetSendStatus().error_code());
      answered_ = code < kCodes ? code : kUnknown;
    }
    // Whatever was answered, a client that is gone did not see it.
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_CLOSE) &&
        call_.server_context()->IsCancelled()) {
      deadline_ = call_.server_context()->deadline();
      given_up_ = true;
    }
    methods->Proceed();
  }

 private:
  // A client that gives up at its deadline is heard of shortly before the server's has come, which
  // began when the call arrived: what counts is the time at the end of the call.
  std::size_t Code() const {
    if (!given_up_) return answered_;
    return deadline_ <= std::chrono::system_clock::now() ? kDeadlineExceeded : kCancelled;
  }

  const std::shared_ptr<const MethodCounts> counts_;
  const SteadyClock::time_point arrival_ = SteadyClock::now();
  grpc::experimental::ServerRpcInfo& call_;
  std::atomic<std::size_t> answered_ = kCancelled;  // a code; kCancelled unless it is answered
  std::chrono::system_clock::time_point deadline_;  // where the client has given up
  std::atomic<bool> given_up_ = false;              // else the client took the answer
};

using Labels = std::vector<prometheus::ClientMetric::Label>;

prometheus::ClientMetric Sample(prometheus::MetricType type, double value, Labels labels = {}) {
  prometheus::ClientMetric sample;
  sample.label = std::move(labels);
  (type == prometheus::MetricType::Counter ? sample.counter.value : sample.gauge.value) = value;
  return sample;
}

prometheus::MetricFamily Gauge(std::string name, std::string help, double value) {
  constexpr auto kType = prometheus::MetricType::Gauge;
  return {std::move(name), std::move(help), kType, {Sample(kType, value)}};
}

prometheus::MetricFamily Counter(std::string name, std::string help, double value) {
  constexpr auto kType = prometheus::MetricType::Counter;
  return {std::move(name), std::move(help), kType, {Sample(kType, value)}};
}

double SinceEpoch(std::chrono::system_clock::time_point time) {
  return Seconds(time.time_since_epoch()).count();
}

double ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  statm >> size >> resident;  // in pages
  return static_cast<double>(resident * ::sysconf(_SC_PAGESIZE));
}

class ReadValues final : public prometheus::Collectable {
 public:
  explicit ReadValues(Metrics::Sources sources) : sources_(std::move(sources)) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    std::vector<prometheus::MetricFamily> families;
    AddCallsAndState(families);
    if (const auto device = StatusOfDevice(sources_.backend)) AddDevice(*device, families);
    AddCapacity(families);
    AddConnections(families);
    AddAccess(families);
    AddProcess(families);
    return families;
  }

 private:
  void AddCallsAndState(std::vector<prometheus::MetricFamily>& families) const {
    families.push_back(Gauge("espalier_calls_under_way", "Calls that are not over yet",
                             sources_.calls.in_flight()));
    families.push_back(
        Gauge("espalier_calls_waiting", "Calls that wait for a worker",
              static_cast<double>(sources_.queue.waiting() + sources_.state_queue.waiting())));
    families.push_back(Gauge("espalier_memory_limit_bytes",
                             "Memory that calls and states may take together",
                             static_cast<double>(sources_.calls.memory().limit())));
    families.push_back(Gauge("espalier_memory_held_bytes", "Memory that calls and states hold",
                             static_cast<double>(sources_.calls.memory().held())));
    AddRefusals(families);
    AddStates(families);
    if (const RequestLog* log = sources_.journal.requests()) {
      families.push_back(Counter("espalier_request_log_bytes_total",
                                 "Bytes that were written to the log of requests",
                                 static_cast<double>(log->bytes_written())));
      families.push_back(Gauge("espalier_request_log_failed",
                               "1: requests are not logged any more, as something failed",
                               log->failed() ? 1 : 0));
    }
    if (const StateKeeper* keeper = sources_.keeper) {
      families.push_back(Counter("espalier_state_dir_bytes_total",
                                 "Bytes of states that were written to disk",
                                 static_cast<double>(keeper->bytes_written())));
      families.push_back(Gauge("espalier_state_dir_failed",
                               "1: the last attempt to write a state to disk failed",
                               keeper->failed() ? 1 : 0));
    }
  }

  // A sample for every cause from the start, so that the first of a kind is an increase.
  void AddRefusals(std::vector<prometheus::MetricFamily>& families) const {
    constexpr auto kType = prometheus::MetricType::Counter;
    prometheus::MetricFamily family{
        "espalier_refusals_total", "Calls that ended with an error, by its cause", kType, {}};
    const auto failures = sources_.journal.ByCause();
    for (std::size_t i = 0; i < failures.size(); ++i) {
      family.metric.push_back(Sample(kType, static_cast<double>(failures[i].calls),
                                     {{"cause", CallJournal::kCauses[i]}}));
    }
    families.push_back(std::move(family));
  }

  // A sample per state, as many as --max-states allows; the state without a name has no label.
  void AddStates(std::vector<prometheus::MetricFamily>& families) const {
    constexpr auto kType = prometheus::MetricType::Gauge;
    const std::vector<NamedStates::Named> states = sources_.states.WithUnnamed();
    families.push_back(Gauge("espalier_named_states", "Cluster states that have a name",
                             static_cast<double>(states.size() - 1)));
    prometheus::MetricFamily generations{"espalier_state_generation",
                                         "Generation of the cluster state; 0: none is loaded",
                                         kType,
                                         {}};
    prometheus::MetricFamily nodes{"espalier_state_nodes", "Nodes of the cluster state", kType, {}};
    prometheus::MetricFamily holds{
        "espalier_holds", "Holds whose usage is in the cluster state", kType, {}};
    prometheus::MetricFamily changes{"espalier_state_changed_timestamp_seconds",
                                     "When the cluster state changed last; 0: none is loaded",
                                     kType,
                                     {}};
    for (const auto& [name, store] : states) {
      const auto snapshot = store->Current();
      const Labels labels = name.empty() ? Labels() : Labels{{"state", name}};
      generations.metric.push_back(
          Sample(kType, static_cast<double>(snapshot->position.generation), labels));
      nodes.metric.push_back(Sample(kType, static_cast<double>(snapshot->nodes), labels));
      holds.metric.push_back(Sample(kType, static_cast<double>(snapshot->holds), labels));
      changes.metric.push_back(Sample(kType, SinceEpoch(snapshot->published), labels));
    }
    for (auto* family : {&generations, &nodes, &holds, &changes}) {
      families.push_back(std::move(*family));
    }
    AddEndedHolds(families);
  }

  void AddEndedHolds(std::vector<prometheus::MetricFamily>& families) const {
    constexpr auto kType = prometheus::MetricType::Counter;
    const HoldCounts& counts = sources_.states.hold_counts();
    families.push_back(
        Counter("espalier_holds_made_total", "Holds made", static_cast<double>(counts.made)));
    prometheus::MetricFamily ended{"espalier_holds_ended_total", "Holds that ended", kType, {}};
    for (const auto& [name, how] :
         {std::pair("confirmed", HoldEnd::kConfirmed), std::pair("released", HoldEnd::kReleased),
          std::pair("expired", HoldEnd::kExpired), std::pair("broken", HoldEnd::kBroken),
          std::pair("dropped", HoldEnd::kDropped)}) {
      const auto count = counts.ended[static_cast<std::size_t>(how)].load();
      ended.metric.push_back(Sample(kType, static_cast<double>(count), {{"how", name}}));
    }
    families.push_back(std::move(ended));
  }

  void AddCapacity(std::vector<prometheus::MetricFamily>& families) const {
    constexpr auto kType = prometheus::MetricType::Gauge;
    prometheus::MetricFamily family{
        "espalier_capacity_gangs",
        "Further gangs of a shape that fit side by side, each within one domain of the level",
        kType,
        {}};
    for (const CapacityGauges::Value& value : sources_.capacity.Values()) {
      family.metric.push_back(
          Sample(kType, static_cast<double>(value.gangs),
                 {{"shape", value.shape}, {"flavor", value.flavor}, {"level", value.level}}));
    }
    if (!family.metric.empty()) families.push_back(std::move(family));
  }

  // A scrape looks at the files too, so that wrong ones show where nobody connects.
  void AddConnections(std::vector<prometheus::MetricFamily>& families) const {
    families.push_back(Counter("espalier_connections_total", "Connections that were accepted",
                               static_cast<double>(sources_.acceptor.accepted())));
    families.push_back(Counter("espalier_connections_refused_total",
                               "Connections that were closed because there were too many",
                               static_cast<double>(sources_.acceptor.refused())));
    if (sources_.tls != nullptr) AddTls(families);
  }

  void AddTls(std::vector<prometheus::MetricFamily>& families) const {
    sources_.tls->Refresh();
    const ServerTls::Status status = sources_.tls->status();
    constexpr auto kType = prometheus::MetricType::Gauge;
    prometheus::MetricFamily expiry{
        "espalier_tls_expiry_timestamp_seconds",
        "When the certificate in use expires",
        kType,
        {Sample(kType, SinceEpoch(status.expires), {{"of", "server"}})}};
    if (status.ca_expires != std::chrono::system_clock::time_point()) {
      expiry.metric.push_back(Sample(kType, SinceEpoch(status.ca_expires), {{"of", "client-ca"}}));
    }
    families.push_back(std::move(expiry));
    families.push_back(Gauge("espalier_tls_files_wrong",
                             "1: the present files cannot be used, and those before them are; 0: "
                             "the present files are in use",
                             status.error.empty() ? 0 : 1));
    families.push_back(Reloads("espalier_tls_reloads_total", status.reloads, status.failures));
  }

  static prometheus::MetricFamily Reloads(const char* name, std::int64_t used, std::int64_t wrong) {
    constexpr auto kType = prometheus::MetricType::Counter;
    return {name,
            "Times that changed files were read",
            kType,
            {Sample(kType, static_cast<double>(used), {{"result", "used"}}),
             Sample(kType, static_cast<double>(wrong), {{"result", "wrong"}})}};
  }

  void AddAccess(std::vector<prometheus::MetricFamily>& families) const {
    sources_.access.Refresh();
    const Access::Status status = sources_.access.status();
    constexpr auto kType = prometheus::MetricType::Counter;
    prometheus::MetricFamily denied{"espalier_calls_denied_total",
                                    "Calls that were refused as the client lacks a permission",
                                    kType,
                                    {}};
    for (const Access::Denied& each : status.denied) {
      denied.metric.push_back(
          Sample(kType, static_cast<double>(each.calls),
                 {{"method", each.method}, {"permission", std::string(Name(each.missing))}}));
    }
    if (!denied.metric.empty()) families.push_back(std::move(denied));
    if (!status.has_file) return;
    families.push_back(Gauge("espalier_access_rules", "Rules of the file of --access in use",
                             static_cast<double>(status.rules)));
    families.push_back(Gauge("espalier_access_file_wrong",
                             "1: the present file cannot be used, and that before it is; 0: it is "
                             "in use",
                             status.error.empty() ? 0 : 1));
    families.push_back(Reloads("espalier_access_reloads_total", status.reloads, status.failures));
  }

  static void AddDevice(const DeviceStatus& device,
                        std::vector<prometheus::MetricFamily>& families) {
    families.push_back(Gauge("espalier_device_ready",
                             "1: the device answers; 0: it is away and the CPU answers",
                             device.ready ? 1 : 0));
    families.push_back(Counter("espalier_device_faults_total", "Times the device failed",
                               static_cast<double>(device.faults)));
    families.push_back(Gauge("espalier_device_crossover_jobs",
                             "Batches of at least this many placements go to the device",
                             static_cast<double>(device.crossover_jobs)));
    constexpr auto kType = prometheus::MetricType::Counter;
    families.push_back(
        {"espalier_jobs_total",
         "Placements decided, on the device and on the CPU",
         kType,
         {Sample(kType, static_cast<double>(device.jobs_on_device), {{"on", "device"}}),
          Sample(kType, static_cast<double>(device.jobs_on_cpu), {{"on", "cpu"}})}});
  }

  void AddProcess(std::vector<prometheus::MetricFamily>& families) const {
    constexpr auto kType = prometheus::MetricType::Gauge;
    families.push_back({"espalier_build_info",
                        "What runs here",
                        kType,
                        {Sample(kType, 1,
                                {{"version", sources_.version},
                                 {"commit", sources_.commit},
                                 {"backend", std::string(sources_.backend.name())}})}});
    families.push_back(Gauge("process_resident_memory_bytes", "Resident memory", ResidentBytes()));
    families.push_back(Counter("process_cpu_seconds_total", "Processor time, all threads",
                               static_cast<double>(std::clock()) / CLOCKS_PER_SEC));
    families.push_back(
        Gauge("process_start_time_seconds", "When the server started", SinceEpoch(start_)));
  }

  const Metrics::Sources sources_;
  const std::chrono::system_clock::time_point start_ = std::chrono::system_clock::now();
};

// A connection that sends no request occupies a thread until its time is over, so that there are
// more threads than scrapers would need, and the time is short.
std::vector<std::string> ExposerOptions(const Address& address) {
  return {"listening_ports",    address.ToString(),
          "num_threads",        "64",
          "request_timeout_ms", "500",
          "listen_backlog",     "1024"};
}

}  // namespace

// Every series is there from the start, so that the first failure of a kind is an increase.
class Metrics::CallCounts {
 public:
  explicit CallCounts(const std::vector<std::string>& services) {
    auto& calls = prometheus::BuildCounter()
                      .Name("espalier_calls_total")
                      .Help("Calls that are over, by how they were answered")
                      .Register(*registry_);
    auto& durations = prometheus::BuildHistogram()
                          .Name("espalier_call_duration_seconds")
                          .Help("From the arrival of a call to its end")
                          .Register(*registry_);
    const prometheus::Histogram::BucketBoundaries upper_bounds(kDurations.begin(),
                                                               kDurations.end());
    for (const std::string& name : services) {
      const auto* service =
          google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(name);
      for (int i = 0; i < service->method_count(); ++i) {
        const std::string method = name + "/" + service->method(i)->name();
        MethodCounts& counts = methods_["/" + method];
        for (std::size_t code = 0; code < kCodes; ++code) {
          counts.calls[code] =
              &calls.Add({{"method", method},
                          {"code", std::string(CodeName(static_cast<grpc::StatusCode>(code)))}});
        }
        counts.durations = &durations.Add({{"method", method}}, upper_bounds);
      }
    }
  }

  const std::shared_ptr<prometheus::Registry>& registry() const { return registry_; }

  // Returns the counts of a method, which is named as in gRPC, "/service/method". Null for those
  // that are not counted.
  const MethodCounts* Find(std::string_view method) const {
    const auto found = methods_.find(method);
    return found == methods_.end() ? nullptr : &found->second;
  }

 private:
  const std::shared_ptr<prometheus::Registry> registry_ = std::make_shared<prometheus::Registry>();
  std::map<std::string, MethodCounts, std::less<>> methods_;
};

Result<std::unique_ptr<Metrics>> Metrics::Start(const Address& address, const Sources& sources) {
  try {
    return std::unique_ptr<Metrics>(new Metrics(address, sources));
  } catch (const std::exception&) {  // of civetweb, which does not say why
    std::string why = ExplainBindFailure(address);
    if (address.host.find(':') != std::string::npos) why += " (IPv6 needs a civetweb built for it)";
    return tl::unexpected<Error>(
        Error{ErrorClass::kUnavailable,
              fmt::format("cannot serve metrics on {}: {}", address.ToString(), why)});
  }
}

Metrics::Metrics(const Address& address, const Sources& sources)
    : call_counts_(std::make_shared<CallCounts>(sources.services)),
      read_values_(std::make_shared<ReadValues>(sources)),
      exposer_(std::make_unique<prometheus::Exposer>(ExposerOptions(address))),
      address_(address.ToString(exposer_->GetListeningPorts().front())) {
  exposer_->RegisterCollectable(call_counts_->registry());
  exposer_->RegisterCollectable(read_values_);
}

Metrics::~Metrics() = default;

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> Metrics::MakeCallCounter()
    const {
  class CallCounter final : public grpc::experimental::ServerInterceptorFactoryInterface {
   public:
    explicit CallCounter(std::shared_ptr<const CallCounts> counts) : counts_(std::move(counts)) {}

    grpc::experimental::Interceptor* CreateServerInterceptor(
        grpc::experimental::ServerRpcInfo* call) override {
      const MethodCounts* method = counts_->Find(call->method());
      if (method == nullptr) return nullptr;
      // gRPC may drop a call a moment after its server is gone.
      return new CountedCall(std::shared_ptr<const MethodCounts>(counts_, method), *call);
    }

   private:
    const std::shared_ptr<const CallCounts> counts_;
  };
  return std::make_unique<CallCounter>(call_counts_);
}

}  // namespace espalier
