// Tests that a process says its own words only when a peer sends it messages that are none.
#include <csignal>
#include <cstdlib>
#include <future>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/server/process.hpp"

namespace espalier::process_log_test {
namespace {

using testing::HasSubstr;

grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}

std::string TestAddress() {
  return "unix:" + testing::TempDir() + "espalier-log-" + std::to_string(::getpid());
}

grpc::Status Call(const std::string& address, const std::string& method, const std::string& bytes,
                  const std::string& trace_parent = "") {
  grpc::GenericStub stub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  if (!trace_parent.empty()) context.AddMetadata("traceparent", trace_parent);
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

const std::string kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string kTraceParent = "00-" + kTrace + "-00f067aa0ba902b7-01";

// Starts a server, lets `ask` call it, and returns its log when it has ended.
template <class Ask>
std::string LogOf(std::vector<std::string> flags, Ask ask) {
  flags.insert(flags.begin(), {"serve", "--listen", TestAddress()});
  Process server(flags);
  EXPECT_EQ(server.ReadLine(), "listening on " + TestAddress());
  ask();
  server.Kill(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  return server.ReadErrors();
}

TEST(ProcessLog, TellsOfCallsByNumberWithTheirTrace) {
  const auto ask = [] {
    EXPECT_TRUE(Call(TestAddress(), "/espalier.v1.ClusterState/ListStates", "", kTraceParent).ok());
    EXPECT_FALSE(
        Call(TestAddress(), "/espalier.v1.Placement/Place", "", "00-no-trace-at-all").ok());
  };
  const std::string all = LogOf({"--log-calls", "all"}, ask);
  EXPECT_THAT(all, HasSubstr("call 1 espalier.v1.ClusterState/ListStates: OK after "));
  EXPECT_THAT(all, HasSubstr(" ms, trace " + kTrace + "\n"));
  EXPECT_THAT(all, HasSubstr("call 2 espalier.v1.Placement/Place: FAILED_PRECONDITION after "));
  EXPECT_THAT(all, HasSubstr("no cluster state is loaded; load one first\n"));
  const std::string failed = LogOf({"--log-calls", "failed"}, ask);
  EXPECT_EQ(failed.find("call 1 "), std::string::npos) << failed;
  EXPECT_THAT(failed, HasSubstr("call 2 "));
  EXPECT_EQ(LogOf({}, ask).find("call "), std::string::npos);
}

TEST(ProcessLog, IsJsonWhereThatIsWanted) {
  const std::string log = LogOf({"--log-format", "json", "--log-calls", "all"}, [] {
    EXPECT_FALSE(Call(TestAddress(), "/espalier.v1.Placement/Place", "", kTraceParent).ok());
  });
  std::istringstream lines(log);
  int of_calls = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_THAT(line, testing::StartsWith("{\"time\": \""));
    EXPECT_THAT(line, HasSubstr("\"level\": \"info\", \"message\": \""));
    EXPECT_THAT(line, testing::EndsWith("}"));
    if (line.find("\"call\":") == std::string::npos) continue;
    ++of_calls;
    EXPECT_THAT(
        line,
        HasSubstr(R"("message": "no cluster state is loaded; load one first", "call": 1, )"
                  R"("method": "espalier.v1.Placement/Place", "code": "FAILED_PRECONDITION",)"));
    EXPECT_THAT(line, HasSubstr(R"(, "traceId": ")" + kTrace +
                                R"(", "parentSpanId": "00f067aa0ba902b7"})"));
  }
  EXPECT_EQ(of_calls, 1);
}

TEST(ProcessLog, ACommandHandsItsTraceOn) {
  const std::string log = LogOf({"--log-calls", "all"}, [] {
    for (const std::string& trace : {kTraceParent, std::string("nonsense")}) {
      ::setenv("TRACEPARENT", trace.c_str(), 1);
      EXPECT_EQ(RunToEnd({"status", "--alive", "--connect", TestAddress()}).exit_code, 0);
    }
    ::unsetenv("TRACEPARENT");
  });
  EXPECT_THAT(log,
              testing::ContainsRegex("call 1 espalier.v1.Server/Info: OK [^\n]*, trace " + kTrace));
  EXPECT_THAT(
      log, testing::ContainsRegex("call 2 espalier.v1.Server/Status: OK [^\n]*, trace " + kTrace));
  EXPECT_THAT(log, testing::ContainsRegex("call 3 espalier.v1.Server/Info: OK after [0-9.]+ ms\n"));
}

}  // namespace
}  // namespace espalier::process_log_test
