// CUB's selection, in a file of its own: CUB takes long to compile.
#include <cub/device/device_select.cuh>

#include "warp_shuffle.hpp"

struct Positive {
  __device__ bool operator()(float x) const { return x > 0; }
};

void compact(const float* in, float* out, std::uint32_t* count, std::size_t n, void* workspace,
             std::size_t workspace_bytes, cudaStream_t stream) {
  cub::DeviceSelect::If(workspace, workspace_bytes, in, out, count, n, Positive{}, stream);
}
