// Contract of lab 03. Each task is one host function; you own the kernels behind it and how they are launched.
//
// All pointers are device pointers from the judge, at least 256-byte aligned. Work goes on `stream`; the judge waits
// for it. `workspace` is device scratch memory of at least 1 MiB, for every task. What it holds at a call is undefined:
// what must be zero, you set to zero, on `stream`, at each call.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

// *out = in[0] + ... + in[n - 1], n >= 1.
//   in   n floats
//   out  1 float
// Add in the shape of a tree: no element may pass through more than kLongestChain additions. One float that all
// elements are added to, one after another, stops growing at 2^24 times an element.
constexpr int kLongestChain = 4096;
void reduce(const float* in, float* out, std::size_t n, void* workspace, std::size_t workspace_bytes,
            cudaStream_t stream);

// Prefix sums inside of tiles: out[i] = in[f] + ... + in[i] modulo 2^32, where f = i - i % kScanTile is the first element
// of the tile of i; n >= 1.
//   in, out  n integers
//   sums     the sum of each tile, (n + kScanTile - 1) / kScanTile integers; the last tile may be shorter
constexpr int kScanTile = 4096;
void block_scan(const std::uint32_t* in, std::uint32_t* out, std::uint32_t* sums, std::size_t n, void* workspace,
                std::size_t workspace_bytes, cudaStream_t stream);

// out[i] = in[0] + ... + in[i] modulo 2^32, for i < n, n >= 1. The workspace has at least n / 16 bytes.
//   in, out  n integers
void scan(const std::uint32_t* in, std::uint32_t* out, std::size_t n, void* workspace, std::size_t workspace_bytes,
          cudaStream_t stream);

// Softmax of each row: out[r][c] = exp(in[r][c]) / (exp(in[r][0]) + ... + exp(in[r][cols - 1])), for inputs of any
// finite size below 10^30: exp(in[r][c]) itself need not fit into a float.
//   in, out  rows x cols floats, row-major; rows, cols >= 1
void softmax(const float* in, float* out, int rows, int cols, void* workspace, std::size_t workspace_bytes,
             cudaStream_t stream);

// Which elements of a tensor dropout keeps, without storing it: a hash of the element's index. The elements 4 q to
// 4 q + 3 share one hash; element i is dropped where byte i mod 4 of it (byte 0 is the lowest) is below `drop`.
// So drop / 256 is the probability, and what is kept is scaled with 256 / (256 - drop).
__host__ __device__ inline std::uint32_t dropout_bits(std::uint32_t seed, std::uint32_t q) {
  std::uint32_t h = q * 0x9E3779B1u + seed;
  h = (h ^ (h >> 16)) * 0x85EBCA6Bu;  // the finalizer of MurmurHash3 (Appleby, public domain)
  h = (h ^ (h >> 13)) * 0xC2B2AE35u;
  return h ^ (h >> 16);
}
__host__ __device__ inline bool dropout_keeps(std::uint32_t bits, int element, std::uint32_t drop) {
  return (bits >> (8 * (element % 4)) & 255u) >= drop;
}

// Layer norm of each row, and dropout:
//   mean[r] = sum over c of in[r][c] / cols
//   rstd[r] = 1 / sqrt(sum over c of (in[r][c] - mean[r])^2 / cols + kEpsilon)
//   out[r][c] = (in[r][c] - mean[r]) * rstd[r] * gamma[c] + beta[c], scaled where element r * cols + c is kept, else 0
//   in, out      rows x cols floats, row-major; rows, cols >= 1, rows * cols < 2^32
//   gamma, beta  cols floats
//   mean, rstd   rows floats
//   drop         0 to 255
// layernorm_plain is the same; its goals allow three reads of a row.
constexpr float kEpsilon = 1e-5f;
void layernorm_plain(const float* in, const float* gamma, const float* beta, float* out, float* mean, float* rstd,
                     int rows, int cols, std::uint32_t seed, std::uint32_t drop, void* workspace,
                     std::size_t workspace_bytes, cudaStream_t stream);
void layernorm(const float* in, const float* gamma, const float* beta, float* out, float* mean, float* rstd, int rows,
               int cols, std::uint32_t seed, std::uint32_t drop, void* workspace, std::size_t workspace_bytes,
               cudaStream_t stream);

// Stream compaction: out = the elements of `in` that are greater than 0, in their order; *count = how many they are.
// out[*count] and what follows may hold anything. The workspace has at least n / 16 bytes.
//   in     n floats, 1 <= n < 2^31
//   out    room for n floats
//   count  1 integer
void compact(const float* in, float* out, std::uint32_t* count, std::size_t n, void* workspace,
             std::size_t workspace_bytes, cudaStream_t stream);
