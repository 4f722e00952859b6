// Prints where TMA puts the elements of a tile, and which thread of a warpgroup holds which element of a wgmma:
//   tile SWIZZLE ROW_BYTES ROW COLUMN BYTE     elements of 4 bytes
//   d ROW COLUMN WARP LANE REGISTER            64 x 128 of fp32
//   a BYTES ROW COLUMN WARP LANE REGISTER PART elements of 1, 2 or 4 bytes
#include <cstdio>
#include <vector>

#include "ptx.hpp"

constexpr int kTileRows = 24, kWords = 1024;

__device__ uint64_t unswizzled(const void* tile, int stride) {  // rows of 16 bytes, 8 of them side by side
  return (ptx::address(tile) & 0x3FFFF) >> 4 | uint64_t{128 >> 4} << 16 | static_cast<uint64_t>(stride >> 4) << 32;
}

// out: the words of shared memory after a tile came, -1 where it has none.
__global__ void load_tile(const __grid_constant__ CUtensorMap map, int* out, int bytes) {
  __shared__ alignas(1024) int tile[kWords];
  __shared__ uint64_t full;
  for (int i = threadIdx.x; i < kWords; i += blockDim.x) tile[i] = -1;
  ptx::fence_async();
  if (threadIdx.x == 0) ptx::barrier_init(&full, 1), ptx::barrier_init_fence();
  __syncthreads();
  if (threadIdx.x == 0) ptx::barrier_expect(&full, bytes), ptx::tma_load(tile, &map, &full, 0, 0);
  ptx::barrier_wait(&full, 0);
  for (int i = threadIdx.x; i < kWords; i += blockDim.x) out[i] = tile[i];
}

// out: 128 threads x 64 registers; element (r, c) is 256 r + c.
__global__ void accumulators(float* out) {
  __shared__ alignas(128) __nv_bfloat16 a[64 * 16], b[128 * 16];
  const auto at = [](int row, int k) { return row / 8 * 128 + k / 8 * 64 + row % 8 * 8 + k % 8; };
  for (int i = threadIdx.x; i < 64 * 16; i += 128)
    a[at(i / 16, i % 16)] = __float2bfloat16(i % 16 == 0 ? i / 16 : i % 16 == 1 ? 1 : 0);
  for (int i = threadIdx.x; i < 128 * 16; i += 128)
    b[at(i / 16, i % 16)] = __float2bfloat16(i % 16 == 0 ? 256 : i % 16 == 1 ? i / 16 : 0);
  ptx::fence_async();
  __syncthreads();
  float d[64];
  ptx::wgmma_fence();
  ptx::wgmma(d, unswizzled(a, 256), unswizzled(b, 256), 0);
  ptx::wgmma_commit();
  ptx::wgmma_wait<0>();
  ptx::wgmma_results(d);
  for (int i = 0; i < 64; ++i) out[threadIdx.x * 64 + i] = d[i];
}

// A small whole number as an element.
template <int bytes>
__device__ uint32_t element(int value) {
  if constexpr (bytes == 4) return __float_as_uint(static_cast<float>(value));
  if constexpr (bytes == 2) return __bfloat16_as_ushort(__float2bfloat16(static_cast<float>(value)));
  if (value == 0) return 0;
  const int exponent = 31 - __clz(value);
  return static_cast<uint32_t>((exponent + 7) << 3 | (((value << 3) >> exponent) & 7));
}

__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 0, 1, 1;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ void multiply(float (&d)[8], const uint32_t (&a)[4], uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, "
      "%12, 0, 1, 1, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ void multiply(float (&d)[16], const uint32_t (&a)[4], uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n32k32.f32.e4m3.e4m3 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
      "%13, %14, %15}, {%16, %17, %18, %19}, %20, 0, 1, 1;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// The product of a in registers and the identity: out has a in the accumulators' order, n / 2 of each thread. An
// element is a digit of its place: lane / 4, lane % 4 * 4 + register, or part.
template <int bytes>
__global__ void left_factor(float* out, int digit) {
  constexpr int k = 32 / bytes, each = 4 / bytes;
  __shared__ alignas(128) unsigned char b[k * 32];
  for (int i = threadIdx.x; i < k * k; i += 128) {
    const int row = i / k, at = i % k * bytes;
    const uint32_t one = element<bytes>(row == i % k);
    for (int e = 0; e < bytes; ++e)
      b[row / 8 * 256 + at / 16 * 128 + row % 8 * 16 + at % 16 + e] = static_cast<unsigned char>(one >> 8 * e);
  }
  ptx::fence_async();
  __syncthreads();
  const int lane = threadIdx.x % 32;
  uint32_t a[4];
  for (int i = 0; i < 4; ++i) {
    a[i] = 0;
    for (int part = 0; part < each; ++part)
      a[i] |= element<bytes>(digit == 0 ? lane / 4 : digit == 1 ? lane % 4 * 4 + i : part) << 8 * bytes * part;
  }
  float d[k / 2] = {};
  ptx::wgmma_fence();
  multiply(d, a, unswizzled(b, 256));
  ptx::wgmma_commit();
  ptx::wgmma_wait<0>();
  ptx::wgmma_results(d);
  for (int i = 0; i < k / 2; ++i) out[threadIdx.x * (k / 2) + i] = d[i];
}

template <class T>
std::vector<T> host(const T* device, std::size_t count) {
  std::vector<T> all(count);
  cudaMemcpy(all.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
  return all;
}

void print_tile(int swizzle, int row_bytes) {
  const int columns = row_bytes / 4;
  std::vector<int> matrix(kTileRows * columns);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<int>(i);
  int *from, *out;
  cudaMalloc(&from, matrix.size() * 4);
  cudaMalloc(&out, kWords * 4);
  cudaMemcpy(from, matrix.data(), matrix.size() * 4, cudaMemcpyHostToDevice);
  CUtensorMap map;
  const cuuint64_t size[] = {static_cast<cuuint64_t>(columns), kTileRows},
                   pitch[] = {static_cast<cuuint64_t>(row_bytes)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(columns), kTileRows}, step[] = {1, 1};
  const auto mode = swizzle == 0    ? CU_TENSOR_MAP_SWIZZLE_NONE
                    : swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                    : swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                    : CU_TENSOR_MAP_SWIZZLE_128B;
  if (cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, from, size, pitch, box, step,
                             CU_TENSOR_MAP_INTERLEAVE_NONE, mode, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    std::printf("refused %d %d\n", swizzle, row_bytes);
    return;
  }
  load_tile<<<1, 32>>>(map, out, kTileRows * row_bytes);
  const auto words = host(out, kWords);
  for (int i = 0; i < kWords; ++i)
    if (words[i] >= 0)
      std::printf("tile %d %d %d %d %d\n", swizzle, row_bytes, words[i] / columns, words[i] % columns, 4 * i);
}

template <int bytes>
void print_left() {
  constexpr int k = 32 / bytes, count = 64 * k;
  float* out;
  cudaMalloc(&out, count * sizeof(float));
  std::vector<float> digits[3];
  for (int digit = 0; digit < 3; ++digit) {
    left_factor<bytes><<<1, 128>>>(out, digit);
    digits[digit] = host(out, count);
  }
  for (int i = 0; i < count; ++i) {
    const int thread = i / (k / 2), lane = thread % 32, j = i % (k / 2);  // of the accumulator
    const int first = static_cast<int>(digits[0][i]), second = static_cast<int>(digits[1][i]);
    std::printf("a %d %d %d %d %d %d %d\n", bytes, thread / 32 * 16 + lane / 4 + j % 4 / 2 * 8,
                j / 4 * 8 + lane % 4 * 2 + j % 2, thread / 32, first * 4 + second / 4, second % 4,
                static_cast<int>(digits[2][i]));
  }
}

int main() {
  for (const int swizzle : {0, 32, 64, 128})
    for (const int row_bytes : {16, 32, 64, 128}) print_tile(swizzle, row_bytes);
  float* out;
  cudaMalloc(&out, 128 * 64 * sizeof(float));
  accumulators<<<1, 128>>>(out);
  const auto d = host(out, 128 * 64);
  for (int i = 0; i < 128 * 64; ++i) {
    const int value = static_cast<int>(d[i]);
    std::printf("d %d %d %d %d %d\n", value / 256, value % 256, i / 64 / 32, i / 64 % 32, i % 64);
  }
  print_left<1>();
  print_left<2>();
  print_left<4>();
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
