// The plain way: one all-reduce of all gradients after backward.
#include <cstdio>
#include <cstdlib>

#include "ddp.hpp"

namespace {

[[noreturn]] void not_timed(const char* task) {
  std::fprintf(stderr, "%s has no baseline: it is not timed\n", task);
  std::exit(1);
}

}  // namespace

void after(Model&, float*, const Batch&, long long, float, float*, ncclComm_t, cudaStream_t) { not_timed("after"); }

void accumulated(Model& model, const float* weights, const Batch* batches, int count, long long all_tokens, std::size_t,
                 float* gradients, ncclComm_t comm, cudaStream_t stream) {
  const std::size_t n = model.elements();
  cudaMemsetAsync(gradients, 0, n * sizeof(float), stream);
  for (int i = 0; i < count; ++i) {
    model.forward(weights, batches[i], 1.0f / static_cast<float>(all_tokens));
    model.backward(weights, batches[i], gradients);
  }
  ncclAllReduce(gradients, gradients, n, ncclFloat, ncclSum, comm, stream);
}

void overlapped(Model& model, const float* weights, const Batch& batch, long long all_tokens, std::size_t bucket_bytes,
                float* gradients, ncclComm_t comm, cudaStream_t stream) {
  accumulated(model, weights, &batch, 1, all_tokens, bucket_bytes, gradients, comm, stream);
}

void sharded(Model&, float*, const Batch&, long long, const AdamW&, float*, float*, void*, std::size_t, ncclComm_t,
             cudaStream_t) {
  not_timed("sharded");
}

void compressed_host(const float*, float*, float*, std::size_t, std::size_t, void*, std::size_t, ncclComm_t,
                     cudaStream_t) {
  not_timed("compressed_host");
}

// A dense all-reduce, without a residual: it gives another mean, and compression should beat its time.
void compressed(const float* gradient, float*, float* mean, std::size_t n, std::size_t, void*, std::size_t,
                ncclComm_t comm, cudaStream_t stream) {
  ncclAllReduce(gradient, mean, n, ncclFloat, ncclAvg, comm, stream);
}
