// Style: a stream for each engine (in, compute, out) and an event for each chunk and stage, issued breadth first.
#include <array>

#include "streams.hpp"

namespace {

constexpr int kChunks = 15;

// in, out: n floats
__global__ void oscillate_span(const float* in, float* out, std::size_t n, int rounds) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = oscillate(in[i], rounds);
}

struct Engines {
  cudaStream_t in, compute, out;
  std::array<cudaEvent_t, kChunks> arrived, computed;
  cudaEvent_t begin, end;
  Engines() {
    for (cudaStream_t* s : {&in, &compute, &out}) cudaStreamCreateWithFlags(s, cudaStreamNonBlocking);
    for (auto* list : {&arrived, &computed})
      for (auto& e : *list) cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    for (cudaEvent_t* e : {&begin, &end}) cudaEventCreateWithFlags(e, cudaEventDisableTiming);
  }
};

}  // namespace

void pipeline(const float* in, float* out, std::size_t n, int rounds, void* workspace, std::size_t,
              cudaStream_t stream) {
  static const Engines e;
  float* device_in = static_cast<float*>(workspace);
  float* device_out = device_in + n;
  const std::size_t chunk = ((n + kChunks - 1) / kChunks + 255) / 256 * 256;
  cudaEventRecord(e.begin, stream);
  cudaStreamWaitEvent(e.in, e.begin, 0);
  for (int c = 0; c < kChunks; ++c) {
    const std::size_t first = c * chunk;
    if (first >= n) break;
    const std::size_t count = n - first < chunk ? n - first : chunk;
    cudaMemcpyAsync(device_in + first, in + first, count * sizeof(float), cudaMemcpyHostToDevice, e.in);
    cudaEventRecord(e.arrived[c], e.in);
    cudaStreamWaitEvent(e.compute, e.arrived[c], 0);
    oscillate_span<<<static_cast<unsigned>((count + 255) / 256), 256, 0, e.compute>>>(
        device_in + first, device_out + first, count, rounds);
    cudaEventRecord(e.computed[c], e.compute);
    cudaStreamWaitEvent(e.out, e.computed[c], 0);
    cudaMemcpyAsync(out + first, device_out + first, count * sizeof(float), cudaMemcpyDeviceToHost, e.out);
  }
  cudaEventRecord(e.end, e.out);
  cudaStreamWaitEvent(stream, e.end, 0);
}
