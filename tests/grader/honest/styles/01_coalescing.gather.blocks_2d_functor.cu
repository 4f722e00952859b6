// Style: 2D blocks of 32 x 8, indices of the block's rows in shared memory, the piece's type a template parameter.
#include "coalescing.hpp"

namespace {

constexpr int kRowsPerBlock = 32;

template <class T>
struct Table {
  const T* base;
  int width;
  __device__ const T* operator[](int row) const { return base + static_cast<long long>(row) * width; }
};

// in: table x width pieces; index: rows; out: rows x width pieces. A block takes 32 rows, as one run of pieces.
template <class T>
__global__ void gather_run(Table<T> in, const int* __restrict__ index, T* __restrict__ out, int rows) {
  __shared__ int wanted[kRowsPerBlock];
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  const int first = blockIdx.x * kRowsPerBlock;
  const int count = min(kRowsPerBlock, rows - first);
  if (thread < count) wanted[thread] = index[first + thread];
  __syncthreads();
  T* const to = out + static_cast<long long>(first) * in.width;
  const long long pieces = static_cast<long long>(count) * in.width;
  for (long long p = thread; p < pieces; p += blockDim.x * blockDim.y) {
    const int row = static_cast<int>(p / in.width), col = static_cast<int>(p % in.width);
    to[p] = __ldg(in[wanted[row]] + col);
  }
}

}  // namespace

void gather(const float* in, const int* index, float* out, int, int rows, int width, void*, size_t,
            cudaStream_t stream) {
  const dim3 block(32, 8);
  const unsigned grid = (rows + kRowsPerBlock - 1) / kRowsPerBlock;
  if (width % 4 == 0)
    gather_run<<<grid, block, 0, stream>>>(Table<float4>{reinterpret_cast<const float4*>(in), width / 4}, index,
                                           reinterpret_cast<float4*>(out), rows);
  else
    gather_run<<<grid, block, 0, stream>>>(Table<float>{in, width}, index, out, rows);
}
