// espalier.v1.MultiKueue over a connection: as the flow in this process.
#include "service/wire/multikueue.hpp"

#include "espalier/v1/multikueue.grpc.pb.h"
#include "host/kueue/multikueue/multikueue_input.hpp"
#include "host/readers/cluster_files.hpp"
#include "tests/cli_cycle/files.hpp"
#include "tests/server/test_server.hpp"

namespace espalier::multikueue_test {
namespace {

using testing::HasSubstr;

std::string FileText(const std::string& name) { return FileContent(kData + "multikueue/" + name); }

class RemoteFlow : public testing::Test {
 protected:
  RemoteFlow() {
    request_.set_manager(FileText("manager.yaml"));
    request_.set_worker(FileText("worker.yaml"));
    request_.set_worker_name("east");
  }

  grpc::Status Call() {
    grpc::ClientContext context;
    response_.Clear();
    return v1::MultiKueue::NewStub(server_.channel)->PlanFlow(&context, request_, &response_);
  }

  static FlowCluster ReadHere(const std::string& name, const std::string& file) {
    auto read = *ReadClusterText(name, FileText(file), {.with_owned_jobs = true});
    return {name, std::move(read.cluster), std::move(read.owned_jobs), ScaleRequests()};
  }

  // Returns what the flow in this process says, with these counts of the job.
  static v1::PlanFlowResponse Here(const CountsByPodSet& counts) {
    auto state = MakeMultiKueueState(ReadHere("manager", "manager.yaml"),
                                     {ReadHere("east", "worker.yaml")}, "");
    EXPECT_TRUE(state);
    for (const auto& [name, count] : counts) state->worker.job.counts[name] = count;
    const auto steps = PlanFlow(*std::move(state), Engine(MakeCpuBackend(1), ResizeGates({})));
    EXPECT_TRUE(steps);
    return ToProto(*steps);
  }

  TestServer server_;
  v1::PlanFlowRequest request_;
  v1::PlanFlowResponse response_;
};

TEST_F(RemoteFlow, StepsAsHere) {  // W6.5
  for (const std::int64_t wanted : {1, 3, 5, 9}) {
    (*request_.mutable_counts())["small-group"] = wanted;
    const grpc::Status status = Call();
    ASSERT_TRUE(status.ok()) << status.error_message();
    response_.clear_notes();
    EXPECT_EQ(response_.DebugString(), Here({{"small-group", wanted}}).DebugString());
  }
  request_.clear_counts();
  ASSERT_TRUE(Call().ok());
  EXPECT_GT(response_.steps_size(), 3);
  EXPECT_EQ(response_.steps(0).at(), "worker");
}

TEST_F(RemoteFlow, NamesWhatIsWrong) {
  request_.set_job("other");
  EXPECT_EQ(Call().error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(Call().error_message(), "job: the worker cluster has no job other");
  request_.clear_job();
  (*request_.mutable_counts())["small-group"] = -1;
  EXPECT_EQ(Call().error_message(), "counts[small-group]: is -1; 0 to 2147483647 expected");
  request_.clear_counts();
  (*request_.mutable_counts())["mall-group"] = 2;
  EXPECT_THAT(Call().error_message(), HasSubstr("counts: workload "));
  EXPECT_THAT(Call().error_message(), HasSubstr("has no pod set \"mall-group\""));
  request_.clear_counts();
  request_.set_worker_name("");
  EXPECT_THAT(Call().error_message(), HasSubstr("worker_name: is \"\"; the name of the worker"));
  request_.set_worker_name("east");
  request_.set_worker("{\"kind\": \"Workload\", \"apiVersion\":");
  grpc::Status status = Call();
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("worker"));
  request_.set_worker("\x1f\x8b");
  EXPECT_EQ(Call().error_message(), "worker: is gzip; plain JSON or YAML expected");
}

TEST_F(RemoteFlow, FindsTheJobAmongSeveralWorkers) {  // W6.5
  ASSERT_TRUE(Call().ok());
  const v1::PlanFlowResponse alone = response_;
  v1::FlowWorker& more = *request_.add_workers();
  more.set_name("east");
  more.set_objects(request_.worker());
  EXPECT_EQ(Call().error_message(),
            "workers[0].name: \"east\" comes twice; distinct ones expected");
  request_.set_worker_name("west");
  EXPECT_THAT(Call().error_message(), HasSubstr("team/ray in west, team/ray in east"));
  request_.clear_worker();
  ASSERT_TRUE(Call().ok());
  EXPECT_EQ(response_.DebugString(), alone.DebugString());
  more.set_objects("{");
  EXPECT_THAT(Call().error_message(), HasSubstr("workers[0].objects"));
  more.set_name("manager");
  more.clear_objects();
  EXPECT_EQ(Call().error_message(),
            "workers[0].name: is \"manager\"; the name of the worker cluster expected");
}

// YAML takes its own bytes and those of the JSON that is made of it.
TEST_F(RemoteFlow, ReadsLargeYaml) {
  std::string more = "\n---\napiVersion: v1\nkind: List\nitems:\n";
  for (int i = 0; more.size() < std::size_t{1} << 20; ++i) {
    more += "- {apiVersion: v1, kind: Node, metadata: {name: n" + std::to_string(i) + "}}\n";
  }
  ASSERT_TRUE(Call().ok());
  const v1::PlanFlowResponse without = response_;
  request_.set_manager(request_.manager() + more);
  request_.set_worker(request_.worker() + more);
  const grpc::Status status = Call();
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response_.steps_size(), without.steps_size());
}

TEST_F(RemoteFlow, AnEmptyClusterIsNoCrash) {
  request_.clear_manager();
  request_.clear_worker();
  EXPECT_FALSE(Call().ok());
}

}  // namespace
}  // namespace espalier::multikueue_test
