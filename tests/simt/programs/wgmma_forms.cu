// arch: sm_90a
// wgmma: every type, the left factor in shared memory and in registers, tiles with k along a row and along a column, each
// swizzle. TMA brings the tiles. Numbers are small, and so results are exact.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstring>
#include <type_traits>
#include <vector>

#include "check.hpp"
#include "wgmma_products.hpp"

constexpr int kRows = 64, kRowBytes = 128;  // of a factor; k has 128 bytes

__device__ inline unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

// A factor in shared memory: boxes of W bytes (16: no swizzle) and 64 rows, one behind the other. Step s is the s-th 32
// bytes of k; where k lies along a column, 16 rows.
template <int W, bool transposed>
__device__ uint64_t descriptor(const void* tile, int s) {
  constexpr uint64_t mode = W == 16 ? 0 : W == 32 ? 3 : W == 64 ? 2 : 1;
  unsigned start, leading, stride;
  if (transposed) {
    start = 16 * s * W;
    leading = W == 16 ? 8 * W : kRows * W;
    stride = W == 16 ? kRows * W : 8 * W;
  } else {
    start = 32 * s / W * kRows * W + 32 * s % W;
    leading = kRows * W;
    stride = 8 * W;
  }
  start += shared_address(tile);
  return (start & 0x3FFFF) >> 4 | uint64_t{leading >> 4} << 16 | uint64_t{stride >> 4} << 32 | mode << 62;
}

__device__ inline void load(unsigned char* tile, const CUtensorMap* map, uint64_t* barrier, int width, int elements) {
  for (int i = 0; i < kRowBytes / width; ++i)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::
            "r"(shared_address(tile + i * width * kRows)),
        "l"(map), "r"(shared_address(barrier)), "r"(i * elements), "r"(0)
        : "memory");
}

// a: 64 rows of 128 bytes; b: 64 rows of 128 bytes; out: 64 x 64, or pairs of fp16 in words. add: to 1 in each element.
template <class Product, class D, int kRegisters, int W, bool left_transposed, bool right_transposed, bool registers>
__global__ void multiply(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                         const unsigned char* a, D* out, int element, int add) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __shared__ alignas(1024) unsigned char left[kRows * kRowBytes], right[kRows * kRowBytes];
  __shared__ uint64_t full;
  const int t = static_cast<int>(threadIdx.x), row = t / 32 * 16 + t % 32 / 4;
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&full)),
                 "r"(2 * kRows * kRowBytes)
                 : "memory");
    load(left, &map_a, &full, W, W / element);
    load(right, &map_b, &full, W, W / element);
  }
  __syncthreads();
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
      "@!p bra again;\n"
      "}" ::"r"(shared_address(&full))
      : "memory");
  D d[kRegisters];
  D one;
  if (std::is_same<D, uint32_t>::value) {
    const uint32_t two = 0x3C003C00;  // fp16
    memcpy(&one, &two, 4);
  } else {
    one = D(1);
  }
  for (int i = 0; i < kRegisters; ++i) d[i] = one;
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (int s = 0; s < kRowBytes / 32; ++s) {
    uint32_t own[4] = {};
    if (registers)  // rows row and row + 8, the first and the last 16 bytes of a step
      for (int i = 0; i < 4; ++i)
        memcpy(&own[i], a + (row + i % 2 * 8) * kRowBytes + 32 * s + i / 2 * 16 + t % 4 * 4, 4);
    Product::run(d, descriptor<W, left_transposed>(left, s), own, descriptor<W, right_transposed>(right, s),
                 add != 0 || s > 0);
  }
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  if (kRegisters == 32) {
    for (int i = 0; i < kRegisters; ++i) out[(row + i % 4 / 2 * 8) * 64 + i / 4 * 8 + t % 4 * 2 + i % 2] = d[i];
  } else {
    for (int i = 0; i < kRegisters; ++i) out[(row + i % 2 * 8) * 32 + i / 2 * 4 + t % 4] = d[i];
  }
#endif
}

// An element from a small whole number, and its size.
struct AsBf16 {
  static constexpr int bytes = 2;
  static void put(unsigned char* p, int v) {
    const __nv_bfloat16 x = __float2bfloat16(float(v));
    memcpy(p, &x, 2);
  }
  static constexpr CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
};
struct AsFp16 {
  static constexpr int bytes = 2;
  static void put(unsigned char* p, int v) {
    const __half x = __float2half(float(v));
    memcpy(p, &x, 2);
  }
  static constexpr CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
};
struct AsTf32 {
  static constexpr int bytes = 4;
  static void put(unsigned char* p, int v) {
    const float x = float(v);
    memcpy(p, &x, 4);
  }
  static constexpr CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
};
struct AsE4m3 {
  static constexpr int bytes = 1;
  static void put(unsigned char* p, int v) {
    const __nv_fp8_e4m3 x{float(v)};
    memcpy(p, &x, 1);
  }
  static constexpr CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
};
struct AsE5m2 {
  static constexpr int bytes = 1;
  static void put(unsigned char* p, int v) {
    const __nv_fp8_e5m2 x{float(v)};
    memcpy(p, &x, 1);
  }
  static constexpr CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
};
struct AsInt8 {
  static constexpr int bytes = 1;
  static void put(unsigned char* p, int v) { *p = static_cast<unsigned char>(v); }
  static constexpr CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
};

CUtensorMap describe(void* p, CUtensorMapDataType type, int bytes, int width) {
  static void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (function == nullptr)
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
  CUtensorMap map{};
  const cuuint64_t size[] = {static_cast<cuuint64_t>(kRowBytes / bytes), kRows}, pitch[] = {kRowBytes};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(width / bytes), kRows}, step[] = {1, 1};
  const CUtensorMapSwizzle swizzle = width == 16   ? CU_TENSOR_MAP_SWIZZLE_NONE
                                     : width == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                     : width == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                   : CU_TENSOR_MAP_SWIZZLE_128B;
  expect(reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
             &map, type, 2, p, size, pitch, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS,
         "the tensor map is made");
  return map;
}

unsigned char *device_a, *device_b;
void* device_out;

template <class Product, class Element, class D, int W, bool left_transposed = false, bool right_transposed = false,
          bool registers = false, int sign = 1, bool left_positive = false>
void test(const char* what) {
  constexpr int k = kRowBytes / Element::bytes, kRegisters = std::is_same<D, uint32_t>::value ? 16 : 32;
  std::vector<unsigned char> a(kRows * kRowBytes), b(kRows * kRowBytes);
  std::vector<int> left(64 * k), right(64 * k);
  for (int i = 0; i < 64; ++i)
    for (int l = 0; l < k; ++l) {
      left[i * k + l] = (i * 5 + l * 3 + i * l) % 7 - (left_positive ? 0 : 3);
      right[i * k + l] = (i * 3 + l * 7 + i * l * 2) % 5 - 2;
      Element::put(&a[left_transposed ? l * kRowBytes + i * Element::bytes : i * kRowBytes + l * Element::bytes],
                   left[i * k + l]);
      Element::put(&b[right_transposed ? l * kRowBytes + i * Element::bytes : i * kRowBytes + l * Element::bytes],
                   right[i * k + l]);
    }
  cudaMemcpy(device_a, a.data(), a.size(), cudaMemcpyHostToDevice);
  cudaMemcpy(device_b, b.data(), b.size(), cudaMemcpyHostToDevice);
  for (int add : {0, 1}) {
    multiply<Product, D, kRegisters, W, left_transposed, right_transposed, registers><<<1, 128>>>(
        describe(device_a, Element::type, Element::bytes, W), describe(device_b, Element::type, Element::bytes, W),
        device_a, static_cast<D*>(device_out), Element::bytes, add);
    expect_error(cudaDeviceSynchronize(), cudaSuccess, what);
    std::vector<D> out(64 * 64);
    cudaMemcpy(out.data(), device_out, 64 * 64 * sizeof(D), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; ++i)
      for (int j = 0; j < 64; ++j) {
        int sum = 0;
        for (int l = 0; l < k; ++l) sum += left[i * k + l] * right[j * k + l];
        sum = sign * sum + add;
        double got;
        if (std::is_same<D, uint32_t>::value) {
          __half pair[2];
          memcpy(pair, &out[i * 32 + j / 2], 4);
          got = __half2float(pair[j % 2]);
        } else {
          got = static_cast<double>(out[i * 64 + j]);
        }
        if (got == sum) continue;
        std::printf("%s, add %d, element (%d, %d): %g instead of %d\n", what, add, i, j, got, sum);
        std::exit(1);
      }
  }
}

template <int W>
void test_swizzle() {
  test<Bf16, AsBf16, float, W>("bf16");
  test<Bf16LeftTransposed, AsBf16, float, W, true, false>("bf16, left transposed");
  test<Bf16RightTransposed, AsBf16, float, W, false, true>("bf16, right transposed");
  test<Bf16BothNegative, AsBf16, float, W, true, true, false, -1>("bf16, both transposed, negative");
  test<Bf16Registers, AsBf16, float, W, false, true, true>("bf16, registers");
  test<Fp16, AsFp16, float, W>("fp16");
  test<Fp16Sums, AsFp16, uint32_t, W>("fp16, sums in fp16");
  test<Tf32, AsTf32, float, W>("tf32");
  test<Tf32Registers, AsTf32, float, W, false, false, true>("tf32, registers");
  test<E4m3, AsE4m3, float, W>("e4m3");
  test<E5m2, AsE5m2, float, W>("e5m2");
  test<Int8, AsInt8, int, W>("int8");
  test<Int8Registers, AsInt8, int, W, false, false, true, 1, true>("u8 in registers, int8");
}

int main() {
  cudaMalloc(&device_a, kRows * kRowBytes);
  cudaMalloc(&device_b, kRows * kRowBytes);
  cudaMalloc(&device_out, 64 * 64 * 4);
  test_swizzle<16>();
  test_swizzle<32>();
  test_swizzle<64>();
  test_swizzle<128>();
  cudaFree(device_a), cudaFree(device_b), cudaFree(device_out);
  std::puts("ok");
}
