#include "service/client/raw_call.hpp"

#include <utility>

#include <grpcpp/generic/generic_stub.h>

namespace espalier {
namespace {

// Waits for the one thing that is under way. Returns whether it succeeded.
bool Wait(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  return queue.Next(&tag, &ok) && ok;
}

}  // namespace

RawAnswer CallRaw(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                  const std::vector<std::string_view>& requests,
                  std::chrono::milliseconds timeout) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + timeout);
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareCall(&context, "/" + method, &queue);
  call->StartCall(nullptr);
  bool open = Wait(queue);
  for (const std::string_view request : requests) {
    if (!open) break;
    const grpc::Slice slice(request.data(), request.size());
    call->Write(grpc::ByteBuffer(&slice, 1), nullptr);
    open = Wait(queue);
  }
  if (open) {
    call->WritesDone(nullptr);
    Wait(queue);
  }
  RawAnswer answer;
  while (true) {
    grpc::ByteBuffer bytes;
    call->Read(&bytes, nullptr);
    if (!Wait(queue)) break;
    std::vector<grpc::Slice> slices;
    if (!bytes.Dump(&slices).ok()) break;
    std::string& message = answer.messages.emplace_back();
    for (const grpc::Slice& slice : slices) {
      message.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    }
  }
  call->Finish(&answer.status, nullptr);
  Wait(queue);
  queue.Shutdown();
  while (Wait(queue)) {
  }
  return answer;
}

}  // namespace espalier
