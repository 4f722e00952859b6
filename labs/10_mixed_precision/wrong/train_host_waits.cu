// replaces: train.cu; fails: train/device; backend: cpu
// The host waits for the device in each step.
#include "precision.hpp"

namespace {

constexpr int kThreads = 256;
constexpr int kMostBlocks = 512;

// The sum of x over the block, for thread 0.
__device__ float block_sum(float x) {
  __shared__ float of_warp[kThreads / 32];
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
  __syncthreads();
  float sum = 0;
  for (float of : of_warp) sum += of;
  return sum;
}

// gradient: (n); partial: (gridDim.x) sums of squares, always in the same order.
__global__ void __launch_bounds__(kThreads) squares_kernel(const float* gradient, std::size_t n, float* partial) {
  float sum = 0;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * kThreads;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x; i < n; i += stride)
    sum += gradient[i] * gradient[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// partial: (blocks), of the gradients with their loss scale. The norm that counts is without it. One block.
__global__ void __launch_bounds__(kThreads)
    clip_kernel(const float* partial, int blocks, float clip, LossScale* state) {
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < blocks; i += kThreads) sum += partial[i];
  sum = block_sum(sum);
  if (threadIdx.x != 0) return;
  const float norm = sqrtf(sum) * state->unscale;
  if (norm > clip) state->unscale *= clip / norm;
}

}  // namespace

void train(Model& model, const TrainOptions& options, LossScale* states, float* losses, void* workspace,
           std::size_t workspace_bytes, cudaStream_t stream) {
  auto* partial = static_cast<float*>(workspace);
  const std::size_t wanted = (model.elements + 4 * kThreads - 1) / (4 * kThreads);
  const int blocks = wanted < kMostBlocks ? static_cast<int>(wanted) : kMostBlocks;
  cudaMemsetAsync(losses, 0, static_cast<std::size_t>(model.steps) * sizeof(float), stream);
  for (int k = 0; k < model.steps; ++k) {
    LossScale *now = states + k, *next = states + k + 1;
    cudaMemsetAsync(model.gradients, 0, model.elements * sizeof(float), stream);
    for (int b = 0; b < model.micro_batches; ++b) forward_backward(model, k, b, &now->scale, losses + k);
    loss_scaler(model.gradients, model.elements, now, next, options.interval, workspace, workspace_bytes, stream);
    cudaStreamSynchronize(stream);
    squares_kernel<<<blocks, kThreads, 0, stream>>>(model.gradients, model.elements, partial);
    clip_kernel<<<1, kThreads, 0, stream>>>(partial, blocks, options.clip, next);
    for (const Model::Tensor& t : model.tensors) {
      const AdamWStep step{options.rate, options.beta1, options.beta2, options.epsilon, t.decay ? options.decay : 0};
      float *w = model.master + t.first, *m = model.m + t.first, *v = model.v + t.first;
      adamw(model.gradients + t.first, w, m, v, w, m, v, model.weights + t.first, t.size, step, next, stream);
    }
  }
}
