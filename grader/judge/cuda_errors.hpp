// CUDA's errors that the judge knows by name. Their numbers are those of cudaError_t (driver_types.h), which a judge
// without the toolkit can't include.
#pragma once

namespace ridge {

enum class CudaError : int {
  invalid_value = 1,
  memory_allocation = 2,
  invalid_configuration = 9,
  invalid_device_function = 98,
  illegal_address = 700,
  launch_out_of_resources = 701,
  device_assert = 710,
  misaligned_address = 716,
  launch_failure = 719,
};

// "cudaErrorInvalidValue"; null for an error that is not listed.
constexpr const char* cuda_error_name(int code) {
  switch (static_cast<CudaError>(code)) {
    case CudaError::invalid_value:
      return "cudaErrorInvalidValue";
    case CudaError::memory_allocation:
      return "cudaErrorMemoryAllocation";
    case CudaError::invalid_configuration:
      return "cudaErrorInvalidConfiguration";
    case CudaError::invalid_device_function:
      return "cudaErrorInvalidDeviceFunction";
    case CudaError::illegal_address:
      return "cudaErrorIllegalAddress";
    case CudaError::launch_out_of_resources:
      return "cudaErrorLaunchOutOfResources";
    case CudaError::device_assert:
      return "cudaErrorAssert";
    case CudaError::misaligned_address:
      return "cudaErrorMisalignedAddress";
    case CudaError::launch_failure:
      return "cudaErrorLaunchFailure";
  }
  return nullptr;
}

}  // namespace ridge
