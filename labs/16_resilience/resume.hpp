// Task `resume`: a run that was killed goes on as if nothing had happened, to the last bit.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "files/files.hpp"
#include "resume_model.hpp"
#include "save.hpp"

// A training run. Given by its command line, the same after a restart: n, samples, seed. Everything else changes with
// the steps, or is made anew in each of them.
struct Trainer : HostState {
  int n;                            // weights
  int samples;                      // of the data set, a multiple of kBatch
  std::uint64_t seed;               // of the order
  float *weights, *m, *v;           // device, n each
  float *gradient, *loss_overflow;  // device: n, and 2; made in each step
};

// One block. After it: gradient, the loss and whether one of the gradients is beyond fp16, and where none is, new
// weights and moments.
static __global__ void resume_kernel(StepInput in, float* weights, float* m, float* v, float* gradient,
                                     float* loss_overflow, int n) {
  __shared__ float loss[256], beyond[256];
  const int t = static_cast<int>(threadIdx.x);
  loss[t] = 0, beyond[t] = 0;
  for (int i = t; i < n; i += 256) {
    const float g = gradient[i] = gradient_of(in, weights[i], i);
    loss[t] += g / in.scale * (g / in.scale);
    if (fabsf(g) > kLargest) beyond[t] = 1;
  }
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) loss[t] += loss[t + half], beyond[t] = fmaxf(beyond[t], beyond[t + half]);
    __syncthreads();
  }
  if (beyond[0] == 0)
    for (int i = t; i < n; i += 256) adamw(in, gradient[i] / in.scale, weights[i], m[i], v[i]);
  if (t == 0) loss_overflow[0] = loss[0] / static_cast<float>(n), loss_overflow[1] = beyond[0];
}

// Returns the loss.
inline float train_one_step(Trainer& trainer, cudaStream_t stream) {
  const StepInput in = begin_step(trainer, trainer.samples, trainer.seed);
  resume_kernel<<<1, 256, 0, stream>>>(in, trainer.weights, trainer.m, trainer.v, trainer.gradient,
                                       trainer.loss_overflow, trainer.n);
  float host[2] = {};
  cudaMemcpyAsync(host, trainer.loss_overflow, sizeof host, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  end_step(trainer, host[1] != 0);
  return host[0];
}

// Writes all of the trainer's state that a resumed run needs into the one file `path`, in a format of your own. The 4 n bytes
// each of weights, m and v lie somewhere in it as they are, and so do the bytes of each number of HostState but `order` and
// `has_spare`: a new process has nothing but the file. Its folder is kFolder. There may be such a file, of an earlier save.
// True: the new file is durable, bytes and name. A crash before leaves the old one or the new one. False: a call failed, as
// save.hpp says, and the old file or the new one is there.
bool save_trainer(const Trainer& trainer, const char* path, cudaStream_t stream);

// A new process: `trainer` is in the state of its first step. True: the run goes on where save_trainer left it. False: the file
// is not there, or is not what save_trainer wrote: too short, some of its bits changed, or parts of it in other places; then the trainer's state is not used.
bool load_trainer(Trainer& trainer, const char* path, cudaStream_t stream);
