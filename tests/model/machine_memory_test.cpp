#include "host/model/machine_memory.hpp"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace espalier::machine_memory_test {
namespace {

namespace fs = std::filesystem;

// A root folder with the files of a system.
class MachineMemory : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(root_); }
  void TearDown() override { fs::remove_all(root_); }

  void Write(const fs::path& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }

  const fs::path root_ =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(MachineMemory, IsWhatTheMachineHasWithoutControlGroups) {
  EXPECT_GT(MachineMemoryBytes(root_), 0);
  EXPECT_LE(MachineMemoryBytes(root_), std::int64_t{1} << 50);
}

TEST_F(MachineMemory, IsTheLeastLimitOfTheGroupsAbove) {
  Write("proc/self/cgroup", "0::/pods/espalier\n");
  Write("sys/fs/cgroup/pods/memory.max", "3000000\n");
  Write("sys/fs/cgroup/pods/espalier/memory.max", "max\n");
  EXPECT_EQ(MachineMemoryBytes(root_), 3000000);
  Write("sys/fs/cgroup/pods/espalier/memory.max", "2000000\n");
  EXPECT_EQ(MachineMemoryBytes(root_), 2000000);
}

TEST_F(MachineMemory, IsTheLimitAtTheTopInsideAContainer) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/memory.max", "5000000\n");
  EXPECT_EQ(MachineMemoryBytes(root_), 5000000);
}

TEST_F(MachineMemory, KnowsControlGroupsOfVersionOne) {
  Write("proc/self/cgroup", "5:cpu:/a\n4:hugetlb,memory:/outside/b\n");
  Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "4000000\n");
  EXPECT_EQ(MachineMemoryBytes(root_), 4000000);
}

}  // namespace
}  // namespace espalier::machine_memory_test
