// What each task is compared with. upload: the driver's own way with pageable memory. pipeline: the longest of its three stages,
// alone. fork_join and decode: the same kernels, launched one by one on one stream.
#include "streams.hpp"

namespace {

__global__ void scale_kernel(const float* in, float* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0.5f * in[i] + 1;
}

__global__ void oscillate_kernel(const float* in, float* out, std::size_t n, int rounds) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = oscillate(in[i], rounds);
}

__global__ void prepare_kernel(const unsigned* in, unsigned* p, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) p[i] = in[i] ^ in[i] >> 16;
}

__global__ void refine_kernel(const unsigned* from, unsigned* to, int n, int branch) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) to[i] = refine(from[i], branch);
}

__global__ void join_kernel(const unsigned* q, std::size_t pitch, unsigned* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  unsigned sum = 0;
  for (int b = 0; b < kBranches; ++b) sum += q[static_cast<std::size_t>(b) * pitch + static_cast<std::size_t>(i)];
  out[i] = sum;
}

__global__ void matvec_kernel(const float* w, const float* h, float* v, int dim) {
  const int row = static_cast<int>(blockIdx.x) * 8 + static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (row >= dim) return;
  float sum = 0;
  for (int c = lane; c < dim; c += 32) sum += w[static_cast<std::size_t>(row) * dim + c] * h[c];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xFFFFFFFF, sum, static_cast<unsigned>(d));
  if (lane == 0) v[row] = sum;
}

__global__ void act_kernel(const float* v, float* h, int dim) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < dim) h[i] = v[i] / (1 + fabsf(v[i]));
}

__global__ void emit_kernel(const float* h, float* out, float* next, int dim, int step) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= dim) return;
  out[i] = h[i];
  next[i] = 0.5f * h[i] + ((i + step) % 3 == 0 ? 0.25f : -0.125f);
}

}  // namespace

void upload(const float* in, float* out, std::size_t n, void* workspace, std::size_t, cudaStream_t stream) {
  auto* staged = static_cast<float*>(workspace);
  cudaMemcpyAsync(staged, in, n * sizeof(float), cudaMemcpyHostToDevice, stream);
  scale_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(staged, out, n);
}

void pipeline(const float* in, float* out, std::size_t n, int rounds, void* workspace, std::size_t,
              cudaStream_t stream) {
  auto* device_in = static_cast<float*>(workspace);
  float* device_out = device_in + n;
  auto stage = [&](int which) {
    if (which == 0) {
      cudaMemcpyAsync(device_in, in, n * sizeof(float), cudaMemcpyHostToDevice, stream);
    } else if (which == 1) {
      oscillate_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(device_in, device_out, n, rounds);
    } else {
      cudaMemcpyAsync(out, device_out, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
    }
  };
  // The first call of a size measures which stage is the longest; this call is never timed.
  static std::size_t measured = 0;
  static int longest = 0;
  if (measured != n) {
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    stage(1);  // loads its code
    float most = 0;
    for (int which = 0; which < 3; ++which) {
      cudaEventRecord(begin, stream);
      stage(which);
      cudaEventRecord(end, stream);
      cudaEventSynchronize(end);
      float ms = 0;
      cudaEventElapsedTime(&ms, begin, end);
      if (ms > most) most = ms, longest = which;
    }
    measured = n;
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
  }
  stage(longest);
}

void fork_join(const unsigned* in, unsigned* out, int n, void* workspace, std::size_t, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((n + 255) / 256);
  const auto pitch = static_cast<std::size_t>(n);
  auto* p = static_cast<unsigned*>(workspace);
  unsigned *half = p + pitch, *q = half + kBranches * pitch;
  prepare_kernel<<<blocks, 256, 0, stream>>>(in, p, n);
  for (int b = 0; b < kBranches; ++b) {
    refine_kernel<<<blocks, 256, 0, stream>>>(p, half + b * pitch, n, b);
    refine_kernel<<<blocks, 256, 0, stream>>>(half + b * pitch, q + b * pitch, n, b);
  }
  join_kernel<<<blocks, 256, 0, stream>>>(q, pitch, out, n);
}

void decode(const float* weights, const float* start, float* out, int layers, int dim, int steps, void* workspace,
            std::size_t, cudaStream_t stream) {
  auto* x = static_cast<float*>(workspace);
  float *h = x + dim, *v = h + dim;
  const auto rows = static_cast<unsigned>((dim + 7) / 8), blocks = static_cast<unsigned>((dim + 255) / 256);
  const std::size_t matrix = static_cast<std::size_t>(dim) * static_cast<std::size_t>(dim);
  cudaMemcpyAsync(x, start, static_cast<std::size_t>(dim) * sizeof(float), cudaMemcpyDeviceToDevice, stream);
  for (int t = 0; t < steps; ++t) {
    for (int l = 0; l < layers; ++l) {
      matvec_kernel<<<rows, 256, 0, stream>>>(weights + l * matrix, l == 0 ? x : h, v, dim);
      act_kernel<<<blocks, 256, 0, stream>>>(v, h, dim);
    }
    emit_kernel<<<blocks, 256, 0, stream>>>(h, out + static_cast<std::size_t>(t) * dim, x, dim, t);
  }
}
