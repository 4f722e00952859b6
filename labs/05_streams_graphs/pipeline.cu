// Lab 05, task `pipeline`: copy in, compute, copy out, all at once.
//
// The link carries both directions at the same time, and the SMs compute meanwhile. Cut the data into chunks, so that
// one is on its way in while another is computed and a third is on its way out.
// Run: ./ridge check 05 --task pipeline
#include "streams.hpp"

// in, out: n floats
__global__ void oscillate_kernel(const float* in, float* out, std::size_t n, int rounds) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = oscillate(in[i], rounds);
}

// TASK(pipeline)
void pipeline(const float* in, float* out, std::size_t n, int rounds, void* workspace, std::size_t,
              cudaStream_t stream) {
  // TODO: three steps in one stream never overlap. Use chunks and several streams, and tell `stream` when they are done.
  auto* device_in = static_cast<float*>(workspace);
  float* device_out = device_in + n;
  cudaMemcpyAsync(device_in, in, n * sizeof(float), cudaMemcpyHostToDevice, stream);
  oscillate_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(device_in, device_out, n, rounds);
  cudaMemcpyAsync(out, device_out, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
}
// END(pipeline)
