// Lab 14, task `step_3d`: a training step on a grid of ranks.
//
// Run: ./ridge check 14 --task step_3d
#include "step_3d.hpp"

// g: n floats, divided by the loss scale. overflow = 1 where one is infinite or no number. One thread an element.
static __global__ void unscale_kernel(float* g, std::size_t n, State* state) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  g[i] /= state->loss_scale;
  if (!isfinite(g[i])) atomicExch(&state->overflow, 1.0f);
}

// g: n floats. *sum += the sum of their squares. One block of 256 threads, so that the order is fixed.
static __global__ void squares_kernel(const float* g, std::size_t n, float* sum) {
  __shared__ float part[256];
  float own = 0;
  for (std::size_t i = threadIdx.x; i < n; i += 256) own += g[i] * g[i];
  part[threadIdx.x] = own;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half) part[threadIdx.x] += part[threadIdx.x + static_cast<unsigned>(half)];
  }
  if (threadIdx.x == 0) *sum += part[0];
}

// w, g: n floats. The update of step_3d.hpp, or none after an overflow. One thread an element.
static __global__ void update_kernel(float* w, const float* g, std::size_t n, const State* state, float rate,
                                     float max_norm) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n || state->overflow != 0) return;
  const float norm = sqrtf(state->squares);
  w[i] -= rate * (norm > max_norm ? max_norm / norm : 1) * g[i];
}

// One thread.
static __global__ void next_scale_kernel(State* state) {
  if (state->overflow != 0) state->loss_scale /= 2;
}

static unsigned blocks_for(std::size_t n) { return static_cast<unsigned>((n + 255) / 256); }

// TASK(step_3d)
void step_3d(Part& part, const Communicators& comms, float rate, float max_norm, State* state, cudaStream_t stream) {
  // TODO: this is one rank's step, for a model that it holds alone.
  (void)comms;
  const float weight = 1.0f / static_cast<float>(part.micro_batches());
  cudaMemsetAsync(&state->squares, 0, 2 * sizeof(float), stream);
  part.clear_gradients();
  for (int k = 0; k < part.micro_batches(); ++k) part.forward(k, weight, state);
  for (int k = 0; k < part.micro_batches(); ++k) part.backward(k);
  unscale_kernel<<<blocks_for(part.count()), 256, 0, stream>>>(part.gradients(), part.count(), state);
  squares_kernel<<<1, 256, 0, stream>>>(part.gradients(), part.count(), &state->squares);
  for (const Tensor& t : part.tensors())
    update_kernel<<<blocks_for(t.count), 256, 0, stream>>>(t.weights, t.gradients, t.count, state, rate, max_norm);
  next_scale_kernel<<<1, 1, 0, stream>>>(state);
}
// END(step_3d)
