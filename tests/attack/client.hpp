// A client that sends any bytes to any method.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "espalier/v1/cluster_state.pb.h"
#include "espalier/v1/placement.pb.h"
#include "tests/attack/server_process.hpp"

namespace espalier::attack {

constexpr const char* kLoadState = "/espalier.v1.ClusterState/LoadState";
constexpr const char* kUpdateState = "/espalier.v1.ClusterState/UpdateState";
constexpr const char* kGetStateSummary = "/espalier.v1.ClusterState/GetStateSummary";
constexpr const char* kListLeaves = "/espalier.v1.ClusterState/ListLeaves";
constexpr const char* kPlace = "/espalier.v1.Placement/Place";
constexpr const char* kReplace = "/espalier.v1.Placement/Replace";
constexpr const char* kCycle = "/espalier.v1.Scheduling/Cycle";
constexpr const char* kUngate = "/espalier.v1.Ungating/Ungate";
constexpr const char* kConfirmHolds = "/espalier.v1.Placement/ConfirmHolds";
constexpr const char* kReleaseHolds = "/espalier.v1.Placement/ReleaseHolds";
constexpr const char* kExtendHolds = "/espalier.v1.Placement/ExtendHolds";

// Unary methods that need no hold.
constexpr const char* kUnaryMethods[] = {kUpdateState, kGetStateSummary, kListLeaves, kPlace,
                                         kReplace,     kCycle,           kUngate};
constexpr const char* kHoldMethods[] = {kConfirmHolds, kReleaseHolds, kExtendHolds};

struct Reply {
  grpc::Status status;
  std::string bytes;

  bool ok() const { return status.ok(); }
  grpc::StatusCode code() const { return status.error_code(); }
  // Returns code and message, for failures of tests.
  std::string Text() const;

  // Reads the answer; empty where there is none.
  template <class Message>
  Message As() const {
    Message message;
    message.ParseFromString(bytes);
    return message;
  }
};

// Sends what looks like a message compressed with gzip: `bytes` themselves, whatever they are.
struct AsGzip {
  std::string bytes;
};

// A call that goes on beside the test. Cancelled when the object goes.
class PendingCall {
 public:
  PendingCall(grpc::GenericStub& stub, const std::string& method, const grpc::ByteBuffer& request,
              std::chrono::microseconds timeout);
  ~PendingCall();
  PendingCall(const PendingCall&) = delete;
  PendingCall& operator=(const PendingCall&) = delete;

  void Cancel() { context_.TryCancel(); }
  bool done() const;
  // Waits for the end of the call.
  const Reply& Wait();

 private:
  grpc::ClientContext context_;
  const grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  mutable std::mutex mutex_;  // guards reply_
  std::condition_variable changed_;
  std::optional<Reply> reply_;
};

// A stream of requests that stays open until it is finished or the object goes.
class OpenStream {
 public:
  OpenStream(grpc::GenericStub& stub, const std::string& method, std::chrono::microseconds timeout,
             bool gzip = false);
  ~OpenStream();
  OpenStream(const OpenStream&) = delete;
  OpenStream& operator=(const OpenStream&) = delete;

  // Returns whether the stream still takes something.
  bool Write(const std::string& message);
  bool Write(const AsGzip& message);
  void Close();
  // Waits for the server to end the stream, which it does by itself only if it must. Of several
  // messages the reply has the last.
  Reply Finish();

 private:
  bool Next();

  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  bool finished_ = false;
};

// The name in the certificates of servers.
constexpr const char* kServerName = "espalier.test";

// Has a connection of its own.
class Client {
 public:
  explicit Client(const std::string& address);
  // Connects with credentials to a server that is called kServerName.
  Client(const std::string& address, std::shared_ptr<grpc::ChannelCredentials> credentials);

  Reply Call(const std::string& method, const std::string& request,
             std::chrono::microseconds timeout = kPatience);
  Reply Call(const std::string& method, const google::protobuf::MessageLite& request,
             std::chrono::microseconds timeout = kPatience) {
    return Call(method, request.SerializeAsString(), timeout);
  }
  Reply Call(const std::string& method, const AsGzip& request);
  std::unique_ptr<PendingCall> Start(const std::string& method,
                                     const google::protobuf::MessageLite& request,
                                     std::chrono::microseconds timeout = 5 * kPatience);

  std::unique_ptr<OpenStream> Open(const std::string& method,
                                   std::chrono::microseconds timeout = 5 * kPatience);
  // Sends the messages, closes and waits for the answer.
  Reply Stream(const std::string& method, const std::vector<std::string>& messages);
  Reply Stream(const std::string& method, const std::vector<AsGzip>& messages);

  // Loads what the chunks hold. Throws where that is refused.
  v1::StatePosition Load(const std::vector<v1::LoadStateRequest>& chunks);
  // Returns what is loaded. Throws where the server does not say.
  v1::GetStateSummaryResponse Summary();
  v1::StatePosition Position() { return Summary().state(); }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
};

// Places a gang of one pod again and again, beside whatever else the server is asked.
class Bystander {
 public:
  // Asks about the state of a name, which nobody changes, and expects the same answer each time;
  // or, without a name, any answer.
  explicit Bystander(const std::string& address, const std::string& state_name = "");
  ~Bystander() { Stop(); }
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;

  // Waits until it has been answered once more; returns false when it was refused.
  bool AnsweredOnceMore();
  // Ends it and returns the first failure; empty: none.
  std::string Stop();

 private:
  void Run();

  Client client_;
  const std::string state_name_;
  std::mutex mutex_;  // guards the three below
  std::condition_variable changed_;
  int answers_ = 0;
  bool stop_ = false;
  std::string failure_;
  std::thread thread_;
};

}  // namespace espalier::attack
