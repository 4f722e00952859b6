// The same answers by the vendor's products: S = q k^T in memory, a softmax over its rows, o = P v, and the five
// products of backward with passes over P and dS between them. The scores of some heads at a time lie in scratch
// memory. online_softmax: copies that move as many bytes, and compute no answer.
#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "flash_attention.hpp"

namespace {

constexpr std::size_t kScratch = std::size_t{1} << 30;  // bytes of each of two scratch areas

char* scratch(int which) {
  static char* areas[2] = {};
  if (areas[which] == nullptr && cudaMalloc(reinterpret_cast<void**>(&areas[which]), kScratch) != cudaSuccess) {
    std::fprintf(stderr, "baseline: no scratch memory\n");
    std::exit(1);
  }
  return areas[which];
}

cublasHandle_t library(cudaStream_t stream) {
  static const cublasHandle_t handle = [] {
    cublasHandle_t h = nullptr;
    cublasCreate(&h);
    return h;
  }();
  cublasSetStream(handle, stream);
  return handle;
}

template <class T>
constexpr cudaDataType kType = sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_16BF;

// c (m x n) = alpha op(a) op(b) + beta c, row-major, for `count` matrices that lie one behind the other; those of a
// factor `group` times the same one. op(x) = x^T where transposed. lda, ldb, ldc: elements of a row.
struct Factor {
  const void* data;
  long long stride;
  int row;
  bool transposed;
};
template <class T>
void product(cudaStream_t stream, int m, int n, int k, float alpha, Factor a, Factor b, float beta, T* c,
             long long stride, int count) {
  // Column-major, c^T = op(b)^T op(a)^T.
  cublasGemmStridedBatchedEx(library(stream), b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                             a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k, &alpha, b.data, kType<T>, b.row,
                             b.stride, a.data, kType<T>, a.row, a.stride, &beta, c, kType<T>, n, stride, count,
                             CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

__device__ float to_float(float x) { return x; }
__device__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ void store(float* to, float x) { *to = x; }
__device__ void store(__nv_bfloat16* to, float x) { *to = __float2bfloat16(x); }

struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
template <class Op>
__device__ float reduce(float x, Op op) {
  __shared__ float parts[8];
  for (int step = 16; step > 0; step /= 2) x = op(x, __shfl_xor_sync(0xffffffffu, x, step));
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  x = parts[0];
  for (int i = 1; i < 8; ++i) x = op(x, parts[i]);
  return x;
}

__device__ int seen_by(const Attention& a, int query) {
  return a.causal ? max(0, min(a.keys, query + a.keys - a.queries + 1)) : a.keys;
}

// scores: (heads of this turn, queries, keys), in place; lse: those heads' rows. A block of 256 threads a row.
template <class T>
__global__ void softmax_kernel(T* scores, float* lse, Attention a) {
  T* row = scores + static_cast<std::size_t>(blockIdx.x) * a.keys;
  const int seen = seen_by(a, static_cast<int>(blockIdx.x) % a.queries);
  float top = -INFINITY, sum = 0;
  for (int j = threadIdx.x; j < seen; j += 256) top = fmaxf(top, to_float(row[j]));
  top = reduce(top, Max());
  for (int j = threadIdx.x; j < seen; j += 256) sum += __expf(to_float(row[j]) - top);
  sum = reduce(sum, Sum());
  for (int j = threadIdx.x; j < a.keys; j += 256)
    store(row + j, j < seen ? __expf(to_float(row[j]) - top) / sum : 0.0f);
  if (threadIdx.x == 0) lse[blockIdx.x] = seen > 0 ? top + logf(sum) : -INFINITY;
}

// scores, dp: (heads, queries, keys). scores become P, dp becomes dS; delta is made here. A block a row.
__global__ void gradient_kernel(__nv_bfloat16* scores, __nv_bfloat16* dp, const float* lse, const __nv_bfloat16* o,
                                const __nv_bfloat16* d_o, Attention a) {
  const std::size_t i = blockIdx.x;
  const int seen = seen_by(a, static_cast<int>(i) % a.queries);
  float delta = 0;
  for (int c = threadIdx.x; c < a.head_dim; c += 256)
    delta += to_float(o[i * a.head_dim + c]) * to_float(d_o[i * a.head_dim + c]);
  delta = reduce(delta, Sum());
  for (int j = threadIdx.x; j < a.keys; j += 256) {
    const std::size_t at = i * a.keys + j;
    const float p = j < seen ? __expf(to_float(scores[at]) - lse[i]) : 0.0f;
    store(scores + at, p);
    store(dp + at, p * (to_float(dp[at]) - delta));
  }
}

// The heads of a turn: as many as scratch memory has room for, of one group or whole groups. work(first, count) of q's
// heads.
template <class T, class Work>
void each_turn(const Attention& a, Work work) {
  const std::size_t one = static_cast<std::size_t>(a.queries) * a.keys * sizeof(T);
  const int group = a.heads / a.kv_heads, all = a.batch * a.heads;
  const int most = std::max(1, static_cast<int>(kScratch / one));
  // With grouped heads, the heads of a turn read the same k and v, whose stride is 0.
  const int step = group == 1 ? most : std::min(most, group);
  for (int first = 0; first < all;) {
    const int count = std::min({step, all - first, group == 1 ? all : group - first % group});
    work(first, count);
    first += count;
  }
}

template <class T>
void attention(const T* q, const T* k, const T* v, T* o, float* lse, const Attention& a, cudaStream_t stream) {
  const long long of_q = static_cast<long long>(a.queries) * a.head_dim,
                  of_k = static_cast<long long>(a.keys) * a.head_dim;
  const long long of_s = static_cast<long long>(a.queries) * a.keys;
  const int group = a.heads / a.kv_heads, d = a.head_dim;
  T* s = reinterpret_cast<T*>(scratch(0));
  each_turn<T>(a, [&](int first, int count) {
    const long long kv = first / group * of_k, stride = group == 1 ? of_k : 0;
    product<T>(stream, a.queries, a.keys, d, 1 / std::sqrt(static_cast<float>(d)), {q + first * of_q, of_q, d, false},
               {k + kv, stride, d, true}, 0, s, of_s, count);
    softmax_kernel<<<count * a.queries, 256, 0, stream>>>(s, lse + static_cast<long long>(first) * a.queries, a);
    product<T>(stream, a.queries, d, a.keys, 1, {s, of_s, a.keys, false}, {v + kv, stride, d, false}, 0,
               o + first * of_q, of_q, count);
  });
}

}  // namespace

void online_softmax(const float* scores, const float*, float*, float*, int rows, int cols, void*, std::size_t,
                    cudaStream_t stream) {
  // 8 bytes an element are read: 4 are copied, in parts of the scratch memory's size.
  const std::size_t bytes = static_cast<std::size_t>(rows) * cols * sizeof(float);
  for (std::size_t at = 0; at < bytes; at += kScratch)
    cudaMemcpyAsync(scratch(0), reinterpret_cast<const char*>(scores) + at, std::min(kScratch, bytes - at),
                    cudaMemcpyDeviceToDevice, stream);
}

void forward(const float* q, const float* k, const float* v, float* o, float* lse, int batch, int heads, int length,
             int head_dim, void*, std::size_t, cudaStream_t stream) {
  attention(q, k, v, o, lse, {batch, heads, heads, length, length, head_dim, false}, stream);
}

void tensor(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, __nv_bfloat16* o, float* lse,
            const Attention& shape, void*, std::size_t, cudaStream_t stream) {
  attention(q, k, v, o, lse, shape, stream);
}

void hopper(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, __nv_bfloat16* o, float* lse,
            const Attention& shape, void*, std::size_t, cudaStream_t stream) {
  attention(q, k, v, o, lse, shape, stream);
}

// With grouped heads the sums of dk and dv run over the heads of a group, one product a head; without, the heads of a
// turn are one batch of products.
void backward(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, const __nv_bfloat16* o,
              const float* lse, const __nv_bfloat16* d_o, __nv_bfloat16* dq, __nv_bfloat16* dk, __nv_bfloat16* dv,
              const Attention& shape, void*, std::size_t, cudaStream_t stream) {
  using T = __nv_bfloat16;
  const Attention& a = shape;
  const long long of_q = static_cast<long long>(a.queries) * a.head_dim,
                  of_k = static_cast<long long>(a.keys) * a.head_dim;
  const long long of_s = static_cast<long long>(a.queries) * a.keys;
  const int group = a.heads / a.kv_heads, d = a.head_dim;
  const float scale = 1 / std::sqrt(static_cast<float>(d));
  T *s = reinterpret_cast<T*>(scratch(0)), *dp = reinterpret_cast<T*>(scratch(1));
  each_turn<T>(a, [&](int first, int count) {
    const long long kv = first / group * of_k, stride = group == 1 ? of_k : 0,
                    rows = static_cast<long long>(first) * a.queries;
    product<T>(stream, a.queries, a.keys, d, scale, {q + first * of_q, of_q, d, false}, {k + kv, stride, d, true}, 0, s,
               of_s, count);
    product<T>(stream, a.queries, a.keys, d, 1, {d_o + first * of_q, of_q, d, false}, {v + kv, stride, d, true}, 0, dp,
               of_s, count);
    gradient_kernel<<<count * a.queries, 256, 0, stream>>>(s, dp, lse + rows, o + first * of_q, d_o + first * of_q, a);
    product<T>(stream, a.queries, d, a.keys, scale, {dp, of_s, a.keys, false}, {k + kv, stride, d, false}, 0,
               dq + first * of_q, of_q, count);
    const int together = group == 1 ? count : 1;
    for (int i = 0; i < count; i += together) {
      const float beta = (first + i) % group == 0 ? 0.0f : 1.0f;
      product<T>(stream, a.keys, d, a.queries, 1, {s + i * of_s, of_s, a.keys, true},
                 {d_o + (first + i) * of_q, of_q, d, false}, beta, dv + kv, of_k, together);
      product<T>(stream, a.keys, d, a.queries, scale, {dp + i * of_s, of_s, a.keys, true},
                 {q + (first + i) * of_q, of_q, d, false}, beta, dk + kv, of_k, together);
    }
  });
}
