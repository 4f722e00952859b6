// Lab 10, task `train`: a GPT in fp16, with a loss scale that the host never sees.
//
// The loop below trains as if fp16 were fp32. Run: ./ridge check 10 --task train
#include "precision.hpp"

// TASK(train)
void train(Model& model, const TrainOptions& options, LossScale* states, float* losses, void*, std::size_t,
           cudaStream_t stream) {
  // TODO: a new scale after each step; no update where the gradients are broken; clipping by the norm of the unscaled gradient; no
  // weight decay where there should be none.
  cudaMemsetAsync(losses, 0, static_cast<std::size_t>(model.steps) * sizeof(float), stream);
  const AdamWStep step{options.rate, options.beta1, options.beta2, options.epsilon, options.decay};
  for (int k = 0; k < model.steps; ++k) {
    LossScale *now = states + k, *next = states + k + 1;
    cudaMemsetAsync(model.gradients, 0, model.elements * sizeof(float), stream);
    for (int b = 0; b < model.micro_batches; ++b) forward_backward(model, k, b, &now->scale, losses + k);
    cudaMemcpyAsync(next, now, sizeof(LossScale), cudaMemcpyDeviceToDevice, stream);
    adamw(model.gradients, model.master, model.m, model.v, model.master, model.m, model.v, model.weights,
          model.elements, step, next, stream);
  }
}
// END(train)
