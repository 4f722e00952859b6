// Copies that move as many bytes, at the speed of memory, and compute no answer; single launches for decode_graph.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "batcher.hpp"
#include "blocks.hpp"
#include "serving.hpp"
#include "step_kernels.hpp"

namespace {

constexpr std::size_t kScratch = std::size_t{1} << 30;  // bytes

// A copy reads and writes: of `bytes` that are to be read, half is copied. Each copy goes behind the one before, so that
// no copy finds its target in L2.
void move(const void* from, std::size_t bytes, cudaStream_t stream) {
  static char* scratch = nullptr;
  static std::size_t next = 0;
  if (scratch == nullptr && cudaMalloc(reinterpret_cast<void**>(&scratch), kScratch) != cudaSuccess) {
    std::fprintf(stderr, "baseline: no scratch memory\n");
    std::exit(1);
  }
  for (std::size_t at = 0, part; at < bytes / 2; at += part) {
    part = std::min(kScratch, bytes / 2 - at);
    if (next + part > kScratch) next = 0;
    cudaMemcpyAsync(scratch + next, static_cast<const char*>(from) + at, part, cudaMemcpyDeviceToDevice, stream);
    next += part;
  }
}

[[noreturn]] void not_timed(const char* task) {
  std::fprintf(stderr, "%s has no baseline: it is not timed\n", task);
  std::exit(1);
}

}  // namespace

void decode_attention(const __nv_bfloat16*, const __nv_bfloat16* k, const __nv_bfloat16* v, const int*, __nv_bfloat16*,
                      const Decode& a, void*, std::size_t, cudaStream_t stream) {
  const std::size_t bytes = sizeof(__nv_bfloat16) * a.batch * a.kv_heads * a.capacity * a.head_dim;
  move(k, bytes, stream), move(v, bytes, stream);
}

void append(const __nv_bfloat16* k, const __nv_bfloat16* v, const int*, const int*, const int*, __nv_bfloat16*,
            __nv_bfloat16*, int tokens, const Paged& a, cudaStream_t stream) {
  const std::size_t bytes = 2 * sizeof(__nv_bfloat16) * tokens * a.kv_heads * a.head_dim;
  move(k, bytes, stream), move(v, bytes, stream);
}

// As many pages as the pool has.
void paged_attention(const __nv_bfloat16*, const __nv_bfloat16* k_pages, const __nv_bfloat16* v_pages, const int*,
                     const int*, __nv_bfloat16*, const Paged& a, void*, std::size_t, cudaStream_t stream) {
  const std::size_t bytes = sizeof(__nv_bfloat16) * a.pages * a.kv_heads * kPage * a.head_dim;
  move(k_pages, bytes, stream), move(v_pages, bytes, stream);
}

// Each kernel is launched by the host.
void decode_graph(const Step& s, const int* batch_sizes, int steps, cudaStream_t stream) {
  cudaMemsetAsync(s.step, 0, sizeof(int), stream);
  for (int t = 0; t < steps; ++t) enqueue_step(s, batch_sizes[t], stream);
}

// Two rows of each sequence.
void speculate(const float* target, const float*, const int*, const float*, const int*, int*, int*, int*,
               const Speculation& a, cudaStream_t stream) {
  move(target, 2 * sizeof(float) * a.batch * a.vocabulary, stream);
}

// The host's tasks are not timed.
int admit(Pool&, int, const std::vector<int>&) { not_timed("blocks"); }
Write add_token(Pool&, int, int) { not_timed("blocks"); }
void fork(Pool&, int, int) { not_timed("blocks"); }
bool release(Pool&, int) { not_timed("blocks"); }
void step_ended(Pool&) { not_timed("blocks"); }
int preempt(Pool&) { not_timed("blocks"); }
Plan plan_step(const Server&) { not_timed("batcher"); }
