// Maps CUDA errors to the faults that the back end knows.
#pragma once

#include <cuda_runtime_api.h>

#include "host/cuda/device.hpp"

namespace espalier {

inline DeviceFault Classify(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return DeviceFault::kOutOfMemory;
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorDevicesUnavailable:
      return DeviceFault::kNoDevice;
    case cudaErrorInsufficientDriver:
    case cudaErrorStubLibrary:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorNoKernelImageForDevice:
      return DeviceFault::kWrongDriver;
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorLaunchOutOfResources:
      return DeviceFault::kLaunchFailed;
    default:
      return DeviceFault::kLost;
  }
}

}  // namespace espalier
