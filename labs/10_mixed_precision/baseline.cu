// The speed of memory: copies that read and write, together, as many bytes as the task must. They compute no answer.
#include <cstdio>
#include <cstdlib>

#include "precision.hpp"

namespace {

void copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

}  // namespace

// 2 bytes a number are read: half as many are copied.
void sum(const __nv_bfloat16* in, float*, int rows, int cols, void* workspace, std::size_t, cudaStream_t stream) {
  copy(workspace, in, static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols), stream);
}

template <class G, class W>
void adamw(const G* gradient, const float* w, const float* m, const float* v, float* new_w, float* new_m, float* new_v,
           W* weights, std::size_t n, const AdamWStep&, const LossScale*, cudaStream_t stream) {
  copy(weights, gradient, n * sizeof(W), stream);
  copy(new_w, w, n * sizeof(float), stream);
  copy(new_m, m, n * sizeof(float), stream);
  copy(new_v, v, n * sizeof(float), stream);
}
template void adamw(const __nv_bfloat16*, const float*, const float*, const float*, float*, float*, float*,
                    __nv_bfloat16*, std::size_t, const AdamWStep&, const LossScale*, cudaStream_t);
template void adamw(const float*, const float*, const float*, const float*, float*, float*, float*, __half*,
                    std::size_t, const AdamWStep&, const LossScale*, cudaStream_t);

// 6 bytes an element are read and 2 written: 4 are copied.
void stochastic(const __nv_bfloat16*, const float* update, __nv_bfloat16*, std::size_t n, std::uint64_t, std::uint32_t,
                void* workspace, std::size_t, cudaStream_t stream) {
  copy(workspace, update, n * sizeof(float), stream);
}

template <class G>
void loss_scaler(const G* gradient, std::size_t n, const LossScale*, LossScale*, int, void* workspace, std::size_t,
                 cudaStream_t stream) {
  copy(workspace, gradient, n * sizeof(G) / 2, stream);
}
template void loss_scaler(const __half*, std::size_t, const LossScale*, LossScale*, int, void*, std::size_t,
                          cudaStream_t);
template void loss_scaler(const float*, std::size_t, const LossScale*, LossScale*, int, void*, std::size_t,
                          cudaStream_t);

void train(Model&, const TrainOptions&, LossScale*, float*, void*, std::size_t, cudaStream_t) {
  std::fprintf(stderr, "train has no baseline: it is not timed\n");
  std::exit(1);
}
