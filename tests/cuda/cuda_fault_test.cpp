// Tests what CUDA's errors mean to whoever watches the service.
#include "host/cuda/cuda_fault.hpp"

#include <gtest/gtest.h>

namespace espalier::cuda_fault_test {
namespace {

TEST(CudaFaultTest, ErrorsAreClassified) {
  EXPECT_EQ(Classify(cudaErrorMemoryAllocation), DeviceFault::kOutOfMemory);
  EXPECT_EQ(Classify(cudaErrorNoDevice), DeviceFault::kNoDevice);
  EXPECT_EQ(Classify(cudaErrorInsufficientDriver), DeviceFault::kWrongDriver);
  EXPECT_EQ(Classify(cudaErrorLaunchOutOfResources), DeviceFault::kLaunchFailed);
  EXPECT_EQ(Classify(cudaErrorIllegalAddress), DeviceFault::kLost);
  EXPECT_EQ(Classify(cudaErrorECCUncorrectable), DeviceFault::kLost);
  EXPECT_EQ(Classify(cudaErrorUnknown), DeviceFault::kLost);
}

}  // namespace
}  // namespace espalier::cuda_fault_test
