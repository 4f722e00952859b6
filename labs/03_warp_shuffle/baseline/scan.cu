// CUB's scan, in a file of its own: CUB takes long to compile.
#include <cub/device/device_scan.cuh>

#include "warp_shuffle.hpp"

void scan(const std::uint32_t* in, std::uint32_t* out, std::size_t n, void* workspace, std::size_t workspace_bytes,
          cudaStream_t stream) {
  cub::DeviceScan::InclusiveSum(workspace, workspace_bytes, in, out, n, stream);
}
