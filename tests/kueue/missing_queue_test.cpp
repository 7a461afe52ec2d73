#include "host/kueue/objects/missing_queue.hpp"

#include <gtest/gtest.h>

#include "tests/kueue/objects.hpp"

namespace espalier::missing_queue_test {
namespace {

class MissingQueueTest : public ::testing::Test {
 protected:
  std::string WhyOf(const ObjectKey& key, const std::string& queue) {
    Workload workload;
    workload.key = key;
    workload.queue_name = queue;
    const ClusterLookup lookup(cluster_);
    return MissingQueues(cluster_, lookup).WhyMissing(workload);
  }
  Cluster cluster_ = MakeCluster();
};

TEST_F(MissingQueueTest, NamesTheLocalQueuesOfTheNamespace) {
  EXPECT_EQ(WhyOf({"team", "w"}, "gpus"),
            "LocalQueue team/gpus is not in the input; there are cpu, gpu");
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    cluster_.local_queues.push_back(MakeLocalQueue(name, "gpu-queue"));
  }
  EXPECT_EQ(WhyOf({"team", "w"}, "user-queue"),
            "LocalQueue team/user-queue is not in the input; there are a, b, c, cpu, d and 2 more");
  EXPECT_EQ(WhyOf({"team", "w"}, "gpus"),
            "LocalQueue team/gpus is not in the input; the nearest of 7 is gpu");
  cluster_.local_queues = {{{"default", "user-queue"}, "gpu-queue", ""}};
  EXPECT_EQ(WhyOf({"default", "w"}, "tas-usr-queue"),
            "LocalQueue default/tas-usr-queue is not in the input; there is user-queue");
}

TEST_F(MissingQueueTest, NamesThoseElsewhereWhereTheNamespaceHasNone) {
  EXPECT_EQ(WhyOf({"default", "w"}, "gpu"),
            "LocalQueue default/gpu is not in the input; there are team/cpu, team/gpu");
  cluster_.local_queues.clear();
  EXPECT_EQ(WhyOf({"default", "w"}, "gpu"),
            "LocalQueue default/gpu is not in the input; there is none");
}

TEST_F(MissingQueueTest, AWorkloadMayNameNone) {
  EXPECT_EQ(WhyOf({"team", "w"}, ""), "it names no LocalQueue; there are cpu, gpu");
}

TEST_F(MissingQueueTest, TheLocalQueueMayLeadNowhere) {
  cluster_.local_queues.push_back(MakeLocalQueue("lost", "gone"));
  EXPECT_EQ(WhyOf({"team", "w"}, "lost"),
            "ClusterQueue gone, where LocalQueue team/lost leads, is not in the input; there are "
            "cpu-queue, gpu-queue");
}

}  // namespace
}  // namespace espalier::missing_queue_test
