// replaces: decode.cu; task: decode; step: 1; idea: a launch for each kernel
#include "streams.hpp"

constexpr int kWarp = 32, kRowsOfBlock = 8;

// w: dim x dim, h, v: dim floats. v = W h, a warp for each row.
__global__ void matvec_kernel(const float* w, const float* h, float* v, int dim) {
  const int row = static_cast<int>(blockIdx.x) * kRowsOfBlock + static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  if (row >= dim) return;
  float sum = 0;
  for (int c = lane; c < dim; c += kWarp) sum += w[static_cast<std::size_t>(row) * dim + c] * h[c];
  for (int d = kWarp / 2; d > 0; d /= 2) sum += __shfl_down_sync(0xFFFFFFFF, sum, static_cast<unsigned>(d));
  if (lane == 0) v[row] = sum;
}

// v, h: dim floats. h = act(v).
__global__ void act_kernel(const float* v, float* h, int dim) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < dim) h[i] = v[i] / (1 + fabsf(v[i]));
}

// h, out, next: dim floats. Stores the step's answer and makes the next step's input.
__global__ void emit_kernel(const float* h, float* out, float* next, int dim, int step) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= dim) return;
  out[i] = h[i];
  next[i] = 0.5f * h[i] + ((i + step) % 3 == 0 ? 0.25f : -0.125f);
}

// 2 layers + 1 launches a step. The host needs 2.9 us for each and a kernel takes less, so the GPU waits for the host.
void decode(const float* weights, const float* start, float* out, int layers, int dim, int steps, void* workspace,
            std::size_t, cudaStream_t stream) {
  auto* x = static_cast<float*>(workspace);
  float *h = x + dim, *v = h + dim;
  const auto rows = static_cast<unsigned>((dim + kRowsOfBlock - 1) / kRowsOfBlock);
  const auto blocks = static_cast<unsigned>((dim + 255) / 256);
  const std::size_t matrix = static_cast<std::size_t>(dim) * static_cast<std::size_t>(dim);
  cudaMemcpyAsync(x, start, static_cast<std::size_t>(dim) * sizeof(float), cudaMemcpyDeviceToDevice, stream);
  for (int t = 0; t < steps; ++t) {
    for (int l = 0; l < layers; ++l) {
      matvec_kernel<<<rows, kRowsOfBlock * kWarp, 0, stream>>>(weights + l * matrix, l == 0 ? x : h, v, dim);
      act_kernel<<<blocks, 256, 0, stream>>>(v, h, dim);
    }
    emit_kernel<<<blocks, 256, 0, stream>>>(h, out + static_cast<std::size_t>(t) * dim, x, dim, t);
  }
}
