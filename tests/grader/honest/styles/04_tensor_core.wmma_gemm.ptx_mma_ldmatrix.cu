// Style: inline PTX as in CUTLASS: cp.async, ldmatrix and mma.sync.m16n8k16 with XOR-swizzled rows instead of padding.
#include "tensor_core.hpp"

namespace {

constexpr int kBlockM = 128, kBlockN = 128, kBlockK = 64, kStages = 3, kWarps = 4;
constexpr int kStageBytes = (kBlockM + kBlockN) * kBlockK * 2;

__device__ __forceinline__ void cp_async16(unsigned dst, const void* src, bool valid) {
  const int bytes = valid ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(dst), "l"(src), "r"(bytes));
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;\n" ::); }
template <int N>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory");
}
__device__ __forceinline__ void ldmatrix_x4(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}
__device__ __forceinline__ void mma16816(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Byte offset of the 16-byte piece p of row r in a tile with rows of 64 bf16.
__device__ __forceinline__ unsigned swizzled(int r, int p) { return r * (kBlockK * 2) + ((p ^ (r & 7)) << 4); }

// a: m x k; b: n x k; c: m x n. A block has 128 x 128 of c, a warp 64 x 64.
__global__ void __launch_bounds__(32 * kWarps)
    mma_ptx(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b, __nv_bfloat16* __restrict__ c,
            int m, int n, int k) {
  extern __shared__ __align__(128) unsigned char mma_smem[];
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(mma_smem));
  const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
  const int row0 = blockIdx.y * kBlockM, col0 = blockIdx.x * kBlockN;
  const int wr = warp / 2 * 64, wc = warp % 2 * 64;
  const int steps = (k + kBlockK - 1) / kBlockK;

  auto load = [&](int step) {
    if (step < steps) {
      const unsigned sa = base + step % kStages * kStageBytes, sb = sa + kBlockM * kBlockK * 2;
#pragma unroll
      for (int i = tid; i < kBlockM * 8; i += 32 * kWarps) {
        const int r = i / 8, p = i % 8, kk = step * kBlockK + p * 8;
        const bool in_a = row0 + r < m && kk < k, in_b = col0 + r < n && kk < k;
        cp_async16(sa + swizzled(r, p), in_a ? a + static_cast<size_t>(row0 + r) * k + kk : a, in_a);
        cp_async16(sb + swizzled(r, p), in_b ? b + static_cast<size_t>(col0 + r) * k + kk : b, in_b);
      }
    }
    cp_async_commit();
  };

  float acc[4][8][4] = {};
  for (int s = 0; s < kStages - 1; ++s) load(s);
  for (int step = 0; step < steps; ++step) {
    cp_async_wait<kStages - 2>();
    __syncthreads();
    load(step + kStages - 1);
    const unsigned sa = base + step % kStages * kStageBytes, sb = sa + kBlockM * kBlockK * 2;
#pragma unroll
    for (int kk = 0; kk < kBlockK / 16; ++kk) {
      unsigned fa[4][4], fb[4][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) ldmatrix_x4(fa[i], sa + swizzled(wr + 16 * i + lane % 16, 2 * kk + lane / 16));
#pragma unroll
      for (int j = 0; j < 4; ++j)
        ldmatrix_x4(fb[j], sb + swizzled(wc + 16 * j + lane % 8 + lane / 16 * 8, 2 * kk + lane / 8 % 2));
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) mma16816(acc[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int row = row0 + wr + 16 * i + 8 * h + lane / 4, col = col0 + wc + 8 * j + lane % 4 * 2;
        if (row < m && col < n)
          *reinterpret_cast<__nv_bfloat162*>(c + static_cast<size_t>(row) * n + col) =
              __floats2bfloat162_rn(acc[i][j][2 * h], acc[i][j][2 * h + 1]);
      }
}

}  // namespace

void wmma_gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k, void*, size_t,
               cudaStream_t stream) {
  constexpr int bytes = kStages * kStageBytes;
  cudaFuncSetAttribute(mma_ptx, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  const dim3 grid((n + kBlockN - 1) / kBlockN, (m + kBlockM - 1) / kBlockM);
  mma_ptx<<<grid, 32 * kWarps, bytes, stream>>>(a, b, c, m, n, k);
}
