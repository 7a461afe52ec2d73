// `espalier serve` as a real process: the same bytes through it as without it, and its end.
#include "tests/server/process.hpp"

#include <csignal>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "espalier/v1/workloads.grpc.pb.h"

namespace espalier::process_test {
namespace {

const std::string kDump = ESPALIER_SOURCE_DIR "/tests/data/dumps/";

class ServeProcess : public testing::Test {
 protected:
  static std::unique_ptr<Process> Serve(const std::string& address) {
    auto server = std::make_unique<Process>(std::vector<std::string>{"serve", "--listen", address});
    EXPECT_EQ(server->ReadLine(), "listening on " + address);
    return server;
  }

  // The exit code of a client whose workload fits.
  int Ask() const {
    return RunToEnd({"place", ESPALIER_SOURCE_DIR "/tests/cli/data/fits.yaml", "--connect",
                     address_, "--load"})
        .exit_code;
  }

  const std::string address_ =
      "unix:" + testing::TempDir() + "espalier-process-" + std::to_string(::getpid());
};

TEST_F(ServeProcess, GivesTheSameBytesAsALocalRun) {
  const auto server = Serve(address_);
  for (const char* mode : {"sequential", "nominate"}) {
    for (const char* form : {"table", "json"}) {
      std::vector<std::string> arguments = {
          "place", kDump + "before.json.gz", kDump + "extra.json", "--mode", mode, "--output",
          form};
      const Outcome local = RunToEnd(arguments);
      EXPECT_GT(local.output.size(), 1000u);
      arguments.insert(arguments.end(), {"--connect", address_, "--load"});
      EXPECT_EQ(RunToEnd(arguments), local) << mode << " " << form;
    }
  }
}

// Queues name flavors without a topology too, on which there is nothing to place.
TEST_F(ServeProcess, LoadsEveryFlavorOfTheFiles) {
  const auto server = Serve(address_);
  RunToEnd({"place", kDump + "before.json.gz", "--connect", address_, "--load"});
  const auto stub =
      v1::Workloads::NewStub(grpc::CreateChannel(address_, grpc::InsecureChannelCredentials()));
  v1::PlaceObjectsRequest request;
  request.set_mode(v1::PLACEMENT_MODE_SEQUENTIAL);
  request.set_objects(R"(
kind: ClusterQueue
apiVersion: kueue.x-k8s.io/v1beta2
metadata: {name: etl}
spec:
  namespaceSelector: {}
  resourceGroups:
    - coveredResources: [cpu]
      flavors: [{name: cpu, resources: [{name: cpu, nominalQuota: 8}]}]
---
kind: LocalQueue
apiVersion: kueue.x-k8s.io/v1beta2
metadata: {name: etl, namespace: team}
spec: {clusterQueue: etl}
---
kind: Workload
apiVersion: kueue.x-k8s.io/v1beta2
metadata: {name: copy, namespace: team}
spec:
  queueName: etl
  podSets:
    - name: main
      count: 1
      template: {spec: {containers: [{name: main, resources: {requests: {cpu: 1}}}]}}
)");
  grpc::ClientContext context;
  v1::PlaceObjectsResponse response;
  const grpc::Status status = stub->PlaceObjects(&context, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(response.workloads_size(), 1);
  const v1::ObjectWorkload& workload = response.workloads(0);
  EXPECT_EQ(workload.outcome(), v1::OBJECT_OUTCOME_NOTHING_TO_PLACE) << workload.reason();
}

TEST_F(ServeProcess, DrainsOnASignalAndRemovesItsSocket) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const auto server = Serve(address_);
    server->Kill(signal);
    EXPECT_EQ(server->Wait(), 0);
    EXPECT_NE(::access(address_.substr(5).c_str(), F_OK), 0);
  }
}

// Whoever started the server waits for the lines of standard output and may parse them.
TEST_F(ServeProcess, LogsToStandardErrorAndNothingElse) {
  const auto server = Serve(address_);
  server->Kill(SIGTERM);
  EXPECT_EQ(server->Wait(), 0);
  EXPECT_EQ(server->ReadAll(), "");
  const std::string log = server->ReadErrors();
  EXPECT_NE(log.find("back end: "), std::string::npos) << log;
  EXPECT_NE(log.find("SIGTERM: draining"), std::string::npos) << log;
}

TEST_F(ServeProcess, DrainsWhenNobodyReadsItsOutputs) {
  const auto server = Serve(address_);
  server->CloseOutputs();
  server->Kill(SIGTERM);
  EXPECT_EQ(server->Wait(), 0);
}

TEST_F(ServeProcess, StartsAndDrainsWithoutOutputs) {
  const std::string command = "exec '" + kEspalier + "' serve --listen " + address_ + " >&- 2>&-";
  Process server({"-c", command}, "/bin/sh");
  int exit_code = 4;
  for (int i = 0; i < 1000 && exit_code == 4; ++i) exit_code = Ask();  // until it listens
  EXPECT_EQ(exit_code, 0);
  // Else a socket takes their numbers and clients are sent the log.
  EXPECT_EQ(server.FileOf(STDOUT_FILENO), "/dev/null");
  EXPECT_EQ(server.FileOf(STDERR_FILENO), "/dev/null");
  server.Kill(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
}

TEST_F(ServeProcess, IgnoresSignalsThatMeanNothingToIt) {
  const auto server = Serve(address_);
  for (const int signal : {SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE}) server->Kill(signal);
  EXPECT_EQ(Ask(), 0);
  server->Kill(SIGTERM);
  EXPECT_EQ(server->Wait(), 0);
}

TEST_F(ServeProcess, ASecondOneFailsAndTheFirstStays) {
  const auto first = Serve(address_);
  EXPECT_EQ(RunToEnd({"serve", "--listen", address_}), (Outcome{"", 4}));
  first->Kill(SIGTERM);
  EXPECT_EQ(first->Wait(), 0);
}

TEST_F(ServeProcess, SaysWhereItsMetricsAre) {
  Process server({"serve", "--listen", address_, "--metrics", "127.0.0.1:0"});
  EXPECT_EQ(server.ReadLine(), "listening on " + address_);
  const std::string line = server.ReadLine();
  std::smatch match;
  ASSERT_TRUE(
      std::regex_match(line, match, std::regex("metrics on http://(127.0.0.1:[1-9]\\d*)/metrics")))
      << line;
  EXPECT_EQ(RunToEnd({"serve", "--listen", address_ + "-2", "--metrics", match[1]}),
            (Outcome{"", 4}));
  server.Kill(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
}

TEST_F(ServeProcess, StartsAgainAfterKill) {
  const auto first = Serve(address_);
  first->Kill(SIGKILL);
  EXPECT_EQ(first->Wait(), 128 + SIGKILL);
  EXPECT_EQ(::access(address_.substr(5).c_str(), F_OK), 0);  // what it left behind
  const auto second = Serve(address_);
  second->Kill(SIGTERM);
  EXPECT_EQ(second->Wait(), 0);
}

// Each of them finds a socket that nobody listens on and may take it.
TEST_F(ServeProcess, OneOfManyTakesAStaleSocketAndItWorks) {
  for (int round = 0; round < 8; ++round) {
    const auto killed = Serve(address_);
    killed->Kill(SIGKILL);
    killed->Wait();
    std::vector<std::unique_ptr<Process>> racers;
    for (int i = 0; i < 6; ++i) {
      racers.push_back(
          std::make_unique<Process>(std::vector<std::string>{"serve", "--listen", address_}));
    }
    std::vector<Process*> listening;
    for (const auto& racer : racers) {
      if (racer->ReadLine() == "listening on " + address_) {
        listening.push_back(racer.get());
      } else {
        EXPECT_EQ(racer->Wait(), 4);
      }
    }
    ASSERT_EQ(listening.size(), 1u);
    EXPECT_EQ(Ask(), 0);
    listening.front()->Kill(SIGTERM);
    EXPECT_EQ(listening.front()->Wait(), 0);
  }
}

TEST_F(ServeProcess, ExitCodes) {
  EXPECT_EQ(RunToEnd({"serve", "--listen", "nonsense"}).exit_code, 2);
  EXPECT_EQ(RunToEnd({"serve"}).exit_code, 2);
  EXPECT_EQ(RunToEnd({"serve", "--listen", "0.0.0.0:0"}).exit_code, 2);
  EXPECT_EQ(RunToEnd({"serve", "--listen", address_, "--metrics", "unix:/tmp/m"}).exit_code, 2);
  EXPECT_EQ(RunToEnd({"place", kDump + "extra.json", "--connect", address_}).exit_code, 4);
}

}  // namespace
}  // namespace espalier::process_test
