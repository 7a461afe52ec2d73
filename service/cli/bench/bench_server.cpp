#include "service/cli/bench/bench_server.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "host/engine/assignments.hpp"
#include "host/packing/flavor_state.hpp"
#include "service/wire/feature_gates.hpp"

namespace espalier {

SocketFolder::SocketFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "espalier-bench-XXXXXX");
  if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

SocketFolder::~SocketFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<std::unique_ptr<BenchServer>> BenchServer::Start(const LoadedScenario& loaded,
                                                        const RunOptions& options) {
  std::unique_ptr<BenchServer> bench(new BenchServer());
  if (!bench->folder_.made()) {
    return tl::unexpected(Error{ErrorClass::kUnavailable,
                                fmt::format("no folder for a socket: {}", std::strerror(errno))});
  }
  auto backend = options.make_backend();
  if (!backend) return tl::unexpected(backend.error());
  bench->backend_ = *std::move(backend);
  const std::string address = bench->folder_.address();
  auto server = Server::Start({.listen = {address}}, bench->backend_);
  if (!server) return tl::unexpected(server.error());
  bench->server_ = *std::move(server);
  auto remote = RemoteEngine::Connect(address);
  if (!remote) return tl::unexpected(remote.error());
  bench->remote_.emplace(*std::move(remote));
  bench->input_ = loaded.cluster.Input();
  bench->input_.nodes = loaded.cluster.Nodes();
  bench->input_.tas_usage = UsageOf(loaded.prefill, loaded.cluster);
  bench->input_.non_tas_usage = OtherUsageOf(loaded.prefill, loaded.cluster);
  if (auto load = bench->remote_->Load(bench->input_); !load) return tl::unexpected(load.error());
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(std::numeric_limits<int>::max());
  const auto channel =
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  bench->placement_ = v1::Placement::NewStub(channel);
  bench->cluster_state_ = v1::ClusterState::NewStub(channel);
  bench->dispatching_ = v1::Dispatching::NewStub(channel);
  bench->questions_ = v1::Questions::NewStub(channel);
  return bench;
}

std::unique_ptr<v1::Placement::Stub> BenchServer::NewPlacement() const {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(std::numeric_limits<int>::max());
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return v1::Placement::NewStub(
      grpc::CreateCustomChannel(folder_.address(), grpc::InsecureChannelCredentials(), arguments));
}

Result<v1::PlaceRequest> NominateByNumber(std::vector<WorkloadRequest> requests,
                                          const FeatureGates& gates) {
  // Answers come by position: names would only stand in the text of an error.
  for (WorkloadRequest& request : requests) request.key = {};
  auto batch = ToProto(requests);
  if (!batch) return tl::unexpected(batch.error());
  v1::PlaceRequest call;
  call.set_mode(v1::PLACEMENT_MODE_NOMINATE);
  call.set_domain_naming(v1::DOMAIN_NAMING_INDEX);
  WriteFeatureGates(gates, *call.mutable_feature_gates());
  *call.mutable_workloads() = *std::move(batch);
  return call;
}

LeafIndex LeavesOf(const FlavorSnapshot& snapshot) {
  return [&snapshot](const std::string&, const std::vector<std::string>& values) {
    const LeafId leaf = snapshot.FindLeaf(DomainIdText(values));
    return leaf.valid() ? std::optional(snapshot.IndexOf(leaf)) : std::nullopt;
  };
}

}  // namespace espalier
