// A client of the standard grpc.health.v1.Health, whose schema Debian does not install. A string
// and an enum as field 1 read and write like the well-known StringValue and Int32Value.
#pragma once

#include <memory>
#include <string>

#include <google/protobuf/wrappers.pb.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>

namespace espalier {

class HealthClient {
 public:
  explicit HealthClient(const std::shared_ptr<grpc::Channel>& channel) : stub_(channel) {}

  // Returns SERVING, NOT_SERVING, or the name of the status code the call failed with.
  std::string Check(const std::string& service) {
    google::protobuf::StringValue request;
    request.set_value(service);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    google::protobuf::Int32Value response;
    grpc::Status status;
    const auto call =
        stub_.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", request, &queue);
    call->StartCall();
    call->Finish(&response, &status, nullptr);
    Next(queue);
    if (status.error_code() == grpc::NOT_FOUND) return "NOT_FOUND";
    if (status.error_code() == grpc::UNAVAILABLE) return "UNAVAILABLE";
    if (!status.ok()) return status.error_message();
    return response.value() == 1 ? "SERVING" : "NOT_SERVING";
  }

  // A watch of the whole server, open until the object goes.
  class OpenWatch {
   public:
    explicit OpenWatch(HealthClient& client)
        : call_(client.stub_.PrepareCall(&context_, "/grpc.health.v1.Health/Watch", &queue_)) {
      call_->StartCall(nullptr);
      Next(queue_);
      call_->WriteLast({}, {}, nullptr);
      Next(queue_);
      google::protobuf::Int32Value first;
      call_->Read(&first, nullptr);
      Next(queue_);
    }
    ~OpenWatch() {
      context_.TryCancel();
      grpc::Status status;
      call_->Finish(&status, nullptr);
      Next(queue_);
    }

   private:
    grpc::ClientContext context_;
    grpc::CompletionQueue queue_;
    std::unique_ptr<
        grpc::ClientAsyncReaderWriter<google::protobuf::StringValue, google::protobuf::Int32Value>>
        call_;
  };
  std::unique_ptr<OpenWatch> Watch() { return std::make_unique<OpenWatch>(*this); }

 private:
  static void Next(grpc::CompletionQueue& queue) {
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
  }

  grpc::TemplatedGenericStub<google::protobuf::StringValue, google::protobuf::Int32Value> stub_;
};

}  // namespace espalier
