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
  const Sizes& sizes = part.sizes();
  const Coordinates at = part.at();
  const bool first = at.pipeline == 0, last = at.pipeline + 1 == sizes.pipeline;
  const int m = part.micro_batches();
  const float weight = 1.0f / static_cast<float>(m * sizes.data);  // the replicas' gradients are added
  cudaMemsetAsync(&state->squares, 0, 2 * sizeof(float), stream);  // and overflow
  part.clear_gradients();

  // GPipe (lab 08): a stage's peers are its neighbours in the pipeline's communicator.
  for (int k = 0; k < m; ++k) {
    if (!first) ncclRecv(part.input(k), part.elements(), ncclFloat, at.pipeline - 1, comms.pipeline, stream);
    part.forward(k, weight, state);
    if (!last) ncclSend(part.output(k), part.elements(), ncclFloat, at.pipeline + 1, comms.pipeline, stream);
  }
  for (int k = 0; k < m; ++k) {
    if (!last) ncclRecv(part.output(k), part.elements(), ncclFloat, at.pipeline + 1, comms.pipeline, stream);
    part.backward(k);
    if (!first) ncclSend(part.output(k), part.elements(), ncclFloat, at.pipeline - 1, comms.pipeline, stream);
  }

  // Replicas, then both copies of the embedding: each sum must be complete before anything looks at the gradient.
  ncclAllReduce(part.gradients(), part.gradients(), part.count(), ncclFloat, ncclSum, comms.data, stream);
  for (const Tensor& t : part.tensors())
    if (t.embedding && !(first && last))
      ncclAllReduce(t.gradients, t.gradients, t.count, ncclFloat, ncclSum, comms.embedding, stream);

  unscale_kernel<<<blocks_for(part.count()), 256, 0, stream>>>(part.gradients(), part.count(), state);
  // One replica counts; of tensors that all of a tensor group have, its first rank counts them; of the embedding, the
  // first stage.
  for (const Tensor& t : part.tensors())
    if (at.data == 0 && (t.cut || at.tensor == 0) && (!t.embedding || first))
      squares_kernel<<<1, 256, 0, stream>>>(t.gradients, t.count, &state->squares);
  ncclAllReduce(&state->squares, &state->squares, 1, ncclFloat, ncclSum, comms.world, stream);
  ncclAllReduce(&state->overflow, &state->overflow, 1, ncclFloat, ncclMax, comms.world, stream);
  for (const Tensor& t : part.tensors())
    update_kernel<<<blocks_for(t.count), 256, 0, stream>>>(t.weights, t.gradients, t.count, state, rate, max_norm);
  next_scale_kernel<<<1, 1, 0, stream>>>(state);
}
// END(step_3d)
