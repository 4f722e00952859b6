// Style: the norm's squares in double by atomicAdd, a single-thread kernel that clips, adamw tensor by tensor.
#include "precision.hpp"

namespace {

// gradients: (n); squares: one, 0 before
__global__ void add_squares(const float* __restrict__ gradients, std::size_t n, double* squares) {
  double mine = 0;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    const double g = gradients[i];
    mine = fma(g, g, mine);
  }
  for (int d = 16; d > 0; d >>= 1) mine += __shfl_down_sync(0xffffffffu, mine, d);
  if (threadIdx.x % 32 == 0) atomicAdd(squares, mine);
}

// squares, state: one
__global__ void clip_by_unscale(const double* squares, LossScale* state, float clip) {
  const float norm = static_cast<float>(sqrt(*squares) * state->unscale);
  if (norm > clip) state->unscale *= clip / norm;
}

}  // namespace

void train(Model& model, const TrainOptions& o, LossScale* states, float* losses, void* workspace,
           std::size_t workspace_bytes, cudaStream_t stream) {
  auto* squares = static_cast<double*>(workspace);
  cudaMemsetAsync(losses, 0, model.steps * sizeof(float), stream);
  for (int k = 0; k < model.steps; ++k) {
    LossScale *now = states + k, *next = states + k + 1;
    cudaMemsetAsync(model.gradients, 0, model.elements * sizeof(float), stream);
    for (int b = 0; b < model.micro_batches; ++b) forward_backward(model, k, b, &now->scale, losses + k);
    loss_scaler(static_cast<const float*>(model.gradients), model.elements, now, next, o.interval, workspace,
                workspace_bytes, stream);
    cudaMemsetAsync(squares, 0, sizeof *squares, stream);
    add_squares<<<132, 256, 0, stream>>>(model.gradients, model.elements, squares);
    clip_by_unscale<<<1, 1, 0, stream>>>(squares, next, o.clip);
    for (const Model::Tensor& t : model.tensors) {
      const AdamWStep step{o.rate, o.beta1, o.beta2, o.epsilon, t.decay ? o.decay : 0.0f};
      float *w = model.master + t.first, *m = model.m + t.first, *v = model.v + t.first;
      adamw<float, __half>(model.gradients + t.first, w, m, v, w, m, v, model.weights + t.first, t.size, step, next,
                           stream);
    }
  }
}
