// Tests what only a GPU can show: devices of one process side by side, and memory that goes back.
#include "host/cuda/cuda_device.hpp"

#include <array>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "tests/cuda/device_under_test.hpp"

namespace espalier::cuda_device_test {
namespace {

class CudaDeviceTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    backend_.reset();  // nobody else's memory is in the pool
  }
};

// Returns the bytes that the process has of the GPU's memory for allocations in a stream.
std::uint64_t PoolBytes() {
  cudaMemPool_t pool = nullptr;
  std::uint64_t bytes = 0;
  EXPECT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &bytes), cudaSuccess);
  return bytes;
}

TEST_F(CudaDeviceTest, AnotherDeviceLeavesTheFirstOneItsMemory) {
  auto first = OpenCudaDevice();
  ASSERT_TRUE(first) << first.error().message;
  constexpr std::array<std::int32_t, 4> kValues = {3, 1, 4, 1};
  const auto memory = (*first)->Allocate(sizeof(kValues));
  ASSERT_TRUE(memory);
  ASSERT_TRUE((*first)->CopyToDevice(*memory, kValues.data(), sizeof(kValues)));
  ASSERT_TRUE((*first)->Synchronize());
  ASSERT_TRUE(OpenCudaDevice());  // and is gone again
  std::array<std::int32_t, 4> values = {};
  ASSERT_TRUE((*first)->CopyToHost(values.data(), *memory, sizeof(values)));
  ASSERT_TRUE((*first)->Synchronize());
  EXPECT_EQ(values, kValues);
  (*first)->Free(*memory);
}

TEST_F(CudaDeviceTest, FreedMemoryGoesBack) {
  constexpr std::uint64_t kMany = std::uint64_t{1} << 30;
  auto device = OpenCudaDevice();
  ASSERT_TRUE(device) << device.error().message;
  const auto memory = (*device)->Allocate(kMany);
  ASSERT_TRUE(memory);
  ASSERT_TRUE((*device)->Synchronize());
  EXPECT_GE(PoolBytes(), kMany);
  (*device)->Free(*memory);
  ASSERT_TRUE((*device)->Synchronize());
  EXPECT_LT(PoolBytes(), kMany) << "as far as it is more than the device keeps";
  device->reset();
  EXPECT_EQ(PoolBytes(), 0u);
}

}  // namespace
}  // namespace espalier::cuda_device_test
