// A client that sends whatever bytes it likes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

namespace espalier {

inline grpc::ByteBuffer BytesOf(std::string_view text) {
  const grpc::Slice slice(text.data(), text.size());
  return {&slice, 1};
}

// One call of bytes to `method`, as "/espalier.v1.Placement/Place".
class RawStream {
 public:
  RawStream(const std::shared_ptr<grpc::Channel>& channel, const std::string& method)
      : stub_(channel), call_(stub_.PrepareCall(&context_, method, &queue_)) {
    call_->StartCall(nullptr);
    Next();
  }

  // Returns false once the call has failed.
  bool Write(std::string_view bytes) {
    call_->Write(BytesOf(bytes), nullptr);
    return Next();
  }

  // Returns the next message of the server, or nothing once there is none.
  std::string Read() {
    grpc::ByteBuffer answer;
    call_->Read(&answer, nullptr);
    std::vector<grpc::Slice> slices;
    std::string bytes;
    if (!Next() || !answer.Dump(&slices).ok()) return bytes;
    for (const grpc::Slice& slice : slices) {
      bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    }
    return bytes;
  }

  // Waits until the server has ended the call.
  void ReadToEnd() {
    grpc::ByteBuffer answer;
    do {
      call_->Read(&answer, nullptr);
    } while (Next());
  }

  grpc::Status Finish() {
    call_->WritesDone(nullptr);
    Next();
    ReadToEnd();
    grpc::Status status;
    call_->Finish(&status, nullptr);
    Next();
    return status;
  }

  grpc::ClientContext& context() { return context_; }

 private:
  bool Next() {
    void* tag = nullptr;
    bool ok = false;
    queue_.Next(&tag, &ok);
    return ok;
  }

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

inline grpc::Status SendRaw(const std::shared_ptr<grpc::Channel>& channel,
                            const std::string& method, std::string_view bytes) {
  RawStream call(channel, method);
  call.Write(bytes);
  return call.Finish();
}

}  // namespace espalier
