// Style: a ring of three cudaHostAlloc'ed buffers, filled by memcpy on the host, the kernel once for each chunk.
#include <string.h>

#include "streams.hpp"

namespace {

enum { RING = 3 };
const size_t CHUNK = 400 * 1000;  // floats

// in, out: n floats
__global__ void scale_chunk(const float* in, float* out, size_t n) {
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    out[i] = 0.5f * in[i] + 1;
}

typedef struct {
  float* host[RING];
  cudaEvent_t sent[RING];
  cudaStream_t copies;
  cudaEvent_t ready;
} ring_t;

ring_t* the_ring() {
  static ring_t* ring = nullptr;
  if (!ring) {
    ring = new ring_t;
    for (int i = 0; i < RING; i++) {
      cudaHostAlloc((void**)&ring->host[i], CHUNK * sizeof(float), cudaHostAllocWriteCombined);
      cudaEventCreateWithFlags(&ring->sent[i], cudaEventDisableTiming);
    }
    cudaStreamCreate(&ring->copies);
    cudaEventCreateWithFlags(&ring->ready, cudaEventDisableTiming);
  }
  return ring;
}

}  // namespace

void upload(const float* in, float* out, size_t n, void* workspace, size_t, cudaStream_t stream) {
  ring_t* ring = the_ring();
  float* staged = (float*)workspace;
  cudaEventRecord(ring->ready, stream);
  cudaStreamWaitEvent(ring->copies, ring->ready, 0);
  int slot = 0;
  for (size_t first = 0; first < n; first += CHUNK, slot = (slot + 1) % RING) {
    const size_t count = n - first < CHUNK ? n - first : CHUNK;
    cudaEventSynchronize(ring->sent[slot]);
    memcpy(ring->host[slot], in + first, count * sizeof(float));
    cudaMemcpyAsync(staged + first, ring->host[slot], count * sizeof(float), cudaMemcpyHostToDevice, ring->copies);
    cudaEventRecord(ring->sent[slot], ring->copies);
    cudaStreamWaitEvent(stream, ring->sent[slot], 0);
    scale_chunk<<<(unsigned)((count + 255) / 256), 256, 0, stream>>>(staged + first, out + first, count);
  }
}
