// Rows of a transformer: softmax and layer norm (a block a row), and causal attention with an online softmax.
#include "sample.hpp"

__device__ float block_sum(float v, float* scratch) {
  scratch[threadIdx.x] = v;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
  }
  __syncthreads();
  v = scratch[0];
  __syncthreads();
  return v;
}

__device__ float block_max(float v, float* scratch) {
  scratch[threadIdx.x] = v;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half)
      scratch[threadIdx.x] = fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + half]);
  }
  __syncthreads();
  v = scratch[0];
  __syncthreads();
  return v;
}

// (rows, n); dynamic shared memory: blockDim.x floats, then the row.
__global__ void softmax(const float* in, float* out, int n) {
  extern __shared__ float memory[];
  float *scratch = memory, *row = memory + blockDim.x;
  in += static_cast<size_t>(blockIdx.x) * n;
  out += static_cast<size_t>(blockIdx.x) * n;
  float largest = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    row[i] = in[i];
    largest = fmaxf(largest, row[i]);
  }
  largest = block_max(largest, scratch);
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += row[i] = expf(row[i] - largest);
  sum = block_sum(sum, scratch);
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = row[i] / sum;
}

__global__ void layer_norm(const float* in, const float* gain, const float* bias, float* out, int n) {
  extern __shared__ float memory[];
  in += static_cast<size_t>(blockIdx.x) * n;
  out += static_cast<size_t>(blockIdx.x) * n;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[i];
  float mean = block_sum(sum, memory) / n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) squares += (in[i] - mean) * (in[i] - mean);
  float scale = rsqrtf(block_sum(squares, memory) / n + 1e-5f);
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = (in[i] - mean) * scale * gain[i] + bias[i];
}

constexpr int kDim = 24, kTile = 16;

// q, k, v, out: (heads, n, kDim). A thread owns a query; the block walks over tiles of keys.
__global__ void attention(const float* q, const float* k, const float* v, float* out, int n) {
  __shared__ float ks[kTile][kDim], vs[kTile][kDim];
  const size_t head = static_cast<size_t>(blockIdx.y) * n * kDim;
  const int query = blockIdx.x * blockDim.x + threadIdx.x;
  float mine[kDim], sums[kDim] = {}, largest = -INFINITY, total = 0;
  if (query < n)
    for (int d = 0; d < kDim; ++d) mine[d] = q[head + query * kDim + d] * rsqrtf(static_cast<float>(kDim));
  // No query of this block looks past its last one.
  const int end = min(n, static_cast<int>((blockIdx.x + 1) * blockDim.x));
  for (int k0 = 0; k0 < end; k0 += kTile) {
    for (int i = threadIdx.x; i < kTile * kDim; i += blockDim.x) {
      int key = k0 + i / kDim, d = i % kDim;
      ks[i / kDim][d] = key < n ? k[head + key * kDim + d] : 0.0f;
      vs[i / kDim][d] = key < n ? v[head + key * kDim + d] : 0.0f;
    }
    __syncthreads();
    for (int j = 0; j < kTile && k0 + j <= query && query < n; ++j) {
      float score = 0;
      for (int d = 0; d < kDim; ++d) score += mine[d] * ks[j][d];
      float now = fmaxf(largest, score), fade = expf(largest - now), weight = expf(score - now);
      for (int d = 0; d < kDim; ++d) sums[d] = sums[d] * fade + weight * vs[j][d];
      total = total * fade + weight;
      largest = now;
    }
    __syncthreads();
  }
  if (query >= n) return;
  for (int d = 0; d < kDim; ++d) out[head + query * kDim + d] = sums[d] / total;
}

int main() {
  Random random(9);
  {
    const int rows = 13, n = 203;
    std::vector<float> in = random.floats(rows * n, -8, 8), gain = random.floats(n), bias = random.floats(n);
    std::vector<double> soft(in.size()), norm(in.size());
    for (int r = 0; r < rows; ++r) {
      const float* x = &in[r * n];
      double sum = 0, mean = 0, variance = 0;
      for (int i = 0; i < n; ++i) sum += std::exp(static_cast<double>(x[i])), mean += x[i] / double(n);
      for (int i = 0; i < n; ++i) variance += (x[i] - mean) * (x[i] - mean) / n;
      for (int i = 0; i < n; ++i) {
        soft[r * n + i] = std::exp(static_cast<double>(x[i])) / sum;
        norm[r * n + i] = (x[i] - mean) / std::sqrt(variance + 1e-5) * gain[i] + bias[i];
      }
    }
    float *d_in = to_device(in), *d_gain = to_device(gain), *d_bias = to_device(bias);
    float* d_out = device_array<float>(in.size());
    softmax<<<rows, 64, (64 + n) * sizeof(float)>>>(d_in, d_out, n);
    CUDA_CHECK(cudaGetLastError());
    expect_close(to_host(d_out, in.size()), soft, 1e-5, "softmax");
    layer_norm<<<rows, 64, 64 * sizeof(float)>>>(d_in, d_gain, d_bias, d_out, n);
    CUDA_CHECK(cudaGetLastError());
    expect_close(to_host(d_out, in.size()), norm, 1e-4, "layer norm");
    for (float* p : {d_in, d_gain, d_bias, d_out}) CUDA_CHECK(cudaFree(p));
  }
  const int heads = 2, n = 77, size = heads * n * kDim;
  std::vector<float> q = random.floats(size), k = random.floats(size), v = random.floats(size);
  std::vector<double> wanted(size);
  for (int h = 0; h < heads; ++h)
    for (int i = 0; i < n; ++i) {
      double total = 0;
      const int base = h * n * kDim;
      for (int j = 0; j <= i; ++j) {
        double score = 0;
        for (int d = 0; d < kDim; ++d) score += static_cast<double>(q[base + i * kDim + d]) * k[base + j * kDim + d];
        double weight = std::exp(score / std::sqrt(static_cast<double>(kDim)));
        total += weight;
        for (int d = 0; d < kDim; ++d) wanted[base + i * kDim + d] += weight * v[base + j * kDim + d];
      }
      for (int d = 0; d < kDim; ++d) wanted[base + i * kDim + d] /= total;
    }
  float *d_q = to_device(q), *d_k = to_device(k), *d_v = to_device(v), *d_out = device_array<float>(size);
  attention<<<dim3(blocks_for(n, 32), heads), 32>>>(d_q, d_k, d_v, d_out, n);
  CUDA_CHECK(cudaGetLastError());
  expect_close(to_host(d_out, size), wanted, 1e-4, "causal attention");
  for (float* p : {d_q, d_k, d_v, d_out}) CUDA_CHECK(cudaFree(p));
  std::puts("ok");
}
