// arch: sm_90a
// Tensor maps: what cuTensorMapEncodeTiled refuses, as the driver does, and the ways to the function.
#include <cuda.h>

#include "check.hpp"

int main() {
  void *function = nullptr, *other = nullptr, *none = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
  expect(function != nullptr && found == cudaDriverEntryPointSuccess, "cuTensorMapEncodeTiled is there");
#ifdef RIDGE_SIMT  // CUDA 13 has the other form alone
  cudaGetDriverEntryPoint("cuTensorMapReplaceAddress", &other, cudaEnableDefault, &found);
  expect(other == reinterpret_cast<void*>(&cuTensorMapReplaceAddress), "cuTensorMapReplaceAddress is there");
#endif
  cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &none, 12000, cudaEnableDefault, &found);
  expect(none == nullptr && found == cudaDriverEntryPointSymbolNotFound, "another one is not");
  (void)cudaGetLastError();
  (void)other;

  char* memory;
  cudaMalloc(&memory, 1 << 16);
  struct Case {
    const char* what;
    unsigned rank, box, step, pitch;
    int offset;
    CUtensorMapSwizzle swizzle;
    CUresult wanted;
  };
  const CUresult refused = CUDA_ERROR_INVALID_VALUE;
  for (const Case& c : {Case{"right", 2, 64, 1, 256, 0, CU_TENSOR_MAP_SWIZZLE_128B, CUDA_SUCCESS},
                        Case{"no dimensions", 0, 64, 1, 256, 0, CU_TENSOR_MAP_SWIZZLE_128B, refused},
                        Case{"six dimensions", 6, 64, 1, 256, 0, CU_TENSOR_MAP_SWIZZLE_128B, refused},
                        Case{"misaligned address", 2, 64, 1, 256, 8, CU_TENSOR_MAP_SWIZZLE_128B, refused},
                        Case{"misaligned pitch", 2, 64, 1, 264, 0, CU_TENSOR_MAP_SWIZZLE_128B, refused},
                        Case{"box wider than the swizzle", 2, 128, 1, 256, 0, CU_TENSOR_MAP_SWIZZLE_128B, refused},
                        Case{"row of 8 bytes", 2, 4, 1, 256, 0, CU_TENSOR_MAP_SWIZZLE_NONE, refused},
                        Case{"box of 257", 2, 257, 1, 1024, 0, CU_TENSOR_MAP_SWIZZLE_NONE, refused},
                        Case{"step of 9", 2, 64, 9, 256, 0, CU_TENSOR_MAP_SWIZZLE_128B, refused}}) {
    alignas(64) CUtensorMap map{};
    const cuuint64_t size[] = {128, 64, 1, 1, 1, 1}, pitch[] = {c.pitch, 1 << 14, 1 << 14, 1 << 14, 1 << 14};
    const cuuint32_t box[] = {c.box, 8, 1, 1, 1, 1}, step[] = {c.step, c.step, 1, 1, 1, 1};
    const CUresult got = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
        &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, c.rank, memory + c.offset, size, pitch, box, step,
        CU_TENSOR_MAP_INTERLEAVE_NONE, c.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    expect(got == c.wanted, c.what);
#ifdef RIDGE_SIMT
    if (got == CUDA_SUCCESS) {
      expect(cuTensorMapReplaceAddress(&map, memory + 128) == CUDA_SUCCESS, "the tensor moves");
      expect(cuTensorMapReplaceAddress(&map, memory + 8) == refused, "not to a misaligned address");
    }
#endif
  }
  (void)cudaGetLastError();
  cudaFree(memory);
  std::puts("ok");
}
