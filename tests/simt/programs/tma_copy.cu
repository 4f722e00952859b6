// arch: sm_90a
// A box of a matrix comes by TMA, is doubled, and goes back by TMA; the matrix is a multiple of nothing that boxes are.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

constexpr int kRows = 24, kCols = 32;  // of a box

__device__ inline unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

// in, out: rows x cols floats.
__global__ void twice(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out) {
  __shared__ alignas(1024) float box[kRows * kCols];
  __shared__ unsigned long long full;
  const int x = static_cast<int>(blockIdx.x) * kCols, y = static_cast<int>(blockIdx.y) * kRows;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&full)),
                 "r"(static_cast<int>(sizeof box))
                 : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
            shared_address(box)),
        "l"(&in), "r"(shared_address(&full)), "r"(x), "r"(y)
        : "memory");
  }
  asm volatile(
      "{\n"
      ".reg .pred P1;\n"
      "LAB_WAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
      "@P1 bra DONE;\n"
      "bra LAB_WAIT;\n"
      "DONE:\n"
      "}" ::"r"(shared_address(&full)),
      "r"(0)
      : "memory");
  for (int i = static_cast<int>(threadIdx.x); i < kRows * kCols; i += static_cast<int>(blockDim.x)) box[i] *= 2;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&out),
                 "r"(shared_address(box)), "r"(x), "r"(y)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

CUtensorMap describe(float* p, int rows, int cols, int pitch, CUtensorMapSwizzle swizzle) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
  CUtensorMap map{};
  const cuuint64_t size[] = {static_cast<cuuint64_t>(cols), static_cast<cuuint64_t>(rows)};
  const cuuint64_t pitches[] = {static_cast<cuuint64_t>(pitch) * sizeof(float)};
  const cuuint32_t box[] = {kCols, kRows}, step[] = {1, 1};
  const CUresult result = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, p, size, pitches, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) std::printf("cuTensorMapEncodeTiled: error %d\n", static_cast<int>(result));
  return map;
}

int main() {
  const int rows = 101, cols = 77, pitch = 80;
  std::vector<float> host(static_cast<std::size_t>(rows) * pitch), back(host.size());
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i % 1000);
  float *in, *out;
  cudaMalloc(&in, host.size() * sizeof(float));
  cudaMalloc(&out, host.size() * sizeof(float));
  cudaMemcpy(in, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  int wrong = 0;
  for (const auto swizzle : {CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_128B}) {
    cudaMemset(out, 0, host.size() * sizeof(float));
    twice<<<dim3((cols + kCols - 1) / kCols, (rows + kRows - 1) / kRows), 128>>>(
        describe(in, rows, cols, pitch, swizzle), describe(out, rows, cols, pitch, swizzle));
    if (const cudaError_t error = cudaDeviceSynchronize()) std::puts(cudaGetErrorString(error));
    cudaMemcpy(back.data(), out, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < pitch; ++j) {
        const std::size_t at = static_cast<std::size_t>(i) * pitch + j;
        wrong += back[at] != (j < cols ? 2 * host[at] : 0);
      }
  }
  std::puts(wrong == 0 ? "ok" : "wrong");
  return wrong != 0;
}
