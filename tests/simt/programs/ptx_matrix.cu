// Inline PTX of matrix kernels: mma of every shape and type that the emulator knows, ldmatrix, cp.async, ex2. Elements' places are
// written down here from the PTX ISA, "Matrix fragments for mma.m16n8k*" and "ldmatrix".
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "check.hpp"

// Registers of a: 4 (of 16 x k), of b: 2 (of k x 8, stored as its transpose 8 x k); k1 of them where k is one step.
struct Bf16 {
  static constexpr int k = 16, bytes = 2;
  __device__ static void mma(float* d, const uint32_t* a, const uint32_t* b) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};\n"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(d[3]));
  }
  static void put(void* to, int i, int v) { static_cast<__nv_bfloat16*>(to)[i] = __float2bfloat16(float(v)); }
};
struct Fp16 {
  static constexpr int k = 16, bytes = 2;
  __device__ static void mma(float* d, const uint32_t* a, const uint32_t* b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
  static void put(void* to, int i, int v) { static_cast<__half*>(to)[i] = __float2half(float(v)); }
};
struct Bf16Short {
  static constexpr int k = 8, bytes = 2;
  __device__ static void mma(float* d, const uint32_t* a, const uint32_t* b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  }
  static void put(void* to, int i, int v) { Bf16::put(to, i, v); }
};
struct Tf32 {
  static constexpr int k = 8, bytes = 4;
  __device__ static void mma(float* d, const uint32_t* a, const uint32_t* b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
  static void put(void* to, int i, int v) { static_cast<float*>(to)[i] = float(v); }
};
struct Int8 {
  static constexpr int k = 32, bytes = 1;
  __device__ static void mma(float* d, const uint32_t* a, const uint32_t* b) {
    int s[4];
    for (int i = 0; i < 4; ++i) s[i] = int(d[i]);
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    for (int i = 0; i < 4; ++i) d[i] = float(s[i]);
  }
  static void put(void* to, int i, int v) { static_cast<signed char*>(to)[i] = static_cast<signed char>(v); }
};

// a: (16, k), b: (8, k), c and d: (16, 8). Lane 4 g + t: rows g and g + 8 of a and c, row g of b; t counts registers along k and
// pairs along the columns of c.
template <class T>
__global__ void multiply(const char* a, const char* b, const float* c, float* d) {
  const int g = int(threadIdx.x) / 4, t = int(threadIdx.x) % 4, row = T::k * T::bytes;
  uint32_t fa[4] = {}, fb[2] = {};
  int n = 0, m = 0;
  for (int along = 0; along < row; along += 16) {  // 4 lanes have 16 bytes of a row
    for (int down = 0; down < 16; down += 8) memcpy(&fa[n++], a + (g + down) * row + along + 4 * t, 4);
    memcpy(&fb[m++], b + g * row + along + 4 * t, 4);
  }
  float sum[4];
  for (int i = 0; i < 4; ++i) sum[i] = c[(g + i / 2 * 8) * 8 + 2 * t + i % 2];
  T::mma(sum, fa, fb);
  for (int i = 0; i < 4; ++i) d[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = sum[i];
}

template <class T>
T* managed(std::size_t n) {
  T* p = nullptr;
  expect_error(cudaMallocManaged(&p, n * sizeof(T)), cudaSuccess, "cudaMallocManaged");
  return p;
}

template <class T>
void check(const char* what) {
  constexpr int k = T::k;
  char *a = managed<char>(16 * k * 4), *b = managed<char>(8 * k * 4);
  float *c = managed<float>(128), *d = managed<float>(128);
  auto of_a = [](int i, int l) { return (i * 7 + l * 5) % 13 - 6; };
  auto of_b = [](int l, int j) { return (l * 3 + j * 11) % 17 - 8; };
  for (int i = 0; i < 16; ++i)
    for (int l = 0; l < k; ++l) T::put(a, i * k + l, of_a(i, l));
  for (int j = 0; j < 8; ++j)
    for (int l = 0; l < k; ++l) T::put(b, j * k + l, of_b(l, j));
  for (int i = 0; i < 128; ++i) c[i] = float(i % 5);
  multiply<T><<<1, 32>>>(a, b, c, d);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, what);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      int sum = (i * 8 + j) % 5;
      for (int l = 0; l < k; ++l) sum += of_a(i, l) * of_b(l, j);
      expect(d[i * 8 + j] == float(sum), what);
    }
}

__global__ void half_sum(float* out) {  // d in fp16: 2 registers
  const int g = int(threadIdx.x) / 4, t = int(threadIdx.x) % 4;
  const __half2 one = __floats2half2_rn(1, 1), row = __floats2half2_rn(float(g), float(g));
  uint32_t a, b, d[2], c = 0;
  memcpy(&a, &row, 4);
  memcpy(&b, &one, 4);
  asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a), "r"(a), "r"(a), "r"(a), "r"(b), "r"(b), "r"(c), "r"(c));
  __half2 v;
  memcpy(&v, &d[1], 4);
  out[g * 8 + 2 * t] = __low2float(v), out[g * 8 + 2 * t + 1] = __high2float(v);
}

// out: (4, 32, 2), what each lane has of each matrix. from: (32, 8), rows of 16 bytes, brought by cp.async.
template <int kMatrices, bool kTransposed>
__global__ void load(const uint16_t* from, uint16_t* out) {
  __shared__ __align__(16) uint16_t tile[33 * 8];
  const int lane = int(threadIdx.x);
  const uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(tile + 8 + lane * 8));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from + lane * 8) : "memory");
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncwarp();
  uint32_t r[4] = {};
  const uint32_t row = static_cast<uint32_t>(__cvta_generic_to_shared(tile + 8)) + 16 * (lane % (8 * kMatrices));
  if constexpr (kMatrices == 4 && !kTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(row));
  if constexpr (kMatrices == 4 && kTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(row));
  if constexpr (kMatrices == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(row));
  if constexpr (kMatrices == 1)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(row));
  for (int i = 0; i < kMatrices; ++i) memcpy(out + (i * 32 + lane) * 2, &r[i], 4);
}

template <int kMatrices, bool kTransposed>
void check_load(const char* what) {
  auto *from = managed<uint16_t>(256), *out = managed<uint16_t>(256);
  for (int i = 0; i < 256; ++i) from[i] = static_cast<uint16_t>(i * 31);
  load<kMatrices, kTransposed><<<1, 32>>>(from, out);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, what);
  for (int i = 0; i < kMatrices; ++i)
    for (int lane = 0; lane < 32; ++lane)
      for (int e = 0; e < 2; ++e) {
        const int slow = lane / 4, fast = lane % 4 * 2 + e;
        const int row = 8 * i + (kTransposed ? fast : slow), column = kTransposed ? slow : fast;
        expect(out[(i * 32 + lane) * 2 + e] == from[row * 8 + column], what);
      }
}

__global__ void powers(const float* x, float* y) {
  float to;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(to) : "f"(x[threadIdx.x]));
  y[threadIdx.x] = to;
}

int main() {
  check<Bf16>("m16n8k16 bf16");
  check<Fp16>("m16n8k16 fp16");
  check<Bf16Short>("m16n8k8 bf16");
  check<Tf32>("m16n8k8 tf32");
  check<Int8>("m16n8k32 s8");
  auto* h = managed<float>(64);
  half_sum<<<1, 32>>>(h);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "fp16 sums");
  for (int i = 0; i < 64; ++i) expect(h[i] == float(16 * (i / 8)), "fp16 sums");
  check_load<1, false>("ldmatrix x1");
  check_load<2, true>("ldmatrix x2 trans");
  check_load<4, false>("ldmatrix x4");
  check_load<4, true>("ldmatrix x4 trans");
  float *x = managed<float>(32), *y = managed<float>(32);
  for (int i = 0; i < 32; ++i) x[i] = float(i) * 0.7f - 20;
  powers<<<1, 32>>>(x, y);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "ex2");
  for (int i = 0; i < 32; ++i) expect(std::fabs(y[i] / std::exp2(double(x[i])) - 1) < 1e-6, "ex2");
  std::puts("ok");
}
