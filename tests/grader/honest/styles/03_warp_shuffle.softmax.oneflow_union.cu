// Style: OneFlow's: templates over pack size and columns a lane, load and store functors, a fallback in shared memory.
#include <cuda_pipeline.h>

#include <type_traits>

#include "warp_shuffle.hpp"

namespace {

template <typename T, int N>
using PackType = typename std::aligned_storage<N * sizeof(T), N * sizeof(T)>::type;

template <typename T, int N>
union Pack {
  PackType<T, N> storage;
  T elem[N];
  __device__ Pack() {}
};

struct DirectLoad {
  const float* src;
  int64_t row_size;
  template <int N>
  __device__ void load(float* dst, int64_t row, int64_t col) const {
    Pack<float, N> pack;
    pack.storage = *(reinterpret_cast<const PackType<float, N>*>(src) + (row * row_size + col) / N);
#pragma unroll
    for (int i = 0; i < N; ++i) dst[i] = pack.elem[i];
  }
};
struct DirectStore {
  float* dst;
  int64_t row_size;
  template <int N>
  __device__ void store(const float* src, int64_t row, int64_t col) const {
    Pack<float, N> pack;
#pragma unroll
    for (int i = 0; i < N; ++i) pack.elem[i] = src[i];
    *(reinterpret_cast<PackType<float, N>*>(dst) + (row * row_size + col) / N) = pack.storage;
  }
};

struct MaxOp {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct SumOp {
  __device__ float operator()(float a, float b) const { return a + b; }
};
template <typename Op>
__device__ __forceinline__ float WarpAllReduce(float val) {
  for (int mask = 16; mask > 0; mask /= 2) val = Op()(val, __shfl_xor_sync(0xffffffff, val, mask));
  return val;
}

// load, store: rows x cols; a warp takes rows in turn, each lane cols_per_thread columns
template <typename LOAD, typename STORE, int pack_size, int cols_per_thread>
__global__ void SoftmaxWarpImpl(LOAD load, STORE store, const int64_t rows, const int64_t cols) {
  constexpr int num_packs = cols_per_thread / pack_size;
  float buf[cols_per_thread];
  const int64_t global_warp = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  const int64_t num_warps = static_cast<int64_t>(gridDim.x) * blockDim.y;
  const int lane_id = threadIdx.x;
  for (int64_t row = global_warp; row < rows; row += num_warps) {
    float thread_max = -3.0e38f;
#pragma unroll
    for (int p = 0; p < num_packs; ++p) {
      const int64_t col = (p * 32 + lane_id) * pack_size;
      if (col < cols) {
        load.template load<pack_size>(buf + p * pack_size, row, col);
      } else {
#pragma unroll
        for (int i = 0; i < pack_size; ++i) buf[p * pack_size + i] = -3.0e38f;
      }
#pragma unroll
      for (int i = 0; i < pack_size; ++i) thread_max = fmaxf(thread_max, buf[p * pack_size + i]);
    }
    const float warp_max = WarpAllReduce<MaxOp>(thread_max);
    float thread_sum = 0;
#pragma unroll
    for (int i = 0; i < cols_per_thread; ++i) {
      buf[i] = expf(buf[i] - warp_max);
      thread_sum += buf[i];
    }
    const float warp_sum = WarpAllReduce<SumOp>(thread_sum);
#pragma unroll
    for (int i = 0; i < cols_per_thread; ++i) buf[i] = __fdividef(buf[i], warp_sum);
#pragma unroll
    for (int p = 0; p < num_packs; ++p) {
      const int64_t col = (p * 32 + lane_id) * pack_size;
      if (col < cols) store.template store<pack_size>(buf + p * pack_size, row, col);
    }
  }
}

// Two numbers, one barrier a sum; the warps' values meet in shared memory.
template <typename Op, int block_size>
__device__ float BlockAllReduce(float val, float neutral) {
  __shared__ float parts[32];
  val = WarpAllReduce<Op>(val);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = val;
  __syncthreads();
  return WarpAllReduce<Op>(threadIdx.x % 32 < block_size / 32 ? parts[threadIdx.x % 32] : neutral);
}

// in, out: rows x cols; dynamic shared memory: cols floats
template <int block_size>
__global__ void SoftmaxBlockSMemImpl(const float* in, float* out, int64_t rows, int64_t cols) {
  extern __shared__ __align__(16) unsigned char softmax_shared_buf[];
  float* buf = reinterpret_cast<float*>(softmax_shared_buf);
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    for (int64_t c = threadIdx.x; c < cols; c += block_size)
      __pipeline_memcpy_async(buf + c, in + row * cols + c, sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    float thread_max = -3.0e38f;
    for (int64_t c = threadIdx.x; c < cols; c += block_size) thread_max = fmaxf(thread_max, buf[c]);
    const float row_max = BlockAllReduce<MaxOp, block_size>(thread_max, -3.0e38f);
    float thread_sum = 0;
    for (int64_t c = threadIdx.x; c < cols; c += block_size) thread_sum += buf[c] = expf(buf[c] - row_max);
    const float row_sum = BlockAllReduce<SumOp, block_size>(thread_sum, 0.0f);
    for (int64_t c = threadIdx.x; c < cols; c += block_size) out[row * cols + c] = buf[c] / row_sum;
  }
}

template <int pack_size, int cols_per_thread>
void LaunchWarp(const float* in, float* out, int64_t rows, int64_t cols, cudaStream_t stream) {
  const dim3 block(32, 4);
  const int64_t blocks = (rows + 3) / 4;
  const DirectLoad load{in, cols};
  const DirectStore store{out, cols};
  SoftmaxWarpImpl<DirectLoad, DirectStore, pack_size, cols_per_thread>
      <<<static_cast<unsigned>(blocks < 4224 ? blocks : 4224), block, 0, stream>>>(load, store, rows, cols);
}

}  // namespace

void softmax(const float* in, float* out, int rows, int cols, void*, size_t, cudaStream_t stream) {
  if (cols % 4 == 0 && cols <= 128) {
    LaunchWarp<4, 4>(in, out, rows, cols, stream);
  } else if (cols % 4 == 0 && cols <= 1024) {
    LaunchWarp<4, 32>(in, out, rows, cols, stream);
  } else if (cols % 2 == 0 && cols <= 1024) {
    LaunchWarp<2, 32>(in, out, rows, cols, stream);
  } else if (cols <= 1024) {
    LaunchWarp<1, 32>(in, out, rows, cols, stream);
  } else {
    const size_t smem = sizeof(float) * cols;
    static size_t granted = (48 << 10) - 1024;  // less the kernel's static arrays
    if (smem > granted) {
      int device = 0, most = 0;
      cudaGetDevice(&device);
      cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
      if (cudaFuncSetAttribute(SoftmaxBlockSMemImpl<512>, cudaFuncAttributeMaxDynamicSharedMemorySize, most - 1024) ==
          cudaSuccess)
        granted = most - 1024;
    }
    SoftmaxBlockSMemImpl<512><<<rows, 512, smem, stream>>>(in, out, rows, cols);
  }
}
