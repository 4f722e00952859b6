// arch: sm_90a
// libcu++'s bulk copies and its barriers that expect bytes: a box of a matrix, and a vector, come to shared memory, are
// changed, and go back.
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cuda/barrier>
#include <utility>
#include <vector>

using Barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;

constexpr int kRows = 8, kCols = 16, kSteps = 3;  // boxes below each other
constexpr int kBytes = kRows * kCols * static_cast<int>(sizeof(int));

// matrix: (kSteps * kRows) x kCols; vector, out: kRows * kCols for each step.
__global__ void add(const __grid_constant__ CUtensorMap matrix, const int* vector, int* out) {
  __shared__ alignas(128) int box[kRows * kCols];
  __shared__ alignas(128) int part[kRows * kCols];
  __shared__ alignas(128) int sum[kRows * kCols];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier full;
  if (threadIdx.x == 0) {
    init(&full, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  for (int step = 0; step < kSteps; ++step) {
    Barrier::arrival_token token;
    if (threadIdx.x == 0) {
      cde::cp_async_bulk_tensor_2d_global_to_shared(box, &matrix, 0, step * kRows, full);
      cuda::device::memcpy_async_tx(part, vector + step * kRows * kCols, cuda::aligned_size_t<16>(kBytes / 2), full);
      cde::cp_async_bulk_global_to_shared(part + kRows * kCols / 2, vector + step * kRows * kCols + kRows * kCols / 2,
                                          kBytes / 2, full);
      token = cuda::device::barrier_arrive_tx(full, 1, 2 * kBytes);
    } else {
      token = full.arrive();
    }
    full.wait(std::move(token));
    for (int i = static_cast<int>(threadIdx.x); i < kRows * kCols; i += static_cast<int>(blockDim.x))
      sum[i] = box[i] + part[i];
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
      cde::cp_async_bulk_shared_to_global(out + step * kRows * kCols, sum, kBytes);
      cde::cp_async_bulk_commit_group();
      cde::cp_async_bulk_wait_group_read<0>();
      cde::cp_async_bulk_tensor_2d_shared_to_global(&matrix, 0, step * kRows, sum);
      cde::cp_async_bulk_commit_group();
      cde::cp_async_bulk_wait_group_read<0>();
    }
    __syncthreads();
  }
}

int main() {
  constexpr int n = kSteps * kRows * kCols;
  int *matrix, *vector, *out;
  cudaMallocManaged(&matrix, n * sizeof(int));
  cudaMallocManaged(&vector, n * sizeof(int));
  cudaMallocManaged(&out, n * sizeof(int));
  std::vector<int> expected(n);
  for (int i = 0; i < n; ++i) {
    matrix[i] = i * 37 % 101;
    vector[i] = i * 53 % 211;
    expected[i] = matrix[i] + vector[i];
  }
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
  const auto encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
  alignas(64) CUtensorMap map;
  const cuuint64_t size[] = {kCols, kSteps * kRows}, pitch[] = {kCols * sizeof(int)};
  const cuuint32_t box[] = {kCols, kRows}, step[] = {1, 1};
  int wrong = encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, matrix, size, pitch, box, step,
                     CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS;
  add<<<1, 96>>>(map, vector, out);
  if (const cudaError_t error = cudaDeviceSynchronize()) std::puts(cudaGetErrorString(error));
  for (int i = 0; i < n; ++i) wrong += out[i] != expected[i] || matrix[i] != expected[i];
  cudaFree(matrix);
  cudaFree(vector);
  cudaFree(out);
  std::puts(wrong == 0 ? "ok" : "wrong");
  return wrong != 0;
}
