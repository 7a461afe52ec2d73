#include "tests/attack/client.hpp"

#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>

#include "tests/attack/messages.hpp"

namespace grpc::internal {

// The friend that ByteBuffer names and leaves to others: makes it one whose bytes are sent as if
// they had been compressed.
class GrpcByteBufferPeer {
 public:
  static void Set(ByteBuffer& buffer, grpc_byte_buffer* raw) { buffer.set_buffer(raw); }
};

}  // namespace grpc::internal

namespace espalier::attack {
namespace {

grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}

grpc::ByteBuffer ToBuffer(const AsGzip& message) {
  grpc_slice slice = grpc_slice_from_copied_buffer(message.bytes.data(), message.bytes.size());
  grpc::ByteBuffer buffer;
  grpc::internal::GrpcByteBufferPeer::Set(
      buffer, grpc_raw_compressed_byte_buffer_create(&slice, 1, GRPC_COMPRESS_GZIP));
  grpc_slice_unref(slice);
  return buffer;
}

std::string ToString(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Valid() || !buffer.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

std::shared_ptr<grpc::Channel> Connect(
    const std::string& address, const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  // For the whole process: between clients gRPC would shut down, and wait for calls just cancelled.
  [[maybe_unused]] static const bool initialized = (grpc_init(), true);
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(std::numeric_limits<int>::max());
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // one connection for each client
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  if (credentials == nullptr) {
    return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  }
  arguments.SetSslTargetNameOverride(kServerName);
  return grpc::CreateCustomChannel(address, credentials, arguments);
}

void SetDeadline(grpc::ClientContext& context, std::chrono::microseconds timeout) {
  context.set_deadline(std::chrono::system_clock::now() + timeout);
}

}  // namespace

std::string Reply::Text() const {
  return fmt::format("code {}: {}", static_cast<int>(code()), status.error_message());
}

PendingCall::PendingCall(grpc::GenericStub& stub, const std::string& method,
                         const grpc::ByteBuffer& request, std::chrono::microseconds timeout)
    : request_(request) {
  SetDeadline(context_, timeout);
  stub.UnaryCall(&context_, method, {}, &request_, &response_, [this](const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    reply_ = Reply{status, ToString(response_)};
    changed_.notify_all();
  });
}

PendingCall::~PendingCall() {
  Cancel();
  Wait();
}

bool PendingCall::done() const {
  const std::lock_guard lock(mutex_);
  return reply_.has_value();
}

const Reply& PendingCall::Wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return reply_.has_value(); });
  return *reply_;
}

OpenStream::OpenStream(grpc::GenericStub& stub, const std::string& method,
                       std::chrono::microseconds timeout, bool gzip) {
  SetDeadline(context_, timeout);
  if (gzip) context_.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  call_ = stub.PrepareCall(&context_, method, &queue_);
  call_->StartCall(nullptr);
  Next();
}

OpenStream::~OpenStream() {
  if (finished_) return;
  context_.TryCancel();
  Finish();
}

bool OpenStream::Write(const std::string& message) {
  call_->Write(ToBuffer(message), nullptr);
  return Next();
}

bool OpenStream::Write(const AsGzip& message) {
  call_->Write(ToBuffer(message), nullptr);
  return Next();
}

void OpenStream::Close() {
  call_->WritesDone(nullptr);
  Next();
}

Reply OpenStream::Finish() {
  Reply reply;
  grpc::ByteBuffer response;
  for (call_->Read(&response, nullptr); Next(); call_->Read(&response, nullptr)) {
    reply.bytes = ToString(response);
  }
  call_->Finish(&reply.status, nullptr);
  Next();
  finished_ = true;
  return reply;
}

bool OpenStream::Next() {
  void* tag = nullptr;
  bool ok = false;
  return queue_.Next(&tag, &ok) && ok;
}

Client::Client(const std::string& address) : Client(address, nullptr) {}

Client::Client(const std::string& address, std::shared_ptr<grpc::ChannelCredentials> credentials)
    : channel_(Connect(address, credentials)), stub_(channel_) {}

Reply Client::Call(const std::string& method, const std::string& request,
                   std::chrono::microseconds timeout) {
  return PendingCall(stub_, method, ToBuffer(request), timeout).Wait();
}

Reply Client::Call(const std::string& method, const AsGzip& request) {
  OpenStream stream(stub_, method, kPatience, true);
  stream.Write(request);
  stream.Close();
  return stream.Finish();
}

std::unique_ptr<PendingCall> Client::Start(const std::string& method,
                                           const google::protobuf::MessageLite& request,
                                           std::chrono::microseconds timeout) {
  return std::make_unique<PendingCall>(stub_, method, ToBuffer(request.SerializeAsString()),
                                       timeout);
}

std::unique_ptr<OpenStream> Client::Open(const std::string& method,
                                         std::chrono::microseconds timeout) {
  return std::make_unique<OpenStream>(stub_, method, timeout);
}

Reply Client::Stream(const std::string& method, const std::vector<std::string>& messages) {
  OpenStream stream(stub_, method, kPatience);
  for (const std::string& message : messages) {
    if (!stream.Write(message)) break;
  }
  stream.Close();
  return stream.Finish();
}

Reply Client::Stream(const std::string& method, const std::vector<AsGzip>& messages) {
  OpenStream stream(stub_, method, kPatience, true);
  for (const AsGzip& message : messages) {
    if (!stream.Write(message)) break;
  }
  stream.Close();
  return stream.Finish();
}

v1::StatePosition Client::Load(const std::vector<v1::LoadStateRequest>& chunks) {
  const Reply reply = Stream(kLoadState, Serialized(chunks));
  if (!reply.ok()) throw std::runtime_error("LoadState: " + reply.Text());
  return reply.As<v1::LoadStateResponse>().state();
}

v1::GetStateSummaryResponse Client::Summary() {
  const Reply reply = Call(kGetStateSummary, std::string());
  if (!reply.ok()) throw std::runtime_error("GetStateSummary: " + reply.Text());
  return reply.As<v1::GetStateSummaryResponse>();
}

Bystander::Bystander(const std::string& address, const std::string& state_name)
    : client_(address), state_name_(state_name), thread_([this] { Run(); }) {}

void Bystander::Run() {
  v1::PlaceRequest request = Gangs({.gangs = 1, .pods = 1});
  request.set_state_name(state_name_);
  std::string first;
  while (true) {
    const Reply reply = client_.Call(kPlace, request);
    const std::lock_guard lock(mutex_);
    if (!reply.ok()) failure_ = reply.Text();
    if (!state_name_.empty()) {
      if (first.empty()) first = reply.bytes;
      if (reply.ok() && reply.bytes != first) failure_ = "another answer than before";
    }
    ++answers_;
    changed_.notify_all();
    if (stop_ || !failure_.empty()) return;
  }
}

bool Bystander::AnsweredOnceMore() {
  std::unique_lock lock(mutex_);
  // One call may have been answered before whatever the caller means to see it answered beside.
  const int wanted = answers_ + 2;
  changed_.wait(lock, [&] { return answers_ >= wanted || !failure_.empty(); });
  return failure_.empty();
}

std::string Bystander::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  if (thread_.joinable()) thread_.join();
  return failure_;
}

}  // namespace espalier::attack
