// What a process says when a peer sends it messages that are no messages: its own words only.
#include <csignal>
#include <future>
#include <memory>
#include <string>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/server/process.hpp"

namespace espalier {
namespace {

grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}

std::string TestAddress() {
  return "unix:" + testing::TempDir() + "espalier-log-" + std::to_string(::getpid());
}

grpc::Status Call(const std::string& address, const std::string& method, const std::string& bytes) {
  grpc::GenericStub stub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  const grpc::ByteBuffer request = ToBuffer(bytes);
  grpc::ByteBuffer response;
  std::promise<grpc::Status> status;
  stub.UnaryCall(&context, method, {}, &request, &response,
                 [&](const grpc::Status& answer) { status.set_value(answer); });
  return status.get_future().get();
}

// Answers every call with the same bytes.
class GarbageService : public grpc::CallbackGenericService {
 public:
  explicit GarbageService(const std::string& bytes) : bytes_(bytes) {}

 private:
  class Reactor : public grpc::ServerGenericBidiReactor {
   public:
    explicit Reactor(const std::string& bytes) : answer_(ToBuffer(bytes)) {
      StartWriteAndFinish(&answer_, {}, grpc::Status::OK);
    }

   private:
    void OnDone() override { delete this; }

    const grpc::ByteBuffer answer_;
  };

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    return new Reactor(bytes_);  // deletes itself when done
  }

  const std::string bytes_;
};

TEST(ProcessLog, AServerSaysNothingOfAMessageThatIsNoUtf8) {
  Process server({"serve", "--listen", TestAddress()});
  EXPECT_EQ(server.ReadLine(), "listening on " + TestAddress());
  const std::string strings = "\x0a\x01\xff";  // field 1, one byte long
  EXPECT_FALSE(Call(TestAddress(), "/espalier.v1.Ungating/Ungate", strings).ok());
  server.Kill(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  const std::string log = server.ReadErrors();
  EXPECT_EQ(log.find("UTF-8"), std::string::npos) << log;
}

TEST(ProcessLog, AClientSaysNothingOfAnAnswerThatIsNoUtf8ButItsError) {
  GarbageService service("\x1a\x03\x0a\x01\xff");  // field 3, a message with the same field 1
  grpc::ServerBuilder builder;
  builder.AddListeningPort(TestAddress(), grpc::InsecureServerCredentials());
  builder.RegisterCallbackGenericService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  ASSERT_NE(server, nullptr);
  Process client({"place", ESPALIER_SOURCE_DIR "/tests/cli/data/fits.yaml", "--connect",
                  TestAddress(), "--load"});
  const std::string errors = client.ReadErrors();
  EXPECT_NE(client.Wait(), 0);
  EXPECT_EQ(errors.rfind("espalier: ", 0), 0u) << errors;
  EXPECT_EQ(errors.find('\n'), errors.size() - 1) << errors;  // one line
}

}  // namespace
}  // namespace espalier
