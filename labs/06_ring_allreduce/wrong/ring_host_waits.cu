// replaces: ring.cu; fails: ring/device; backend: cpu
// The host waits after each step, which the order of the stream makes needless.
#include <algorithm>

#include "ring.hpp"

namespace {

// in, received, out: n floats; out may be in. out = in + received.
__global__ void add_kernel(const float* in, const float* received, float* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + received[i];
}

struct Part {
  std::size_t first, count;
};

// Chunk c of n elements in p chunks; the last ones may be short or empty.
Part chunk_of(std::size_t n, int p, int c) {
  const std::size_t chunk = (n + static_cast<std::size_t>(p) - 1) / static_cast<std::size_t>(p);
  const std::size_t first = std::min(static_cast<std::size_t>(c) * chunk, n);
  return {first, std::min(chunk, n - first)};
}

}  // namespace

void ring(const float* in, float* out, std::size_t n, void* workspace, std::size_t, ncclComm_t comm,
          cudaStream_t stream) {
  int r = 0, p = 1;
  ncclCommUserRank(comm, &r);
  ncclCommCount(comm, &p);
  if (p == 1) {
    if (in != out) cudaMemcpyAsync(out, in, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
    return;
  }
  auto* received = static_cast<float*>(workspace);  // each chunk at its own place
  const int right = (r + 1) % p, left = (r + p - 1) % p;
  auto chunk = [=](int c) { return chunk_of(n, p, (c + p) % p); };
  // Both at once: were they two operations, each rank would wait in its send for a receive that comes later.
  auto exchange = [=](const float* from, Part sent, float* to, Part got) {
    ncclGroupStart();
    if (sent.count > 0) ncclSend(from + sent.first, sent.count, ncclFloat, right, comm, stream);
    if (got.count > 0) ncclRecv(to + got.first, got.count, ncclFloat, left, comm, stream);
    ncclGroupEnd();
  };

  // Reduce-scatter: what was reduced in one step is sent in the next. At the end chunk r + 1 is complete here.
  for (int s = 0; s + 1 < p; ++s) {
    const Part got = chunk(r - s - 1);
    exchange(s == 0 ? in : out, chunk(r - s), received, got);
    if (got.count > 0)
      add_kernel<<<static_cast<unsigned>((got.count + 255) / 256), 256, 0, stream>>>(
          in + got.first, received + got.first, out + got.first, got.count);
    cudaStreamSynchronize(stream);
  }
  // All-gather: what came in one step is sent on in the next.
  for (int s = 0; s + 1 < p; ++s) exchange(out, chunk(r + 1 - s), out, chunk(r - s));
}
