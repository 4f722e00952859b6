// replaces: pipeline.cu; task: pipeline; step: 1; idea: copy in, compute, copy out, one after the other
#include "streams.hpp"

// in, out: n floats
__global__ void oscillate_kernel(const float* in, float* out, std::size_t n, int rounds) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = oscillate(in[i], rounds);
}

// T for the copy in, T for the copy out, and a kernel of some microseconds between them: the link is used one way at a
// time.
void pipeline(const float* in, float* out, std::size_t n, int rounds, void* workspace, std::size_t,
              cudaStream_t stream) {
  auto* device_in = static_cast<float*>(workspace);
  float* device_out = device_in + n;
  cudaMemcpyAsync(device_in, in, n * sizeof(float), cudaMemcpyHostToDevice, stream);
  oscillate_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(device_in, device_out, n, rounds);
  cudaMemcpyAsync(out, device_out, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
}
