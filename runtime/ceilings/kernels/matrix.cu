// Tensor cores by precision: matrix instructions in a row on random data in registers or shared memory, so that nothing
// but the units (and the power they may take) binds. No product of real matrices is faster.
#include <cstdint>

#include "measure.cuh"

namespace {

enum class Type { bf16, fp16, tf32, fp8, int8 };
constexpr int bytes_of(Type t) { return t == Type::tf32 ? 4 : t == Type::fp8 || t == Type::int8 ? 1 : 2; }

constexpr int kThreads = 256;
// On Hopper two warpgroups, each with four 64 x 256 products of 32 bytes of K a round; before, eight warps, each with
// eight 16 x 8 products of 32 bytes of K.
template <Type kType>
constexpr double kHopperFlops = 2.0 * 64 * 256 * (32 / bytes_of(kType)) * 4 * (kThreads / 128);
template <Type kType>
constexpr double kFlopsBefore = 2.0 * 16 * 8 * (32 / bytes_of(kType)) * 8 * (kThreads / 32);
constexpr int kShared = 48 * 1024 + 1024;  // Hopper. A: 2 x 8 KiB, B: 32 KiB, and room to align
constexpr const char* kHopperMethod = "wgmma m64n256 from shared memory, random data";
constexpr const char* kMethodBefore = "mma.sync from registers, random data";

// 32 random bits as finite values below 2 of the type. Zeros would be faster: they toggle nothing and take no power.
__device__ std::uint32_t random_values(Type t, std::uint32_t i) {
  std::uint32_t h = i * 0x9E3779B1u;
  h = (h ^ h >> 15) * 0x85EBCA6Bu;
  h ^= h >> 13;
  switch (t) {
    case Type::bf16:
      return (h & 0x807F807Fu) | 0x3F003F00u;
    case Type::fp16:
      return (h & 0x83FF83FFu) | 0x38003800u;
    case Type::tf32:
      return (h & 0x807FFFFFu) | 0x3F000000u;
    case Type::fp8:
      return (h & 0x8F8F8F8Fu) | 0x30303030u;
    default:
      return h;
  }
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// Hopper: wgmma m64n256, 32 bytes of K each (PTX ISA, "Asynchronous warpgroup-level matrix instructions").
#define ALL_128                                                                                  \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                       \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "             \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "             \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "             \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "             \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "             \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define D4(i) D1(i), D1(i + 1), D1(i + 2), D1(i + 3)
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)
#define D128 D16(0), D16(16), D16(32), D16(48), D16(64), D16(80), D16(96), D16(112)
#define WGMMA(shape, rest) \
  asm volatile("wgmma.mma_async.sync.aligned." shape " {" ALL_128 "}, %128, %129, " rest ";" : D128 : "l"(a), "l"(b))

#define D1(i) "+f"(d[i])
template <Type kType>
__device__ void multiply(float (&d)[128], std::uint64_t a, std::uint64_t b) {
  if constexpr (kType == Type::bf16) WGMMA("m64n256k16.f32.bf16.bf16", "1, 1, 1, 0, 0");
  if constexpr (kType == Type::fp16) WGMMA("m64n256k16.f32.f16.f16", "1, 1, 1, 0, 0");
  if constexpr (kType == Type::tf32) WGMMA("m64n256k8.f32.tf32.tf32", "1, 1, 1");
  if constexpr (kType == Type::fp8) WGMMA("m64n256k32.f32.e4m3.e4m3", "1, 1, 1");
}
#undef D1
#define D1(i) "+r"(d[i])
template <Type kType>
__device__ void multiply(int (&d)[128], std::uint64_t a, std::uint64_t b) {
  WGMMA("m64n256k32.s32.s8.s8", "1");
}

// Rows of 128 bytes, eight to a swizzled atom of 1 KiB: address and stride in units of 16 bytes.
__device__ std::uint64_t descriptor(const void* shared) {
  const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(shared));
  return (address & 0x3FFFF) >> 4 | std::uint64_t{1} << 16 | std::uint64_t{1024 >> 4} << 32 | std::uint64_t{1} << 62;
}

template <Type kType, class Sum>
__global__ void __launch_bounds__(kThreads, 1) matrix_kernel(Sum* out, int rounds) {
  extern __shared__ char raw[];
  char* data = raw + (1024 - static_cast<int>(__cvta_generic_to_shared(raw)) % 1024) % 1024;
  for (int i = threadIdx.x; i < 48 * 256; i += kThreads)
    reinterpret_cast<std::uint32_t*>(data)[i] = random_values(kType, i + blockIdx.x * 48 * 256);
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  const std::uint64_t a = descriptor(data + threadIdx.x / 128 * 8192), b = descriptor(data + 16384);
  Sum d[128] = {};
  for (int r = 0; r < rounds; ++r) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < 4; ++k) multiply<kType>(d, a + 2 * k, b + 2 * k);  // 32 bytes of K further
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  Sum sum = 0;
#pragma unroll
  for (int i = 0; i < 128; ++i) sum += d[i];
  if (sum == Sum(123456789)) *out = sum;
}
#else

// Up to Ada: mma.sync, eight products in flight a warp. On GPUs after Hopper this is not the fast way: see below.
template <Type kType, class Sum>
__device__ void multiply(Sum (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
#define MMA(shape, constraint)                                                                              \
  asm volatile("mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
               : constraint(d[0]), constraint(d[1]), constraint(d[2]), constraint(d[3])                     \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
  if constexpr (kType == Type::bf16) MMA("m16n8k16.row.col.f32.bf16.bf16.f32", "+f");
  if constexpr (kType == Type::fp16) MMA("m16n8k16.row.col.f32.f16.f16.f32", "+f");
  if constexpr (kType == Type::tf32) MMA("m16n8k8.row.col.f32.tf32.tf32.f32", "+f");
#if __CUDA_ARCH__ >= 890
  if constexpr (kType == Type::fp8) MMA("m16n8k32.row.col.f32.e4m3.e4m3.f32", "+f");
#endif
  if constexpr (kType == Type::int8) MMA("m16n8k32.row.col.s32.s8.s8.s32", "+r");
#undef MMA
}

template <Type kType, class Sum>
__global__ void __launch_bounds__(kThreads) matrix_kernel(Sum* out, int rounds) {
  std::uint32_t a[4], b[2];
  for (int i = 0; i < 4; ++i) a[i] = random_values(kType, (blockIdx.x * kThreads + threadIdx.x) * 6 + i);
  for (int i = 0; i < 2; ++i) b[i] = random_values(kType, (blockIdx.x * kThreads + threadIdx.x) * 6 + 4 + i);
  Sum d[8][4] = {};
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int k = 0; k < 8; ++k) multiply<kType>(d[k], a, b);
  Sum sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k)
    for (int i = 0; i < 4; ++i) sum += d[k][i];
  if (sum == Sum(123456789)) *out = sum;
}
#endif

template <Type kType, class Sum>
void measure(const Gpu& gpu, const char* id, const char* name, const char* unit) {
  Memory out(4);
  const bool hopper = gpu.prop.major == 9;
  const int blocks = gpu.sms * (hopper ? 1 : 4), rounds = hopper ? 12000 : 20000;
  auto* kernel = matrix_kernel<kType, Sum>;
  MUST(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  print_rate({id, "compute", name, unit, hopper ? kHopperMethod : kMethodBefore},
             (hopper ? kHopperFlops<kType> : kFlopsBefore<kType>)*blocks * rounds, seconds_of([&] {
               kernel<<<static_cast<unsigned>(blocks), kThreads, hopper ? kShared : 0>>>(out.as<Sum>(), rounds);
             }));
}

}  // namespace

void measure_matrix(const Gpu& gpu) {
  // The matrix units of a later GPU do less with mma.sync than they can do: no roof is better than a low one.
  if (gpu.prop.major >= 10) return;
  measure<Type::tf32, float>(gpu, "tf32", "tensor cores, tf32", "flop/s");
  measure<Type::bf16, float>(gpu, "bf16", "tensor cores, bf16", "flop/s");
  measure<Type::fp16, float>(gpu, "fp16", "tensor cores, fp16 with fp32 sums", "flop/s");
  if (gpu.prop.major * 10 + gpu.prop.minor >= 89)
    measure<Type::fp8, float>(gpu, "fp8", "tensor cores, fp8 (e4m3)", "flop/s");
  measure<Type::int8, int>(gpu, "int8", "tensor cores, int8", "op/s");
}
