// replaces: pipeline.cu; task: pipeline; step: 4; idea: three streams: a chunk going in, one in work, one going out
#include <algorithm>

#include "streams.hpp"

// in, out: n floats
__global__ void oscillate_kernel(const float* in, float* out, std::size_t n, int rounds) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = oscillate(in[i], rounds);
}

constexpr std::size_t kChunks = 8;
constexpr int kStreams = 3;

struct Lanes {
  cudaStream_t stream[kStreams];
  cudaEvent_t start, done[kStreams];
  Lanes() {
    cudaEventCreateWithFlags(&start, cudaEventDisableTiming);
    for (int s = 0; s < kStreams; ++s) {
      cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking);
      cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming);
    }
  }
};

// The copy engines have a queue of work at all times. What is left are the ends, the first chunk in and the last one
// out: an eighth of T each. The solution has as many chunks as make the ends and the fixed costs least together.
void pipeline(const float* in, float* out, std::size_t n, int rounds, void* workspace, std::size_t,
              cudaStream_t stream) {
  static Lanes lanes;
  auto* device_in = static_cast<float*>(workspace);
  float* device_out = device_in + n;
  const std::size_t chunk = (n + kChunks - 1) / kChunks;

  cudaEventRecord(lanes.start, stream);  // what was there before comes first
  for (cudaStream_t lane : lanes.stream) cudaStreamWaitEvent(lane, lanes.start);
  int s = 0;
  for (std::size_t first = 0; first < n; first += chunk, s = (s + 1) % kStreams) {
    const std::size_t count = std::min(chunk, n - first), bytes = count * sizeof(float);
    cudaStream_t lane = lanes.stream[s];
    cudaMemcpyAsync(device_in + first, in + first, bytes, cudaMemcpyHostToDevice, lane);
    oscillate_kernel<<<static_cast<unsigned>((count + 255) / 256), 256, 0, lane>>>(device_in + first,
                                                                                   device_out + first, count, rounds);
    cudaMemcpyAsync(out + first, device_out + first, bytes, cudaMemcpyDeviceToHost, lane);
  }
  for (int k = 0; k < kStreams; ++k) {
    cudaEventRecord(lanes.done[k], lanes.stream[k]);
    cudaStreamWaitEvent(stream, lanes.done[k]);  // what comes after waits for all of it
  }
}
