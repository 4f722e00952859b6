// Products of a warp's tiles on tensor cores (mma.sync, sm_80 and later), for 16-bit T. Places of elements: PTX ISA,
// "Matrix fragments for mma.m16n8k16". Lane 4 g + t of a result of 16 x 8 has rows g and g + 8, columns 2 t and 2 t +
// 1.
#pragma once
#include <cuda_pipeline.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "nn/numbers.cuh"

namespace nn {

// A tile in shared memory: rows of kColumns elements, whose 16-byte chunks are exchanged so that the same chunk of 8
// rows lies in 8 different groups of banks ("swizzled").
template <int kColumns>
__device__ inline int tile_place(int row, int column) {
  constexpr int kChunks = kColumns / 8;
  static_assert(kColumns % 16 == 0 && (kChunks & (kChunks - 1)) == 0, "rows of a power of two, 16 at least");
  constexpr int kRows = kChunks < 8 ? 8 / kChunks : 1;  // with one key
  const int key = row / kRows % (kChunks < 8 ? kChunks : 8);
  return row * kColumns + ((column / 8) ^ key) * 8 + column % 8;
}

// Starts copying rows first .. first + kRows of a matrix into a tile; rows from `rows` on become zero. `stride`:
// elements from a row to the next, a multiple of 8. All kThreads threads of the block.
template <int kRows, int kColumns, int kThreads, class T>
__device__ inline void load_tile(T* tile, const T* from, std::size_t stride, int first, int rows) {
  constexpr int kChunks = kColumns / 8, kStep = kThreads / kChunks;  // rows of a turn, which share a thread's bank
  static_assert(sizeof(T) == 2 && kRows % kStep == 0 && kStep % 8 == 0, "whole turns of 16 bytes");
  const int row = static_cast<int>(threadIdx.x) / kChunks, column = static_cast<int>(threadIdx.x) % kChunks * 8;
  T* const to = tile + tile_place<kColumns>(row, column);
  const T* const source = from + static_cast<std::size_t>(first + row) * stride + column;  // not read beyond the last
#pragma unroll
  for (int turn = 0; turn < kRows / kStep; ++turn)
    __pipeline_memcpy_async(to + turn * kStep * kColumns, source + turn * kStep * stride, 16,
                            first + row + turn * kStep < rows ? 0 : 16);
}

// This lane's address for load_matrices at row 0 and column 0 of a tile. It is one register, from which the address of
// each four matrices takes one or two instructions: the compiler shall not keep all of them.
//
// A left factor's registers are the upper left matrix, the one below it, and the two to the right of them.
template <int kColumns, class T>
__device__ inline std::uint32_t left_address(const T* tile) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  auto address =
      static_cast<std::uint32_t>(__cvta_generic_to_shared(tile + tile_place<kColumns>(lane % 16, lane / 16 * 8)));
  asm volatile("" : "+r"(address));
  return address;
}
// Two right factors side by side: the upper matrices, then the lower ones. A factor's two registers must be neighbours.
template <int kColumns, class T>
__device__ inline std::uint32_t right_address(const T* tile) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  auto address = static_cast<std::uint32_t>(
      __cvta_generic_to_shared(tile + tile_place<kColumns>(lane / 16 * 8 + lane % 8, lane / 8 % 2 * 8)));
  asm volatile("" : "+r"(address));
  return address;
}

// Four 8 x 8 matrices: rows row .. row + 16, columns column .. column + 16 of a tile. `row` and `column` are multiples
// of 16, and the tile begins at a multiple of 2 kColumns bytes: then the column flips bits of the lane's address, and
// the row is added.
template <int kColumns>
__device__ inline void load_matrices(std::uint32_t (&r)[4], std::uint32_t lane_address, int row, int column) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"((lane_address ^ 2 * static_cast<std::uint32_t>(column)) + 2 * row * kColumns)
               : "memory");
}
// The same, each of the four transposed: with left_address, two right factors whose k runs along a column.
template <int kColumns>
__device__ inline void load_matrices_transposed(std::uint32_t (&r)[4], std::uint32_t lane_address, int row,
                                                int column) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"((lane_address ^ 2 * static_cast<std::uint32_t>(column)) + 2 * row * kColumns)
               : "memory");
}

// d (16 x 8) += a (16 x 16) b (16 x 8)
__device__ inline void multiply(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                                __nv_bfloat16) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ inline void multiply(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                                __half) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Two neighbours in a register, the first one below.
__device__ inline std::uint32_t pack_pair(float first, float second, __nv_bfloat16) {
  std::uint32_t word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
  return word;
}
__device__ inline std::uint32_t pack_pair(float first, float second, __half) {
  std::uint32_t word;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
  return word;
}

// A warp's result of 16 kM x 8 kN: kM by kN fragments.
template <int kM, int kN>
using Accumulator = float[kM][kN][4];

// c (16 kM x 8 kN) += a (16 kM x 16) times columns k .. k + 16 of 8 kN rows of b, the right_address of a tile with K
// columns.
template <int kM, int kN, int K, class T>
__device__ inline void multiply_step(Accumulator<kM, kN>& c, const std::uint32_t (&a)[kM][4], std::uint32_t b, int k,
                                     T) {
#pragma unroll
  for (int n = 0; n < kN; n += 2) {
    std::uint32_t of_b[4];
    load_matrices<K>(of_b, b, 8 * n, k);
#pragma unroll
    for (int m = 0; m < kM; ++m) {
      multiply(c[m][n], a[m], of_b[0], of_b[1], T{});
      multiply(c[m][n + 1], a[m], of_b[2], of_b[3], T{});
    }
  }
}

// c (16 kM x 8 kN) += rows of a times rows of b: both tiles have K as their columns. The warp's rows of a begin at
// row_a.
template <int kM, int kN, int K, class T>
__device__ inline void multiply_rows(Accumulator<kM, kN>& c, const T* a, int row_a, const T* b) {
  const std::uint32_t in_a = left_address<K>(a + row_a * K), in_b = right_address<K>(b);
#pragma unroll
  for (int k = 0; k < K; k += 16) {
    std::uint32_t of_a[kM][4];
#pragma unroll
    for (int m = 0; m < kM; ++m) load_matrices<K>(of_a[m], in_a, 16 * m, k);
    multiply_step<kM, kN, K>(c, of_a, in_b, k, T{});
  }
}

// As above with a's rows in registers, which are read once where b changes and a does not.
template <int kM, int K>
using Factor = std::uint32_t[K / 16][kM][4];
template <int kM, int K, class T>
__device__ inline void load_factor(Factor<kM, K>& f, const T* a, int row_a) {
  const std::uint32_t in_a = left_address<K>(a + row_a * K);
#pragma unroll
  for (int k = 0; k < K / 16; ++k)
#pragma unroll
    for (int m = 0; m < kM; ++m) load_matrices<K>(f[k][m], in_a, 16 * m, 16 * k);
}
template <int kM, int kN, int K, class T>
__device__ inline void multiply_rows(Accumulator<kM, kN>& c, const Factor<kM, K>& a, const T* b) {
  const std::uint32_t in_b = right_address<K>(b);
#pragma unroll
  for (int k = 0; k < K; k += 16) multiply_step<kM, kN, K>(c, a[k / 16], in_b, k, T{});
}

// c (16 kM x 8 kN) += p (16 kM x 8 kK) b, whose tile has 8 kK rows of 8 kN columns. p is a result in registers, rounded
// to T: a fragment of two results side by side is just a factor's.
template <int kM, int kN, int kK, class T>
__device__ inline void multiply_columns(Accumulator<kM, kN>& c, const Accumulator<kM, kK>& p, const T* b) {
  const std::uint32_t in_b = left_address<8 * kN>(b);
#pragma unroll
  for (int k = 0; k < kK; k += 2) {
    std::uint32_t of_p[kM][4];
#pragma unroll
    for (int m = 0; m < kM; ++m)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        of_p[m][i] = pack_pair(p[m][k + i / 2][i % 2 * 2], p[m][k + i / 2][i % 2 * 2 + 1], T{});
#pragma unroll
    for (int n = 0; n < kN; n += 2) {
      std::uint32_t of_b[4];
      load_matrices_transposed<8 * kN>(of_b, in_b, 8 * k, 8 * n);
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        multiply(c[m][n], of_p[m], of_b[0], of_b[1], T{});
        multiply(c[m][n + 1], of_p[m], of_b[2], of_b[3], T{});
      }
    }
  }
}

// Results become `hidden` where seen(row, column) is false; the fragments' first row and column are row0 and column0.
template <int kM, int kN, class See>
__device__ void mask(Accumulator<kM, kN>& s, int row0, int column0, float hidden, See&& seen) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int n = 0; n < kN; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (!seen(row0 + 16 * m + i / 2 * 8 + lane / 4, column0 + 8 * n + lane % 4 * 2 + i % 2)) s[m][n][i] = hidden;
}

// Stores factor * c as rows of T, 4 bytes at a time; row r of the result goes to `to` + r * stride, for first + r <
// rows. `first`: the warp's first row.
template <int kM, int kN, class T>
__device__ inline void store_rows(const Accumulator<kM, kN>& c, const float (&factor)[kM][2], T* to, std::size_t stride,
                                  int first, int rows) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first + 16 * m + 8 * half + lane / 4;
      if (row >= rows) continue;
      T* at = to + static_cast<std::size_t>(row) * stride + lane % 4 * 2;
#pragma unroll
      for (int n = 0; n < kN; ++n)
        *reinterpret_cast<std::uint32_t*>(at + 8 * n) =
            pack_pair(c[m][n][2 * half] * factor[m][half], c[m][n][2 * half + 1] * factor[m][half], T{});
    }
}

}  // namespace nn
