// A server in this process, on a back end that can be held up.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "espalier/v1/cluster_state.grpc.pb.h"
#include "espalier/v1/error.pb.h"
#include "espalier/v1/placement.grpc.pb.h"
#include "fallback_cpu/cpu_backend.hpp"
#include "fallback_cpu/nested_cpu.hpp"
#include "host/engine/backend.hpp"
#include "host/nested/tree_placer.hpp"
#include "service/server/server.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/status_details.hpp"
#include "service/wire/workloads.hpp"
#include "tests/server/small_cluster.hpp"

namespace espalier {

// The CPU back end behind a gate that tests close and open.
class GatedBackend : public Backend {
 public:
  GatedBackend() { SetTrees(MakeTreePlacer(MakeNestedCpuRunner)); }

  std::string_view name() const override { return "gated"; }

  void Evaluate(std::span<const PlacementJob> jobs, std::span<const Evaluation> asked,
                PlacementColumns& answers) override {
    if (asked.empty()) return answers.Clear();
    {
      std::unique_lock lock(mutex_);
      ++entered_;
      budget_ = jobs[static_cast<std::size_t>(asked.front().job)].budget;
      changed_.notify_all();
      changed_.wait(lock, [this] { return open_; });
      budget_ = nullptr;
    }
    cpu_->Evaluate(jobs, asked, answers);
  }

  void Close() { Set(false); }
  void Open() { Set(true); }

  // Waits until `calls` calls of Evaluate have begun that had something to do.
  void WaitEntered(int calls) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return entered_ >= calls; });
  }
  // Waits until the work of the last call of Evaluate before the closed gate, if there is any, is
  // told to stop.
  void WaitStopped() {
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (budget_ == nullptr || budget_->stopped()) return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  int entered() {
    const std::lock_guard lock(mutex_);
    return entered_;
  }

 private:
  void Set(bool open) {
    const std::lock_guard lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }

  const std::shared_ptr<Backend> cpu_ = MakeCpuBackend(1);
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  int entered_ = 0;
  const WorkBudget* budget_ = nullptr;  // of the last call before the closed gate; null: none
};

inline std::string SocketAddress(const std::string& name) {
  return "unix:" + testing::TempDir() + "espalier-" + std::to_string(::getpid()) + "-" + name;
}

class TestServer {
 public:
  // Decides on `decider`, or on `backend` without one.
  explicit TestServer(ServerOptions options = {}, std::shared_ptr<Backend> decider = nullptr) {
    if (options.listen.empty()) options.listen = {"127.0.0.1:0"};
    if (decider == nullptr) decider = backend;
    auto started = Server::Start(options, std::move(decider));
    if (!started) throw std::runtime_error(started.error().message);
    server = *std::move(started);
    Connect(0);
  }
  ~TestServer() { backend->Open(); }

  // Points the stubs to one of the server's addresses.
  void Connect(std::size_t address) {
    channel =
        grpc::CreateChannel(server->addresses().at(address), grpc::InsecureChannelCredentials());
    cluster_state = v1::ClusterState::NewStub(channel);
    placement = v1::Placement::NewStub(channel);
  }

  grpc::Status Load(const ClusterStateInput& input, v1::StatePosition* position = nullptr,
                    const std::string& state_name = "",
                    const std::vector<AdmittedUsage>& workloads = {}) {
    grpc::ClientContext context;
    v1::LoadStateResponse response;
    const auto writer = cluster_state->LoadState(&context, &response);
    ToChunks(
        input, [&](const v1::LoadStateRequest& chunk) { return writer->Write(chunk); }, state_name,
        workloads);
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    if (position) *position = response.state();
    return status;
  }

  grpc::Status Place(const v1::PlaceRequest& request, v1::PlaceResponse* response = nullptr,
                     std::chrono::milliseconds timeout = std::chrono::minutes(1)) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + timeout);
    v1::PlaceResponse ignored;
    return placement->Place(&context, request, response ? response : &ignored);
  }

  // Places with a deadline that passes while the closed back end holds the call: a later one each
  // time, until the call arrives there before it. Returns how long the call had, once its work is
  // told to stop.
  std::chrono::milliseconds PlacePastTheDeadline(const v1::PlaceRequest& request) {
    const int before = backend->entered();
    std::chrono::milliseconds timeout(100);
    while (backend->entered() == before) {
      timeout *= 2;
      EXPECT_EQ(Place(request, nullptr, timeout).error_code(), grpc::DEADLINE_EXCEEDED);
    }
    backend->WaitStopped();  // the server's clock comes to it a little later
    return timeout;
  }

  grpc::Status Replace(const v1::PlaceRequest& request, v1::PlaceResponse* response) {
    grpc::ClientContext context;
    return placement->Replace(&context, request, response);
  }

  v1::GetStateSummaryResponse Summary() {
    grpc::ClientContext context;
    v1::GetStateSummaryResponse response;
    const grpc::Status status = cluster_state->GetStateSummary(&context, {}, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  std::shared_ptr<GatedBackend> backend = std::make_shared<GatedBackend>();
  std::unique_ptr<Server> server;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::ClusterState::Stub> cluster_state;
  std::unique_ptr<v1::Placement::Stub> placement;
};

// Returns the current state that a FAILED_PRECONDITION names.
inline v1::StatePosition CurrentOf(const grpc::Status& status) {
  EXPECT_EQ(status.error_code(), grpc::FAILED_PRECONDITION) << status.error_message();
  const auto stale = DetailIn<v1::StaleState>(status);
  EXPECT_TRUE(stale) << "no StaleState";
  return stale ? stale->current() : v1::StatePosition();
}

inline v1::PlaceRequest MakePlaceRequest(const std::vector<WorkloadRequest>& workloads,
                                         v1::PlacementMode mode = v1::PLACEMENT_MODE_NOMINATE) {
  v1::PlaceRequest request;
  request.set_mode(mode);
  *request.mutable_workloads() = *ToProto(workloads);
  return request;
}

}  // namespace espalier
